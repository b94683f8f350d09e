// A log: its frames, which are known after one pass over the headers, and its events, parsed on demand.
// How bytes are laid out is known to the grammar alone; offsets in headers are those that its classes record.
const { LogEntry } = grammar.MysqlBinlog.MysqlBinlog;
const EVENT_TYPES = grammar.BinlogEnums.BinlogEnums.EventType;
const HEADER = grammar.EventHeader.EventHeader;

/** How much is read at a time for its headers, in bytes. */
const CHUNK = 8 << 20;

/** The largest compressed transaction that the page unpacks, in bytes. */
const LARGEST_PAYLOAD = 512 << 20;

/** How much of a rows event is read to learn its table id, in bytes. */
const LEN_START = 64;

const OTHER_FILES = [
  [[0xfd, 0x62, 0x69, 0x6e], 'The log is encrypted by MySQL (binlog_encryption), and this page has no keys. ' +
    'binlog-kaitai reads it with --keyring FILE.'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'The file is compressed with zstd; unpack it first: zstd -d FILE.'],
  [[0x1f, 0x8b], 'The file is compressed with gzip; unpack it first: gunzip FILE.'],
  [[0x50, 0x4b, 3, 4], 'The file is a zip archive; unpack it first.'],
];

const startsWith = (data, start) => start.every((byte, index) => data[index] === byte);
const hex = (data, separator = ' ') =>
  Array.from(data, (byte) => byte.toString(16).padStart(2, '0')).join(separator);
const typeName = (type) => EVENT_TYPES[type] ?? `UNKNOWN_EVENT (${type})`;

/** A value that the grammar computes for an entry, from the few of its properties that it depends on. */
function computed(name, properties, type = LogEntry) {
  return Object.getOwnPropertyDescriptor(type.prototype, name).get.call({ _debug: {}, ...properties });
}

/** What a log begins with, and the flag of a log in use, by the grammar. */
const MAGIC = (() => {
  try {
    new grammar.MysqlBinlog.MysqlBinlog(stream(new Uint8Array(16)), null, null)._read();
  } catch (error) {
    return [...error.expected];
  }
})();
const IN_USE = Array.from({ length: 16 }, (_, bit) => 1 << bit)
  .find((flags) => computed('isInUse', { binlogVersion: 4, flags }, HEADER));

const isStatementStart = [];
const hasRows = [];
for (let value = 0; value < 256; value++) {
  isStatementStart.push(computed('isStatementStart', { upcomingType: { value } }));
  hasRows.push(computed('isRowsEvent', { upcomingType: { value } }));
}

/** The frames of a log, in arrays that grow. */
class Frames {
  constructor() {
    this.count = 0;
    this.resize(1024);
  }

  resize(capacity) {
    for (const [name, Type] of [
      ['positions', Float64Array], ['sizes', Uint32Array], ['times', Uint32Array], ['types', Uint8Array],
    ]) {
      const grown = new Type(capacity);
      if (this[name]) grown.set(this[name]);
      this[name] = grown;
    }
  }

  add(position, size, time, type) {
    if (this.count === this.types.length) this.resize(2 * this.count);
    this.positions[this.count] = position;
    this.sizes[this.count] = size;
    this.times[this.count] = time;
    this.types[this.count] = type;
    this.count += 1;
  }

  /** Index of the last frame that begins at a position or before it; -1 if there is none. */
  at(position) {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.positions[middle] <= position) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

class LogError extends Error {}

class Log {
  constructor(bytes) {
    this.bytes = bytes;
    this.frames = new Frames();
    this.formats = []; // {index, content}: the format descriptions, by the index of their frame
    this.problem = null; // {position, text}: why framing stopped before the end
    this.isInUse = false;
    this.tableMaps = new Map();
    this.definitionsFrom = bytes.definitions && definitionsFrom(bytes.definitions);
    this.outerPosition = null; // of the payload that the events are inside of
  }

  /** Read all headers. Raises a `LogError` for what is no readable log. */
  static async open(bytes, onProgress = () => {}) {
    const log = new Log(bytes);
    const start = await bytes.read(0, 256);
    for (const [magic, text] of OTHER_FILES) if (startsWith(start, magic)) throw new LogError(text);
    if (start.length === 0) throw new LogError('The file is empty.');
    if (!startsWith(start, MAGIC)) {
      throw new LogError(`Not a binary log: it starts with ${hex(start.slice(0, 4))} instead of ${hex(MAGIC)}.`);
    }
    log.version = 4;
    if (start.length > MAGIC.length) {
      const first = new grammar.LogStart.LogStart(stream(start.slice(MAGIC.length)), null, null);
      try {
        first._read();
        log.version = first.binlogVersion;
      } catch (error) {
        if (!(error instanceof KaitaiStream.EOFError)) {
          throw new LogError('Not a binary log of a known version: it does not begin with a format description.');
        }
      }
    }
    await log.frame(onProgress, MAGIC.length);
    return log;
  }

  /** The events inside a transaction payload: without checksums, and with table maps of their own. */
  static async inside(data, format, outer, position) {
    const log = new Log(Bytes.ofArray('', data));
    log.version = 4;
    log.definitionsFrom = outer.definitionsFrom;
    log.outerPosition = position;
    const content = Object.create(format, { hasChecksums: { value: false } });
    log.formats.push({ index: -1, content });
    await log.frame(() => {}, 0);
    return log;
  }

  get isMariadb() {
    const format = this.formats[0]?.content;
    return Boolean(format) && format.numEventTypes >= EVENT_TYPES.ANNOTATE_ROWS_EVENT;
  }

  get lenHeader() {
    return computed('lenHeader', { _root: { binlogVersion: this.version }, isFormat: false, hasFormat: false });
  }

  async frame(onProgress, begin) {
    const length = this.lenHeader;
    const header = new HEADER(stream(new Uint8Array(length)), null, null, this.version, length);
    header._read();
    const [time, type, size] = ['timestamp', 'typeCode', 'lenEvent'].map((name) => header._debug[name].start);
    for (const range of this.bytes.ranges) {
      let position = Math.max(range.start, begin);
      let [chunk, view, first] = [new Uint8Array(), null, position];
      while (position < range.end && !this.problem) {
        if (position + length > first + chunk.length) {
          chunk = await this.bytes.load(position, Math.min(position + CHUNK, range.end));
          view = new DataView(chunk.buffer);
          first = position;
          onProgress(position / this.bytes.size);
          if (chunk.length < length) {
            this.stop(position, chunk.every((byte) => byte === 0)
              ? `The log ends with ${chunk.length} zero bytes.`
              : `The log ends inside the header of an event: ${chunk.length} of ${length} bytes.`);
            break;
          }
        }
        const offset = position - first;
        const lenEvent = view.getUint32(offset + size, true);
        const typeCode = chunk[offset + type];
        if (startsWith(chunk.subarray(offset), MAGIC) && chunk[offset + MAGIC.length + type] ===
            EVENT_TYPES.FORMAT_DESCRIPTION_EVENT) {
          this.stop(position, 'Another log begins here: files were concatenated.');
        } else if (lenEvent < length) {
          const isZero = chunk.subarray(offset, offset + length).every((byte) => byte === 0);
          this.stop(position, isZero
            ? 'Zero bytes follow the last event, as in a log that a server still writes.'
            : `Invalid event size: ${lenEvent} bytes are too few for an event header.`);
        } else if (position + lenEvent > range.end) {
          this.stop(position, `The log ends inside an event: the ${typeName(typeCode)} has ${lenEvent.toLocaleString('en-US')}` +
            ` bytes, of which ${(range.end - position).toLocaleString('en-US')} are there.`);
        } else {
          const index = this.frames.count;
          this.frames.add(position, lenEvent, view.getUint32(offset + time, true), typeCode);
          if (typeCode === EVENT_TYPES.FORMAT_DESCRIPTION_EVENT) await this.describe(index);
          if (typeCode === EVENT_TYPES.START_ENCRYPTION_EVENT) await this.checkEncryption(index);
          position += lenEvent;
        }
      }
    }
  }

  stop(position, text) {
    this.problem = { position, text: `${text} Offset ${position.toLocaleString('en-US')}.` };
  }

  async describe(index) {
    const { entry, error } = await this.event(index);
    if (error) {
      this.stop(this.frames.positions[index], `The format description cannot be read: ${error}.`);
      return;
    }
    if (!this.formats.length) this.isInUse = entry.event.header.isInUse;
    this.formats.push({ index, content: entry.event.body.content });
  }

  async checkEncryption(index) {
    const { entry } = await this.event(index);
    if (entry.event?.header?.isIgnorable) return; // a server has decrypted the copy that it sent
    const end = this.frames.positions[index] + this.frames.sizes[index];
    this.stop(end, 'The events from here on are encrypted by MariaDB, and this page has no keys. ' +
      'binlog-kaitai reads them with --key-file FILE.');
  }

  /** The format description in force for an event; undefined before the first one. */
  formatOf(index) {
    return this.formats.findLast((format) => format.index < index)?.content;
  }

  hasPayload(index) {
    return this.frames.types[index] === EVENT_TYPES.TRANSACTION_PAYLOAD_EVENT;
  }

  raw(index, limit = Infinity) {
    const position = this.frames.positions[index];
    return this.bytes.read(position, position + Math.min(this.frames.sizes[index], limit));
  }

  /** Body of the table map that a rows event refers to, or null; `data` begins with the event's header. */
  async tableMapOf(index, data) {
    if (!hasRows[this.frames.types[index]]) return null;
    const id = this.entry(data, this.formatOf(index), null).upcomingTableId?.value;
    for (let before = index - 1; before >= 0 && !isStatementStart[this.frames.types[before]]; before--) {
      if (this.frames.types[before] !== EVENT_TYPES.TABLE_MAP_EVENT) continue;
      const tableMap = await this.tableMapAt(before);
      if (tableMap && String(tableMap.tableId.value) === String(id)) return tableMap;
    }
    return null;
  }

  async tableMapAt(index) {
    let tableMap = this.tableMaps.get(index);
    if (tableMap === undefined) {
      const event = await this.event(index);
      tableMap = event.error ? null : this.defined(event);
      if (this.tableMaps.size >= 4096) this.tableMaps.clear();
      this.tableMaps.set(index, tableMap);
    }
    return tableMap;
  }

  /** The body of a table map, with what its definition says of its columns in `definition` if one is known. */
  defined({ index, data, entry: { event } }) {
    const tableMap = event.body.content;
    const { ioOffset, start } = tableMap._debug.flags; // after the table id
    const position = this.outerPosition ?? this.frames.positions[index];
    const known = this.definitionsFrom?.get(crc32(data.subarray(ioOffset + start, endOfBody(event, data))));
    tableMap.definition = known?.findLast((definition) => definition.position <= position)?.columns;
    for (const [number, { oldDigits }] of (tableMap.definition ?? []).entries()) {
      // Where the grammar expects what a log does not state.
      if (oldDigits) tableMap.columns[number]._m_oldFractionalDigits = oldDigits;
    }
    return tableMap;
  }

  /** The grammar's entry of an event, which is not read yet. */
  entry(data, format, tableMap) {
    const entries = {
      1: { event: { body: { content: format } } },
      2: { event: { body: { content: tableMap } }, previousTableMapIndex: -1 },
    };
    const root = { binlogVersion: this.version, entries };
    return new LogEntry(stream(data), null, root, 0, format ? 1 : -1, tableMap ? 2 : -1);
  }

  /** An event as far as it follows the grammar: `{index, data, entry, tableMap, error}`. */
  async event(index) {
    const data = await this.raw(index);
    const tableMap = await this.tableMapOf(index, data);
    const entry = this.entry(data, this.formatOf(index), tableMap);
    let error = null;
    try {
      entry._read();
    } catch (problem) {
      error = reasonOf(problem);
    }
    return { index, data, entry, tableMap, error };
  }

  /** The events inside a transaction payload, as a log of their own; raises a `LogError`. */
  async payload(index) {
    const { entry, error } = await this.event(index);
    const content = entry.event?.body?.content;
    if (error) throw new LogError(`The payload cannot be read: ${error}.`);
    const algorithms = grammar.TransactionPayloadEvent.TransactionPayloadEvent.CompressionAlgorithm;
    if (content.lenUncompressed > LARGEST_PAYLOAD) {
      throw new LogError(`The payload has ${content.lenUncompressed} bytes; this page unpacks ${LARGEST_PAYLOAD}.`);
    }
    let data = content.payload.slice();
    if (content.compressionType === algorithms.ZSTD) {
      try {
        data = fzstd.decompress(data).slice();
      } catch (problem) {
        throw new LogError(`The payload does not decompress: ${problem.message}.`);
      }
    } else if (content.compressionType !== algorithms.NONE) {
      throw new LogError('The payload is compressed in a way that this page does not know.');
    }
    return Log.inside(data, this.formatOf(index), this, this.frames.positions[index]);
  }
}

/** The columns of table maps, by the checksum of their content, each from a position on. */
function definitionsFrom({ columns, tables }) {
  const definitions = new Map();
  for (const [position, checksum, number] of tables) {
    if (!definitions.has(checksum)) definitions.set(checksum, []);
    definitions.get(checksum).push({ position, columns: number === null ? undefined : columns[number] });
  }
  return definitions;
}

const endOfBody = (event, data) => event._debug.checksum?.start ?? data.length;

/** Whether the checksum of an event is right; null where it has none. */
function isChecksumRight({ data, entry }) {
  const event = entry.event;
  if (!event || event.checksum === undefined) return null;
  const covered = data.slice(0, endOfBody(event, data));
  // A server writes the checksum of the format description of a log that is not in use.
  if (event.isFormatDescription && event.header.isInUse) covered[event.header._debug.flags.start] &= ~IN_USE;
  return crc32(covered) === event.checksum;
}

/**
 * The events that are damaged, and why, as `verify` finds them: by their checksums, the positions in their headers, and
 * the grammar. `indices` are those of all events of the log, in order; `onFound(index, reason)` is called for each.
 */
async function findDamage(log, indices, onFound) {
  const { frames } = log;
  let [drift, isRelayLog] = [0, false];
  for await (const index of indices) {
    const event = await log.event(index);
    const header = event.entry.event?.header;
    const end = frames.positions[index] + frames.sizes[index];
    isRelayLog ||= Boolean(header?.isRelayLog);
    if (isChecksumRight(event) === false) {
      onFound(index, 'wrong checksum');
    } else if (event.error || !header) {
      onFound(index, `the event cannot be read in full: ${event.error}`);
    } else if (log.hasPayload(index)) {
      const reason = await log.payload(index).then((inner) => inner.problem?.text, (problem) => problem.message);
      if (reason) onFound(index, reason);
    }
    // Servers without checksums use other positions inside transactions.
    if (isRelayLog || !header?.nextPosition || event.entry.event.checksum === undefined) continue;
    // A server that sends a log clears the position in its format description, and all others are off by some distance.
    const isSent = index === 0 && header.nextPosition === header.lenEvent;
    const distance = (header.nextPosition - end) >>> 0;
    if (distance !== 0 && distance !== drift && drift !== null && !isSent) {
      onFound(index, `its header gives the end as ${header.nextPosition} instead of ${end}`);
    }
    drift = isSent ? null : distance;
  }
}

function reasonOf(problem) {
  if (problem instanceof KaitaiStream.EOFError) return `it ends early (${problem.message})`;
  if (problem instanceof KaitaiStream.ValidationFailedError) return `a value is impossible (${problem.message})`;
  return problem.message || String(problem);
}
