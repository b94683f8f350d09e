// Compiles the grammar. Reads {specs, targets: [{language, debug}]} from stdin, writes [{files, error}] to stdout,
// one for each target. The compiler is looked for in the folder that the first argument names.
import { createRequire } from "node:module";
import path from "node:path";
import { text } from "node:stream/consumers";

const require = createRequire(path.resolve(process.argv[2], "package.json"));
const compiler = require("kaitai-struct-compiler");
const { specs, targets } = JSON.parse(await text(process.stdin));

const importer = {
  async importYaml(name) {
    const spec = specs[name.replace(/^\//, "")];
    if (!spec) throw new Error(`no file ${name}.ksy`);
    return spec;
  },
};

// One file that imports all others: each is then compiled once, however many import it.
const ALL = "all_files";
const all = { meta: { id: ALL, imports: Object.keys(specs).map((name) => "/" + name) } };

const messageOf = (error) => String(error?.message ?? error);

// Of a mistake in the structure of a file the compiler tells the place in the file, but not which file it is.
async function withFile(message) {
  if (!message.startsWith("(main)")) return message;
  for (const [name, spec] of Object.entries(specs)) {
    const alone = { ...spec, meta: { ...spec.meta, imports: [] } };
    try {
      await compiler.compile("python", alone, importer, false);
    } catch (error) {
      if (messageOf(error) === message) return message.replace("(main)", name);
    }
  }
  return message;
}

console.log = console.error; // the compiler may print; stdout is for the answer
const results = [];
for (const { language, debug } of targets) {
  try {
    const files = await compiler.compile(language, all, importer, debug);
    results.push({ files, error: null });
  } catch (error) {
    results.push({ files: {}, error: await withFile(messageOf(error)) });
  }
}
process.stdout.write(JSON.stringify(results));
