// What the grammar's runtime leaves to a page: exact numbers of 64 bits, decompression, checksums.

/** A BigInt as a number where that is exact. */
KaitaiStream.exact = (number) =>
  number >= Number.MIN_SAFE_INTEGER && number <= Number.MAX_SAFE_INTEGER ? Number(number) : number;

for (const [name, read, isLittle] of [
  ['readU8le', 'getBigUint64', true], ['readU8be', 'getBigUint64', false],
  ['readS8le', 'getBigInt64', true], ['readS8be', 'getBigInt64', false],
]) {
  KaitaiStream.prototype[name] = function () {
    this.ensureBytesLeft(8);
    const value = this._dataView[read](this.pos, isLittle);
    this.pos += 8;
    return KaitaiStream.exact(value);
  };
}

KaitaiStream.zlib = pako;

/** What a function returns; undefined if it raises an error, as the grammar's values do on invalid bytes. */
const attempt = (compute) => { try { return compute(); } catch { return undefined; } };

const CRC = Uint32Array.from({ length: 256 }, (_, value) => {
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

function crc32(data) {
  let crc = ~0;
  for (const byte of data) crc = CRC[(crc ^ byte) & 0xff] ^ (crc >>> 8);
  return ~crc >>> 0;
}

const stream = (data) =>
  new KaitaiStream(data.byteLength === data.buffer.byteLength ? data.buffer : data.slice().buffer);

/** The bytes of a log: of a file, or of the ranges of one that the page carries. Offsets are those in the file. */
class Bytes {
  /**
   * `load(start, end)` gives a promise of the bytes of a range, which lies within one of `ranges`.
   * `definitions`: see `Definitions` in render/viewer_page.py; null where no program has followed the statements.
   */
  constructor(name, ranges, load, isWhole = true, definitions = null) {
    Object.assign(this, { name, size: ranges.at(-1).end, ranges, load, isWhole, definitions, blocks: new Map() });
  }

  static ofFile(file) {
    const load = async (start, end) => new Uint8Array(await file.slice(start, end).arrayBuffer());
    return new Bytes(file.name, [{ start: 0, end: file.size }], load);
  }

  static ofArray(name, data) {
    return new Bytes(name, [{ start: 0, end: data.length }], async (start, end) => data.slice(start, end));
  }

  /** What `explain --html` has written: `[{position, base64}]`. */
  static ofParts({ name, parts, isWhole, definitions }) {
    const ranges = parts.map(({ position, base64 }) => {
      const text = atob(base64);
      const data = new Uint8Array(text.length);
      for (let index = 0; index < text.length; index++) data[index] = text.charCodeAt(index);
      return { start: position, end: position + data.length, data };
    });
    const load = async (start, end) => {
      const range = ranges.find((part) => start >= part.start && end <= part.end);
      return range.data.slice(start - range.start, end - range.start);
    };
    return new Bytes(name, ranges, load, isWhole, definitions);
  }

  /** A copy of the bytes of a range, as far as they exist. Small reads are served from blocks that are kept. */
  async read(start, end) {
    const range = this.ranges.find((part) => start >= part.start && start < part.end);
    if (!range) return new Uint8Array();
    end = Math.min(end, range.end);
    const first = Math.max(range.start, start - (start % BLOCK));
    const last = Math.min(range.end, start - (start % BLOCK) + BLOCK);
    if (end > last) return this.load(start, end);
    let block = this.blocks.get(first);
    if (block) this.blocks.delete(first);
    else block = this.load(first, last);
    this.blocks.set(first, block);
    if (this.blocks.size > BLOCKS) this.blocks.delete(this.blocks.keys().next().value);
    return (await block).slice(start - first, end - first);
  }
}

const BLOCK = 1 << 18;
const BLOCKS = 64;
