"""Logs of versions that no server here writes: 1 (MySQL 3.23), 3 (4.0, 4.1), 4 with a longer header.

The logs are made byte by byte from the description of the format; both readers have to agree on them.
"""

from __future__ import annotations

import json
import struct

import pytest
from binlog_grammar.mysql_binlog import MysqlBinlog

import binlog_kaitai as bk
from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.core.info import info_of
from binlog_kaitai.lines.event_lines import write_json
from binlog_kaitai.render.explanation import dissect
from binlog_kaitai.sources.source import Source


def old_log(version: int, bodies: list[tuple[int, bytes]]) -> bytes:
    """A log of version 1 or 3, from type codes and bodies."""
    log = b"\xfebin"
    server = b"3.23.58-log" if version == 1 else b"4.1.22-log"
    start = struct.pack("<H50sI", version, server, 1_000_000_000)
    for type_code, body in [(1, start), *bodies]:
        length = 13 if version == 1 else 19
        header = struct.pack("<IBII", 1_000_000_000, type_code, 1, length + len(body))
        log += header + (struct.pack("<IH", len(log), 0) if version == 3 else b"") + body
    return log


def query(schema: bytes, statement: bytes) -> bytes:
    return struct.pack("<IIBH", 7, 0, len(schema), 0) + schema + b"\x00" + statement


def named(text: bytes) -> bytes:
    return bytes([len(text)]) + text


LOAD = struct.pack("<IIIBBI", 7, 0, 0, 1, 4, 1)
SHORT_SEPARATORS = b'\t"\n\x00\\\x00\x00'
LONG_SEPARATORS = named(b"\t") + named(b'"') + named(b"\n") + named(b"") + named(b"\\") + b"\x02"
TARGET = b"\x01a\x00t\x00test\x00"
FILE_ID = struct.pack("<I", 9)

VERSION_1 = old_log(
    1,
    [
        (2, query(b"test", b"create table t (a int)")),
        (5, b"\x02" + struct.pack("<Q", 5)),
        (2, query(b"t\xe9st", b"insert into t values (null)")),
        (6, LOAD + SHORT_SEPARATORS + TARGET + b"/tmp/x.txt"),
        (4, b"log.002"),
    ],
)
VERSION_3 = old_log(
    3,
    [
        (2, query(b"test", b"create table t (a int)")),
        (8, LOAD + FILE_ID + LONG_SEPARATORS + TARGET + b"/tmp/x.txt\x00" + b"1\n2\n"),
        (9, FILE_ID + b"3\n"),
        (10, FILE_ID),
        (11, FILE_ID),
        (12, LOAD + LONG_SEPARATORS + TARGET + b"/tmp/x.txt"),
        (14, struct.pack("<I", 1) + b"v\x00\x00" + struct.pack("<II", 8, 3) + b"abc"),
        (13, struct.pack("<QQ", 1, 2)),
        (4, struct.pack("<Q", 4) + b"log.002"),
    ],
)


def with_longer_headers() -> bytes:
    """A version 4 log whose format description announces headers of 21 bytes."""
    table = bytearray(27)
    table[:4] = 56, 13, 0, 8
    table[14] = 57 + len(table)
    log = b"\xfebin"
    described = struct.pack("<H50sIB", 4, b"5.5.2-m2", 0, 21) + table
    for type_code, extra, body in [(15, b"", described), (2, b"\xab\xcd", b""), (3, b"\xab\xcd", b"")]:
        if type_code == 2:
            body = struct.pack("<IIBHH", 7, 0, 4, 0, 0) + b"test\x00BEGIN"
        size = 19 + len(extra) + len(body)
        log += struct.pack("<IBIIIH", 0, type_code, 1, size, len(log) + size, 0) + extra + body
    return log


LOGS = {"version 1": VERSION_1, "version 3": VERSION_3, "longer headers": with_longer_headers()}
every_log = pytest.mark.parametrize("log", [pytest.param(log, id=name) for name, log in LOGS.items()])


def infos(log: bytes) -> list[tuple[str, dict[str, object]]]:
    with bk.open(log) as reader:
        return [(event.type, dict(info_of(event.parsed))) for event in reader]


def test_version_1() -> None:
    (start, first), (_, created), (_, insert_id), (_, inserted), (_, loaded), (_, rotated) = infos(VERSION_1)
    assert (start, first["binlog_version"], first["server_version"]) == ("START_EVENT_V3", 1, "3.23.58-log")
    assert created["query_text"] == "create table t (a int)"
    assert insert_id == {"variable": "insert_id", "value": 5}
    assert inserted["schema_name"] == "t\udce9st", "bytes that are no UTF-8 are kept"
    assert (loaded["schema_name"], loaded["table_name"], loaded["file_name"]) == ("test", "t", "/tmp/x.txt")
    assert rotated == {"position": None, "next_log": "log.002"}


def test_version_3() -> None:
    found = infos(VERSION_3)
    assert [name for name, _ in found] == [
        "START_EVENT_V3",
        "QUERY_EVENT",
        "CREATE_FILE_EVENT",
        "APPEND_BLOCK_EVENT",
        "EXEC_LOAD_EVENT",
        "DELETE_FILE_EVENT",
        "NEW_LOAD_EVENT",
        "USER_VAR_EVENT",
        "RAND_EVENT",
        "ROTATE_EVENT",
    ]
    created = found[2][1]
    assert (created["table_name"], created["file_id"], created["block_length"]) == ("t", 9, 4)
    assert found[7][1] == {"name": "v", "is_null": 0, "value": "abc"}
    assert found[9][1] == {"position": 4, "next_log": "log.002"}


def test_longer_headers() -> None:
    with bk.open(LOGS["longer headers"]) as reader:
        described, query_event, stop = reader
    assert described.header.extra_headers is None, "a format description event has no extra headers"
    assert query_event.header.extra_headers == stop.header.extra_headers == b"\xab\xcd"
    assert query_event.body.query == b"BEGIN"


@every_log
def test_both_readers_agree(log: bytes) -> None:
    lines = b"".join(bytes(part) for part in write_json(log)).splitlines()
    with bk.open(log) as reader:
        events = list(reader)
    assert [json.loads(line)["info"] for line in lines] == [info_of(event.parsed) for event in events]
    assert [json.loads(line)["position"] for line in lines] == [event.position for event in events]


@every_log
def test_leaves_tile_and_nothing_is_damaged(log: bytes) -> None:
    with bk.open(log) as reader:
        for event in reader:
            dissection = dissect(event)
            assert dissection.error is None
            assert sum(leaf.size for leaf in dissection.leaves) == len(event.raw)
    assert scan(Source.of_bytes(log)).damage_count == 0


@every_log
def test_the_whole_file_grammar_reads_the_same(log: bytes) -> None:
    whole = MysqlBinlog.from_bytes(log)
    with bk.open(log) as reader:
        types = [type(event.body) for event in reader]
    assert [type(entry.event.body.content) for entry in whole.entries] == types


def without_checksums(positions: list[int | None]) -> bytes:
    """A version 4 log of a server without checksums; a position of None is the right one."""
    table = bytearray(27)
    table[:4] = 56, 13, 0, 8
    table[14] = 57 + len(table)
    log = b"\xfebin"
    bodies = [(15, struct.pack("<H50sIB", 4, b"5.1.5-beta", 0, 19) + table)]
    bodies += [(5, b"\x02" + struct.pack("<Q", number)) for number in range(len(positions))]
    for (type_code, body), stated in zip(bodies, [None, *positions], strict=True):
        end = len(log) + 19 + len(body)
        log += struct.pack("<IBIIIH", 0, type_code, 1, 19 + len(body), stated or end, 0) + body
    return log


def test_positions_inside_transactions_of_old_servers_are_no_damage() -> None:
    assert scan(Source.of_bytes(without_checksums([None, 28, 56, None]))).damage_count == 0


def test_positions_that_stay_off_to_the_end_are() -> None:
    log = without_checksums([None] * 6)
    event = 19 + 9
    cut = log[: -4 * event] + log[-3 * event :]
    assert scan(Source.of_bytes(cut)).damage_count == 1
