// Parses logs with the grammar compiled to JavaScript, and prints the tree of each as JSON lines: the file's own
// fields, then each entry, then null. Arguments: the folder with the compiled classes, schema.json. The names of the
// logs come as lines.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";

const [folder, schemaFile] = process.argv.slice(2);
const require = createRequire(path.resolve(folder, "x.js"));
const KaitaiStream = require("kaitai-struct/KaitaiStream");
const schema = JSON.parse(readFileSync(schemaFile));

const pathOf = new Map(); // class -> its path, such as "MysqlBinlog.LogEntry"
const classes = {};
for (const file of readdirSync(folder).filter((name) => name.endsWith(".js"))) {
  Object.assign(classes, require(path.resolve(folder, file)));
}
for (const classPath of Object.keys(schema)) {
  const [top, ...nested] = classPath.split(".");
  pathOf.set(nested.reduce((outer, name) => outer[name], classes[top]), classPath);
}

const isRecord = (value) => pathOf.has(value?.constructor);

function tree(value) {
  if (value === undefined || value === null) return null;
  if (Array.isArray(value)) return value.map(tree);
  if (value instanceof Uint8Array) return bytes(value);
  if (isRecord(value)) return record(value);
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}

function bytes(value) {
  if (value.length <= 64) return { hex: Buffer.from(value).toString("hex") };
  return { length: value.length, sha1: createHash("sha1").update(value).digest("hex") };
}

function record(object, skip) {
  const found = { _type: pathOf.get(object.constructor) };
  for (const [name, jsName, isValue] of schema[found._type]) {
    if (name === skip) continue;
    let value;
    try {
      value = object[jsName];
    } catch (error) {
      found[name] = `${jsName}: ${error}`;
      continue;
    }
    // A value instance may point at another record, and so go round in circles.
    if (isValue && (isRecord(value) || (Array.isArray(value) && value.some(isRecord)))) continue;
    found[name] = tree(value);
  }
  return found;
}

const print = (line) => process.stdout.write(JSON.stringify(line) + "\n");
for await (const log of createInterface({ input: process.stdin })) {
  const root = new classes.MysqlBinlog(new KaitaiStream(readFileSync(log)));
  print(record(root, "entries"));
  for (const entry of root.entries) print(record(entry));
  print(null);
}
