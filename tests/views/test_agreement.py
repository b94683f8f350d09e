"""Both readers agree on mutated logs: the same events, the same rows, and the same first error."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.core.grammar import ROWS_TYPES, EventType, header_length, header_offset
from binlog_kaitai.kernels import compile as kernels_of
from binlog_kaitai.log import payloads
from binlog_kaitai.sources.source import Source
from tests.corpus_files import case
from tests.dump.dump_ways import printed
from tests.extent import rounds
from tests.grammar.row_bytes import field, table_map_bytes
from tests.lines.test_rows_objects import lines_by_columns, lines_by_reader
from tests.log_maker import LogMaker, events_of, placed
from tests.rows.test_rows_corpus import by_columns as values_by_columns
from tests.rows.test_rows_corpus import by_reader as values_by_reader
from tests.rows.test_rows_hostile import row_event
from tests.samples import Sample, inner_events
from tests.support import by_columns, by_reader, use_plain_kernels
from tools.fuzz.mutants import mutant

_COUNT = rounds(50, 20)


def has_wrong_statement(log: Path) -> bool:
    """Whether a statement cannot be read; the columns may still know that it defines no table."""
    try:
        return any(event.type.startswith("QUERY") and event.body is None for event in bk.open(log))
    except bk.BinlogError as error:
        return (error.event_type or "").startswith("QUERY")


def disagreement(log: Path) -> tuple[str, Any, Any] | None:
    """The first difference between the readers: what was compared, and both results."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pairs: list[tuple[str, Any, Any]] = [("events", by_reader(log), by_columns(log))]
        if not has_wrong_statement(log):
            pairs += [
                ("rows", list(lines_by_reader(log)), list(lines_by_columns(log))),
                ("values", list(values_by_reader(log)), list(values_by_columns(log))),
            ]
    return next((pair for pair in pairs if pair[1] != pair[2]), None)


@pytest.mark.parametrize("mode", ["plain", "compiled"])
def test_mutated_logs_read_the_same(mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if mode == "plain":
        use_plain_kernels(monkeypatch)
    else:
        monkeypatch.setattr(kernels_of.Kernel, "run", property(lambda self: self.compiled))
    path = tmp_path / "binlog.000001"
    refused = 0
    for number in range(_COUNT):
        made = mutant(f"agreement/{number}")
        path.write_bytes(made.data)
        found = disagreement(path)
        assert found is None, (made.base, made.done)
        try:
            list(bk.open(path))
        except bk.BinlogError:
            refused += 1
    assert 0 < refused < _COUNT


def test_errors_inside_a_payload_are_at_the_event_that_holds_them(tmp_path: Path) -> None:
    sample = Sample(case("mysql-9.7", "payloads").logs[0])
    number, data = next(iter(sample.payloads.items()))
    at = next(at for at, kind in inner_events(data) if kind == EventType.table_map_event)
    at += header_length(4) + 8  # the length of the schema's name
    events = list(sample.events)
    events[number] = sample.with_payload(events[number], data[:at] + b"\xff" + data[at + 1 :])
    maker = LogMaker(sample.layout)
    maker.add(sample.head, as_is=True)
    maker.add_all(events[:number])
    position = len(maker.data)
    maker.add_all(events[number:])
    log = maker.write(tmp_path / "binlog.000001")
    with pytest.raises(bk.BinlogError) as error:
        list(bk.open(log))
    assert (error.value.position, error.value.event_type) == (position, "TABLE_MAP_EVENT")
    assert disagreement(log) is None


def test_verify_parses_a_payload_inside_a_payload(tmp_path: Path) -> None:
    sample = Sample(case("mysql-9.7", "payloads").logs[0])
    number, data = next(iter(sample.payloads.items()))
    layout = sample.layout.without_checksums()
    header = sample.events[number][: layout.header_length]
    damaged = placed(header + bytes.fromhex("01 04 02"), 0, layout)  # the field has fewer bytes than it says
    maker = LogMaker(sample.layout)
    maker.add(sample.head, as_is=True)
    maker.add_all(sample.events[:number])
    position = len(maker.data)
    maker.add(sample.with_payload(sample.events[number], data + damaged))
    log = maker.write(tmp_path / "binlog.000001")
    (damage,) = scan(Source.of_path(str(log)), is_thorough=True).damages
    assert (damage.position, damage.event_type) == (position, "TRANSACTION_PAYLOAD_EVENT")
    with pytest.raises(bk.BinlogError, match=damage.reason):
        [event.body for event in bk.open(log)]


def test_every_byte_of_a_tagged_gtid(tmp_path: Path) -> None:
    sample = Sample(case("mysql-9.7", "gtid_tags").logs[0])
    number = sample.kinds.index(EventType.gtid_tagged_log_event)
    raw = sample.events[number]
    reported = set()
    for index in range(sample.layout.header_length, len(raw) - 4):
        maker = LogMaker(sample.layout)
        maker.add(sample.head, as_is=True)
        maker.add_all([*sample.events[:number], raw[:index] + b"\xff" + raw[index + 1 :]])
        log = maker.write(tmp_path / "binlog.000001")
        lines, error = by_columns(log)
        assert (lines, error) == by_reader(log)
        reported.add(error)
    assert all("GTID_TAGGED_LOG_EVENT" in error for error in reported if error)
    assert len(reported) > 1


def log_of_rows(path: Path, server: str, *events: tuple[EventType, bytes]) -> Path:
    layout, groups = events_of(case(server, "no_checksum").logs[0])
    maker = LogMaker(layout)
    maker.add_all(groups[0])
    for kind, body in events:
        maker.add(row_event(kind, body))
    return maker.write(path / "binlog.000001")


def test_a_table_map_that_no_rows_follow_is_refused_by_both(tmp_path: Path) -> None:
    log = log_of_rows(tmp_path, "mysql-9.7", (EventType.table_map_event, table_map_bytes([3])[:-3]))
    with pytest.raises(bk.BinlogError, match="TABLE_MAP_EVENT"):
        bk.read_changes(log).read_all()
    assert disagreement(log) is None


def log_of_column(path: Path, column: int, metadata: str, size: int, *, is_logged: bool) -> Path:
    """A log of one row of an INT and a column, whose value of so many bytes the image has or lacks."""
    first = b"\x80" if column == 246 else b"\0"  # a DECIMAL of 0
    columns, values = ("03", bytes(4) + first + bytes(size - 1)) if is_logged else ("01", bytes(4))
    return log_of_rows(
        path,
        "mysql-9.7",
        (EventType.table_map_event, table_map_bytes([3, column], metadata)),
        (EventType.write_rows_event, bytes.fromhex(f"070000000000 0100 0200 02 {columns} 00") + values),
    )


@pytest.mark.parametrize("is_logged", [True, False])
@pytest.mark.parametrize(
    ("column", "metadata", "size", "field_name"),
    [
        *((kind, "07", size, "fractional_digits") for kind, size in ((17, 8), (18, 9), (19, 7))),
        *((246, metadata, 9, name) for metadata, name in (("4200", "precision"), ("0203", "scale"))),
        *(
            (16, metadata, 9, name)
            for metadata, name in (("0108", "bytes"), ("0009", "bytes"), ("0000", "bytes"), ("0800", "bits"))
        ),
        *((254, metadata, 3, "refusal") for metadata in ("f700", "f703", "c701", "f805", "f8c3")),
    ],
)
def test_impossible_metadata_of_a_column_is_damage_of_the_table_map(
    column: int, metadata: str, size: int, field_name: str, is_logged: bool, tmp_path: Path
) -> None:
    """Whether or not the rows have the column: all readers refuse what `verify` reports."""
    log = log_of_column(tmp_path, column, metadata, size, is_logged=is_logged)
    (damage,) = scan(Source.of_path(str(log)), is_thorough=True).damages
    assert damage.event_type == "TABLE_MAP_EVENT"
    for table in (None, "s.t"):
        with pytest.raises(bk.BinlogError) as raised:
            bk.read_changes(log, table=table).read_all()
        error = raised.value
        place = damage.position, "TABLE_MAP_EVENT", f"body.metadata.columns[1].{field_name}"
        assert (error.position, error.event_type, error.field) == place
    assert disagreement(log) is None


@pytest.mark.parametrize("is_logged", [True, False])
@pytest.mark.parametrize(
    ("column", "metadata", "size"),
    [(19, "06", 6), (246, "4141", 29), (246, "0100", 1), (16, "0008", 8), (16, "0707", 8)]
    + [(254, metadata, int(metadata[2:], 16)) for metadata in ("f701", "f702", "f803", "f804", "f808")],
)
def test_metadata_at_the_limits_is_read(
    column: int, metadata: str, size: int, is_logged: bool, tmp_path: Path
) -> None:
    log = log_of_column(tmp_path, column, metadata, size, is_logged=is_logged)
    assert not scan(Source.of_path(str(log)), is_thorough=True).damages
    assert len(list(bk.read_rows(log))) == 1
    assert disagreement(log) is None


@pytest.mark.parametrize("is_logged", [True, False])
def test_rows_of_a_column_of_unknown_type_are_refused(is_logged: bool, tmp_path: Path) -> None:
    """The table map may be of a newer server; its rows cannot be read even without the column."""
    log = log_of_column(tmp_path, 108, "", 1, is_logged=is_logged)
    (damage,) = scan(Source.of_path(str(log)), is_thorough=True).damages
    assert (damage.event_type, damage.reason) == (
        "WRITE_ROWS_EVENT",
        "the table map has a column type of unknown length",
    )
    with pytest.raises(bk.BinlogError, match=damage.reason):
        bk.read_changes(log).read_all()
    assert disagreement(log) is None


def test_compressed_images_that_do_not_unpack_are_refused_though_they_have_no_column(tmp_path: Path) -> None:
    rows = bytes.fromhex("070000000000 0100 01 00") + b"\x02"
    log = log_of_rows(
        tmp_path,
        "mariadb-11.8",
        (EventType.table_map_event, table_map_bytes([3])),
        (EventType.delete_rows_compressed_event_v1, rows),
    )
    with pytest.raises(bk.BinlogError, match="compressed_images"):
        bk.read_changes(log).read_all()
    assert disagreement(log) is None


def test_ascii_bytes_that_are_no_text_of_utf16_are_bytes(tmp_path: Path) -> None:
    row = bytes.fromhex("070000000000 0100 0200 01 ff")
    values = b"".join(b"\0" + bytes([len(one)]) + one for one in (b"after", b"\0a\0b", b"\0a\0\n", b""))
    log = log_of_rows(
        tmp_path,
        "mysql-9.7",
        (EventType.table_map_event, table_map_bytes([15], "c800", optional=field(2, "6d"))),
        (EventType.write_rows_event, row + values + b"\x01"),
    )
    found = bk.read_changes(log).read_all()["after"].to_pylist()
    assert found == [
        '{"c1": {"hex": "6166746572"}}', '{"c1": "ab"}', '{"c1": "a\\n"}', '{"c1": ""}', '{"c1": null}',
    ]  # fmt: skip
    assert disagreement(log) is None


@pytest.mark.parametrize("small", [0, 4 << 20])
@pytest.mark.parametrize("after", [0, 1])
@pytest.mark.parametrize("inside", ["", "m", "r", "mr"])
@pytest.mark.parametrize("before", ["", "m"])
def test_table_maps_are_valid_inside_a_payload_or_outside(
    before: str, inside: str, after: int, small: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A payload is a transaction with its own table maps; none before or inside it is valid after it."""
    monkeypatch.setattr(payloads, "_SMALL", small)
    sample = Sample(case("mysql-9.7", "payloads").logs[0])
    number, data = next(iter(sample.payloads.items()))
    index = next(at for at, kind in inner_events(data) if kind == EventType.table_map_event)
    ends = [*(begin for begin, _ in inner_events(data) if begin > index), len(data)]
    one = {"m": data[index : ends[0]], "r": data[ends[0] : ends[1]]}
    assert one["r"][header_offset("type_code")] in ROWS_TYPES
    room = bytes(4 * sample.layout.is_checksummed)
    maker = LogMaker(sample.layout)
    maker.add(sample.head, as_is=True)
    maker.add_all(one[letter] + room for letter in before)
    maker.add(sample.with_payload(sample.events[number], b"".join(one[letter] for letter in inside)))
    maker.add_all([one["r"] + room] * after)
    log = maker.write(tmp_path / "binlog.000001")
    is_whole = not after and inside != "r"
    assert (not scan(Source.of_path(str(log)), is_thorough=True).damages) == is_whole
    assert disagreement(log) is None


@pytest.mark.parametrize("kind", [EventType.write_rows_event_v1, EventType.write_rows_event])
@pytest.mark.parametrize("size", range(8))
def test_rows_that_end_in_their_fixed_part(kind: EventType, size: int, tmp_path: Path) -> None:
    """Without a whole table ID it is unknown which table map is missing: the event ends early."""
    rows = bytes.fromhex("070000000000 0100 0200 01 ff 00")[:size]
    log = log_of_rows(tmp_path, "mysql-5.6", (EventType.table_map_event, table_map_bytes([3])), (kind, rows))
    assert disagreement(log) is None
    (damage,) = scan(Source.of_path(str(log))).damages
    assert "ends early" in damage.reason


@pytest.mark.parametrize("small", [0, 4 << 20])
@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("kind", ["head", "broken", "START_ENCRYPTION_EVENT"])
def test_a_payload_contains_no_event_that_changes_the_format(
    kind: str, number: int, small: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever else is wrong with such an event, the payload is where the damage is."""
    monkeypatch.setattr(payloads, "_SMALL", small)
    sample = Sample(case("mysql-9.7", "payloads").logs[0])
    at, data = next(iter(sample.payloads.items()))
    header = bytearray(sample.head[: header_length(4)])
    if kind == "START_ENCRYPTION_EVENT":
        header[header_offset("type_code")] = EventType.start_encryption_event
    broken = placed(bytes(header) + bytes(4), 0, sample.layout.without_checksums())
    raw = sample.head if kind == "head" else broken
    begin = [begin for begin, _ in inner_events(data)][number]
    maker = LogMaker(sample.layout)
    maker.add(sample.head, as_is=True)
    maker.add_all(sample.events[:at])
    position = len(maker.data)
    maker.add(sample.with_payload(sample.events[at], data[:begin] + raw + data[begin:]))
    maker.add_all(sample.events[at + 1 :])
    log = maker.write(tmp_path / "binlog.000001")
    assert disagreement(log) is None
    (damage,) = scan(Source.of_path(str(log))).damages
    assert (damage.position, damage.event_type) == (position, "TRANSACTION_PAYLOAD_EVENT")
    name = "START_ENCRYPTION_EVENT" if kind == "START_ENCRYPTION_EVENT" else "FORMAT_DESCRIPTION_EVENT"
    assert damage.reason == f"contains a {name}"
    for verbose in (0, 2):
        assert printed(log, tmp_path, verbose=verbose)[1] == str(damage)
