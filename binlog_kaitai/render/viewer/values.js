// The rows of an event: columns by what the table map says of them, and cells as text.
// A value is `{kind, text}`; the kinds are number, text, bytes, json, null and absent.

const COLUMN_TYPES = grammar.ColumnTypes.ColumnTypes.ColumnType;
const FIELD_TYPES = grammar.TableMapMetadata.TableMapMetadata.FieldType;
const typesOf = (...names) => new Set(names.map((name) => COLUMN_TYPES[name]));
const TEXTS = typesOf('STRING', 'VARCHAR', 'VAR_STRING', 'BLOB', 'VARCHAR_COMPRESSED', 'BLOB_COMPRESSED', 'VECTOR');
const CHOICES = typesOf('ENUM', 'SET');

/**
 * The browser's names of character sets whose characters have several bytes. It knows big5, ujis and eucjpms in
 * other versions than the servers, so that text in them is shown as bytes.
 */
const ENCODINGS = {
  utf8mb4: 'utf-8', utf8mb3: 'utf-8', cp932: 'shift_jis', euckr: 'euc-kr', gb18030: 'gb18030', gb2312: 'gbk', gbk: 'gbk',
  sjis: 'shift_jis', ucs2: 'utf-16be', utf16: 'utf-16be', utf16le: 'utf-16le',
};

const charsetOf = new Map(); // number of a collation -> name of its character set
for (const [name, { collations }] of Object.entries(charsets)) {
  for (const range of collations.split(' ')) {
    const [first, last = first] = range.split('-').map(Number);
    for (let number = first; number <= last; number++) charsetOf.set(number, name);
  }
}
const NO_CHARACTER = '\ufffe';

/** Text in a character set of a server; null where it is none, or the browser does not know the character set. */
function decoded(data, charset = 'utf8mb4') {
  if (charsets[charset]?.characters) {
    const text = Array.from(data, (byte) => charsets[charset].characters[byte]).join('');
    return text.includes(NO_CHARACTER) ? null : text;
  }
  if (charset === 'utf32') return attempt(() => utf32(data)) ?? null;
  const encoding = ENCODINGS[charset];
  return encoding ? attempt(() => new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(data)) ?? null : null;
}

/** Bytes beyond ASCII as lone surrogates, like Python's surrogateescape. */
const withSurrogates = (data) => Array.from(data, (byte) => String.fromCharCode(byte < 128 ? byte : 0xdc00 + byte)).join('');

function utf32(data) {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const points = Array.from({ length: Math.ceil(data.length / 4) }, (_, index) => view.getUint32(4 * index));
  if (points.some((point) => point >> 11 === 0xd800 >> 11)) throw new RangeError('surrogates are no characters');
  return points.map((point) => String.fromCodePoint(point)).join('');
}

/**
 * The columns of a table: `{name, isNamed, type, column, charset, members, isUnsigned, typeName}`, by the table map
 * and, where that is silent, by the table's definition.
 */
function columnsOf(tableMap, isMariadb) {
  const columns = (tableMap.columns ?? []).map((column) => {
    const { name, type: typeName, ...facts } = tableMap.definition?.[column.index] ?? {};
    const logged = column.hasName ? column.name : name;
    return { ...facts, name: logged ?? `@${column.index + 1}`, isNamed: logged !== undefined, typeName, type: column.realType, column };
  });
  const texts = columns.filter(({ type }) => TEXTS.has(type) || (isMariadb && type === COLUMN_TYPES.GEOMETRY));
  const choices = columns.filter(({ type }) => CHOICES.has(type));
  const ofType = (name) => columns.filter(({ type }) => type === COLUMN_TYPES[name]);
  const setDefault = (list, value) => {
    const exceptions = new Map(value.exceptions.map(({ column, collation }) => [column.value, collation.value]));
    list.forEach((column, ordinal) => setCharset(column, exceptions.get(ordinal) ?? value.collation.value));
  };
  const setCharset = (column, collation) => { column.charset = charsetOf.get(collation) ?? column.charset; };
  const setEach = (list, value) =>
    list.forEach((column, ordinal) => setCharset(column, value.numbers[ordinal]?.value));
  const setMembers = (list, value) =>
    list.forEach((column, ordinal) => { column.members = value.columns[ordinal]?.members.map((member) => member.value); });
  for (const { type, value } of tableMap.optionalMetadata ?? []) {
    if (type === FIELD_TYPES.DEFAULT_CHARSET) setDefault(texts, value);
    if (type === FIELD_TYPES.COLUMN_CHARSET) setEach(texts, value);
    if (type === FIELD_TYPES.ENUM_AND_SET_DEFAULT_CHARSET) setDefault(choices, value);
    if (type === FIELD_TYPES.ENUM_AND_SET_COLUMN_CHARSET) setEach(choices, value);
    if (type === FIELD_TYPES.ENUM_STR_VALUE) setMembers(ofType('ENUM'), value);
    if (type === FIELD_TYPES.SET_STR_VALUE) setMembers(ofType('SET'), value);
  }
  return columns;
}

const number = (value) => ({ kind: 'number', text: String(value) });
const text = (value) => ({ kind: 'text', text: value });
const inHex = (data) => ({ kind: 'bytes', text: hex(data, '') });

/** A cell of a row image as a value. */
function valueOf(cell, column) {
  if (!cell.isPresent) return { kind: 'absent', text: '' };
  if (cell.isNull) return { kind: 'null', text: 'NULL' };
  if (cell.isPartial) return { kind: 'diff', text: diffText(cell.diffs) };
  const value = cell.value;
  switch (pathOf.get(value.constructor)) {
    case 'NumericValues.Int1': case 'NumericValues.Int2': case 'NumericValues.Int3': case 'NumericValues.Int4':
    case 'NumericValues.Int8':
      return number(column.isUnsigned ? BigInt.asUintN(8 * sizeOf(cell), BigInt(value.value)) : value.value);
    case 'NumericValues.Float4': return number(shortestFloat(value.value));
    case 'NumericValues.Decimal': return text(decimalText(value));
    case 'NumericValues.Bit': return number(BigInt(`0x${hex(value.bits, '') || '0'}`));
    case 'NumericValues.Enum': return choice(value.value, column, (number) => column.members[number - 1]);
    case 'NumericValues.Set': return choice(value.value, column, null);
    case 'TemporalValues.Date': return text(dateText(value));
    case 'TemporalValues.Datetime2':
      return text(`${dateText(value)} ${timeText(value)}${fractionText(value.microsecond, digitsOf(cell))}`);
    case 'TemporalValues.Datetime':
      return value.packed ? inHex(value.packed) : text(`${dateText(value)} ${timeText(value)}`);
    case 'TemporalValues.Timestamp2': return text(timestampText(value.seconds, value.microsecond, digitsOf(cell)));
    case 'TemporalValues.Timestamp':
      return text(timestampText(value.seconds, 0, 0) + (value.packedFraction
        ? `.${padded(parseInt(hex(value.packedFraction, ''), 16), value.fractionalDigits)}` : ''));
    case 'TemporalValues.Time2':
      return text(`${value.isNegative ? '-' : ''}${timeText(value)}${fractionText(value.microsecond, digitsOf(cell))}`);
    case 'TemporalValues.Time':
      return value.packed ? inHex(value.packed) : text(`${value.isNegative ? '-' : ''}${timeText(value)}`);
    case 'StringValues.Text':
      return isVector(column) ? vectorOf(vectorIn(value.data)) : stringOf(value.data, column, cell);
    case 'StringValues.CompressedText': return stringOf(unpacked(value.content), column);
    case 'StringValues.Geometry': return inHex(value._raw_content);
    case 'StringValues.Vector': return vectorOf(value.content);
    case 'StringValues.Json':
      return { kind: 'json', text: value.document ? documentText(value.document) : 'null' };
    case 'RowImage.NoBytes': return { kind: 'null', text: 'NULL' };
    default: return number(value.value);
  }
}

/** Whether the definition has a VECTOR where the log of a MariaDB has a VARBINARY. */
const isVector = ({ type, typeName }) => type === COLUMN_TYPES.VARCHAR && typeName?.startsWith('vector');
const vectorOf = ({ elements }) => ({ kind: 'json', text: `[${elements.map(shortestFloat).join(', ')}]` });

function vectorIn(data) {
  const content = new grammar.StringValues.StringValues.VectorContent(stream(data), null, null);
  content._read();
  return content;
}

const sizeOf = ({ _debug: { value } }) => value.end - value.start;
const digitsOf = (cell) => cell.column.metadata.fractionalDigits ?? 0;
const padded = (value, length = 2) => String(value).padStart(length, '0');
const dateText = ({ year, month, day }) => `${padded(year, 4)}-${padded(month)}-${padded(day)}`;
const timeText = ({ hour, minute, second }) => [hour, minute, second].map((part) => padded(Math.floor(part))).join(':');
const fractionText = (microsecond, digits) => (digits ? `.${padded(microsecond, 6).slice(0, digits)}` : '');

function timestampText(seconds, microsecond, digits) {
  return (seconds ? clock(seconds) : '0000-00-00 00:00:00') + fractionText(microsecond, digits);
}

function decimalText(value) {
  const groups = value.groups.map((group) => ({ text: padded(group.value, group.numDigits), isInteger: group.isInteger }));
  const part = (isInteger) =>
    groups.filter((group) => group.isInteger === isInteger).map((group) => group.text).join('');
  const fraction = part(false);
  return (value.isNegative ? '-' : '') + (part(true).replace(/^0+(?=.)/, '') || '0') + (fraction && `.${fraction}`);
}

/** The shortest decimal number that reads back as the same FLOAT. */
function shortestFloat(value) {
  for (let digits = 6; digits < 9; digits++) {
    const shorter = Number(value.toPrecision(digits));
    if (Math.fround(shorter) === value) return shorter;
  }
  return value;
}

function choice(value, column, memberAt) {
  if (!column.members) return number(value);
  const name = (member = '') => (typeof member === 'string' ? member
    : decoded(member, column.charset === 'binary' ? undefined : column.charset) ?? withSurrogates(member));
  if (memberAt) return text(name(memberAt(value)));
  return text(column.members.filter((_, bit) => (BigInt(value) >> BigInt(bit)) & 1n).map(name).join(','));
}

/** A string in the column's character set; bytes where the browser does not know it, or they are none in it. */
function stringOf(data, { charset }, cell = null) {
  if (charset === 'binary') {
    const length = cell?.column.realType === COLUMN_TYPES.STRING ? cell.column.metadata.length : 0;
    return inHex([...data, ...new Uint8Array(Math.max(0, length - data.length))]);
  }
  const string = decoded(data, charset);
  return string === null ? inHex(data) : text(string);
}

function unpacked(content) {
  if (!content.isCompressed) return content.data;
  return content.hasBareStream ? pako.inflateRaw(content.data) : pako.inflate(content.data);
}

// JSON documents as servers print them.

const VALUE_TYPES = grammar.JsonBinary.JsonBinary.ValueType;
const OBJECTS = new Set([VALUE_TYPES.SMALL_OBJECT, VALUE_TYPES.LARGE_OBJECT]);
const ARRAYS = new Set([VALUE_TYPES.SMALL_ARRAY, VALUE_TYPES.LARGE_ARRAY]);
const DEEPEST_DOCUMENT = 100;

function documentText(document) {
  return jsonText(document.type, document.content.content, 0, { left: document._io.size * DEEPEST_DOCUMENT });
}

function jsonText(type, content, depth, budget) {
  if (OBJECTS.has(type) || ARRAYS.has(type)) {
    budget.left -= content.lenContainer.value;
    if (depth >= DEEPEST_DOCUMENT || budget.left < 0) throw new LogError('The parts of the document overlap.');
    const values = content.valueEntries.map((entry) => (entry.isInlined
      ? jsonText(entry.type, entry.inlined, depth + 1, budget)
      : jsonText(entry.type, entry.value.content, depth + 1, budget)));
    if (ARRAYS.has(type)) return `[${values.join(', ')}]`;
    return `{${values.map((value, index) => `${JSON.stringify(content.keyEntries[index].key)}: ${value}`).join(', ')}}`;
  }
  switch (type) {
    case VALUE_TYPES.LITERAL: return ['null', 'true', 'false'][content.value];
    case VALUE_TYPES.DOUBLE: {
      const double = String(content.value).replace('e+', 'e');
      return /[.e]/.test(double) ? double : `${double}.0`;
    }
    case VALUE_TYPES.STRING: return JSON.stringify(content.value);
    case VALUE_TYPES.OPAQUE: return opaqueText(content);
    default: return String(content.value);
  }
}

function opaqueText({ type, value }) {
  const content = value.content;
  switch (pathOf.get(content.constructor)) {
    case 'JsonOpaque.Decimal': return decimalText(content.number);
    case 'JsonOpaque.Datetime': {
      const time = `${timeText(content)}${fractionText(content.microsecond, 6)}`;
      return `"${dateText(content)}${type === COLUMN_TYPES.DATE ? '' : ` ${time}`}"`;
    }
    case 'JsonOpaque.Time':
      return `"${content.isNegative ? '-' : ''}${timeText(content)}${fractionText(content.microsecond, 6)}"`;
    default: {
      if (type === COLUMN_TYPES.VAR_STRING) return JSON.stringify(new TextDecoder().decode(content.data));
      const base64 = btoa(Array.from(content.data, (byte) => String.fromCharCode(byte)).join(''));
      return JSON.stringify(`base64:type${type}:${base64.replace(/.{76}(?=.)/g, '$&\n')}`);
    }
  }
}

function diffText(diffs) {
  const operations = memberPathOf('JsonDiff', 'operation');
  return diffs.content.diffs.map((diff) => {
    const value = diff.value ? ` = ${documentText(diff.value)}` : '';
    return `${memberOf(operations, diff.operation) ?? diff.operation} ${diff.path}${value}`;
  }).join('; ');
}

const memberPathOf = (path, property) => documentation[path].fields[property][3];

/** The rows of an event: `{columns, rows: [{before, after}]}`, images as lists of values; null without rows. */
function rowsOf({ entry, tableMap }, isMariadb, limit = Infinity) {
  const rows = tableMap && entry.event?.body?.content?.rows;
  if (!rows) return null;
  const columns = columnsOf(tableMap, isMariadb);
  const valuesOf = (image) => image && image.cells.map((cell, index) => valueOf(cell, columns[index]));
  return {
    columns,
    count: rows.length,
    rows: rows.slice(0, limit).map(({ before, after }) => ({ before: valuesOf(before), after: valuesOf(after) })),
  };
}
