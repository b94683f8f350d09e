"""Rows and other text printed by kernels equal those from the grammar."""

from __future__ import annotations

import math
import random
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from binlog_kaitai.core.grammar import EventType, header_offset
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.dump import dump_kernels, dump_logs, dump_output, row_printer
from binlog_kaitai.dump.client_values import escapes_of
from binlog_kaitai.dump.dump_options import Base64Output
from binlog_kaitai.kernels.compile import Kernel
from binlog_kaitai.lines import row_line_kernel
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.log.event_log import open as open_log
from binlog_kaitai.log.event_reader import EventReader
from binlog_kaitai.text import (
    base64_kernel,
    float_texts,
    listed_values,
    printed_values,
)
from binlog_kaitai.values.column_kinds import Kind
from tests import corpus_files
from tests.dump.dump_ways import CASES, check_one_by_one, make_quick, make_slow, printed, reader_of
from tests.extent import rounds, sample
from tests.log_maker import LogMaker, events_of

_FINITE = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("case", "verbose"),
    [(case, 2) for case in CASES]
    + [(case, 0) for case in CASES if case.id.startswith("mysql")]
    + [(corpus_files.case("mariadb-11.8", "types_compressed"), 0)],
    ids=lambda one: getattr(one, "id", one),
)
def test_quick_and_slow_print_the_same(
    case: corpus_files.Case, verbose: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for log in case.logs:
        make_slow(monkeypatch)
        (tmp_path / "slow").mkdir(exist_ok=True)
        slow = printed(log, tmp_path / "slow", verbose=verbose)
        make_quick(monkeypatch)
        (tmp_path / "fast").mkdir(exist_ok=True)
        text, error = printed(log, tmp_path / "fast", verbose=verbose)
        assert (text.replace(b"/fast/", b"/slow/"), error) == slow


def test_the_kernel_prints_the_same_uncompiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = corpus_files.case("mysql-9.7", "types_minimal").logs[0]
    make_slow(monkeypatch)
    slow = printed(log, tmp_path, verbose=2)
    make_quick(monkeypatch)
    for module in (dump_kernels, listed_values, row_line_kernel, printed_values, float_texts):
        for kernel in vars(module).values():
            if isinstance(kernel, Kernel):
                monkeypatch.setattr(kernel, "_compiled", kernel.plain)
    with np.errstate(over="ignore"):
        assert printed(log, tmp_path, verbose=2) == slow


@pytest.mark.parametrize("room", sample([1, 150, 1000], 2))
def test_little_room_changes_nothing(room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = corpus_files.case("mariadb-11.8", "types_full").logs[0]
    make_slow(monkeypatch)
    slow = printed(log, tmp_path, verbose=2)
    make_quick(monkeypatch)
    monkeypatch.setattr(row_printer, "_EXPANSION", 0)
    monkeypatch.setattr(row_printer, "_LARGE", room)
    monkeypatch.setattr(row_printer, "_MAX_ROWS", 2)
    monkeypatch.setattr(dump_output, "_MOST_TEXT", room)
    assert printed(log, tmp_path, verbose=2) == slow


@pytest.mark.parametrize("case", ["types_full", "types_minimal", "json_partial"])
def test_damaged_rows_give_the_same_errors(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = corpus_files.case("mysql-9.7", case).logs[0]
    data = source.read_bytes()
    with open_log(str(source)) as log:
        ranges = [(one.position, one.end_position) for one in log if "ROWS_EVENT" in one.type]
    chance = random.Random(case)
    path = tmp_path / "binlog.000001"
    for _ in range(rounds(25, 3)):
        damaged = bytearray(data)
        start, end = chance.choice(ranges)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(start + 19, end)] = chance.randrange(256)
        path.write_bytes(damaged)
        make_slow(monkeypatch)
        slow = printed(path, tmp_path, verbose=2, base64_output=Base64Output.DECODE_ROWS)
        make_quick(monkeypatch)
        assert printed(path, tmp_path, verbose=2, base64_output=Base64Output.DECODE_ROWS) == slow


@given(_FINITE | st.integers(-(10**18), 10**18).map(float) | st.decimals(-1000, 1000, places=3).map(float))
def test_doubles_have_the_digits_of_c(number: float) -> None:
    _check(struct.pack("<d", number), b"%.20g" % number, is_double=True)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_floats_have_the_digits_of_c(number: float) -> None:
    _check(struct.pack("<f", number), b"%-20g" % number, is_double=False)


@pytest.mark.parametrize(
    "number",
    [0.0, -0.0, 5e-324, math.pi, 1.7976931348623157e308, 2.5, 1e22, 0.0001, math.inf, -math.inf, math.nan],
)
def test_known_doubles(number: float) -> None:
    _check(struct.pack("<d", number), b"%.20g" % number, is_double=True)


def _check(data: bytes, expected: bytes, *, is_double: bool) -> None:
    out, scratch = np.zeros(64, dtype=np.uint8), np.zeros(float_texts.SCRATCH, dtype=np.int64)
    put = printed_values.put_floating.compiled
    end = put(np.frombuffer(data, dtype=np.uint8), 0, is_double, scratch, out, 0)
    assert bytes(out[:end]) == expected


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (Kind.DATETIME, ("ffffc00000", 0), b"10082-05-00 00:00:00"),
        (Kind.DATETIME, ("8000000000989680", 6), b"0000-00-00 00:00:00.100000"),
        (Kind.TIMESTAMP, ("00000001ffff", 4), b"1.6553"),
    ],
)
def test_damaged_times_have_all_their_digits(kind: Kind, value: tuple[str, int], text: bytes) -> None:
    data, digits = value
    out = np.zeros(64, dtype=np.uint8)
    raw = np.frombuffer(bytes.fromhex(data), dtype=np.uint8)
    end = listed_values.put_moment(True, raw, 0, kind.value, digits, out, 0)
    assert bytes(out[:end]) == text


@given(st.binary(max_size=300))
def test_text_is_escaped_in_its_place_as_elsewhere(data: bytes) -> None:
    escapes = escapes_of(is_mariadb=False)
    out, other = np.zeros((2, 1300), dtype=np.uint8)
    size = printed_values.put_escaped.compiled(
        np.frombuffer(data, dtype=np.uint8), 0, len(data), escapes, out, 5
    )
    other[5 : 5 + len(data)] = np.frombuffer(data, dtype=np.uint8)
    assert printed_values.spread_escaped.compiled(escapes, other, 5, 5 + len(data), size) == size
    assert bytes(other[5:size]) == bytes(out[5:size])
    assert printed_values.spread_escaped.compiled(escapes, other, 5, size, size - 1) == -1


@given(st.binary(max_size=700))
def test_base64_is_that_of_python(data: bytes) -> None:
    import base64 as python

    for put in (base64_kernel.put_base64.compiled, base64_kernel.put_base64.plain):
        out = np.zeros(1000, dtype=np.uint8)
        size = put(np.frombuffer(data, dtype=np.uint8), 0, len(data), base64_kernel.PAIRS, out, 0)
        assert bytes(out[:size]) == python.encodebytes(data)


@pytest.mark.parametrize("case", ["statement", "crash", "payloads"])
@pytest.mark.parametrize("verbose", [0, 2])
def test_damaged_logs_give_the_same_errors(
    case: str, verbose: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = corpus_files.case("mysql-9.7", case).logs[0].read_bytes()
    chance = random.Random(case)
    path = tmp_path / "binlog.000001"
    for _ in range(rounds(15, 3)):
        damaged = bytearray(data)
        for _ in range(chance.randint(1, 6)):
            damaged[chance.randrange(4, len(damaged))] = chance.randrange(256)
        path.write_bytes(damaged[: chance.choice((len(damaged), chance.randrange(len(damaged))))])
        make_slow(monkeypatch)
        (tmp_path / "slow").mkdir(exist_ok=True)
        slow = printed(path, tmp_path / "slow", verbose=verbose)
        make_quick(monkeypatch)
        (tmp_path / "fast").mkdir(exist_ok=True)
        text, error = printed(path, tmp_path / "fast", verbose=verbose)
        numbers = re.compile(rb"/(slow|fast)/SQL_LOAD_MB-([0-9a-f]+)-[0-9a-f]+")
        assert (numbers.sub(rb"\2", text), error) == (numbers.sub(rb"\2", slow[0]), slow[1])


@pytest.mark.parametrize("stop", [4, 126, 1000, 3000])
def test_small_events_stop_where_others_do(
    stop: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = corpus_files.case("mysql-9.7", "crash").logs[0]
    make_slow(monkeypatch)
    slow = printed(log, tmp_path, verbose=2, stop_position=stop)
    make_quick(monkeypatch)
    assert printed(log, tmp_path, verbose=2, stop_position=stop) == slow


_PARTS: list[dict[str, Any]] = [
    {"start_position": 157},
    {"start_position": 1500},
    {"offset": 7},
    {"offset": 40, "stop_position": 3000},
    {"start_seconds": 1},
    {"start_seconds": 1, "stop_seconds": 2},
    {"stop_seconds": 1},
]


@pytest.mark.parametrize("size", [300, 1 << 22])
@pytest.mark.parametrize("part", sample(_PARTS, 2), ids=str)
@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-10.11"])
def test_parts_of_logs_begin_and_end_alike(
    server: str, part: dict[str, Any], size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("crash", "ddl"):
        log = corpus_files.case(server, name).logs[0]
        with open_log(str(log)) as events:
            first = next(iter(events)).fixed_header.timestamp
        options = {key.replace("seconds", "timestamp"): value for key, value in part.items()}
        options |= {key: first + value for key, value in options.items() if "timestamp" in key}
        make_slow(monkeypatch)
        slow = printed(log, tmp_path, verbose=2, **options)
        make_quick(monkeypatch)
        monkeypatch.setattr(dump_logs, "BlockReader", reader_of(size))
        assert printed(log, tmp_path, verbose=2, **options) == slow
        monkeypatch.setattr(dump_logs, "BlockReader", BlockReader)


def _filters(log: Path) -> dict[str, dict[str, Any]]:
    """Options that take some events of a log."""
    with open_log(str(log)) as events:
        seen = [(event.gtid, event.fixed_header.server_id) for event in events]
    some, servers = GtidSet(), {server for _, server in seen}
    for number, gtid in enumerate(dict.fromkeys(gtid for gtid, _ in seen if gtid is not None)):
        if number % 5 in (1, 2):
            some.add(gtid)
    return {
        "include": {"include_gtids": some},
        "none": {"include_gtids": GtidSet()},
        "both": {"skip_gtids": True, "exclude_gtids": some, "base64_output": Base64Output.DECODE_ROWS},
        "server": {"server_ids": frozenset((max(servers),)), "exclude_gtids": some},
        "nobody": {"server_ids": frozenset((4_000_000_000,)), "stop_position": 2000},
    }


@pytest.mark.parametrize("name", ["crash", "xa", "payloads", "domains", "gtid_tags", "json_partial"])
def test_filters_take_the_same(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for case in sample([case for case in CASES if case.id.endswith(f"/{name}") and "10.5" not in case.id], 1):
        for log in sample(case.logs, 1):
            for options in _filters(log).values():
                check_one_by_one(log, tmp_path, monkeypatch, options)


def test_an_event_of_another_server_closes_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = corpus_files.case("mysql-9.7", "crash").logs[0]
    layout, groups = events_of(source)
    events = [raw for group in groups for raw in group]
    server_at, type_at = header_offset("server_id"), header_offset("type_code")
    server = events[0][server_at]
    first = next(index for index, raw in enumerate(events) if raw[type_at] == EventType.table_map_event)
    assert events[1][type_at] == EventType.previous_gtids_log_event
    other = events[1][:server_at] + bytes([server ^ 1]) + events[1][server_at + 1 :]
    maker = LogMaker(layout)
    maker.add_all([*events[: first + 1], other, *events[first + 1 :]])
    log = maker.write(tmp_path / "binlog.000001")
    options = {"server_ids": frozenset((server,)), "verbose": 1}
    check_one_by_one(log, tmp_path, monkeypatch, options)
    assert b"### Row event for unknown table" in printed(log, tmp_path, **options)[0]


def _names(log: Path) -> tuple[list[str], list[str]]:
    """The databases and tables that a log names."""
    with open_log(str(log)) as events:
        bodies = [event.body for event in events]
    found = ([getattr(body, name, None) for body in bodies] for name in ("schema_name", "table_name"))
    databases, tables = ([one for one in dict.fromkeys(names) if one] for names in found)
    return databases, tables


@pytest.mark.parametrize("name", sample(["many_databases", "statement", "crash", "ddl"], 2))
def test_databases_and_tables_are_left_out_alike(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for case in sample([case for case in CASES if case.id.endswith(f"/{name}") and "10.5" not in case.id], 2):
        log = case.logs[0]
        databases, tables = _names(log)
        for database in [*databases[:2], "absent"]:
            check_one_by_one(log, tmp_path, monkeypatch, {"database": database})
        if case.id.startswith("mariadb"):
            for table in tables[:2]:
                check_one_by_one(log, tmp_path, monkeypatch, {"table": table})


@pytest.mark.parametrize("name", sample(["many_databases", "mixed", "no_checksum", "crash"], 2))
def test_databases_get_their_new_names_alike(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for case in sample([case for case in CASES if case.id.endswith(f"/{name}") and "10.5" not in case.id], 1):
        log = case.logs[0]
        first, second = [*_names(log)[0], "other"][:2]
        named = {first: second, second: "a_longer_name"}
        for options in ({"verbose": 0}, {"database": second}):
            given: dict[str, Any] = {"rewrite_databases": named, **options}
            check_one_by_one(log, tmp_path, monkeypatch, given)


def test_few_events_are_left_to_the_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = corpus_files.case("mysql-9.7", "crash").logs[0]
    with open_log(str(log)) as events:
        count = sum(event.payload_index is None for event in events)
    read: list[int] = []
    take = EventReader.events_of

    def noted(*given: Any) -> Any:
        read.append(1)
        return take(*given)

    monkeypatch.setattr(EventReader, "events_of", noted)
    make_quick(monkeypatch)
    printed(log, tmp_path, verbose=2)
    assert 0 < len(read) < count / 4


def test_a_fraction_of_nothing_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = corpus_files.case("mysql-9.7", "statement").logs[0].read_bytes()
    with open_log(data) as events:
        bodies = [event.body for event in events if event.type == "QUERY_EVENT"]
    for body in bodies:
        for variable in body.status_vars.variables:
            if variable.key.name == "microseconds":
                stated = bytes([variable.key.value]) + variable.value.microseconds.to_bytes(3, "little")
                data = data.replace(stated, stated[:1] + bytes(3))
    path = tmp_path / "binlog.000001"
    path.write_bytes(data)
    for choose in (make_slow, make_quick):
        choose(monkeypatch)
        text, error = printed(path, tmp_path)
        assert re.search(rb"SET TIMESTAMP=\d+/", text)
        assert not re.search(rb"SET TIMESTAMP=\d+\.", text)
        assert not error


@pytest.mark.parametrize("size", sample([300, 2000], 1))
@pytest.mark.parametrize("verbose", [0, 2])
@pytest.mark.parametrize("name", ["ddl", "mixed", "crash", "types_full", "partition"])
def test_where_blocks_end_changes_nothing(
    name: str, verbose: int, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for case in sample([case for case in CASES if case.id.endswith(f"/{name}")], 1):
        for log in case.logs:
            make_slow(monkeypatch)
            slow = printed(log, tmp_path, verbose=verbose)
            make_quick(monkeypatch)
            monkeypatch.setattr(dump_logs, "BlockReader", reader_of(size))
            assert printed(log, tmp_path, verbose=verbose) == slow
            monkeypatch.setattr(dump_logs, "BlockReader", BlockReader)
