"""No reader that skips damage applies an older table map with the same id to rows whose own map is lost.

The log has one transaction with rows of two tables, whose table maps are equal but for the name.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import binlog_kaitai as bk
from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.check.repair import repair
from binlog_kaitai.check.slices import slice as slice_log
from binlog_kaitai.core.grammar import header_offset
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.log.gaps import Gap
from binlog_kaitai.sources.source import Source
from binlog_kaitai.views.skip_damage import read_around
from tests.corpus_files import case
from tests.log_maker import LogMaker, statement


class Lost(NamedTuple):
    """A log, and the offsets of the second table map, of the rows after it, and of the end of these."""

    path: Path
    table_map: int
    rows: int
    end: int

    @property
    def source(self) -> Source:
        return Source.of_path(str(self.path))


def two_tables(path: Path, name: str, *, repeats_map: bool = True) -> Lost:
    events = list(bk.open(case("mysql-9.7", name).logs[0]))
    table_map, rows = next(pair for pair in pairwise(events) if pair[1].type == "WRITE_ROWS_EVENT")
    log, layout = LogMaker(rows.layout), rows.layout
    log.add_all([events[0].raw, statement(b"BEGIN", layout), table_map.raw, rows.raw])
    offset = len(log.data)
    table_name = table_map.body.table_name.encode()
    other = table_map.raw.replace(b"\0" + bytes([len(table_name)]) + table_name, b"\0\1" + b"o", 1)
    log.add(other if repeats_map else rows.raw)
    rows_at = len(log.data)
    log.add(rows.raw)
    end = len(log.data)
    log.add(statement(None, layout))
    return Lost(log.write(path), offset, rows_at, end)


def damaged(log: Lost, way: str) -> Lost:
    data = bytearray(log.path.read_bytes())
    if way == "body":
        data[log.table_map + 19 + 8] = 255  # the length of the database's name
    else:
        data[log.table_map + header_offset("len_event")] += 3
    log.path.write_bytes(data)
    return log


@pytest.fixture(params=["body", "length"])
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["no_checksum", "types_metadata"])
def lost(request: pytest.FixtureRequest, way: str, tmp_path: Path) -> Lost:
    return damaged(two_tables(tmp_path / "binlog.000001", request.param), way)


def test_rows_are_read_with_their_own_table_map(tmp_path: Path) -> None:
    log = two_tables(tmp_path / "binlog.000001", "no_checksum")
    names = [(row.schema.table_name, row.position) for row in bk.read_rows(log.path)]
    assert {name for name, position in names if position == log.rows} == {"o"}
    assert not scan(log.source, is_thorough=True).damage_count


@pytest.mark.parametrize("keep_partial", [False, True])
def test_repair_leaves_them_out(lost: Lost, keep_partial: bool, tmp_path: Path) -> None:
    done = repair(lost.source, str(tmp_path / "repaired"), keep_partial=keep_partial)
    left_out = [(gap.start, gap.stop) for gap in done.lost]
    left_out += [(part.position, part.position + part.size) for part in done.dropped]
    assert any(start <= lost.rows < stop for start, stop in left_out)
    assert not scan(Source.of_path(done.target), is_thorough=True).damage_count
    kept = [event.type for event in bk.open(done.target)]
    assert kept.count("WRITE_ROWS_EVENT") == keep_partial


def test_changes_past_the_damage_do_not_have_them(lost: Lost) -> None:
    found = list(read_around(lost.source, "changes"))
    gaps = [item for item in found if isinstance(item, Gap)]
    positions = [
        position for item in found if not isinstance(item, Gap) for position in item["_position"].to_pylist()
    ]
    assert positions
    assert max(positions) < lost.table_map
    assert any(gap.start <= lost.rows < gap.stop for gap in gaps)


def test_verify_reports_the_table_map(lost: Lost) -> None:
    assert scan(lost.source, is_thorough=True).damages[0].position == lost.table_map


def test_rows_after_lost_rows_of_their_statement_are_kept(tmp_path: Path) -> None:
    log = two_tables(tmp_path / "binlog.000001", "types_metadata", repeats_map=False)
    data = bytearray(log.path.read_bytes())
    data[log.rows - 1] ^= 1
    log.path.write_bytes(data)
    found = list(read_around(log.source, "changes"))
    assert [gap.start for gap in found if isinstance(gap, Gap)] == [log.table_map]
    positions = {at for item in found if not isinstance(item, Gap) for at in item["_position"].to_pylist()}
    assert log.rows in positions
    done = repair(log.source, str(tmp_path / "repaired"), keep_partial=True)
    assert [event.type for event in bk.open(done.target)].count("WRITE_ROWS_EVENT") == 2


@pytest.mark.parametrize("filters", [{}, {"event_type": "WRITE_ROWS_EVENT"}, {"table": "*.o"}], ids=str)
def test_slice_refuses_the_log(lost: Lost, filters: dict[str, Any], tmp_path: Path) -> None:
    target = tmp_path / "sliced"
    with pytest.raises(BinlogError) as raised:
        slice_log(lost.source, str(target), **filters)
    assert lost.table_map <= (raised.value.position or 0) < lost.end
    assert not target.exists()
