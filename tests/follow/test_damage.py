"""Following damaged logs: rows and ranges equal those of a batch, in any steps, also after a restart."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from binlog_kaitai.errors import BinlogError
from binlog_kaitai.following.checkpoints import Checkpoint
from binlog_kaitai.following.follower import Follower
from binlog_kaitai.following.log_headers import header_of
from binlog_kaitai.log.gaps import Gap
from binlog_kaitai.sources.source import with_state
from binlog_kaitai.views.skip_damage import read_around
from binlog_kaitai.views.splits import definitions_in, plan
from tests.corpus_files import case, special_cases
from tests.extent import rounds, sample
from tests.follow.logs import covered
from tests.log_maker import LogMaker, events_of

VIEWS = ("events", "changes")


def follower(folder: Path, split_size: int, at_once: int = 1) -> Follower:
    paths = [str(path) for path in sorted(folder.iterdir())]
    return Follower(
        paths, follows_definitions=True, split_size=split_size, at_once=at_once, passes_damage=True
    )


def found_in(items: Any) -> Counter[str]:
    counts: Counter[str] = Counter()
    for item in items:
        counts.update(map(repr, [item] if isinstance(item, Gap) else item.to_pylist()))
    return counts


def followed(folder: Path, view: str, size: int) -> tuple[Counter[str], Checkpoint]:
    """All that is found in steps; every second one is divided by a follower that knows its ends alone."""
    steps, found = follower(folder, size // 2), Counter[str]()
    checkpoint, number = steps.earliest(), 0
    while (end := steps.advance(checkpoint, max_bytes=size)) != checkpoint:
        again = follower(folder, size // 2, at_once=3)
        assert covered(again, [checkpoint, Checkpoint.of(end.as_dict())]) == covered(steps, [checkpoint, end])
        for step in (steps, again)[number % 2].steps(checkpoint, end):
            known: dict[str, Any] = {"definitions_at": definitions_in(step.source, None)}
            found += found_in(
                read_around(with_state(step.source), view, **(known if view == "changes" else {}))
            )
        checkpoint, number = end, number + 1
    return found, checkpoint


def in_batch(path: Path, view: str) -> Counter[str]:
    return sum((found_in(read_around(split, view)) for split in plan(str(path), 0)), Counter())


def closed(folder: Path, log: Path) -> Path:
    """A log with another one after it, so that it is complete; returns the first."""
    folder.mkdir()
    path = folder / "binlog.000001"
    shutil.copy(log, path)
    server = "mysql-9.7" if "mysql" in str(log) else "mariadb-10.11"
    shutil.copy(case(server, "rotate").logs[0], folder / "binlog.000002")
    return path


def readable(log: Path) -> bool:
    try:
        return header_of(str(log)) is not None
    except BinlogError:
        return False


#: Not where a whole event was cut out: nothing in the bytes shows that, and rows without their table map
#: are damage only to who did not read an earlier one.
DAMAGED = [
    log
    for case in special_cases("damaged")
    for log in case.logs
    if readable(log) and not case.folder.name.endswith("lost_event")
]


@pytest.mark.parametrize("log", sample(DAMAGED, 6), ids=lambda log: log.parent.name)
@pytest.mark.parametrize("view", VIEWS)
def test_damage_is_reported_as_by_a_batch(log: Path, view: str, tmp_path: Path) -> None:
    path = closed(tmp_path / "logs", log)
    expected = in_batch(path, view) + in_batch(path.with_suffix(".000002"), view)
    for size in (400, 1 << 30):
        assert followed(path.parent, view, size)[0] == expected


@pytest.mark.parametrize("server", sample(["mysql-9.7", "mysql-5.6", "mariadb-10.5", "mariadb-11.8"], 2))
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.filterwarnings("ignore::binlog_kaitai.DefinitionWarning")
def test_random_damage(server: str, view: str, tmp_path: Path) -> None:
    chance = random.Random(f"{server}{view}")
    layout, (head, *transactions) = events_of(case(server, "mixed").logs[0])
    log = LogMaker(layout)
    log.add_all(head)
    for transaction in transactions[:30]:
        log.add_all(transaction)
    start = sum(map(len, head)) + 4
    for number in range(rounds(6, 1)):
        data = bytearray(log.data)
        for _ in range(chance.choice((1, 1, 3))):
            at, size = chance.randrange(start, len(data)), chance.choice((1, 1, 40, 2000))
            data[at : at + size] = bytes(chance.randrange(256) for _ in data[at : at + size])
        whole = tmp_path / f"{server}-{number}.bin"
        whole.write_bytes(data)
        path = closed(tmp_path / str(number), whole)
        expected = in_batch(path, view) + in_batch(path.with_suffix(".000002"), view)
        assert followed(path.parent, view, chance.choice((300, 3000, 1 << 30)))[0] == expected


def test_half_an_event_of_a_server_that_writes_is_no_damage(tmp_path: Path) -> None:
    source = case("mysql-9.7", "rotate").logs[0].read_bytes()
    path = tmp_path / "binlog.000001"
    path.write_bytes(source[:-100])
    found, checkpoint = followed(tmp_path, "events", 1 << 20)
    assert not any("Gap" in one for one in found)
    path.write_bytes(source)
    steps = follower(tmp_path, 1 << 20)
    taken = steps.steps(checkpoint, steps.advance(checkpoint))
    rest = sum((found_in(read_around(with_state(step.source), "events")) for step in taken), Counter[str]())
    assert found + rest == in_batch(path, "events")
