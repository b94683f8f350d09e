"""`bk.follow_rows`: the rows of growing logs, each once and in whole transactions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from tests.corpus_files import case
from tests.follow.logs import ROTATED, ends_of_transactions, grow


def located(rows: Any) -> list[tuple[str, str]]:
    """File and content of each row."""
    return [(Path(row.file).name, repr(row).replace(row.file, "")) for row in rows]


def test_rows_of_closed_logs_are_those_of_read_rows(tmp_path: Path) -> None:
    for path in ROTATED:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    with bk.follow_rows(tmp_path, idle_timeout=0) as rows:
        found = located(rows)
    assert found == located(bk.read_rows(tmp_path))
    assert len({file for file, _ in found}) > 1


def test_rows_come_in_whole_transactions_and_continue_at_a_checkpoint(tmp_path: Path) -> None:
    source = case("mysql-9.7", "mixed").logs[0]
    target, size = tmp_path / source.name, source.stat().st_size
    ends = ends_of_transactions(source)
    found: list[tuple[str, str]] = []
    checkpoint: dict[str, Any] | None = None
    for share in (0.3, 0.31, 0.6, 1.0):
        grow(source, target, int(size * share))
        start: Any = "earliest" if checkpoint is None else json.loads(json.dumps(checkpoint))
        with bk.follow_rows(target, start=start, idle_timeout=0) as rows:
            found += located(rows)
            checkpoint = rows.checkpoint
        assert checkpoint["position"] in ends
    assert found == located(bk.read_rows(source))


def test_filters_choose_rows(tmp_path: Path) -> None:
    log = case("mysql-9.7", "mixed").logs[0]
    with bk.follow_rows(log, table="t.s", idle_timeout=0) as rows:
        found = located(rows)
    assert found == located(bk.read_rows(log, table="t.s"))
    assert 0 < len(found) < len(located(bk.read_rows(log)))
    with pytest.raises(bk.UsageError, match="stop_position cannot be used with follow_rows"):
        bk.follow_rows(log, stop_position=4)
    with pytest.raises(bk.UsageError, match="interval must be a positive number"):
        bk.follow_rows(log, interval=0)
