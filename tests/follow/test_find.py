"""Logs that are missing, shorter, different, or on another server."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.errors import DataLossWarning, SourceError
from binlog_kaitai.following.checkpoints import Checkpoint
from binlog_kaitai.following.follower import Follower
from binlog_kaitai.following.walk import Step
from tests.corpus_files import CORPUS
from tests.follow.logs import ROTATED, ends_of_transactions, steps, with_start

DOMAINS = sorted((CORPUS / "mariadb-11.8" / "domains").glob("binlog.0*"))


def gtids_in(steps: list[Step]) -> list[str]:
    """The GTIDs of the transactions in steps."""
    found = []
    for step in steps:
        read = bk.read_transactions(
            step.source.name, include_gtids=step.span.include or None, exclude_gtids=step.span.exclude or None
        )
        rows = read.read_all().to_pylist()
        found += [row["gtid"] for row in rows if step.start <= row["position"] < step.end]
    return found


def all_gtids(paths: list[Path]) -> list[str]:
    return [gtid for path in paths for gtid in bk.read_transactions(path).read_all()["gtid"].to_pylist()]


@pytest.mark.parametrize("paths", [ROTATED, DOMAINS], ids=["mysql", "mariadb"])
def test_another_server_goes_on_where_the_gtids_end(paths: list[Path], tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for folder, name in ((old, "binlog"), (new, "replica-bin")):
        folder.mkdir()
        for path in paths:
            shutil.copy(path, folder / path.name.replace("binlog", name))
    follower = Follower([str(old)])
    checkpoints = steps(follower, follower.earliest(), max_bytes=600)
    for checkpoint in (checkpoint for checkpoint in checkpoints if checkpoint.gtids):
        there = Follower([str(new)])
        end = there.advance(checkpoint)
        read = gtids_in(follower.steps(checkpoints[0], checkpoint))
        assert read + gtids_in(there.steps(checkpoint, end)) == all_gtids(paths)


def test_a_step_that_was_planned_before_is_done_on_the_other_server(tmp_path: Path) -> None:
    follower = Follower([str(ROTATED[0].parent)])
    checkpoints = steps(follower, follower.earliest(), max_bytes=900)
    for path in ROTATED:
        shutil.copy(path, tmp_path / path.name.replace("binlog", "other"))
    other = Follower([str(tmp_path)])
    checkpoints = [checkpoint for checkpoint in checkpoints if checkpoint.gtids]
    read = [
        gtid for start, end in itertools.pairwise(checkpoints) for gtid in gtids_in(other.steps(start, end))
    ]
    assert read == all_gtids(ROTATED)[-len(read) :]
    assert len(read) > 4


def test_the_era_counts_servers_not_logs(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for folder, first in ((old, 149), (new, 1)):
        folder.mkdir()
        for number, path in enumerate(ROTATED, first):
            (folder / f"binlog.{number:06}").write_bytes(with_start(path, server_id=first))
    follower = Follower([str(old)])
    start = follower.earliest()
    middle = follower.advance(start, max_files=2)
    assert {step.span.era for step in follower.steps(start, middle)} == {0}
    there = Follower([str(new)])
    end = there.advance(middle)
    assert {step.span.era for step in there.steps(middle, end)} == {1}
    assert Checkpoint.of(end.as_dict()).era == 1
    # The same server goes on, and so does a later run.
    assert there.advance(end) == end
    # Smaller numbers of the same series, as after a server was set up anew in the same place.
    for name in ("binlog.000149", "binlog.000150", "binlog.000151"):
        (old / name).unlink()
    shutil.copytree(new, old, dirs_exist_ok=True)
    assert Follower([str(old)]).advance(middle).era == 1


def test_logs_that_moved_keep_their_names(tmp_path: Path) -> None:
    checkpoint = Follower([str(ROTATED[0].parent)]).place({"file": ROTATED[2].name, "position": 4})
    for path in ROTATED:
        shutil.copy(path, tmp_path)
    follower = Follower([str(tmp_path)])
    assert [step.source.path for step in follower.steps(checkpoint, follower.advance(checkpoint))] == [
        str(tmp_path / path.name) for path in ROTATED[2:]
    ]


def test_a_purged_log(tmp_path: Path) -> None:
    checkpoint = Follower([str(ROTATED[0].parent)]).advance(
        Follower([str(ROTATED[0].parent)]).earliest(), max_bytes=1200
    )
    for path in ROTATED[3:]:
        shutil.copy(path, tmp_path)
    with pytest.raises(
        SourceError, match=r"no longer exists; .*no available log contains .*:4-6.*failOnDataLoss"
    ):
        Follower([str(tmp_path)]).advance(checkpoint)
    lenient = Follower([str(tmp_path)], fails_on_loss=False)
    with pytest.warns(DataLossWarning, match="no available log contains"):
        end = lenient.advance(checkpoint)
    with pytest.warns(DataLossWarning):
        assert gtids_in(Follower([str(tmp_path)], fails_on_loss=False).steps(checkpoint, end)) == all_gtids(
            ROTATED[3:]
        )


def test_logs_missing_in_between(tmp_path: Path) -> None:
    for path in (ROTATED[0], ROTATED[1], ROTATED[4]):
        shutil.copy(path, tmp_path)
    follower = Follower([str(tmp_path)])
    checkpoint = follower.advance(follower.earliest())
    assert Path(checkpoint.file).name == ROTATED[1].name
    with pytest.raises(SourceError, match=r"binlog\.000005: does not continue where .*000002 ends"):
        follower.advance(checkpoint)


def test_a_shortened_log(tmp_path: Path) -> None:
    path = tmp_path / "binlog.000003"
    shutil.copy(CORPUS / "mysql-9.7" / "no_checksum" / "binlog.000001", path)
    follower = Follower([str(path)])
    checkpoint = follower.advance(follower.earliest())
    kept = ends_of_transactions(path)[3]
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(
        SourceError, match=f"was read up to {checkpoint.position}, but is only {kept} bytes long"
    ):
        follower.advance(checkpoint)


def test_another_log_of_the_same_name(tmp_path: Path) -> None:
    path = tmp_path / "binlog.000001"
    shutil.copy(CORPUS / "mysql-9.7" / "mixed" / "binlog.000001", path)
    follower = Follower([str(path)])
    checkpoint = follower.advance(follower.earliest())
    shutil.copy(ROTATED[0], path)
    with pytest.raises(SourceError, match="is a different log than before: the server was reset or restored"):
        follower.advance(checkpoint)
    elsewhere = Checkpoint.of({**checkpoint.as_dict(), "server_id": 12})
    with pytest.raises(SourceError, match="is a different log than before; the available logs lack"):
        follower.advance(elsewhere)


@pytest.mark.parametrize("paths", [ROTATED, DOMAINS], ids=["mysql", "mariadb"])
@pytest.mark.parametrize("log", [1, 2])
def test_a_server_that_was_restored_from_a_backup(paths: list[Path], log: int, tmp_path: Path) -> None:
    """It has the log of the checkpoint again, with another start, or has not reached its number yet."""
    old, restored = tmp_path / "old", tmp_path / "restored"
    old.mkdir()
    restored.mkdir()
    paths = paths[: log + 1]
    for number, path in enumerate(paths):
        shutil.copy(path, old / f"binlog.{number + 3:06}")
        (restored / f"binlog.{number + 3:06}").write_bytes(
            with_start(path, **({"timestamp": 1} if number else {}))
        )
    checkpoint = Follower([str(old)]).advance(Follower([str(old)]).earliest())
    there = Follower([str(restored)])
    reason = "the server was reset or restored from a backup"
    with pytest.raises(SourceError, match=rf"is a different log than before: {reason}.*failOnDataLoss=false"):
        there.advance(checkpoint)
    (restored / Path(checkpoint.file).name).rename(restored / "binlog.000002")
    with pytest.raises(SourceError, match=rf"no longer exists, and the newest log is .*: {reason}"):
        there.advance(checkpoint)


def test_without_gtids_no_other_log_is_found(tmp_path: Path) -> None:
    source = CORPUS / "mysql-5.6" / "types_v1_rows"
    follower = Follower([str(source)])
    checkpoint = follower.advance(follower.earliest())
    checkpoint = Checkpoint.of({**checkpoint.as_dict(), "gtids": ""})
    for path in ROTATED:
        shutil.copy(path, tmp_path / path.name.replace("binlog", "other"))
    with pytest.raises(SourceError, match="has no GTIDs to find another log by"):
        Follower([str(tmp_path)]).advance(checkpoint)


def test_starting_after_a_set_of_gtids() -> None:
    follower = Follower([str(ROTATED[0].parent)])
    gtids = all_gtids(ROTATED)
    source = gtids[0].rpartition(":")[0]
    checkpoint = follower.place({"gtids": f"{source}:1-4"})
    assert gtids_in(follower.steps(checkpoint, follower.advance(checkpoint))) == gtids[4:]


@pytest.mark.parametrize(
    ("name", "position", "count"),
    [("rotate", "0-118-5", 5), ("domains", "0-777-5,5-777-123456789012,4294967295-777-1", 9)],
)
def test_a_position_of_mariadb_stands_for_everything_up_to_it(name: str, position: str, count: int) -> None:
    folder = CORPUS / "mariadb-11.8" / name
    follower = Follower([str(folder)])
    checkpoint = follower.place({"gtids": position})
    gtids = gtids_in(follower.steps(checkpoint, follower.advance(checkpoint)))
    assert gtids == all_gtids(sorted(folder.glob("binlog.0*")))[count:]
