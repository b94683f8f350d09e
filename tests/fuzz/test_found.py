"""Findings of the fuzzer, each kind in the smallest log that shows it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

import binlog_kaitai as bk
from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.check.repair import repair
from binlog_kaitai.check.slices import slice as slice_log
from binlog_kaitai.core.grammar import EventType, UserVarEvent, header_offset
from binlog_kaitai.errors import ChecksumError, GrammarError
from binlog_kaitai.following.log_headers import header_of
from binlog_kaitai.log import payloads
from binlog_kaitai.log.gtid_runs import gtids as logged_gtids
from binlog_kaitai.render.explanation import dissect
from binlog_kaitai.sources.source import Source
from binlog_kaitai.text.printed_values import put_integer
from tests.core.test_pieces import in_pieces
from tests.corpus_files import CORPUS, case
from tests.dump.dump_ways import make_quick, make_slow, printed
from tests.grammar.row_bytes import table_map_bytes
from tests.log_maker import LogMaker, events_of
from tests.samples import Sample
from tests.views.test_agreement import disagreement, log_of_rows


def _with_type(raw: bytes, kind: EventType) -> bytes:
    offset = header_offset("type_code")
    return raw[:offset] + bytes([kind]) + raw[offset + 1 :]


def test_rows_from_before_5_1_16_are_refused_by_both_printers(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout, groups = events_of(case("mysql-5.6", "rotate").logs[0])
    log = LogMaker(layout)
    offset = header_offset("type_code")
    for raw in (raw for group in groups for raw in group):
        is_rows = raw[offset] == EventType.write_rows_event
        log.add(_with_type(raw, EventType.pre_ga_delete_rows_event) if is_rows else raw)
    path = log.write(tmp_path / "binlog.000001")
    make_slow(monkeypatch)
    _, slow = printed(path, tmp_path, verbose=2)
    make_quick(monkeypatch)
    _, quick = printed(path, tmp_path, verbose=2)
    assert slow == quick
    assert "rows from servers before 5.1.16" in slow


@pytest.mark.parametrize("way", ["plain", "compiled"])
@pytest.mark.parametrize("value", [-(1 << 63), -(1 << 63) + 1, -10, -9, -1, 0, (1 << 63) - 1])
def test_an_integer_of_eight_bytes_is_printed_without_overflow(way: str, value: int) -> None:
    data = np.frombuffer(value.to_bytes(8, "little", signed=True), dtype=np.uint8)
    out = np.zeros(60, dtype=np.uint8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        size = getattr(put_integer, way)(data, 0, 8, out, 0)
    unsigned = f" ({value + (1 << 64)})" if value < 0 else ""
    assert bytes(out[:size]).decode() == f"{value}{unsigned}"


def test_compressed_rows_whose_end_is_missing_are_damage_for_every_reader() -> None:
    """All bytes of the rows come out, but their compressed stream does not end; servers refuse that, too."""
    layout, groups = events_of(case("mariadb-11.8", "types_compressed").logs[0])
    log, at = LogMaker(layout), header_offset("type_code")
    raw = next(
        raw for group in groups for raw in group if raw[at] == EventType.write_rows_compressed_event_v1
    )
    group = next(group for group in groups if raw in group)
    for one in (*groups[0], *group):
        log.add(one[:-5] + one[-4:] if one is raw else one)
    data = bytes(log.data)
    with pytest.raises(bk.BinlogError, match="truncated") as by_reader:
        _ = [event.body for event in bk.open(data)]
    with pytest.raises(bk.BinlogError, match="truncated") as by_columns:
        bk.read_changes(data).read_all()
    offsets = {by_reader.value.position, by_columns.value.position}
    assert offsets == {damage.position for damage in scan(Source.of_bytes(data), is_thorough=True).damages}


@pytest.mark.parametrize("verifies", [True, False])
def test_a_damaged_start_of_encryption_is_one_error_for_both_readers(verifies: bool) -> None:
    """It can neither be parsed nor has a valid checksum: both readers report the checksum."""
    data = bytearray((CORPUS / "encrypted/mariadb-10.11/plain/binlog.000001").read_bytes())
    start = next(e for e in bk.open(bytes(data[:400])) if e.type == "START_ENCRYPTION_EVENT")
    size_at = start.position + header_offset("len_event")
    data[size_at : size_at + 4] = (len(start.raw) - 11).to_bytes(4, "little")
    found = []
    for read in (
        lambda: list(bk.open(bytes(data), verify_checksums=verifies)),
        lambda: bk.read_events(bytes(data), verify_checksums=verifies).read_all(),
        lambda: bk.read_changes(bytes(data), verify_checksums=verifies).read_all(),
        lambda: bk.read_transactions(bytes(data), verify_checksums=verifies).read_all(),
    ):
        with pytest.raises(bk.BinlogError) as caught:
            read()
        found.append((type(caught.value), str(caught.value)))
    assert found == [found[0]] * 4
    assert found[0][0] is (ChecksumError if verifies else GrammarError)
    report = scan(Source.of_bytes(bytes(data)))
    assert [damage.position for damage in report.damages] == [start.position]


def test_repair_takes_no_compressed_transaction_that_cannot_be_opened(tmp_path: Path) -> None:
    """An event in the bytes that another one may have lost is held to what the check of the result asks."""
    layout, (head, *transactions) = events_of(case("mariadb-10.11", "mixed").logs[0])
    log = LogMaker(layout)
    log.add(head[0])
    checkpoint = next(raw for raw in head if raw[4] == EventType.binlog_checkpoint_event)
    log.add(checkpoint[:19] + b"\xff\xff\xff\xff" + checkpoint[23:])
    at = len(log.data)
    log.add(_with_type(transactions[-1][0], EventType.transaction_payload_event))
    path = log.write(tmp_path / "binlog.000001")
    done = repair(Source.of_path(str(path)), str(tmp_path / "repaired.000001"), keep_partial=True)
    assert done.result.damage_count == 0
    assert done.result.events == 1
    assert any(gap.start <= at < gap.stop for gap in done.lost)


@pytest.mark.parametrize(
    ("leaf", "field"),
    [("].next_1", "body.fields.uuid"), ("fields.tag.text", "body.fields.tag.text")],
)
@pytest.mark.parametrize("byte", [b"\x7f", b"\n", b"-", b"A"])
def test_a_gtid_that_no_server_writes_is_damage_for_every_reader(
    leaf: str, field: str, byte: bytes, tmp_path: Path
) -> None:
    """A UUID with numbers above 255, or a tag of other characters: `repair` leaves the event out."""
    source = case("mysql-9.7", "gtid_tags").logs[0]
    layout, groups = events_of(source)
    event = next(event for event in bk.open(source) if event.type == "GTID_TAGGED_LOG_EVENT")
    place = next(one.offset for one in dissect(event).leaves if one.path.endswith(leaf))
    damaged = event.raw[:place] + (b"\xff" if "uuid" in field else byte) + event.raw[place + 1 :]
    log, alone = LogMaker(layout), LogMaker(layout)
    alone.add_all([groups[0][0], damaged])
    with pytest.raises(bk.BinlogError, match=f"position {len(groups[0][0]) + 4}, GTID_TAGGED_LOG_EVENT"):
        header_of(str(alone.write(tmp_path / "binlog.000002")))
    for raw in (raw for group in groups for raw in group):
        log.add(damaged if raw == event.raw else raw)
    path = log.write(tmp_path / "binlog.000001")
    damages = scan(Source.of_path(str(path))).damages
    assert [(one.position, one.event_type, one.field) for one in damages] == [
        (event.position, event.type, field)
    ]
    for read in (bk.open, bk.read_events, bk.read_changes, bk.read_transactions):
        with pytest.raises(bk.BinlogError) as caught:
            list(read(path))
        assert str(caught.value) == str(damages[0])
    done = repair(Source.of_path(str(path)), str(tmp_path / "repaired.000001"))
    assert [(gap.start, gap.stop) for gap in done.lost] == [(event.position, event.end_position)]


@pytest.mark.parametrize("byte", [b"\x7f", b"-"])
def test_a_tag_that_no_server_writes_in_the_gtids_before_a_log_is_damage(byte: bytes, tmp_path: Path) -> None:
    source = case("mysql-9.7", "gtid_tags").logs[1]
    event = next(event for event in bk.open(source) if event.type == "PREVIOUS_GTIDS_LOG_EVENT")
    layout, groups = events_of(source)
    log = LogMaker(layout)
    log.add_all([raw.replace(b"tag1", b"tag" + byte) if raw == event.raw else raw for raw in groups[0]])
    path = log.write(tmp_path / "binlog.000001")
    damages = scan(Source.of_path(str(path))).damages
    assert [(one.position, one.event_type, one.field) for one in damages] == [
        (event.position, event.type, "body.gtids")
    ]
    for read in (
        lambda: bk.read_events(path).read_all(),
        lambda: logged_gtids(path),
        lambda: header_of(str(path)),
    ):
        with pytest.raises(bk.BinlogError) as caught:
            read()
        assert str(caught.value) == str(damages[0])
    assert printed(path, tmp_path)[1] == str(damages[0])


def test_rows_with_fractions_that_the_log_does_not_declare_are_not_damage(tmp_path: Any) -> None:
    path = case("mariadb-10.11", "types_old_temporal").logs[0]
    assert scan(Source.of_path(str(path)), is_thorough=True).damages == []
    _, error = printed(path, tmp_path, verbose=1)
    assert "may have fractional seconds; `rows` can tell" in error
    target = tmp_path / "without_definitions.000001"
    slice_log(Source.of_path(str(path)), str(target), start_position=254_000)
    with pytest.raises(bk.GrammarError, match="may have fractional seconds, which only its CREATE TABLE"):
        bk.read_changes(target).read_all()


def test_an_empty_value_of_a_user_variable_is_damage(tmp_path: Path) -> None:
    source = case("mariadb-10.11", "statement").logs[0]
    event = next(
        one for one in bk.open(source) if one.type == "USER_VAR_EVENT" and one.body.value_type.value == 1
    )
    leaf = next(leaf for leaf in dissect(event).leaves if leaf.path.endswith("len_value"))
    layout, groups = events_of(source)
    log = LogMaker(layout)
    for raw in (raw for group in groups for raw in group):
        is_chosen = raw == event.raw
        log.add(raw[: leaf.offset] + bytes(4) + raw[leaf.offset + 4 :] if is_chosen else raw)
    damages = scan(Source.of_path(str(log.write(tmp_path / "binlog.000001"))), is_thorough=True).damages
    assert [(one.position, one.field) for one in damages] == [(event.position, "body.value.number")]


@pytest.mark.parametrize(("name", "byte"), [("bits", 8), ("bytes", 9)])
def test_a_bit_column_wider_than_its_bytes_is_damage_for_every_reader(
    name: str, byte: int, tmp_path: Path
) -> None:
    source = case("mysql-9.7", "types_full").logs[0]
    leaf, event = next(
        (leaf, event)
        for event in bk.open(source)
        if event.type == "TABLE_MAP_EVENT" and event.body.table_name == "misc"
        for leaf in dissect(event).leaves
        if leaf.path.endswith(f"metadata.columns[1].{name}")
    )
    layout, groups = events_of(source)
    log = LogMaker(layout)
    for raw in (raw for group in groups for raw in group):
        is_chosen = raw == event.raw
        log.add(raw[: leaf.offset] + bytes([byte]) + raw[leaf.offset + 1 :] if is_chosen else raw)
    path = log.write(tmp_path / "binlog.000001")
    errors = [str(one) for one in scan(Source.of_path(str(path)), is_thorough=True).damages[:1]]
    for read in (bk.open, bk.read_changes):
        with pytest.raises(GrammarError) as caught:
            list(read(path))
        errors.append(str(caught.value))
    errors.append(printed(path, tmp_path)[1])
    assert name in errors[0]
    assert len(errors) == 4
    assert len(set(errors)) == 1


def test_a_payload_between_pieces_is_the_same_damage_for_both_readers(tmp_path: Path) -> None:
    """The payload cannot be decompressed, either."""
    first, *_ = (event.raw for event in bk.open(in_pieces(3)) if event.type == "PARTIAL_ROW_DATA_EVENT")
    source = case("mysql-9.7", "payloads").logs[0]
    payload = next(event.raw for event in bk.open(source) if event.type == "TRANSACTION_PAYLOAD_EVENT")
    layout, groups = events_of(source)
    log = LogMaker(layout)
    log.add_all([*groups[0], first, payload[: len(payload) // 2] + bytes(len(payload) - len(payload) // 2)])
    path = log.write(tmp_path / "binlog.000001")
    errors = []
    for read in (bk.open, bk.read_events):
        with pytest.raises(GrammarError, match="interrupts the pieces of a rows event") as caught:
            list(read(path))
        errors.append(str(caught.value))
    assert errors[0] == errors[1]


def test_a_user_variable_that_cannot_be_printed_is_named_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the statement that it is printed with."""
    source = case("mysql-9.7", "statement").logs[0]
    kind = UserVarEvent.ResultType.decimal
    event = next(
        event for event in bk.open(source) if event.type == "USER_VAR_EVENT" and event.body.value_type == kind
    )
    leaf = next(leaf for leaf in dissect(event).leaves if leaf.path.endswith("digits"))
    layout, groups = events_of(source)
    log, position, end = LogMaker(layout), 0, leaf.offset + leaf.size
    for raw in (raw for group in groups for raw in group):
        if is_chosen := raw == event.raw:
            position = len(log.data)
        log.add(raw[: leaf.offset] + b"\xff" * leaf.size + raw[end:] if is_chosen else raw)
    path = log.write(tmp_path / "binlog.000001")
    (damage,) = scan(Source.of_path(str(path)), is_thorough=True).damages
    assert damage.position == position
    make_slow(monkeypatch)
    assert printed(path, tmp_path)[1] == str(damage)
    make_quick(monkeypatch)
    assert printed(path, tmp_path)[1] == str(damage)
    with pytest.raises(bk.DamagedError) as caught:
        list(bk.sql_script(path))
    assert str(caught.value) == str(damage)


@pytest.mark.parametrize("keep_partial", [False, True])
def test_rows_after_a_gap_that_do_not_match_their_table_map_are_left_out(
    tmp_path: Path, keep_partial: bool
) -> None:
    """Without checksums, each of these events seems to be intact by itself."""
    layout, groups = events_of(case("mysql-9.7", "no_checksum").logs[0])
    log, at, spoiled = LogMaker(layout), header_offset("type_code"), 0
    log.add_all(groups[0])
    group = next(group for group in groups[1:] if any(raw[at] == EventType.write_rows_event for raw in group))
    for raw in group:
        if raw[at] == EventType.write_rows_event:
            start = len(log.data)
            log.add(raw)
            log.data[start + header_offset("len_event") + 3] = 0x40  # its size is wrong
            spoiled = len(log.data)
            log.add(raw[:-1] + b"\0\0\x7f")
        else:
            log.add(raw)
    path = log.write(tmp_path / "binlog.000001")
    assert spoiled in {damage.position for damage in scan(Source.of_path(str(path))).damages}
    done = repair(Source.of_path(str(path)), str(tmp_path / "repaired.000001"), keep_partial=keep_partial)
    assert done.result.damage_count == 0
    assert any(gap.start <= spoiled < gap.stop for gap in done.lost)


def test_a_type_that_mariadb_cannot_print_is_named_in_its_place(tmp_path: Path) -> None:
    """`mariadb-binlog` ends there; the other readers know the length of its values."""
    source = case("mariadb-10.11", "metadata").logs[0]
    event = next(
        event
        for event in bk.open(source)
        if event.type == "TABLE_MAP_EVENT" and event.body.table_name == "shapes" and b"\xff" in event.raw
    )
    layout, groups = events_of(source)
    log = LogMaker(layout)
    for raw in (raw for group in groups for raw in group):
        log.add(raw.replace(b"\xff", b"\xfb", 1) if raw == event.raw else raw)
    path = log.write(tmp_path / "binlog.000001")
    report = scan(Source.of_path(str(path)), is_thorough=True)
    assert not report.damages
    out, error = printed(path, tmp_path, verbose=1)
    assert not error
    assert b"=Don't know how to handle column type: 251 meta: 4 (0004)\n" in out


def test_an_unknown_key_is_named_at_the_first_event_that_needs_it(tmp_path: Path) -> None:
    data = (CORPUS / "encrypted/mariadb-10.11/binlog.000001").read_bytes()
    with pytest.raises(bk.EncryptedError) as caught:
        list(bk.open(data))
    with pytest.raises(bk.EncryptedError) as by_slices:
        slice_log(Source.of_bytes(data), str(tmp_path / "slice.000001"), stop_position=10)
    assert (caught.value.position or 0) > 4
    assert str(by_slices.value) == str(caught.value)


@pytest.mark.parametrize("small", [0, 4 << 20])
def test_a_payload_whose_frame_does_not_end_is_damage_for_every_reader(
    small: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its last block is missing, although all events are there; zstandard's own stream loses some of them."""
    monkeypatch.setattr(payloads, "_SMALL", small)
    sample = Sample(case("mysql-9.7", "payloads").logs[0])
    at, data = next(iter(sample.payloads.items()))
    packer = zstandard.ZstdCompressor().compressobj()
    unended = packer.compress(data) + packer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    log = LogMaker(sample.layout)
    log.add(sample.head, as_is=True)
    log.add_all(sample.events[:at])
    position = len(log.data)
    log.add(sample.with_payload(sample.events[at], data, unended))
    path = log.write(tmp_path / "binlog.000001")
    (damage,) = scan(Source.of_path(str(path))).damages
    assert (damage.position, damage.event_type) == (position, "TRANSACTION_PAYLOAD_EVENT")
    assert damage.reason == "its last zstd frame is truncated"
    assert disagreement(path) is None
    inside = [event for event in _up_to_error(bk.open(path)) if event.payload_index is not None]
    assert b"".join(event.raw for event in inside) == data


def _up_to_error(events: Iterable[Any]) -> Iterator[Any]:
    with suppress(bk.BinlogError):
        yield from events


@pytest.mark.parametrize("is_null", [True, False])
def test_only_a_value_of_unknown_length_keeps_rows_from_being_inverted(is_null: bool, tmp_path: Path) -> None:
    """A NULL of a type that the client does not know has no bytes."""
    row = bytes.fromhex("070000000000 0100 0200 02 03") + (b"\2" + bytes(4) if is_null else b"\0" + bytes(5))
    path = log_of_rows(
        tmp_path,
        "mariadb-10.11",
        (EventType.table_map_event, table_map_bytes([3, 250], "01")),
        (EventType.write_rows_event_v1, row[:8] + row[10:]),
    )
    text, error = printed(path, tmp_path, flashback=True)
    (rows,) = (event.position for event in bk.open(path) if event.type.startswith("WRITE_ROWS"))
    assert text.count(b"\nBINLOG '") == 1 + is_null  # the first is the format description's
    assert (f"position {rows}, WRITE_ROWS" in error) is not is_null
    assert ("the lengths of its values are unknown" in error) is not is_null


def test_rows_with_fractions_that_the_log_does_not_declare_cannot_be_inverted(tmp_path: Path) -> None:
    path = case("mariadb-10.11", "types_old_temporal").logs[0]
    _, error = printed(path, tmp_path, flashback=True)
    assert "the rows do not match their table map; TIME, DATETIME or TIMESTAMP may have fractional" in error


@pytest.mark.parametrize("is_quick", [True, False], ids=["by blocks", "event by event"])
@pytest.mark.parametrize("kind", ["WRITE_ROWS_EVENT_V1", "UPDATE_ROWS_EVENT_V1", "DELETE_ROWS_EVENT_V1"])
def test_rows_without_columns_end(
    kind: str, is_quick: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have no bytes, so any number of them would fit; `mariadb-binlog` prints one INSERT."""
    source = case("mariadb-10.2", "xa").logs[0]
    layout, groups = events_of(source)
    rows = next(event for event in bk.open(source) if event.type == "WRITE_ROWS_EVENT_V1")
    number_of_columns = rows.raw.index(b"\x02\xff", 19)
    raw = _with_type(rows.raw, getattr(EventType, kind.lower()))
    images = 2 if kind.startswith("UPDATE") else 1
    raw = raw[: number_of_columns + 1] + b"\xfc" * images + raw[number_of_columns + 1 + images :]
    log = LogMaker(layout)
    log.add(groups[0][0])
    for event in next(group for group in groups if rows.raw in group):
        log.add(raw if event == rows.raw else event)
    path = log.write(tmp_path / "binlog.000001")
    (make_quick if is_quick else make_slow)(monkeypatch)
    text, error = printed(path, tmp_path)
    assert not error
    assert b"# Number of rows" not in text
    text, error = printed(path, tmp_path, verbose=1)
    if kind.startswith("WRITE"):
        assert b"### INSERT INTO `t`.`a` VALUES ()\n# Number of rows: 1\n" in text
    else:
        assert f"{kind}, field `t`.`a`: the rows do not match their table map" in error
