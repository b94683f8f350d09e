"""`verify`: undamaged logs pass, damage is located, contents are counted."""

from __future__ import annotations

import random
import zlib
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.check import damaged_bodies as bodies
from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.core.grammar import EventType, UserVarEvent, header_length, header_offset
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.errors import AnotherLogError, ChecksumError, FramingError, GrammarError
from binlog_kaitai.log import block_reader as blocks
from binlog_kaitai.log import threads as columns_threads
from binlog_kaitai.log.log_end import EndKind
from binlog_kaitai.log.resync import Search
from binlog_kaitai.render.explanation import dissect
from binlog_kaitai.sources.source import Source
from tests.corpus_files import Case, LogFile, case, logs
from tests.log_maker import LogMaker, events_of
from tests.support import by_columns, by_reader
from tools.bench.make_log import shape_of, write

LOG = case("mysql-9.7", "types_full").logs[0]
PLAIN = case("mysql-9.7", "no_checksum").logs


def positions(data: bytes) -> list[int]:
    return [event.position for event in bk.open(data) if event.payload_index is None]


@pytest.mark.parametrize("log", logs(), ids=lambda log: log.id)
def test_undamaged_logs_are_fine(log: LogFile) -> None:
    report = scan(Source.of_path(str(log.path)))
    assert report.damages == []
    assert report.end is not None
    assert report.size == log.path.stat().st_size
    lines, error = by_reader(log.path)
    assert error is None
    assert report.events + report.inner_events == len(lines)
    assert report.checksums["bad"] == 0
    assert sum(report.checksums.values()) == report.events


@pytest.mark.parametrize("log", logs(), ids=lambda log: log.id)
def test_gtids_are_those_of_the_transactions(log: LogFile) -> None:
    wanted = GtidSet()
    with bk.open(log.path) as reader:
        for event in reader:
            if event.gtid is not None:
                wanted.add(event.gtid)
    assert scan(Source.of_path(str(log.path))).gtids == wanted


def test_each_flipped_bit_is_found() -> None:
    data = LOG.read_bytes()
    starts = positions(data)
    rng = random.Random(3)
    for _ in range(40):
        place = rng.randrange(starts[2], len(data))
        damaged = bytearray(data)
        damaged[place] ^= 1 << rng.randrange(8)
        report = scan(Source.of_bytes(bytes(damaged)))
        event = max(start for start in starts if start <= place)
        assert report.damage_count
        assert report.damages[0].position == event


def test_a_pass_continues_after_a_bad_checksum() -> None:
    data = bytearray(LOG.read_bytes())
    starts = positions(bytes(data))
    for index in (4, 9):
        data[starts[index] + 25] ^= 0x10
    report = scan(Source.of_bytes(bytes(data)))
    assert [type(error) for error in report.damages] == [ChecksumError, ChecksumError]
    assert [error.position for error in report.damages] == [starts[4], starts[9]]
    assert report.checksums["bad"] == 2
    assert report.events == len(starts)


def test_a_lost_event_is_reported_once() -> None:
    data = LOG.read_bytes()
    starts = positions(data)
    report = scan(Source.of_bytes(data[: starts[7]] + data[starts[8] :]))
    assert [type(error) for error in report.damages] == [FramingError]
    assert report.damages[0].position == starts[7]
    assert report.damages[0].field == "header.next_position"


@pytest.mark.parametrize("found", ["mysql-9.7/rotate", "mysql-5.6/no_checksum", "mariadb-10.11/rotate"])
def test_a_log_that_was_sent_from_a_position_on_is_fine(found: str) -> None:
    """As written by `mysqlbinlog --raw --start-position`: the events after the first keep their positions."""
    data = case(*found.split("/")).logs[0].read_bytes()
    events = [event for event in bk.open(data) if event.payload_index is None]
    head = bytearray(events[0].raw)
    offset = header_offset("next_position")
    head[offset : offset + 4] = bytes(4)
    if events[0].checksum_status == "ok":
        head[-4:] = zlib.crc32(head[:-4]).to_bytes(4, "little")
    first = next(index for index, event in enumerate(events) if index > 3 and "GTID" in event.type)
    piece = data[:4] + bytes(head) + data[events[first].position :]
    assert scan(Source.of_bytes(piece)).damages == []
    last = events[first + 1]
    gone = len(piece) - len(data) + last.position
    report = scan(Source.of_bytes(piece[:gone] + piece[gone + len(last.raw) :]))
    assert [error.position for error in report.damages] == [gone]


def test_a_distance_is_reported_where_it_begins() -> None:
    """Positions that are off by 6 from one event on, by 9 from another; 0 states no position."""
    data = bytearray(LOG.read_bytes())
    starts = [*positions(bytes(data)), len(data)]
    for index, distance in {4: 6, 5: 6, 6: None, 7: 6, 8: 9, 9: 9}.items():
        start, end = starts[index], starts[index + 1]
        stated = 0 if distance is None else end + distance
        data[start + 13 : start + 17] = stated.to_bytes(4, "little")
        data[end - 4 : end] = zlib.crc32(data[start : end - 4]).to_bytes(4, "little")
    report = scan(Source.of_bytes(bytes(data)))
    assert [error.position for error in report.damages] == [starts[4], starts[8]]
    assert f"gives the end as {starts[9] + 9} instead of {starts[9]}" in str(report.damages[1])


def test_bodies_without_checksum_are_checked_against_the_grammar() -> None:
    events = [event for log in PLAIN for event in bk.open(log) if event.checksum_status == "none"]
    query = next(event for event in events if event.type == "QUERY_EVENT")
    data = bytearray(Path(query.file).read_bytes())
    data[query.position + 19 + 8] = 0xFF  # the length of the schema's name
    report = scan(Source.of_bytes(bytes(data)))
    assert [type(error) for error in report.damages] == [GrammarError]
    assert report.damages[0].position == query.position


@pytest.mark.parametrize(
    ("name", "path"), [("TABLE_MAP_EVENT", "len_metadata.first"), ("QUERY_EVENT", "len_status_vars")]
)
@pytest.mark.parametrize("flavor", ["mysql-9.7", "mariadb-11.8"])
def test_structures_after_the_layouts_are_checked(flavor: str, name: str, path: str) -> None:
    """Every event of the type has the same fault; the others of its content are not read by the grammar."""
    for log in case(flavor, "no_checksum").logs:
        data, offsets = bytearray(log.read_bytes()), []
        for event in bk.open(log):
            if event.type == name and event.checksum_status == "none":
                found = dissect(event).leaves
                leaf = next(leaf for leaf in found if leaf.path.startswith(f"body.{path}"))
                # A table map's metadata does not end any more; status variables end within a string.
                data[event.position + leaf.offset] = 0xFE if name == "TABLE_MAP_EVENT" else 6
                offsets.append(event.position)
        report = scan(Source.of_bytes(bytes(data)))
        assert [error.position for error in report.damages if isinstance(error, GrammarError)] == offsets
        assert by_columns(bytes(data)) == by_reader(bytes(data))


def with_changed_field(data: bytes, wanted: str, path: str, value: bytes) -> tuple[bytes, list[int]]:
    """A log with another value in the field of all events of a type, under the right checksums; and where."""
    log, offsets = bytearray(data), []
    for event in bk.open(data):
        if event.type == wanted and event.checksum_status == "ok":
            leaf = next(leaf for leaf in dissect(event).leaves if leaf.path == f"body.{path}")
            start, end = event.position, event.end_position
            log[start + leaf.offset : start + leaf.offset + len(value)] = value
            log[end - 4 : end] = zlib.crc32(log[start : end - 4]).to_bytes(4, "little")
            offsets.append(start)
    return bytes(log), offsets


@pytest.mark.parametrize(
    ("wanted", "path", "value"),
    [
        ("QUERY_EVENT", "len_status_vars", b"\xff\xff"),
        ("WRITE_ROWS_EVENT", "num_columns.first", b"\xfe"),
        ("TABLE_MAP_EVENT", "len_schema_name.first", b"\xff"),
    ],
)
def test_bodies_are_held_to_the_grammar_under_right_checksums(wanted: str, path: str, value: bytes) -> None:
    data, offsets = with_changed_field(LOG.read_bytes(), wanted, path, value)
    report = scan(Source.of_bytes(data))
    assert report.checksums["bad"] == 0
    assert offsets
    assert [error.position for error in report.damages] == offsets
    assert {type(error) for error in report.damages} == {GrammarError}


def test_of_common_types_a_part_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "_RARE", 2)
    monkeypatch.setattr(bodies, "_IN_LOG", 3)
    data = LOG.read_bytes()
    events = [event.type for event in bk.open(data)]
    all_of_them = scan(Source.of_bytes(data), is_thorough=True)
    assert all_of_them.bodies == len(events)
    assert events.count("QUERY_EVENT") > 3
    some = scan(Source.of_bytes(data))
    assert events.count("TABLE_MAP_EVENT") + 3 < some.bodies < len(events)
    assert some.damages == all_of_them.damages == []
    # Without a checksum that fits no body is left out.
    for log in PLAIN:
        assert scan(Source.of_path(str(log))).bodies == len(list(bk.open(log)))


def test_ends() -> None:
    assert scan(Source.of_path(str(LOG))).end.kind is EndKind.CLEAN  # type: ignore[union-attr]
    in_use = case("damaged", "mysql-9.7-in_use_cut_in_body").logs[0]
    report = scan(Source.of_path(str(in_use)))
    assert report.end is not None
    assert report.end.kind is EndKind.IN_USE
    assert not report.damage_count


def test_the_end_of_a_log_in_use_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its last event, which is not complete, has no position that would prove its size."""
    data = bytearray(case("damaged", "mysql-9.7-in_use_cut_in_body").logs[0].read_bytes())
    end = scan(Source.of_bytes(bytes(data))).end
    assert end is not None
    place = end.position + header_offset("next_position")
    data[place : place + 4] = bytes(4)
    searches = list[tuple[object, ...]]()
    search = Search._search

    def counted(self: Search, *given: Any) -> int | None:
        searches.append(given)
        return search(self, *given)

    monkeypatch.setattr(Search, "_search", counted)
    assert scan(Source.of_bytes(bytes(data))).end == end
    assert len(searches) == len(set(searches)) > 0


PUT_TOGETHER = [
    (case("mysql-9.7", "rotate"), case("mysql-9.7", "rotate")),
    (case("mysql-9.7", "no_checksum"), case("mysql-5.6", "rotate")),
    (case("mysql-5.6", "no_checksum"), case("mariadb-10.11", "rotate")),
    (case("mariadb-10.11", "rotate"), case("mariadb-10.11", "relay-of-mysql-5.6")),
]


@pytest.mark.parametrize(("first", "second"), PUT_TOGETHER, ids=lambda one: one.id)
def test_concatenated_logs_are_reported_as_such(first: Case, second: Case) -> None:
    parts = [first.logs[0].read_bytes(), second.logs[1].read_bytes(), first.logs[0].read_bytes()]
    alone = [scan(Source.of_bytes(part)) for part in parts]
    offsets = [len(parts[0]), len(parts[0] + parts[1])]
    report = scan(Source.of_bytes(b"".join(parts)))
    assert [type(error) for error in report.damages] == [AnotherLogError] * 2
    assert [error.position for error in report.damages] == offsets
    assert f"split the file at {offsets[1]}" in str(report.damages[1])
    assert [(lost.start, lost.stop) for lost in report.lost] == [(place, place + 4) for place in offsets]
    assert report.events == sum(one.events for one in alone)
    assert report.end is not None
    assert (report.end.kind, report.end.position) == (EndKind.CLEAN, len(b"".join(parts)))


@pytest.mark.parametrize("server_id", [0, 97, 1 << 20, (1 << 32) - 1])
def test_where_another_log_begins_no_event_is_made_of_it(server_id: int, tmp_path: Path) -> None:
    """Its server id is at the offset of an event's size, and nothing has checksums."""
    data = PLAIN[0].read_bytes()
    another = data[:9] + server_id.to_bytes(4, "little") + data[13:]
    path = tmp_path / "both"
    path.write_bytes(data + another)
    lines, error = by_reader(path)
    assert f"position {len(data)}: another log begins" in str(error)
    assert len(lines) == len(by_reader(PLAIN[0])[0])
    assert by_columns(path) == (lines, error)


def test_no_log_begins_with_an_event_whose_time_is_the_magic(tmp_path: Path) -> None:
    """As in a second of 2028, of a server numbered by a date, whose first byte looks like a type."""
    data = bytearray(PLAIN[0].read_bytes())
    for position in positions(bytes(data))[1:]:
        data[position : position + 4] = b"\xfebin"
        data[position + 5 : position + 9] = (20280912).to_bytes(4, "little")
    path = tmp_path / "binlog.000001"
    path.write_bytes(data)
    lines, error = by_reader(path)
    assert (len(lines), error) == (len(by_reader(PLAIN[0])[0]), None)
    assert by_columns(path) == (lines, None)


@pytest.mark.parametrize("cut", [1, 5, 12])
def test_another_log_after_a_truncated_one_is_reported(cut: int) -> None:
    first, second = (log.read_bytes() for log in case("mysql-9.7", "rotate").logs[:2])
    start = positions(first)[-1]
    report = scan(Source.of_bytes(first[: start + cut] + second))
    assert report.damages[0].position == start
    assert [error.position for error in report.damages if isinstance(error, AnotherLogError)] == [start + cut]


def test_a_damaged_start_of_another_log_is_reported() -> None:
    data = PLAIN[0].read_bytes()
    report = scan(Source.of_bytes(data + data[:10]))
    assert report.damages[0].position == len(data)


def test_gaps_between_gtids() -> None:
    gtids = case("mysql-9.7", "gtid_tags").logs[0]
    report = scan(Source.of_path(str(gtids)))
    assert all(first <= last for gaps in report.gaps().values() for first, last in gaps)
    report.gtids.add_range("0-1", 1, 4)
    report.gtids.add_range("0-2", 4, 6)
    report.gtids.add_range("0-1", 8, 9)
    assert report.gaps()["0"] == [(6, 7)]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_large_logs_with_and_without_threads(
    threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "_PREFETCH_FROM", 0)
    monkeypatch.setattr(columns_threads, "_FROM", 0)
    path = tmp_path / "binlog.000001"
    mixed = case("mysql-9.7", "mixed").logs[0]
    written = write(shape_of("bulk", mixed, event_size=8192, repeat=40), path, 12_000_000)
    report = scan(Source.of_path(str(path)), threads=threads)
    assert report.damages == []
    assert report.events >= written
    assert report.transactions == len(report.gtids)
    with path.open("r+b") as file:
        for place in (1_000_000, 5_000_000, 11_000_000):
            file.seek(place)
            byte = file.read(1)
            file.seek(place)
            file.write(bytes([byte[0] ^ 1]))
    damages = scan(Source.of_path(str(path)), threads=threads).damages
    assert [type(error) for error in damages] == [ChecksumError] * 3


def test_a_user_variable_that_is_no_decimal_is_damage(tmp_path: Path) -> None:
    """What `events` refuses at the event, `verify` names there."""
    layout, groups = events_of(case("mysql-9.7", "statement").logs[0])
    log, positions = LogMaker(layout), []
    for raw in (bytearray(raw) for group in groups for raw in group):
        value = header_length(4) + 4 + raw[header_length(4)] + 1
        if raw[header_offset("type_code")] == EventType.user_var_event and raw[value] == DECIMAL:
            positions.append(len(log.data))
            raw[value + 10] = 200  # digits after the point
        log.add(bytes(raw))
    path = str(log.write(tmp_path / "binlog.000001"))
    report = scan(Source.of_path(path), is_thorough=True)
    assert [error.position for error in report.damages] == positions != []
    words = rf"position {positions[0]}, USER_VAR_EVENT: .* not a valid DECIMAL\("
    with pytest.raises(bk.DamagedError, match=words):
        list(bk.read_events(path))


#: A type of the value of a user variable.
DECIMAL = UserVarEvent.ResultType.decimal.value
