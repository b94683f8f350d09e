"""Checkpoints: between transactions, in order, and reproducible."""

from __future__ import annotations

import gzip
import itertools
import json
import random
import shutil
from pathlib import Path

import pytest

from binlog_kaitai.errors import SourceError, TruncatedError, UsageError
from binlog_kaitai.following.checkpoints import Checkpoint
from binlog_kaitai.following.follower import Follower
from binlog_kaitai.following.walk import span_size
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.log.boundaries import QuiescentPoints
from tests.corpus_files import CORPUS, Case, LogFile, cases, logs
from tests.extent import sample
from tests.follow.logs import ROTATED, covered, ends_of_transactions, grow, steps
from tests.log_maker import log_of_statements

WHOLE = [(path.name, 4, path.stat().st_size) for path in ROTATED]


@pytest.mark.parametrize("log", sample(logs(), 16), ids=str)
@pytest.mark.parametrize("block_size", [1 << 22, 512])
def test_quiescent_points_are_where_transactions_end(log: LogFile, block_size: int) -> None:
    path = log.path
    found, quiescent = set(), QuiescentPoints()
    with path.open("rb") as stream:
        for block in BlockReader.of_file(stream, str(path), block_size=block_size):
            offsets = [*block.positions.tolist(), int(block.end_positions[-1])]
            found |= {offsets[row] for row in quiescent.of(block).tolist()}
    expected = {4, *ends_of_transactions(path)}
    assert found == expected - {path.stat().st_size} | (found & {path.stat().st_size})


def test_one_step_reads_all_complete_transactions() -> None:
    follower = Follower([str(ROTATED[0].parent)])
    checkpoints = steps(follower, follower.earliest())
    assert len(checkpoints) == 2
    assert covered(follower, checkpoints) == WHOLE
    assert follower.latest().as_dict() == checkpoints[-1].as_dict()


@pytest.mark.parametrize("size", [1, 300, 1000, 6000])
def test_steps_of_limited_size(size: int) -> None:
    follower = Follower([str(ROTATED[0].parent)], follows_definitions=True)
    checkpoints = steps(follower, follower.earliest(), max_bytes=size)
    assert covered(follower, checkpoints) == WHOLE
    assert checkpoints[-1] == steps(follower, checkpoints[0])[-1]
    ends = {path.name: ends_of_transactions(path) for path in ROTATED}
    for checkpoint in checkpoints[1:]:
        assert checkpoint.position in (4, *ends[Path(checkpoint.file).name])
    for start, end in itertools.pairwise(checkpoints):
        between = follower.steps(start, end)
        taken = sum(step.end - step.start for step in between)
        first = min(end for end in ends[Path(between[0].source.name).name] if end > between[0].start)
        assert taken <= size or taken == first - between[0].start


def test_steps_of_limited_files() -> None:
    follower = Follower([str(ROTATED[0].parent)])
    checkpoints = steps(follower, follower.earliest(), max_files=2)
    assert [Path(checkpoint.file).name for checkpoint in checkpoints] == [
        ROTATED[at].name for at in (0, 1, 3, 4)
    ]
    assert covered(follower, checkpoints) == WHOLE


def test_nothing_after_a_target_is_taken(tmp_path: Path) -> None:
    target = tmp_path / "binlog.000003"
    shutil.copy(ROTATED[2], target)
    half = ends_of_transactions(target)[3]
    follower = Follower([str(tmp_path)])
    checkpoint = follower.advance(follower.earliest(), until=(str(target), half + 10))
    assert checkpoint.position == half
    assert follower.advance(checkpoint, until=(str(target), half + 10)) == checkpoint


def test_a_log_that_grows_byte_by_byte(tmp_path: Path) -> None:
    choose = random.Random(1)
    follower = Follower([str(tmp_path / "binlog.*")], follows_definitions=True)
    checkpoints: list[Checkpoint] = []
    for path in ROTATED:
        size, ends, target = path.stat().st_size, ends_of_transactions(path), tmp_path / path.name
        for part in sorted({4, *(choose.randrange(4, size) for _ in range(12)), size}):
            grow(path, target, part)
            checkpoints = checkpoints or [follower.earliest()]
            checkpoint = follower.advance(Checkpoint.of(json.loads(json.dumps(checkpoints[-1].as_dict()))))
            # The checkpoint advances as soon as a transaction, or an event outside of one, is complete.
            inside = [end for end in ends if end <= part]
            if inside:
                assert (Path(checkpoint.file).name, checkpoint.position) == (path.name, inside[-1])
            checkpoints += [checkpoint] if checkpoint != checkpoints[-1] else []
    assert covered(follower, checkpoints) == WHOLE
    fresh = Follower([str(tmp_path)], follows_definitions=True)
    assert covered(fresh, checkpoints) == WHOLE
    assert fresh.steps(checkpoints[0], checkpoints[-1])[-1].span.definitions


@pytest.mark.parametrize(
    "case", sample([case for case in cases() if case.logs], 12), ids=lambda case: case.id
)
def test_small_steps_read_the_same_as_one_step(case: Case) -> None:
    folder = str(case.folder / "*.0*")
    size = sum(path.stat().st_size for path in case.logs)
    follower = Follower([folder], follows_definitions=True)
    checkpoints = steps(follower, follower.earliest(), max_bytes=size // 9)
    assert checkpoints[-1] == follower.advance(checkpoints[0])
    assert [(name, 4, end) for name, _, end in covered(follower, checkpoints)] == covered(
        follower, checkpoints
    )


def test_spans_of_a_size(tmp_path: Path) -> None:
    path = CORPUS / "mysql-9.7" / "mixed" / "binlog.000001"
    follower = Follower([str(path)], split_size=1)
    start = follower.earliest()
    checkpoints = steps(follower, start)
    assert covered(follower, checkpoints) == [(path.name, 4, path.stat().st_size)]


@pytest.mark.parametrize(
    ("total", "at_once", "count"), [(1002, 1, 16), (1002, 3, 18), (70, 8, 2), (128, 4, 4), (50, 2, 1)]
)
def test_there_are_as_many_spans_as_tasks(total: int, at_once: int, count: int) -> None:
    step = span_size(total, 64, at_once)
    assert count * step >= total > (count - 1) * step


def test_spans_are_of_one_size(tmp_path: Path) -> None:
    path = tmp_path / "binlog.000001"
    path.write_bytes(log_of_statements(*[b"INSERT INTO t VALUES (1)"] * 100))
    follower = Follower([str(path)], split_size=path.stat().st_size // 3, at_once=4)
    steps = follower.steps(start := follower.earliest(), follower.advance(start))
    sizes = [step.end - step.start for step in steps]
    assert len(sizes) == 4
    assert max(sizes) - min(sizes) < sum(sizes) // 25


def test_a_closed_log_that_is_truncated(tmp_path: Path) -> None:
    (tmp_path / "binlog.000001").write_bytes(ROTATED[0].read_bytes()[:-10])
    shutil.copy(ROTATED[1], tmp_path / "binlog.000002")
    follower = Follower([str(tmp_path)])
    checkpoints = steps_until_error(follower)
    assert Path(checkpoints[-1].file).name == "binlog.000001"
    with pytest.raises(TruncatedError, match=r"binlog\.000001"):
        follower.advance(checkpoints[-1])


def test_an_empty_log_between_others(tmp_path: Path) -> None:
    """A server that crashes may leave a log without events, and continue in the next one."""
    logs = [tmp_path / f"binlog.{number:06}" for number in (1, 2, 3)]
    shutil.copy(ROTATED[0], logs[0])
    logs[1].write_bytes(b"")
    shutil.copy(ROTATED[1], logs[2])
    follower = Follower([str(tmp_path)])
    checkpoint = follower.advance(follower.earliest())
    assert (checkpoint.file, checkpoint.position) == (str(logs[2]), logs[2].stat().st_size)
    names = [name for name, *_ in covered(follower, [follower.earliest(), checkpoint])]
    assert names == [logs[0].name, logs[2].name]
    shutil.copy(ROTATED[2], logs[2])
    with pytest.raises(SourceError, match="no available log contains"):
        follower.advance(steps_until_error(follower)[-1])


def steps_until_error(follower: Follower) -> list[Checkpoint]:
    """One step, which ends before the damage."""
    start = follower.earliest()
    return [start, follower.advance(start)]


def test_a_position_given_by_a_person() -> None:
    follower = Follower([str(ROTATED[0].parent)])
    end = ends_of_transactions(ROTATED[2])[4]
    checkpoint = follower.place({"file": ROTATED[2].name, "position": end})
    assert (Path(checkpoint.file).name, checkpoint.position) == (ROTATED[2].name, end)
    assert follower.place({"file": ROTATED[1].name}).position == 4
    with pytest.raises(UsageError, match=f"no transaction begins here; the next one begins at {end}"):
        follower.place({"file": ROTATED[2].name, "position": end + 1})
    with pytest.raises(UsageError, match="is not among the logs"):
        follower.place({"file": "binlog.000009"})
    with pytest.raises(UsageError, match="is not a position"):
        follower.place({"position": 4})


def test_a_position_in_a_log_that_has_been_compressed_since(tmp_path: Path) -> None:
    (tmp_path / f"{ROTATED[1].name}.gz").write_bytes(gzip.compress(ROTATED[1].read_bytes()))
    end = ends_of_transactions(ROTATED[1])[1]
    for name in (ROTATED[1].name, f"{ROTATED[1].name}.gz"):
        assert Follower([str(tmp_path)]).place({"file": name, "position": end}).position == end


def test_a_checkpoint_is_checked() -> None:
    for wrong in ({"file": 1}, {"file": "a", "position": "4"}, {"file": "a", "place": 4}, {}):
        with pytest.raises(UsageError, match="not a valid position"):
            Checkpoint.of(wrong)
