"""When `--heal` reads a table again."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from binlog_kaitai.core.filters import TableSet
from binlog_kaitai.lake.place import Offset
from binlog_kaitai.pipeline import healing
from binlog_kaitai.snapshot.snapshot_files import Snapshot

MINUTE, HOUR, DAY = 60, 3600, 86400


def test_the_pause_doubles_up_to_a_day_until_there_was_a_quiet_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = Snapshot("binlog.000001", 4, "", tables=[("s", "t", "CREATE TABLE t (k INT)")])
    none, offset = TableSet(), Offset(file="binlog.000001", position=4)
    healed = healing.Healing(none, none, lambda *_: snapshot, tmp_path, lambda line: None, repeats=True)
    read: list[int] = []
    for now in (*range(0, 5 * DAY, MINUTE), *range(7 * DAY, 7 * DAY + HOUR, MINUTE)):
        monkeypatch.setattr("binlog_kaitai.pipeline.healing.time.monotonic", lambda now=now: now)
        if healed.begin({("s", "t"): "its changes do not tell its contents"}, offset):
            read.append(now)
            healed.end()
            assert not healed.begin({}, offset)
    pauses = [(after - before) // MINUTE for before, after in pairwise(read)]
    assert pauses[:11] == [2**number for number in range(11)]
    assert pauses[11:14] == [24 * 60] * 3
    assert pauses[-5:] == [1, 2, 4, 8, 16]
