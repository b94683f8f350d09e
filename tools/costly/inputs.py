"""Inputs of about 2 MB: deep, wide, packed, many, damaged."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import struct
import zlib
from collections.abc import Callable, Iterator
from functools import partial

import zstandard

from binlog_kaitai.core.grammar import EventType
from tools.costly.making import (
    SIZE,
    Log,
    bits,
    event,
    members,
    named,
    packed,
    payload,
    rows,
    statement,
    table_map,
)

_WIDEST = 4096
_INT, _VARCHAR, _BLOB, _ENUM, _SET, _JSON = 3, 15, 252, 254, 254, 245

Maker = Callable[[], bytes]
INPUTS: dict[str, Maker] = {}


def _input(make: Callable[[], bytes | bytearray | Log]) -> Callable[[], bytes]:
    def made() -> bytes:
        built = make()
        return bytes(built.data if isinstance(built, Log) else built)

    INPUTS[make.__name__.replace("_", "-")] = made
    return made


# Wide tables.


def _rows_of(columns: int, present: bytes, row: bytes, **options: bool) -> Log:
    log = Log(**options)
    log.query(b"BEGIN")
    log.map(1, bytes([_INT]) * columns)
    count = 8000 // len(row)
    for _ in log.until_full():
        log.insert(1, columns, present, row * count)
    log.xid()
    return log


@_input
def rows_of_one_byte_in_wide_table() -> Log:
    return _rows_of(_WIDEST, bits(_WIDEST, 0), b"\x01")


@_input
def rows_of_nulls() -> Log:
    return _rows_of(_WIDEST, bits(_WIDEST), b"\xff" * (_WIDEST // 8))


@_input
def rows_of_nulls_without_checksums() -> Log:
    return _rows_of(_WIDEST, bits(_WIDEST), b"\xff" * (_WIDEST // 8), has_checksums=False)


@_input
def rows_of_eight_nulls() -> Log:
    return _rows_of(8, b"\xff", b"\xff")


@_input
def updates_of_one_byte_in_wide_table() -> Log:
    log = Log()
    log.query(b"BEGIN")
    log.map(1, bytes([_INT]) * _WIDEST)
    for _ in log.until_full():
        present = bits(_WIDEST, 0) + bits(_WIDEST, 1)
        log.add(EventType.update_rows_event, rows(1, _WIDEST, present, b"\x01" * 8000))
    log.xid()
    return log


@_input
def events_of_one_row_in_wide_table() -> Log:
    log = Log()
    log.query(b"BEGIN")
    log.map(1, bytes([_INT]) * _WIDEST)
    for number in log.until_full(1):
        log.insert(1, _WIDEST, bits(_WIDEST, number % _WIDEST), b"\x01")
    log.xid()
    return log


def _wide_maps(
    more: bytes = b"", types: int = _INT, metadata: bytes = b"", *, changes_more: bool = False
) -> Log:
    log = Log()
    log.query(b"BEGIN")
    for number in log.until_full(1):
        changed = more[:-4] + b"%04d" % number if changes_more else more
        name = b"t" if changes_more else b"t%d" % number
        log.map(number, bytes([types]) * _WIDEST, metadata, changed, name)
        log.insert(number, _WIDEST, bits(_WIDEST, 0), b"\x01" * 10)
    log.xid()
    return log


@_input
def wide_tables() -> Log:
    return _wide_maps()


@_input
def wide_tables_with_names() -> Log:
    return _wide_maps(named([b"%x" % number for number in range(_WIDEST)]))


@_input
def wide_table_with_changing_names() -> Log:
    names = [b"%x" % number for number in range(_WIDEST)]
    return _wide_maps(named([*names[:-1], b"0000"]), changes_more=True)


@_input
def wide_tables_of_geometries() -> Log:
    return _wide_maps(b"\x07" + packed(_WIDEST) + b"\x01" * _WIDEST, 255, b"\x04" * _WIDEST)


@_input
def wide_tables_of_strings() -> Log:
    return _wide_maps(b"\x03" + packed(_WIDEST) + b"\x08" * _WIDEST, _VARCHAR, b"\x40\0" * _WIDEST)


@_input
def members_of_one_byte() -> Log:
    log = Log()
    log.query(b"BEGIN")
    log.map(1, bytes([_ENUM]) * 30, b"\xf7\x02" * 30, members(6, [[b"a"] * 33_000] * 30))
    log.insert(1, 30, bits(30, 0), b"\0\1\0" * 1000)
    log.xid()
    return log


@_input
def members_of_no_bytes() -> Log:
    log = Log()
    log.query(b"BEGIN")
    log.map(1, bytes([_ENUM]) * 30, b"\xf7\x02" * 30, members(6, [[b""] * 65_000] * 30))
    log.insert(1, 30, bits(30, 0), b"\0\1\0" * 1000)
    log.xid()
    return log


@_input
def long_members() -> Log:
    log = Log()
    log.query(b"BEGIN")
    log.map(1, bytes([_SET]), b"\xf8\x08", members(5, [[b"%015d" % number * 1000 for number in range(64)]]))
    for _ in log.until_full():
        log.insert(1, 1, b"\1", (b"\0" + b"\xff" * 8) * 900)
    log.xid()
    return log


@_input
def long_column_name() -> Log:
    log = Log()
    log.query(b"BEGIN")
    log.map(1, bytes([_INT]) * 8, b"", named([b"n" * 1_000_000, *(b"%d" % number for number in range(7))]))
    for _ in log.until_full():
        log.insert(1, 8, b"\xff", b"\xff" * 8000)
    log.xid()
    return log


@_input
def long_table_name() -> Log:
    log = Log()
    log.query(b"BEGIN")
    log.map(1, bytes([_INT]) * 8, name=b"n" * 1_000_000)
    for _ in log.until_full():
        log.insert(1, 8, b"\xff", b"\xff" * 80)
    log.xid()
    return log


# Many of something.


@_input
def smallest_events() -> Log:
    log = Log(has_checksums=False)
    for _ in log.until_full():
        log.add(EventType.stop_event, b"")
    return log


@_input
def unknown_events() -> Log:
    log = Log()
    for _ in log.until_full():
        log.add(EventType.ignorable_log_event, b"")
    return log


@_input
def user_variables() -> Log:
    log = Log()
    for _ in log.until_full():
        log.add(EventType.user_var_event, b"\1\0\0\0a\1")
    return log


@_input
def transactions() -> Log:
    log = Log()
    for number in log.until_full(1):
        log.add(EventType.gtid_log_event, b"\1" + b"u" * 16 + struct.pack("<qBqq", number, 2, 0, number))
        log.query(b"BEGIN")
        log.xid()
    return log


@_input
def gtids_of_many_servers_with_gaps() -> Log:
    log, chance = Log(), random.Random(1)
    for number in log.until_full(1):
        uuid, gno = chance.randbytes(2) * 8, chance.randrange(1, 1 << 40)
        log.add(EventType.gtid_log_event, b"\1" + uuid + struct.pack("<qBqq", gno, 2, 0, number))
        log.query(b"DROP TABLE t")
    return log


@_input
def gtids_of_one_server_with_gaps() -> Log:
    log = Log()
    for number in log.until_full(1):
        gno = (1 << 40) - 2 * number
        log.add(EventType.gtid_log_event, b"\1" + b"u" * 16 + struct.pack("<qBqq", gno, 2, 0, number))
        log.xid()
    return log


@_input
def previous_gtids_of_many_servers() -> Log:
    log = Log()
    sources = b"".join(struct.pack(">QQ", 7, n) + struct.pack("<QQQ", 1, 1, 9) for n in range(SIZE // 40))
    log.add(EventType.previous_gtids_log_event, struct.pack("<Q", SIZE // 40) + sources)
    log.query(b"BEGIN")
    log.xid()
    return log


@_input
def previous_gtids_with_gaps() -> Log:
    log = Log()
    ranges = b"".join(struct.pack("<QQ", 2 * n + 1, 2 * n + 2) for n in range(SIZE // 16))
    log.add(EventType.previous_gtids_log_event, struct.pack("<Q16sQ", 1, b"u" * 16, SIZE // 16) + ranges)
    log.query(b"BEGIN")
    log.xid()
    return log


@_input
def mariadb_gtid_list() -> Log:
    log = Log(is_mariadb=True)
    entries = b"".join(struct.pack("<IIQ", n, n, n) for n in range(SIZE // 16))
    log.add(EventType.gtid_list_event, struct.pack("<I", SIZE // 16) + entries)
    return log


@_input
def mariadb_gtids_of_many_domains() -> Log:
    log = Log(is_mariadb=True)
    for number in log.until_full(1):
        log.add(EventType.gtid_event, struct.pack("<QIB6x", number, number, 0))
        log.query(b"BEGIN")
        log.xid()
    return log


@_input
def tables_of_one_row() -> Log:
    log = Log()
    for number in log.until_full(1):
        log.query(b"BEGIN")
        log.map(number, bytes([_INT]), name=b"t%d" % number)
        log.insert(number, 1, b"\1", b"\1")
        log.xid()
    return log


@_input
def tables_of_one_row_in_one_transaction() -> Log:
    log = Log()
    log.query(b"BEGIN")
    for number in log.until_full(1):
        log.map(number, bytes([_INT]), name=b"t%d" % number)
        log.insert(number, 1, b"\1", b"\1")
    log.xid()
    return log


@_input
def unused_table_maps() -> Log:
    log = Log()
    log.query(b"BEGIN")
    for n in log.until_full():
        log.map(n, bytes([_INT, 8]), name=b"t%d" % n)
    return log


@_input
def changing_table() -> Log:
    log = Log()
    log.query(b"BEGIN")
    for number in log.until_full(1):
        log.map(number, bytes([_INT, (1, 2, 3, 8, 9)[number % 5]]), more=named([b"a%d" % number, b"b"]))
        log.insert(number, 2, b"\3", b"\3")
    log.xid()
    return log


@_input
def savepoints() -> Log:
    log = Log()
    log.query(b"BEGIN")
    log.map(1, bytes([_INT]))
    for number in log.until_full():
        log.query(b"SAVEPOINT `s%d`" % number)
        log.insert(1, 1, b"\1", b"\1")
        if number % 2:
            log.query(b"ROLLBACK TO `s%d`" % (number // 2))
    log.xid()
    return log


@_input
def rolled_back_transaction() -> Log:
    log = Log()
    log.query(b"BEGIN")
    log.map(1, bytes([_INT]))
    for _ in log.until_full():
        log.insert(1, 1, b"\1", b"\1" * 1000)
    log.query(b"ROLLBACK")
    return log


@_input
def format_descriptions() -> bytes:
    head = bytes(Log().data)
    first = head[4:]
    data = bytearray(head)
    while len(data) < SIZE:
        data += event(first[4], first[19:-4], len(data), has_checksum=True)
    return bytes(data)


@_input
def load_data_files() -> Log:
    log = Log()
    for number in log.until_full():
        log.add(EventType.begin_load_query_event, struct.pack("<I", number) + b"1")
        log.add(EventType.append_block_event, struct.pack("<I", number) + b"2")
    return log


@_input
def xa_transactions() -> Log:
    log = Log()
    for number in log.until_full():
        log.query(b"XA START X'%08x',X'',1" % number)
        log.query(b"XA END X'%08x',X'',1" % number)
        log.query(b"XA PREPARE X'%08x',X'',1" % number)
    return log


# Statements.


def _statements(texts: Iterator[bytes], **options: bool) -> Log:
    log = Log(**options)
    for text in texts:
        log.query(text)
        if log.is_full:
            break
    return log


def _wide_table(more: bytes = b"") -> bytes:
    return b"CREATE TABLE t (" + b",".join(b"c%d int" % number for number in range(4000)) + b")" + more


def _altered(alter: bytes) -> Log:
    log = Log()
    log.query(_wide_table())
    for number in log.until_full():
        log.query(alter.replace(b"%", b"%d" % number))
    log.map(1, bytes([_INT]) * 4000)
    log.insert(1, 4000, bits(4000, 0), b"\1" * 10)
    log.xid()
    return log


@_input
def alters_of_wide_table() -> Log:
    return _altered(b"ALTER TABLE t MODIFY c1 int COMMENT '%'")


@_input
def alters_of_all_columns_of_wide_table() -> Log:
    return _altered(b"ALTER TABLE t ALTER INDEX i INVISIBLE, CONVERT TO CHARACTER SET utf8mb4 /* % */")


@_input
def renames_in_wide_table() -> Log:
    return _altered(b"ALTER TABLE t CHANGE c2 c2 int FIRST /* % */")


@_input
def moves_in_one_alter() -> Log:
    log = Log()
    log.query(_wide_table())
    clauses = (b"MODIFY c%d int FIRST" % (number * 7 % 4000) for number in range(SIZE // 22))
    log.query(b"ALTER TABLE t " + b",".join(clauses))
    return log


@_input
def copies_of_wide_table() -> Log:
    log = Log()
    log.query(_wide_table())
    for number in log.until_full():
        log.query(b"CREATE TABLE t%d LIKE t" % number)
        log.map(number, bytes([_INT]) * 2, name=b"t%d" % number)
    return log


@_input
def altered_between_rows_of_wide_table() -> Log:
    log = Log()
    log.query(_wide_table())
    for number in log.until_full():
        log.query(b"ALTER TABLE t COMMENT '%d'" % number)
        log.query(b"BEGIN")
        log.map(1, bytes([_INT]) * 4000)
        log.insert(1, 4000, bits(4000, 0), b"\1")
        log.xid()
    return log


@_input
def columns_without_end() -> Log:
    return _statements(b"CREATE TABLE t (" + b",".join([b"c int"] * 300_000) + b")" for _ in range(2))


@_input
def created_tables() -> Log:
    return _statements(b"CREATE TABLE t%d (c1 int, c2 int)" % number for number in range(SIZE))


@_input
def unreadable_alters() -> Log:
    return _statements(b"ALTER TABLE t%d ADD CLUMN x" % number for number in range(SIZE))


@_input
def unreadable_statements() -> Log:
    def texts() -> Iterator[bytes]:
        for number in range(SIZE):
            yield b"CREATE TABLE t%d (c1 int)" % number
            yield b"CREATE TABLE ((t%d" % number

    return _statements(texts())


@_input
def renamed_tables() -> Log:
    pairs = b",".join(b"t%d TO t%d" % (number, number + 1) for number in range(SIZE // 15))
    return _statements(iter((b"CREATE TABLE t0 (a int)", b"RENAME TABLE " + pairs)))


@_input
def dropped_tables() -> Log:
    return _statements(iter((b"DROP TABLE " + b",".join(b"t%d" % number for number in range(SIZE // 8)),)))


@_input
def dropped_databases() -> Log:
    def texts() -> Iterator[bytes]:
        for number in range(SIZE):
            yield b"CREATE TABLE t%d (c1 int)" % number
            yield b"DROP DATABASE d%d" % number

    return _statements(texts())


@_input
def renamed_wide_tables() -> Log:
    def texts() -> Iterator[bytes]:
        yield _wide_table()
        for number in range(SIZE):
            yield b"RENAME TABLE t TO s, s TO t" + b" " * (number % 2)

    return _statements(texts())


#: Statements that repeat something: how they begin, what they repeat, and how they end.
_REPETITIONS = {
    "parentheses-in-statement": (b"CREATE TABLE t (c int DEFAULT ", b"(", b""),
    "nested-comments": (b"CREATE TABLE t (c int ", b"/*!50000 ", b""),
    "comments-in-statement": (b"CREATE TABLE t (c int ", b"/**/", b""),
    "quotes-in-statement": (b"CREATE TABLE t (c int COMMENT ", b"'' ", b""),
    "names-in-statement": (b"ALTER TABLE t ADD COLUMN (c int, ", b"`a`.", b""),
    "characters-in-statement": (b"INSERT INTO t VALUES ('", b"\\\xff\0'", b""),
    "semicolons-in-statement": (b"CREATE PROCEDURE p() BEGIN ", b";\n", b"END"),
    "partitions-in-statement": (
        b"CREATE TABLE t (c int) PARTITION BY RANGE (c) (",
        b"PARTITION p VALUES IN (1),",
        b"",
    ),
}


def _repetition(start: bytes, middle: bytes, end: bytes) -> bytes:
    return bytes(_statements(iter((start + middle * ((SIZE - 200) // len(middle)) + end,))).data)


INPUTS.update({name: partial(_repetition, *parts) for name, parts in _REPETITIONS.items()})


@_input
def long_enum_in_statement() -> Log:
    log = _statements(iter((b"CREATE TABLE t (c enum(" + b",".join([b"'a'"] * 200_000) + b"))",)))
    log.map(1, bytes([_ENUM]), b"\xf7\x02")
    for _ in log.until_full():
        log.insert(1, 1, b"\1", b"\0\1\0" * 100)
    return log


# Deep documents.


def _documents(document: bytes, after: bytes = b"") -> Log:
    log = Log()
    log.query(b"BEGIN")
    log.map(1, bytes([_JSON]), b"\x04")
    cell = b"\0" + len(document).to_bytes(4, "little") + document
    log.insert(1, 1, b"\1", cell * max(SIZE // 2 // len(cell), 1))
    if after:
        log.add(EventType.partial_update_rows_event, rows(1, 1, b"\1\1", cell + after))
    log.xid()
    return log


@_input
def document_that_shares_its_parts() -> Log:
    """Each array has two elements, which are one array: two to the power of 90 numbers."""
    levels, width = 90, 10
    document = b"\2"
    for level in range(levels):
        # Offsets of values count from the start of their array; the next one follows it directly.
        size = (levels - level) * width
        document += struct.pack("<HHBHBH", 2, size, 2, width, 2, width)
    return _documents(document + struct.pack("<HH", 0, 4))


@_input
def document_of_levels() -> Log:
    levels, width = 90, 7
    document = b"\2"
    for level in range(levels):
        size = (levels - level) * width + 4
        document += struct.pack("<HHBH", 1, size, 2, width)
    return _documents(document + struct.pack("<HH", 0, 4))


@_input
def document_with_one_long_string_many_times() -> Log:
    """Every element of an array is the same long string."""
    count, text = 9000, b"x" * 10_000
    start = 4 + 3 * count
    inner = struct.pack("<HH", count, start + 2 + len(text))
    inner += struct.pack("<BH", 12, start) * count + b"\x90\x4e" + text
    return _documents(b"\2" + inner)


@_input
def changes_of_a_document() -> Log:
    """An update with many changes of one large document."""
    text = b"x" * 500_000
    tail = b"a" + packed_string(text)
    document = b"\1" + struct.pack("<IIIHBI", 1, 19 + len(tail), 19, 1, 12, 20) + tail
    change = b"\1" + packed(3) + b"$.b" + packed(3) + b"\x05\1\0"
    changes = change * (1_000_000 // len(change))
    after = b"\1\1\0" + len(changes).to_bytes(4, "little") + changes
    return _documents(document, after)


def packed_string(text: bytes) -> bytes:
    """A string of a JSON document: its length in 7 bits each, and its bytes."""
    size, length = b"", len(text)
    while length > 127:
        size, length = size + bytes([length & 127 | 128]), length >> 7
    return size + bytes([length]) + text


# Damage.


def _damaged(middle: bytes) -> bytes:
    log = Log()
    for _ in log.until_full():
        log.query(b"BEGIN")
        log.xid()
        log.data += middle
    return bytes(log.data)


@_input
def damaged_lengths() -> bytes:
    return _damaged(struct.pack("<IBIIIH", 1_700_000_000, 2, 1, 5, 0, 0))


@_input
def lengths_past_the_end() -> bytes:
    return _damaged(struct.pack("<IBIIIH", 1_700_000_000, 2, 1, 1 << 30, 0, 0))


@_input
def garbage_between_events() -> bytes:
    return _damaged(b"garbage")


@_input
def wrong_checksums() -> bytes:
    data = bytearray(_damaged(b""))
    for offset in range(200, len(data), 41):
        data[offset] ^= 1
    return bytes(data)


@_input
def damaged_bodies() -> Log:
    log = Log()
    for _ in log.until_full():
        log.add(EventType.user_var_event, b"\xff\xff\xff\xff")
    return log


@_input
def damaged_bodies_without_checksums() -> Log:
    log = Log(has_checksums=False)
    for _ in log.until_full():
        log.add(EventType.user_var_event, b"\xff\xff\xff\xff")
    return log


@_input
def damaged_rows() -> Log:
    log = Log()
    log.query(b"BEGIN")
    log.map(1, bytes([_INT]) * _WIDEST)
    for _ in log.until_full():
        log.insert(1, _WIDEST, bits(_WIDEST), b"\0" * 600)
    return log


@_input
def random_bytes() -> bytes:
    return bytes(Log().data) + random.Random(1).randbytes(SIZE)


@_input
def zeros() -> bytes:
    return bytes(Log().data) + bytes(SIZE)


@_input
def headers_in_headers() -> bytes:
    """Wherever one looks, an event seems to begin."""
    return bytes(Log().data) + struct.pack("<IBIIIH", 1, 2, 1, 4000, 0, 0) * (SIZE // 19)


@_input
def logs_in_one_file() -> bytes:
    log = Log()
    log.query(b"BEGIN")
    return bytes(log.data) * (SIZE // len(log.data))


@_input
def cut_off_format_descriptions() -> bytes:
    return bytes(Log().data[:-30]) * (SIZE // len(Log().data))


# Packed.


def _large_event(size: int) -> Iterator[bytes]:
    """A log with one event of so many zeros, in pieces."""
    log = Log(has_checksums=False)
    yield bytes(log.data)
    body = statement(b"INSERT INTO t VALUES ('")
    yield struct.pack("<IBIIIH", 1, 2, 1, 19 + len(body) + size, 0, 0) + body
    for _ in range(size >> 20):
        yield bytes(1 << 20)


def _gzipped(pieces: Iterator[bytes]) -> bytes:
    packer = zlib.compressobj(6, wbits=31)
    return b"".join([*map(packer.compress, pieces), packer.flush()])


def _repeated(log: Log, pack: Callable[[bytes], bytes], size: int = SIZE) -> bytes:
    """A packed log whose events after the first one are repeated up to a packed size."""
    head = len(Log().data)
    packed = pack(bytes(log.data[head:]) * max((8 << 20) // len(log.data), 1))
    return pack(bytes(log.data[:head])) + packed * (size // len(packed))


def _short_rows() -> Log:
    return _rows_of(4, b"\x0f", b"\0" * 17, has_checksums=False)


@_input
def gzip_of_one_event() -> bytes:
    return _gzipped(_large_event((1 << 30) - (1 << 20)))


@_input
def gzip_of_rows() -> bytes:
    return _repeated(_short_rows(), gzip.compress)


@_input
def zstd_of_rows() -> bytes:
    return _repeated(_short_rows(), zstandard.compress)


@_input
def xz_of_rows() -> bytes:
    return _repeated(_short_rows(), lzma.compress)


@_input
def bzip2_of_rows() -> bytes:
    return _repeated(_short_rows(), bz2.compress)


@_input
def gzip_of_wide_tables() -> bytes:
    return _repeated(_wide_maps(), gzip.compress)


@_input
def zstd_of_damage() -> bytes:
    log = Log()
    log.data = bytearray(_damaged(b"garbage"))
    return _repeated(log, zstandard.compress)


def _frames(pieces: Iterator[bytes]) -> bytes:
    packer = zstandard.ZstdCompressor(1).compressobj()
    return b"".join([*map(packer.compress, pieces), packer.flush()])


@_input
def payload_of_one_event() -> Log:
    size = (256 << 20) - (1 << 20)
    body = statement(b"INSERT INTO t VALUES ('")
    head = struct.pack("<IBIIIH", 1, 2, 1, 19 + len(body) + size, 0, 0) + body
    frames = _frames(iter((head, *[bytes(1 << 20)] * (size >> 20))))
    log = Log()
    for _ in log.until_full():
        log.add(EventType.transaction_payload_event, payload(len(head) + size, frames))
    return log


@_input
def payload_of_many_events() -> Log:
    inner = event(EventType.table_map_event, table_map(1, bytes([_INT]), b"", b"", b"t"))
    inner += event(EventType.write_rows_event, rows(1, 1, b"\1", b"\1" * 100)) * 8000
    count = (4 << 30) // len(inner)
    log = Log()
    log.add(EventType.transaction_payload_event, payload(count * len(inner), _frames(iter([inner] * count))))
    return log


@_input
def payload_of_wide_tables() -> Log:
    inner = b"".join(
        event(EventType.table_map_event, table_map(n, bytes([_INT]) * _WIDEST, b"", b"", b"t%d" % n))
        for n in range(2000)
    )
    log = Log()
    log.add(EventType.transaction_payload_event, payload(len(inner), _frames(iter([inner]))))
    return log


def _small_payloads() -> Log:
    inner = event(EventType.query_event, statement(b"x" * 60_000))
    frames = zstandard.compress(inner)
    log = Log()
    for _ in log.until_full():
        log.add(EventType.transaction_payload_event, payload(len(inner), frames))
    return log


@_input
def small_payloads() -> Log:
    return _small_payloads()


def _deflated(content: bytes) -> bytes:
    size = len(content).to_bytes(4, "big").lstrip(b"\0")
    return bytes([0x80 | len(size)]) + size + zlib.compress(content, 9)


@_input
def mariadb_compressed_statements() -> Log:
    log = Log(is_mariadb=True)
    body = statement(b"")
    packed_text = _deflated(b"x" * (8 << 20))
    for _ in log.until_full():
        log.add(EventType.query_compressed_event, body + packed_text)
    return log


@_input
def mariadb_compressed_rows() -> Log:
    log = Log(is_mariadb=True)
    log.query(b"BEGIN")
    log.map(1, bytes([_INT]))
    body = rows(1, 1, b"\1", _deflated(b"\1" * (8 << 20)))
    start = body[:8] + body[10:]
    for _ in log.until_full():
        log.map(1, bytes([_INT]))
        log.add(EventType.write_rows_compressed_event_v1, start)
    log.xid()
    return log


@_input
def gzip_of_payloads() -> bytes:
    """A packed log of packed transactions."""
    return _repeated(_small_payloads(), gzip.compress)
