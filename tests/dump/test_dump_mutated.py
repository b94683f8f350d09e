"""Both ways of printing print or reject damaged events alike, without foreign exceptions."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.dump import printer
from binlog_kaitai.dump.dump_logs import dump
from binlog_kaitai.dump.dump_options import DumpOptions
from binlog_kaitai.errors import BinlogError
from tests import corpus_files
from tests.dump.dump_mutations import check, difference
from tests.log_maker import LogMaker, events_of

_LOGS = 60
_UUID = "a40b4242-e518-11f1-9090-02fc00000001"


@pytest.mark.parametrize("part", range(4))
def test_mutated_logs_are_printed_alike(part: int, tmp_path: Path) -> None:
    for number in range(part * _LOGS // 4, (part + 1) * _LOGS // 4):
        assert check(random.Random(number), tmp_path) is None, number


def _log(case: str, change: Callable[[list[bytes]], list[bytes]], folder: Path) -> Path:
    """The first transactions of a log of the corpus, changed."""
    layout, groups = events_of(corpus_files.case(*case.split("/")).logs[0])
    maker = LogMaker(layout)
    maker.add_all(change([raw for group in groups[:7] for raw in group]))
    return maker.write(folder / "binlog.000001")


def _first(kind: int, events: list[bytes]) -> int:
    return next(number for number, raw in enumerate(events) if raw[4] == kind)


def test_a_damaged_table_map_is_refused_where_it_stands(tmp_path: Path) -> None:
    """Also where its transaction is left out, what comes before is printed."""

    def damaged(events: list[bytes]) -> list[bytes]:
        at = _first(EventType.table_map_event, events)
        events[at] = events[at][:27] + b"\xff" + events[at][28:]
        return events

    for case, gtid in (("mysql-9.7/crash", f"{_UUID}:1"), ("mariadb-11.8/crash", "0-118-1")):
        log = _log(case, damaged, tmp_path)
        for options in (
            {"include_gtids": GtidSet.parse(gtid)},
            {"offset": 3},
            {"ignored_server_ids": {97, 118}},
        ):
            assert difference(log, tmp_path, options) is None


def test_a_statement_in_the_middle_of_rows(tmp_path: Path) -> None:
    """`mariadb-binlog` prints the line of unfinished rows with whatever event follows."""

    def interrupted(events: list[bytes]) -> list[bytes]:
        rows, query = _first(EventType.write_rows_event_v1, events), _first(EventType.query_event, events)
        going_on = events[rows][:25] + b"\0\0" + events[rows][27:]
        return [*events[:rows], going_on, events[query], *events[rows:]]

    log = _log("mariadb-11.8/crash", interrupted, tmp_path)
    for options in ({}, {"verbose": 2}, {"database": "other"}):
        assert difference(log, tmp_path, options) is None


def test_a_transaction_that_begins_between_a_table_map_and_its_rows(tmp_path: Path) -> None:
    """It closes the tables, so that the rows are of an unknown one."""

    def moved(events: list[bytes]) -> list[bytes]:
        at = _first(EventType.write_rows_event_v1, events)
        gtid = events[_first(EventType.gtid_event, events)]
        return [*events[:at], gtid, *events[at:]]

    log = _log("mariadb-11.8/crash", moved, tmp_path)
    for verbose in (0, 2):
        assert difference(log, tmp_path, {"verbose": verbose}) is None


@pytest.mark.parametrize("short_form", [False, True])
def test_replication_is_skipped_from_the_first_flagged_event_on(short_form: bool, tmp_path: Path) -> None:
    """`mariadb-binlog` prints the setting before the event with another flag, whatever it prints of that."""

    def flagged(events: list[bytes]) -> list[bytes]:
        last = max(number for number, raw in enumerate(events) if raw[4] == EventType.gtid_event)
        stop = events[last][:4] + bytes([EventType.stop_event]) + events[last][5:19] + bytes(4)
        return [*events[:last], *(raw[:18] + b"\x80" + raw[19:] for raw in events[last:]), stop]

    log = _log("mariadb-11.8/crash", flagged, tmp_path)
    pieces: list[bytes] = []
    dump(str(log), pieces.append, DumpOptions(short_form=short_form))
    lines = [
        line for line in b"".join(pieces).splitlines() if line.startswith((b"/*!50521", b"START", b"COMMIT"))
    ]
    assert lines[2:] == [
        b"/*!50521 SET skip_replication=1*//*!*/;",
        b"START TRANSACTION",
        b"COMMIT/*!*/;",
        b"/*!50521 SET skip_replication=0*//*!*/;",
    ]
    assert difference(log, tmp_path, {"short_form": short_form}) is None


def test_rows_of_a_type_that_has_no_images(tmp_path: Path) -> None:
    def old(events: list[bytes]) -> list[bytes]:
        at = _first(EventType.write_rows_event_v1, events)
        events[at] = events[at][:4] + bytes([EventType.pre_ga_write_rows_event]) + events[at][5:]
        return events

    log = _log("mariadb-11.8/crash", old, tmp_path)
    for options in ({}, {"verbose": 1}):
        assert difference(log, tmp_path, options) is None


def test_statements_of_rows_that_are_not_shown_are_read_all_the_same(tmp_path: Path) -> None:
    def cut(events: list[bytes]) -> list[bytes]:
        at = _first(EventType.rows_query_log_event, events)
        events[at] = events[at][:19] + bytes(4)
        return events

    log = _log("mysql-9.7/crash", cut, tmp_path)
    for verbose in (0, 2):
        assert difference(log, tmp_path, {"verbose": verbose}) is None


def _log_with_status(status: bytes, folder: Path) -> Path:
    """A log whose first statement has other status variables."""
    layout, groups = events_of(corpus_files.case("mysql-9.7", "crash").logs[0])
    maker = LogMaker(layout)
    maker.add_all([*groups[0], groups[1][0]])
    query = groups[1][1]
    length = int.from_bytes(query[30:32], "little")
    maker.add(query[:30] + len(status).to_bytes(2, "little") + status + query[32 + length :])
    maker.add_all(groups[2])
    return maker.write(folder / "binlog.000001")


@pytest.mark.parametrize(
    "status",
    [
        "00000000 00 0d 0102",
        "0d 010203 11 0102",
        "11 01",
        "06 20 6162",
        "04 0100",
        "fe 07",
        "81 0100000000000000",
    ],
)
def test_damaged_status_variables(status: str, tmp_path: Path) -> None:
    log = _log_with_status(bytes.fromhex(status), tmp_path)
    assert difference(log, tmp_path, {"verbose": 2}) is None
    pieces: list[bytes] = []
    found: list[BinlogError] = []
    try:
        dump(str(log), pieces.append)
    except BinlogError as error:
        found.append(error)
    offsets = [(error.file, error.position, error.event_type) for error in found]
    assert offsets in ([], [(str(log), 235, "QUERY_EVENT")])
    assert b"\n# at 158\n" in b"".join(pieces)


def test_what_cannot_be_printed_names_its_position(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OverflowError("date value out of range")

    monkeypatch.setattr(printer.Printer, "print_xid", fail)
    log = corpus_files.case("mysql-9.7", "crash").logs[0]
    with pytest.raises(BinlogError, match="cannot be printed: OverflowError") as caught:
        dump(str(log), lambda _: None, DumpOptions(short_form=True))
    assert (caught.value.file, caught.value.event_type) == (str(log), "XID_EVENT")
    assert caught.value.position is not None


def test_an_error_inside_a_payload_is_at_the_payload(tmp_path: Path) -> None:
    layout, groups = events_of(corpus_files.case("mysql-9.7", "payloads").logs[0])
    maker = LogMaker(layout)
    maker.add_all([*groups[0], groups[1][0]])
    payload = next(raw for group in groups for raw in group if raw[4] == EventType.transaction_payload_event)
    position = len(maker.data)
    maker.add(payload[:19] + _payload_of_a_cut_table_map())
    log = maker.write(tmp_path / "binlog.000001")
    with pytest.raises(BinlogError) as caught:
        dump(str(log), lambda _: None)
    assert (caught.value.position, caught.value.event_type) == (position, "TABLE_MAP_EVENT")


def _payload_of_a_cut_table_map() -> bytes:
    """Two events, not compressed: a statement, and a table map that ends too early."""
    begin = bytes(13) + b"\0" + b"BEGIN"
    header = bytes(4) + b"%c" + (1).to_bytes(4, "little")
    inner = b"".join(
        header % kind + (19 + len(body)).to_bytes(4, "little") + bytes(6) + body
        for kind, body in ((EventType.query_event, begin), (EventType.table_map_event, bytes(8) + b"\x04t"))
    )
    return bytes((2, 3, 0xFC, 255, 0, 1, 1, len(inner), 0)) + inner + bytes(4)
