"""Definitions do not cross a gap in a series of logs.

`logs/series`: five logs of MySQL 5.7.22 without GTIDs, MySQL 9.7.4 and MariaDB 11.8.9 with GTIDs. Their table
maps name no columns. In each, tables are defined or changed: columns exchange their names, are moved, added
and dropped; two tables exchange their names; a table is created again. Each value is the name of its column.
"""

from __future__ import annotations

import json
import re
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.spans import LogHeader, read_log_header
from binlog_kaitai.errors import BinlogError, DataLossWarning, DefinitionWarning
from binlog_kaitai.following.follower import Follower
from binlog_kaitai.lines.row_texts import write_rows
from binlog_kaitai.log.series import Link, LogEnds, continuity, continuity_of
from binlog_kaitai.sources.source import Source
from binlog_kaitai.views.splits import definitions_in, plan, read_split
from tests.earlier_logs import files_before
from tests.extent import sample

SERIES = sorted((Path(__file__).parent / "logs" / "series").iterdir())
NUMBERS = range(2, 7)
CHOICES = [chosen for count in (4, 3, 2) for chosen in combinations(NUMBERS, count)]

#: A row: the value of each column by its name.
Row = dict[str, str]


def series(server: Path, numbers: tuple[int, ...], folder: Path) -> list[Path]:
    """Some logs of a series, in a folder of their own."""
    logs = [server / f"binlog.{number:06}" for number in numbers]
    return [Path(shutil.copy(log, folder)) for log in logs]


def changes(logs: list[Path]) -> Iterator[Row]:
    for batch in bk.read_changes(logs):
        yield from map(json.loads, batch.column("after").to_pylist())


def typed(logs: list[Path]) -> Iterator[Row]:
    for table in ("s.swap", "s.more", "s.kept"):
        for batch in bk.read_changes(logs, table=table):
            for row in batch.to_pylist():
                yield {name: value for name, value in row.items() if name[0] != "_" and value is not None}


def python_rows(logs: list[Path]) -> Iterator[Row]:
    for row in bk.read_rows(logs):
        yield dict(row.after or {})


def events(logs: list[Path]) -> Iterator[Row]:
    for event in bk.open(logs):
        yield from (dict(row.after or {}) for row in event.rows())


def printed(logs: list[Path]) -> Iterator[Row]:
    for line in b"".join(write_rows(list(map(str, logs)))).splitlines():
        yield json.loads(line)["after"]


def script(logs: list[Path]) -> Iterator[Row]:
    """The statements up to the first table whose columns have no names, which ends the script."""
    lines: list[bytes] = []
    with suppress(BinlogError):
        lines.extend(bk.sql_script(logs))
    for names, values in re.findall(r"INSERT INTO .* \((.*)\) VALUES \((.*)\);", b"".join(lines).decode()):
        yield dict(zip(re.findall(r"`(\w+)`", names), re.findall(r"'(\w+)'", values), strict=True))


def splits(logs: list[Path]) -> Iterator[Row]:
    every = plan(logs, split_size=600)
    for split in every:
        for batch in read_split(split, earlier=files_before(every, split)):
            yield from map(json.loads, batch.column("after").to_pylist())


def followed(logs: list[Path]) -> Iterator[Row]:
    follower = Follower([str(logs[0].parent)], fails_on_loss=False, follows_definitions=True)
    start = follower.earliest()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataLossWarning)
        steps = follower.steps(start, follower.advance(start))
    for step in steps:
        for batch in read_split(step.source, definitions_at=definitions_in(step.source, None)):
            yield from map(json.loads, batch.column("after").to_pylist())


READERS = [changes, typed, python_rows, events, printed, script, splits, followed]


@pytest.mark.parametrize("server", SERIES, ids=lambda server: server.name)
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_no_name_is_carried_over_a_missing_log(
    reader: Callable[[list[Path]], Iterator[Row]], server: Path, tmp_path: Path
) -> None:
    """Whichever logs are missing: each value is under its name, or under none."""
    whole = list(reader(series(server, tuple(NUMBERS), tmp_path)))
    assert [row for row in whole if any(name != value for name, value in row.items())] == []
    for chosen in sample(CHOICES, 8):
        folder = tmp_path / "-".join(map(str, chosen))
        folder.mkdir()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rows: list[Row] = []
            try:
                rows.extend(reader(series(server, chosen, folder)))
            except BinlogError:
                assert reader is typed
        wrong = [
            row
            for row in rows
            if any(name not in (value, f"c{number}") for number, (name, value) in enumerate(row.items(), 1))
        ]
        assert wrong == [], chosen
        named = [row for row in rows if all(name == value for name, value in row.items())]
        is_whole = all(after == before + 1 for before, after in pairwise(chosen))
        if chosen[0] == 2 and reader is not script:
            assert (len(named) == len(rows)) == is_whole, chosen
        if reader in (changes, python_rows) and chosen[0] == 2 and not is_whole:
            texts = [str(each.message) for each in caught if each.category is DefinitionWarning]
            missing = next(number for number in NUMBERS if number not in chosen)
            assert all(f"binlog.{missing:06} is missing" in text or "are missing" in text for text in texts)
            assert texts


def header(previous: str | None = None, *, has_gtids: bool = True, first: str | None = "") -> LogHeader:
    """What the first events of a log state; by default, its first transaction has a GTID."""
    return LogHeader(
        previous=None if previous is None else GtidSet.parse(previous),
        first=0 if first is None else 1,
        first_gtid=None if first is None or not has_gtids else UUID + ":9",
    )


def in_use(server: str) -> LogHeader:
    """The header of a real log, as it was before the server closed it."""
    log = next(path for path in SERIES if path.name == server) / "binlog.000003"
    with log.open("rb") as stream:
        return replace(read_log_header(stream, log.name), is_in_use=True, previous=None)


UUID, OTHER = "3e11fa47-71ca-11e1-9e33-c80aa9429562", "4e11fa47-71ca-11e1-9e33-c80aa9429562"


@pytest.mark.parametrize(
    ("before", "after", "link", "reason"),
    [
        # Numbers: the server was killed after the first, or stopped, or it is unknown how it ends.
        (LogEnds("d/b.000001", header()), LogEnds("d/b.000002"), Link.CONTIGUOUS, "number"),
        (LogEnds("b.000001", header(), is_closed=True), LogEnds("b.000002"), Link.CONTIGUOUS, "number"),
        (LogEnds("b.000001"), LogEnds("b.000003"), Link.GAP, "b.000002 is missing"),
        (LogEnds("b.999999.gz"), LogEnds("b.1000000.gz"), Link.CONTIGUOUS, "number"),
        (LogEnds("b.000008.gz"), LogEnds("b.000014"), Link.GAP, "b.000011 and 2 more are missing"),
        (LogEnds("b.000004"), LogEnds("b.000003"), Link.GAP, "does not follow b.000004"),
        (LogEnds("one"), LogEnds("two"), Link.UNKNOWN, "no number"),
        # ROTATE_EVENT at the end of the first, or of both: the numbers of renamed files are not the server's.
        (LogEnds("b.1", None, True, "b.000002"), LogEnds("b.2"), Link.CONTIGUOUS, "ROTATE_EVENT"),
        (LogEnds("b.1", None, True, "m.000007"), LogEnds("b.2"), Link.UNKNOWN, "no number"),
        (LogEnds("b.1", None, True, "m.7"), LogEnds("b.2", None, True, "m.8"), Link.CONTIGUOUS, "ROTATE"),
        (LogEnds("b.1", None, True, "m.7"), LogEnds("b.2", None, True, "m.9"), Link.GAP, "m.7 is missing"),
        # GTIDs: the missing log has none, or transactions without GTIDs are possible.
        (
            LogEnds("b.1", header(""), gtids=GtidSet.parse(f"{UUID}:1-9")),
            LogEnds("b.3", header(f"{UUID}:1-9")),
            Link.CONTIGUOUS,
            "no GTIDs between",
        ),
        (
            LogEnds("b.1", header(""), gtids=GtidSet.parse(f"{UUID}:1-9")),
            LogEnds("b.3", header(f"{UUID}:1-12")),
            Link.GAP,
            f"b.2 is missing; no available log contains {UUID}:10-12",
        ),
        (
            LogEnds("b.1", header(""), gtids=GtidSet.parse(f"{UUID}:1-9")),
            LogEnds("b.3", header(f"{UUID}:1-9", has_gtids=False)),
            Link.GAP,
            "b.2 is missing",
        ),
        # A copy that was made while the server still wrote the log.
        (
            LogEnds("b.1", header(""), is_closed=False, gtids=GtidSet.parse(f"{UUID}:1-8")),
            LogEnds("b.2", header(f"{UUID}:1-9")),
            Link.GAP,
            f"cut short, lacks: {UUID}:9",
        ),
        (
            LogEnds("b.1", header(""), is_closed=True, gtids=GtidSet.parse(f"{UUID}:1-8")),
            LogEnds("b.2", header(f"{UUID}:1-9,{OTHER}:1-5")),  # gtid_purged was set
            Link.CONTIGUOUS,
            "number",
        ),
        # MySQL clears the mark of a log in use when it recovers from a crash, MariaDB does not.
        (LogEnds("b.1", in_use("mysql-9.7"), is_closed=False), LogEnds("b.2"), Link.GAP, "marked as in use"),
        (
            LogEnds("b.1", in_use("mariadb-11.8"), is_closed=False),
            LogEnds("b.2"),
            Link.CONTIGUOUS,
            "number",
        ),
        (
            LogEnds("b.1", in_use("mysql-9.7"), is_closed=False, gtids=GtidSet.parse(f"{UUID}:1-8")),
            LogEnds("b.2", header(f"{UUID}:1-8")),
            Link.CONTIGUOUS,
            "number",
        ),
        # A server whose logs begin anew (RESET), with old logs before it.
        (
            LogEnds("b.1", header(f"{UUID}:1-9")),
            LogEnds("b.2", header(f"{UUID}:1-5")),
            Link.GAP,
            f"did not have the transactions {UUID}:6-9",
        ),
        (LogEnds("b.1", header("0-1-7")), LogEnds("b.2", header("0-1-5")), Link.GAP, "did not have"),
        # FLUSH BINARY LOGS DELETE_DOMAIN_ID
        (LogEnds("b.1", header("0-1-7,5-1-2")), LogEnds("b.2", header("0-1-7")), Link.CONTIGUOUS, "number"),
    ],
)
def test_what_shows_whether_a_log_continues_another(
    before: LogEnds, after: LogEnds, link: Link, reason: str
) -> None:
    found = continuity(before, after)
    assert found.link is link
    assert reason in found.reason


@pytest.mark.parametrize("server", SERIES, ids=lambda server: server.name)
def test_the_gap_between_two_logs_is_found_in_them(server: Path) -> None:
    """The names of the missing logs and, where there are GTIDs, the transactions in them."""
    logs = [Source.of_path(str(server / f"binlog.{number:06}")) for number in NUMBERS]
    assert {continuity_of(*pair).link for pair in pairwise(logs)} == {Link.CONTIGUOUS}
    gap = continuity_of(logs[0], logs[3])
    assert (gap.link, gap.missing) == (Link.GAP, ("binlog.000003", "binlog.000004"))
    gtids = [event.gtid for log in logs[1:3] for event in bk.open(log) if event.gtid is not None]
    assert (gap.gtids or GtidSet()) == GtidSet.parse(",".join(dict.fromkeys(gtids)))
