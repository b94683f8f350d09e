"""The backlog at each checkpoint of growing logs is that of the logs read as a whole."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.following.backlog import Backlog, BacklogMeter
from binlog_kaitai.following.checkpoints import Checkpoint
from binlog_kaitai.following.follower import Follower
from tests.corpus_files import CORPUS
from tests.extent import rounds, sample
from tests.follow.logs import ROTATED, ends_of_transactions, grow, steps


def expected(paths: list[Path], checkpoint: Checkpoint) -> Backlog:
    """From the events view, which reads everything."""
    names = [str(path) for path in paths]
    index = names.index(checkpoint.file)
    sizes = [path.stat().st_size for path in paths[index:]]
    sizes[0] -= checkpoint.position
    events = bk.read_events(names).read_all().to_pylist()
    unread = [
        one for one in events if (names.index(one["file"]), one["position"]) >= (index, checkpoint.position)
    ]
    if not unread:
        return Backlog(0, 0, 0 if checkpoint.gtids else None, 0)
    seconds = (max(event["timestamp"] for event in events) - unread[0]["timestamp"]).total_seconds()
    gtids = {one["gtid"] for one in unread if one["gtid"] is not None}
    has_gtids = any(event["gtid"] is not None for event in events)
    return Backlog(
        sum(size > 0 for size in sizes), sum(sizes), len(gtids) if has_gtids else None, int(seconds)
    )


@pytest.mark.parametrize("server", sample(["mysql-9.7", "mysql-5.6", "mariadb-11.8"], 2))
def test_at_every_checkpoint(server: str) -> None:
    paths = sorted((CORPUS / server / "rotate").glob("binlog.0*"))
    follower = Follower(list(map(str, paths)))
    meter = BacklogMeter(follower)
    for checkpoint in steps(follower, follower.earliest(), max_bytes=rounds(1, 3000)):
        assert meter.after(checkpoint) == expected(paths, checkpoint), checkpoint
        assert BacklogMeter(follower).after(checkpoint) == expected(paths, checkpoint), checkpoint


def test_of_a_log_that_grows(tmp_path: Path) -> None:
    """Each byte of the newest log is read once, and a new log becomes the newest."""
    follower = Follower([str(tmp_path)])
    meter, paths = BacklogMeter(follower), list[Path]()
    start = None
    for path in ROTATED:
        target = tmp_path / path.name
        paths.append(target)
        ends = [end for end in ends_of_transactions(path) if end > 300]
        for size in (ends[0], ends[-1]):
            grow(path, target, size)
            start = start or follower.earliest()
            assert meter.after(start) == expected(paths, start)
        shutil.copy(path, target)
    assert start is not None
    assert meter.after(start) == expected(paths, start)


def test_damage_or_a_purged_log_leaves_only_bytes(tmp_path: Path) -> None:
    logs = [tmp_path / path.name for path in ROTATED[:3]]
    for path, target in zip(ROTATED, logs, strict=False):
        shutil.copy(path, target)
    follower = Follower(list(map(str, logs)))
    start = follower.earliest()
    logs[2].write_bytes(b"not a log at all" * 4)
    rest = sum(path.stat().st_size for path in logs) - start.position
    assert BacklogMeter(follower).after(start) == Backlog(3, rest, None, None)
    later = Follower(list(map(str, logs[1:])))
    rest = sum(path.stat().st_size for path in logs[1:])
    assert BacklogMeter(later).after(start) == Backlog(2, rest, None, None)
