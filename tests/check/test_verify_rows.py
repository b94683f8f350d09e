"""`verify` reports what any other command rejects; every such error has a position and printable text."""

from __future__ import annotations

import random
import re
import zlib
from functools import cache
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.core.grammar import ColumnType, EventType
from binlog_kaitai.log.series import SeriesDefinitions
from binlog_kaitai.render.explanation import dissect
from binlog_kaitai.sources.source import Source
from tests.corpus_files import Case, case
from tests.extent import sample
from tests.refusals import ENTRIES, events_in, log_of, refusal, refusals
from tests.support import all_files, use_plain_kernels
from tools.costly.making import Log, named
from tools.fuzz.mutants import mutant

_WITHOUT = case("mysql-9.7", "no_checksum").logs[0]
_DAMAGED = [path for path in all_files() if "damaged" in path.parts]
_ROWS = [case("mysql-9.7", "types_full"), case("mysql-9.7", "odd_values"), case("mariadb-11.8", "types_full")]


def positions(data: bytes, *, is_thorough: bool = True) -> list[int | None]:
    return [error.position for error in scan(Source.of_bytes(data), is_thorough=is_thorough).damages]


def rows_and_maps(data: bytes) -> tuple[list[int], list[int]]:
    """Indexes in the list of events of all rows events and table maps of a log without compression."""
    kinds = [event.type for event in bk.open(data)]
    rows = [index for index, kind in enumerate(kinds) if "_ROWS_EVENT" in kind and "ANNOTATE" not in kind]
    return rows, [index for index, kind in enumerate(kinds) if kind == "TABLE_MAP_EVENT"]


@pytest.mark.parametrize("is_checksummed", [False, True])
def test_rows_without_their_table_map(is_checksummed: bool) -> None:
    data = (case("mysql-9.7", "types_full").logs[0] if is_checksummed else _WITHOUT).read_bytes()
    events, (_, maps) = events_in(data), rows_and_maps(data)
    # An insignificant event in its place keeps all positions.
    lost = bytearray(events[maps[0]])
    lost[4] = EventType.ignorable_log_event
    events[maps[0]] = bytes(lost)
    log = log_of(events, is_checksummed=is_checksummed)
    report = scan(Source.of_bytes(log), is_thorough=True)
    assert "the table map of these rows is missing" in report.damages[0].reason
    assert report.damages[0].position == list(bk.open(log))[maps[0] + 1].position
    if is_checksummed:
        assert positions(log, is_thorough=False) == []


@pytest.mark.parametrize("is_plain", [False, True])
def test_without_checksums_rows_are_always_walked(is_plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each bit of each rows event flipped in turn: what `rows` refuses, `verify` names."""
    if is_plain:
        use_plain_kernels(monkeypatch)
    data, rng = _WITHOUT.read_bytes(), random.Random(4)
    rows, _ = rows_and_maps(data)
    starts = [event.position for event in bk.open(data)]
    refused = 0
    for index in rng.choices(rows, k=40):
        log = bytearray(data)
        log[rng.randrange(starts[index] + 19 + 10, starts[index + 1])] ^= 1 << rng.randrange(8)
        if (error := refusal("rows_of", bytes(log))) is not None:
            refused += 1
            assert error.position in positions(bytes(log), is_thorough=False)
    assert refused


@cache
def _cells(path: Path) -> tuple[tuple[int, int, int], ...]:
    """Event, offset and length of parts of values in first rows after a table map, one of each kind."""
    found: dict[str, tuple[int, int, int]] = {}
    before = ""
    for index, event in enumerate(bk.open(path)):
        if event.table_map is not None and before == "TABLE_MAP_EVENT" and len(event.raw) < 2_000:
            for leaf in dissect(event).leaves:
                if match := re.search(r"rows\[0\]\.after\.cells\[(\d+)\]\.value(.*)", leaf.path):
                    kind = (event.table_map.columns or [])[int(match[1])].real_type
                    part = re.sub(r"\d+", "", f"{kind}{match[2]}")
                    found.setdefault(part, (index, leaf.offset, leaf.size))
        before = event.type
    return tuple(found.values())


@pytest.mark.parametrize("found", _ROWS, ids=lambda one: one.id)
def test_impossible_values_are_named(found: Case) -> None:
    """Every part of values of all types is overwritten: whatever the event reader refuses is damage."""
    path = found.logs[0]
    events, refused = events_in(path.read_bytes()), set()
    for index, offset, size in _cells(path):
        for value in (0xFF, 0x3F):
            changed = bytearray(events[index])
            changed[offset : offset + size] = bytes([value]) * size
            log = log_of([events[0], events[index - 1], bytes(changed)], is_checksummed=True)
            if (error := refusal("rows_of", log)) is not None:
                refused.add(re.sub(r"\d+", "N", error.reason)[:12])
                assert error.position in positions(log), str(error)
    assert len(refused) > 3, refused


def test_all_wrong_events_are_named_among_right_ones() -> None:
    path = case("mysql-9.7", "types_full").logs[0]
    events = events_in(path.read_bytes())
    index, offset = next(
        (index, leaf.offset)
        for index, event in enumerate(bk.open(path))
        if event.table_map is not None
        for leaf in dissect(event).leaves
        if re.search(r"rows\[0\]\.after\.cells\[\d+\]\.value\.digits", leaf.path)
    )
    wrong = bytearray(events[index])
    wrong[offset + 1] = 0xFF
    chance = random.Random(2)
    picks = [chance.random() < 0.2 for _ in range(200)]
    copies = [bytes(wrong) if is_wrong else events[index] for is_wrong in picks]
    log = log_of([*events[:index], *copies, *events[index + 1 :]], is_checksummed=True)
    starts = [event.position for event in bk.open(log)][index : index + len(picks)]
    assert positions(log) == [start for start, is_wrong in zip(starts, picks, strict=True) if is_wrong]


def test_definitions_go_on_from_log_to_log() -> None:
    """An earlier log defines the members of an ENUM than the one with a row whose number exceeds them."""
    path = case("mysql-9.7", "types_minimal").logs[0]
    events, parsed = events_in(path.read_bytes()), list(bk.open(path))
    index, leaf = next(
        (index, leaf)
        for index, event in enumerate(parsed)
        if event.table_map is not None
        for leaf in dissect(event).leaves
        if (match := re.search(r"rows\[0\]\.after\.cells\[(\d+)\]\.value", leaf.path))
        if (event.table_map.columns or [])[int(match[1])].real_type == ColumnType.enum
    )
    changed = bytearray(events[index])
    changed[leaf.offset] = 0xFE
    statements = [raw for raw, event in zip(events, parsed, strict=True) if event.type == "QUERY_EVENT"]
    before = log_of([events[0], *statements], is_checksummed=True)
    log = log_of([events[0], events[index - 1], bytes(changed)], is_checksummed=True)
    assert positions(log) == []
    definitions = SeriesDefinitions()
    found = [
        scan(Source.of_bytes(one), is_thorough=True, definitions=definitions).damages for one in (before, log)
    ]
    assert found[0] == []
    assert ["ENUM member" in error.reason for error in found[1]] == [True]


@pytest.mark.parametrize("seed", sample(range(4), 1))
def test_what_anyone_refuses_is_damage(seed: int, tmp_path: Path) -> None:
    """Mutated logs under right checksums through every entry; `tools/fuzz` does the same for longer."""
    path = tmp_path / "binlog.000001"
    for number in range(12):
        path.write_bytes(mutant(f"refused {seed}/{number}").data)
        named = {error.position for error in scan(Source.of_path(str(path)), is_thorough=True).damages}
        for entry, error in refusals(str(path)).items():
            assert error.position in named, (entry, str(error))
            _has_a_position(error, str(path))


@pytest.mark.parametrize("path", sample(_DAMAGED, 12), ids=lambda one: one.parent.name)
def test_errors_of_damaged_logs_have_a_position(path: Path) -> None:
    for error in refusals(str(path)).values():
        _has_a_position(error, str(path))


def _has_a_position(error: bk.BinlogError, path: str) -> None:
    assert (error.file, error.position is not None) == (path, True), repr(error)
    assert str(error).isprintable()
    assert str(error).encode().decode() == str(error)


def test_two_columns_of_one_name_are_refused_at_their_rows() -> None:
    data = case("mysql-9.7", "metadata").logs[0].read_bytes()
    events, parsed = events_in(data), list(bk.open(data))
    index = next(index for index, event in enumerate(parsed) if b"\1a\1b\1c" in event.raw)
    table_map = events[index].replace(b"\1a\1b\1c", b"\1a\1a\1c")
    log = log_of([*events[:index], table_map, *events[index + 1 :]], is_checksummed=True)
    found = refusals(log)
    texts = {str(found[name]) for name in ("rows", "read_changes", "export", "rows_of")}
    assert texts == {str(found["rows"])}
    assert found["rows"].reason == "duplicate column name"
    rows = next(event for event in parsed[index:] if event.table_map is not None)
    assert found["rows"].position == rows.position
    assert rows.position in positions(log)


@pytest.mark.parametrize("length", [256, 257])
def test_a_column_name_longer_than_those_of_any_server_is_refused_at_its_rows(length: int) -> None:
    """Otherwise its length would be written for each row."""
    log = Log()
    log.query(b"BEGIN")
    log.map(1, b"\3\3", more=named([b"a", b"n" * length]))
    log.insert(1, 2, b"\3", b"\3")
    log.xid()
    found = refusals(bytes(log.data))
    readers = ("rows", "read_changes", "export", "rows_of", "sql")
    reasons = {one.reason if (one := found.get(name)) else None for name in readers}
    assert reasons == {None if length == 256 else "a column has a name of 257 characters"}
    assert len(positions(bytes(log.data))) == (length > 256)


def test_names_that_are_not_utf8_stay_printable() -> None:
    error = bk.GrammarError("wrong", file="f", position=4, field="t.\udc88\x1b[1m\nx\u0085")
    assert str(error) == "f, position 4, field t.\\x88\\x1b[1m\\x0ax\\x85: wrong"
    assert error.field == "t.\udc88\x1b[1m\nx\u0085"


@pytest.mark.parametrize("path", [_ROWS[0].logs[0], _WITHOUT, case("mariadb-11.8", "types_full").logs[0]])
@pytest.mark.parametrize("algorithm", [2, 3, 254])
def test_a_checksum_algorithm_that_no_server_writes(path: Path, algorithm: int) -> None:
    data = bytearray(path.read_bytes())
    end = next(iter(bk.open(bytes(data)))).end_position
    data[end - 5] = algorithm
    data[end - 4 : end] = zlib.crc32(data[4 : end - 4]).to_bytes(4, "little")
    found = refusals(bytes(data))
    assert set(found) == set(ENTRIES) - {"read_changes(table)"}  # there is no name to ask for
    assert {error.position for error in found.values()} == {4}
    assert found["open"].field == "body.checksum_algorithm"
    assert positions(bytes(data))[0] == 4
