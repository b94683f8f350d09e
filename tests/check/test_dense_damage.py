"""Logs with damage everywhere: what `verify` and `repair` do does not grow with the number of places."""

from __future__ import annotations

from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.check.repair import repair
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.log import gaps
from binlog_kaitai.log.resync import Search
from binlog_kaitai.sources.source import Source
from tools.costly.making import Log

PLACES, FEW = 40, 10


@pytest.fixture
def few_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gaps, "MOST_GAPS", FEW)


def damaged(tmp_path: Path, between: bytes, *, has_checksums: bool = True) -> Path:
    log = Log(has_checksums=has_checksums)
    for _ in range(PLACES):
        log.query(b"BEGIN")
        log.xid()
        log.data += between
    log.query(b"BEGIN")
    log.xid()
    path = tmp_path / "dense.000001"
    path.write_bytes(log.data)
    return path


#: Invalid events: too short for a header, with a length that is too small, and with one past the end.
NO_EVENTS = [b"\1\2\3", bytes(9) + b"\5" + bytes(9), bytes(9) + b"\0\0\0\x40" + bytes(6)]


@pytest.mark.parametrize("between", NO_EVENTS)
@pytest.mark.usefixtures("few_gaps")
def test_after_many_gaps_the_rest_is_counted_and_not_read(tmp_path: Path, between: bytes) -> None:
    (report,) = bk.verify(damaged(tmp_path, between))
    assert len(report.damages) == FEW + 1
    last = report.damages[-1]
    assert f"not read further after damage in {FEW} places; {PLACES - FEW} more follow" in str(last)
    assert report.lost[-1].stop == gaps.TO_THE_END


@pytest.mark.usefixtures("few_gaps")
def test_larger_logs_may_have_more_gaps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gaps, "BYTES_PER_GAP", 64)
    (report,) = bk.verify(damaged(tmp_path, NO_EVENTS[0]))
    assert len(report.damages) == PLACES


def test_a_log_with_some_gaps_is_read_to_its_end(tmp_path: Path) -> None:
    (report,) = bk.verify(damaged(tmp_path, NO_EVENTS[0]))
    assert (len(report.damages), report.transactions) == (PLACES, PLACES + 1)


@pytest.mark.usefixtures("few_gaps")
def test_events_are_searched_a_bounded_number_of_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searches = 0
    search = Search._search

    def counted(self: Search, *arguments: object) -> int | None:
        nonlocal searches
        searches += 1
        return search(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Search, "_search", counted)
    source = Source.of_path(str(damaged(tmp_path, NO_EVENTS[0])))
    repair(source, str(tmp_path / "repaired.000001"))
    assert searches <= 10 * FEW


def test_errors_of_bodies_hold_nothing_of_their_events() -> None:
    log = Log()
    log.add(EventType.user_var_event, b"\xff" * 4)
    ((damage,),) = (report.damages for report in bk.verify(bytes(log.data)))
    assert (damage.__cause__, damage.__context__, damage.__traceback__) == (None, None, None)
