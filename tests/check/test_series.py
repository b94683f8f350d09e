"""Whether all logs of a series are there: what `verify` reports of missing, repeated and half copied logs."""

from __future__ import annotations

import gzip
import shutil
from itertools import combinations, pairwise
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.grammar import header_offset
from binlog_kaitai.sources.source import resolve
from tests.corpus_files import Case, case, cases
from tests.extent import sample

#: Cases of several logs, among them relay logs, logs of crashed servers, and the logs of group members.
SERIES = [case for case in cases() if len(case.logs) > 1]
ROTATED = [one for one in SERIES if one.folder.name == "rotate"]
CRASHED = [one for one in SERIES if one.folder.name == "crash"]
RELAYED = [one for one in SERIES if one.folder.name.startswith("relay-of")]
ANONYMOUS = [one for one in SERIES if one.folder.name == "gtid_modes"]

#: Flag of the format description of a log that is being written; no checksum covers it.
IN_USE = 1


def name_of(one: Case) -> str:
    return one.id


def gaps(*logs: Path) -> dict[str, tuple[str, ...]]:
    """The missing logs before each log that has any."""
    reports = list(bk.verify(logs))
    assert len(reports) == len(logs)
    assert not any(report.is_half_copy for report in reports)
    found = {Path(report.file).name: report.gap_before for report in reports}
    return {name: gap.missing for name, gap in found.items() if gap is not None}


@pytest.mark.parametrize("one", sample(SERIES, 12), ids=name_of)
def test_whole_series_of_servers_are_complete(one: Case) -> None:
    assert gaps(*one.logs) == {}


@pytest.mark.parametrize("one", sample(ROTATED + RELAYED + ANONYMOUS, 6), ids=name_of)
def test_each_log_that_is_missing_between_two_is_named(one: Case) -> None:
    names = [log.name for log in one.logs]
    for kept in combinations(range(len(names)), 3):
        expected = {
            names[after]: tuple(names[before + 1 : after])
            for before, after in pairwise(kept)
            if after > before + 1
        }
        assert gaps(*(one.logs[number] for number in kept)) == expected


def test_logs_in_another_order_do_not_continue_each_other() -> None:
    first, second, *_ = case("mysql-9.7", "rotate").logs
    (_, report) = bk.verify([second, first])
    assert report.gap_before is not None
    assert "binlog.000002" in report.gap_before.reason


@pytest.mark.parametrize("one", sample(CRASHED, 4), ids=name_of)
def test_a_log_that_ends_with_a_crash_is_whole(one: Case) -> None:
    """It has no ROTATE_EVENT; MariaDB also leaves it marked as in use."""
    assert gaps(*one.logs) == {}


def half_copy(log: Path, target: Path, *, events: int) -> Path:
    """A copy of the beginning of a log while its server wrote it."""
    with bk.open(log) as reader:
        ends = [event.position + len(event.raw) for event in reader]
    data = bytearray(log.read_bytes()[: ends[events - 1]])
    data[4 + header_offset("flags")] |= IN_USE
    target.write_bytes(data)
    return target


@pytest.mark.parametrize("one", sample(ROTATED, 4), ids=name_of)
def test_a_copy_of_a_log_in_use_before_later_logs_is_a_half_copy(one: Case, tmp_path: Path) -> None:
    first, second, third, *_ = [Path(shutil.copy(log, tmp_path)) for log in one.logs]
    half_copy(one.logs[1], second, events=3)
    reports = list(bk.verify([first, second, third]))
    assert [report.is_half_copy for report in reports] == [False, True, False]
    assert [report.lacks_transactions for report in reports] == [False, True, True]
    assert all(report.is_ok for report in reports)
    (report,) = bk.verify(second)
    assert not report.lacks_transactions
    assert not any(report.lacks_transactions for report in bk.verify([first, second]))


@pytest.mark.parametrize("one", sample(ROTATED, 2), ids=name_of)
def test_logs_of_several_folders_and_servers_are_several_series(one: Case, tmp_path: Path) -> None:
    other = case("mysql-9.7" if one.folder.parent.name != "mysql-9.7" else "mariadb-11.8", "rotate").logs
    relayed = [Path(shutil.copy(log, tmp_path)) for log in RELAYED[0].logs]
    assert gaps(*one.logs[:2], *other[3:], *relayed) == {}
    mixed = [Path(shutil.copy(log, tmp_path)) for log in (*one.logs[:2], *other[3:])]
    assert gaps(*mixed) == {}
    reports = list(bk.verify([*one.logs[:2], *other[3:]]))
    assert not any(report.missing_before for report in reports)


def test_a_log_that_is_given_again_is_read_once(tmp_path: Path) -> None:
    logs = [Path(shutil.copy(log, tmp_path)) for log in case("mysql-9.7", "rotate").logs]
    index = tmp_path / "binlog.index"
    index.write_text("".join(f"{name}\n" for name in ("./binlog.000001", "binlog.000002", "binlog.000001")))
    (tmp_path / "newest").symlink_to(logs[-1])
    packed = tmp_path / "binlog.000001.gz"
    packed.write_bytes(gzip.compress(logs[0].read_bytes()))
    given = [
        str(index), str(logs[0]), str(tmp_path / "binlog.0*"), f"{tmp_path}/../{tmp_path.name}/binlog.000003",
        str(tmp_path / "newest"), str(packed),
    ]  # fmt: skip
    assert [Path(log.name).name for log in resolve(given)] == [log.name for log in logs]
    assert [Path(log.name).name for log in resolve(index)] == ["binlog.000001", "binlog.000002"]
    rows = [(row.file, row.position, row.index) for row in bk.read_rows(given)]
    assert len(set(rows)) == len(rows) == len(list(bk.read_rows(logs)))
