// The fields of an event: each byte is in exactly one leaf, as in `binlog-kaitai explain`.

const pathOf = new Map(); // class -> its path, such as "RowsEvent.ExtraChunks"
for (const path of Object.keys(documentation)) {
  const [top, ...nested] = path.split('.');
  pathOf.set(nested.reduce((outer, name) => outer[name], grammar[top][top]), path);
}
const isStructure = (value) => Boolean(value) && pathOf.has(value.constructor);
const documented = (node) => documentation[pathOf.get(node.constructor)];

/** As in Python's `event`, whose `body` is the content of the grammar's body. */
const fieldPath = (path) => path.replace(/\bbody\.content\b/, 'body');

/** Numbers in parts: what the number means says more than what its parts mean. */
const NUMBERS = new Set(['PackedInteger', 'VarlenInteger']);

/**
 * The leaves of an object that was read from the bytes of an event:
 * `{offset, size, path, value, meaning, original, enumPath, parts}`.
 */
function leavesOf(root, data) {
  const leaves = [];
  let end = 0;
  const addUnread = (offset) => {
    if (offset <= end) return;
    const value = data.subarray(end, offset);
    leaves.push({ offset: end, size: offset - end, path: 'unread', value, meaning: 'Bytes that no field claims.' });
  };
  for (const leaf of walk(root, '', '', root._io._buffer)) {
    if (!leaf.size) continue;
    addUnread(leaf.offset);
    leaves.push(leaf);
    end = leaf.offset + leaf.size;
  }
  addUnread(data.length);
  return leaves;
}

function* walk(node, prefix, whole, buffer) {
  const { fields, instances } = documented(node);
  const over = overlays(node, prefix, buffer);
  const isNumber = NUMBERS.has(pathOf.get(node.constructor));
  let group = [];
  for (const [property, [name, doc, original, enumPath, bits]] of Object.entries(fields)) {
    const mark = node._debug[property];
    if (!mark || instances.includes(property)) continue;
    const value = node[property];
    const path = fieldPath(prefix + name);
    const meaning = whole && (isNumber || !doc) ? whole : doc;
    if (Array.isArray(value) && isStructure(value[0])) {
      for (let index = 0; index < value.length; index++) yield* child(value[index], `${path}[${index}].`, meaning, buffer);
    } else if (isStructure(value)) {
      yield* child(value, `${path}.`, meaning, buffer);
    } else if (mark.end !== undefined) {
      const offset = mark.ioOffset + mark.start;
      const leaf = { offset, size: mark.end - mark.start, path, value, meaning, original, enumPath, node };
      if (bits) {
        group.push({ ...leaf, bits });
        if (group.reduce((sum, part) => sum + part.bits, 0) % 8 === 0) {
          const size = group.reduce((sum, part) => sum + part.size, 0);
          yield { offset: group[0].offset, size, path: prefix.slice(0, -1), value: null, meaning: whole, parts: group, node };
          group = [];
        }
      } else {
        yield* (value instanceof Uint8Array && over.get(`${leaf.offset}+${leaf.size}`)) || [leaf];
      }
    }
  }
}

function* child(node, prefix, whole, buffer) {
  if (node._io._buffer === buffer) yield* walk(node, prefix, whole, buffer);
}

/** Leaves of instances that cover all bytes of a field again, by its offset and size. */
function overlays(node, prefix, buffer) {
  const leavesAt = new Map();
  const { fields, instances } = documented(node);
  const hasBytes = Object.keys(fields).some((name) => node._debug[name] && node[name] instanceof Uint8Array);
  for (const property of hasBytes ? instances : []) {
    const value = attempt(() => node[property]); // where it is invalid, the field's bytes are shown instead
    const items = Array.isArray(value) ? value : [value];
    if (node._debug[`_m_${property}`]?.start === undefined || !items.length || !items.every(isStructure)) continue;
    const name = prefix + fields[property][0];
    const leaves = items.flatMap((item, index) =>
      [...child(item, Array.isArray(value) ? `${name}[${index}].` : `${name}.`, '', buffer)]);
    const isGapless = leaves.every((leaf, index) =>
      !index || leaves[index - 1].offset + leaves[index - 1].size === leaf.offset);
    if (!leaves.length || !isGapless) continue;
    const last = leaves.at(-1);
    leavesAt.set(`${leaves[0].offset}+${last.offset + last.size - leaves[0].offset}`, leaves);
  }
  return leavesAt;
}

/** Values that the grammar computes: numbers, names, and flags that are set. */
function derivedOf(event) {
  const derived = [];
  for (const [node, prefix] of [[event?.header, 'header'], [event?.body?.content, 'body']]) {
    if (!isStructure(node)) continue;
    const { fields, instances } = documented(node);
    for (const property of instances) {
      const [name, meaning, original, enumPath] = fields[property];
      const value = attempt(() => node[property]);
      if (meaning && (value === true || ['number', 'bigint'].includes(typeof value))) {
        derived.push({ path: `${prefix}.${name}`, value, meaning, original, enumPath });
      }
    }
  }
  return derived;
}

/** The name of a member of an enum, such as "table_map_event"; undefined for a number without one. */
function memberOf(enumPath, number) {
  const [top, ...nested] = enumPath.split('.');
  return nested.reduce((outer, name) => outer[name], grammar[top][top])[number]?.toLowerCase();
}

/** The value of a leaf as text in one line. */
function shown({ value, path, enumPath, size }) {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map((item) => shown({ value: item, path: '', enumPath })).join(', ');
  if (enumPath) return memberOf(enumPath, value) ?? String(value);
  if (value instanceof Uint8Array) {
    const text = decoded(value.subarray(0, 4096));
    return text !== null && !/[\x00-\x1f\x7f-\x9f]/.test(text)
      ? JSON.stringify(text) : `${value.length} byte${value.length === 1 ? '' : 's'}`;
  }
  if (typeof value === 'string') return JSON.stringify(value);
  if (path.endsWith('commit_timestamp') && value) {
    return `${value} = ${clock(Math.floor(Number(value) / 1e6))}.${String(Number(value) % 1e6).padStart(6, '0')}`;
  }
  if (path.endsWith('timestamp') && value) return `${value} = ${clock(value)}`;
  if (size && (path === 'checksum' || path.endsWith('flags'))) return `0x${value.toString(16).padStart(2 * size, '0')}`;
  return String(value);
}

const clock = (seconds) => new Date(seconds * 1000).toISOString().replace('T', ' ').slice(0, 19);
