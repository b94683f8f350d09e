// Parses logs with the grammar compiled to JavaScript and prints their trees as JSON lines. Arguments: the folder with
// the compiled classes, the schema. The names of the logs come as lines.
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";

const [folder, schemaFile] = process.argv.slice(2);
const require = createRequire(path.resolve(folder, "x.js"));
const KaitaiStream = require("kaitai-struct/KaitaiStream");

const fields = new Map(); // class path -> [name, name in JavaScript, kind, enum]
const enums = new Map([["-", new Map()]]);
let last;
for (const line of readFileSync(schemaFile, "utf8").split("\n")) {
  const [tag, a, b, c] = line.split("\t");
  if (tag === "T") fields.set(a, (last = []));
  if (tag === "F") last.push([a, a.replace(/_(.)/g, (_, letter) => letter.toUpperCase()), b, c]);
  if (tag === "E") enums.set(a, (last = new Map()));
  if (tag === "M") last.set(Number(a), b);
}

const classes = {};
for (const file of readdirSync(folder).filter((name) => name.endsWith(".js"))) {
  Object.assign(classes, require(path.resolve(folder, file)));
}
const pathOf = new Map();
for (const classPath of fields.keys()) {
  const [top, ...nested] = classPath.split(".");
  pathOf.set(nested.reduce((outer, name) => outer[name], classes[top]), classPath);
}

function tree(value, enumPath) {
  if (value === undefined || value === null) return null;
  if (Array.isArray(value)) return value.map((item) => tree(item, enumPath));
  if (value instanceof Uint8Array) return { hex: Buffer.from(value).toString("hex") };
  if (pathOf.has(value.constructor)) return record(value);
  if (enumPath !== "-") return enums.get(enumPath).get(value) ?? value;
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}

function record(object, skip) {
  const found = { _type: pathOf.get(object.constructor) };
  for (const [name, jsName, , enumPath] of fields.get(found._type)) {
    if (name === skip) continue;
    try {
      found[name] = tree(object[jsName], enumPath);
    } catch {
      found[name] = { error: true };
    }
  }
  return found;
}

const print = (line) => process.stdout.write(line + "\n");
for await (const log of createInterface({ input: process.stdin })) {
  const data = readFileSync(log);
  const begin = process.hrtime.bigint();
  let root;
  try {
    root = new classes.MysqlBinlog(new KaitaiStream(data));
  } catch {
    print('{"error": true}\nend 0');
    continue;
  }
  const taken = Number(process.hrtime.bigint() - begin) / 1e9;
  print(JSON.stringify(record(root, "entries")));
  for (const entry of root.entries) print(JSON.stringify(record(entry)));
  print(`end ${taken}`);
}
