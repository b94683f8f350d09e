"""Slice: a log of the selected transactions, each unchanged."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.check.slices import slice as slice_log
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.errors import BinlogError, UsageError
from binlog_kaitai.sources.source import Source, resolve
from binlog_kaitai.views.transactions_view import read_transactions
from tests.check.damage import transactions_of
from tests.corpus_files import CORPUS, LogFile, case, logs
from tests.sources.test_encrypted import keys_of

_DDL = CORPUS / "mysql-9.7/ddl/binlog.000001"
_SMALL = [log for log in logs() if log.path.stat().st_size < 20_000]


def _slice(path: Path, target: Path, **filters: Any) -> Path:
    (done,) = slice_log(resolve(str(path)), str(target), overwrite=True, **filters)
    report = scan(Source.of_path(str(target)))
    assert not report.damages
    assert (report.events, report.size) == (done.events, done.bytes)
    return target


def _has_gtids(log: LogFile) -> bool:
    kinds = (EventType.gtid_log_event, EventType.gtid_tagged_log_event, EventType.gtid_event)
    return any(one.type_code in kinds for one in log.case.oracle(log.path))


def _every_other(path: Path) -> str:
    gtids = read_transactions(str(path)).read_all().column("gtid").to_pylist()
    return ",".join(gtid for gtid in gtids[::2] if gtid)


@pytest.mark.parametrize("log", _SMALL, ids=lambda log: log.id)
def test_all_transactions_are_the_whole_log(log: LogFile, tmp_path: Path) -> None:
    sliced = _slice(log.path, tmp_path / "all")
    whole = {transaction.content for transaction in transactions_of(log.path)}
    assert {transaction.content for transaction in transactions_of(sliced)} == whole


@pytest.mark.parametrize("log", [log for log in _SMALL if _has_gtids(log)], ids=lambda log: log.id)
def test_by_gtid(log: LogFile, tmp_path: Path) -> None:
    wanted = _every_other(log.path)
    assert wanted
    sliced = _slice(log.path, tmp_path / "half", include_gtids=wanted)
    table = read_transactions(str(sliced)).read_all()
    ended = read_transactions(str(log.path), include_gtids=wanted).read_all()
    pairs = zip(ended["gtid"].to_pylist(), ended["kind"].to_pylist(), strict=True)
    kept = [gtid for gtid, kind in pairs if kind != "open"]
    assert table["gtid"].to_pylist() == kept


def test_by_table(tmp_path: Path) -> None:
    table = read_transactions(str(_DDL)).read_all()
    name = next(name for names in table["tables"].to_pylist() for name in names)
    sliced = read_transactions(str(_slice(_DDL, tmp_path / "table", table=name))).read_all()
    wanted = read_transactions(str(_DDL), table=name).read_all()
    assert sliced["gtid"].to_pylist() == wanted["gtid"].to_pylist()
    assert 0 < len(sliced) < len(table)
    assert all(name in names for names in sliced["tables"].to_pylist() if names)


def _less(image: dict[str, Any] | None) -> bool:
    return image is not None and image.get("id") is not None and image["id"] < 20


def _is_renamed(row: bk.Row) -> bool:
    before, after = row.before or {}, row.after or {}
    return row.change is bk.Change.UPDATE and before.get("name") != after.get("name")


#: A log with compressed transactions too, and one with transactions that are rolled back in part.
_WITH_ROWS = ("mysql-9.7/workload", "mysql-9.7/payloads", "mariadb-11.8/workload", "mysql-9.7/xa")


@pytest.mark.parametrize("name", _WITH_ROWS)
@pytest.mark.parametrize(
    ("criteria", "takes"),
    [
        ({"operation": "delete"}, lambda row: row.change is bk.Change.DELETE),
        ({"where": "id < 20"}, lambda row: _less(row.before) or _less(row.after)),
        ({"column": ["name"], "operation": ["update"]}, _is_renamed),
    ],
    ids=["operation", "where", "column"],
)
@pytest.mark.filterwarnings("ignore::binlog_kaitai.RolledBackWarning")
def test_by_the_changes_of_rows(
    name: str, criteria: dict[str, Any], takes: Callable[[bk.Row], bool], tmp_path: Path
) -> None:
    path = min((CORPUS / name).glob("binlog.0*"))
    rows = list(bk.read_rows(path))
    columns = {column.name for row in rows for column in row.schema.columns}
    # Transactions that are rolled back have such changes, too.
    wanted = {event.position for event in bk.open(path) if any(map(takes, event.rows()))}
    if named := [column for column in ("id", "name") if column in str(criteria) and column not in columns]:
        with pytest.raises(UsageError, match=f"no table in the log has a column named {named[0]}"):
            slice_log(resolve(str(path)), str(tmp_path / "new"), **criteria)
        assert not list(tmp_path.iterdir())
        return
    assert list(map(str, bk.read_rows(path, **criteria))) == [str(row) for row in rows if takes(row)]
    every = read_transactions(str(path)).read_all().to_pylist()
    kept = [
        one["position"]
        for one in every
        if one["kind"] != "open" and any(one["position"] <= at < one["end_position"] for at in wanted)
    ]
    (done,) = slice_log(resolve(str(path)), str(tmp_path / "new"), **criteria)
    whole = {transaction.start: transaction.content for transaction in transactions_of(path)}
    assert done.transactions == len(kept) < len(every)
    assert [one.content for one in transactions_of(tmp_path / "new")] == [whole[start] for start in kept]


def test_by_position(tmp_path: Path) -> None:
    all_of_it = transactions_of(_DDL)
    sliced = _slice(
        _DDL, tmp_path / "part", start_position=all_of_it[3].start, stop_position=all_of_it[6].start
    )
    assert [one.content for one in transactions_of(sliced)] == [one.content for one in all_of_it[3:6]]


def test_what_belongs_to_the_log_stays(tmp_path: Path) -> None:
    path = CORPUS / "mysql-9.7/rotate/binlog.000002"
    sliced = _slice(path, tmp_path / "none", include_gtids="00000000-0000-0000-0000-000000000000:1")
    assert [event.type for event in bk.open(sliced)] == [
        "FORMAT_DESCRIPTION_EVENT", "PREVIOUS_GTIDS_LOG_EVENT", "ROTATE_EVENT",
    ]  # fmt: skip


def test_several_logs_keep_their_names(tmp_path: Path) -> None:
    folder = CORPUS / "mysql-9.7/rotate"
    sources = resolve(str(folder / "binlog.0*"))
    done = slice_log(sources, tmp_path)
    assert sum(one.transactions for one in done) == len(
        read_transactions([str(s.path) for s in sources]).read_all()
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == [Path(source.name).name for source in sources]


def test_a_damaged_log_is_an_error(tmp_path: Path) -> None:
    path = CORPUS / "damaged/mysql-9.7-flipped_bit/binlog.000001"
    with pytest.raises(BinlogError, match="checksum"):
        slice_log(resolve(str(path)), str(tmp_path / "new"))
    assert not list(tmp_path.iterdir())


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    target = tmp_path / "there"
    target.write_bytes(b"mine")
    with pytest.raises(UsageError, match=r"there: already exists.*--overwrite"):
        slice_log(resolve(str(_DDL)), str(target))
    assert target.read_bytes() == b"mine"


def test_the_functions_of_the_package_take_what_open_takes(tmp_path: Path) -> None:
    """And do what the commands of their names do."""
    folder = CORPUS / "mysql-9.7/rotate"
    first = folder / "binlog.000001"
    (done,) = bk.slice(first.read_bytes(), tmp_path / "slice")
    assert (tmp_path / "slice").read_bytes() == first.read_bytes()
    assert (done.target, done.transactions) == (str(tmp_path / "slice"), len(bk.gtids(first)))
    repaired = bk.repair(first.read_bytes(), tmp_path / "repaired")
    assert (repaired.lost_bytes, repaired.result.is_ok) == (0, True)
    reports = list(bk.verify(folder))
    last = reports[-1]
    assert last.previous_gtids is not None
    assert bk.gtids(folder) == last.previous_gtids | last.gtids
    assert bk.gtids(folder, logged=True) == reduce(or_, (report.gtids for report in reports))
    with pytest.raises(UsageError, match="matches several logs"):
        bk.repair(str(folder / "binlog.0*"), tmp_path / "repaired")
    with pytest.raises(TypeError, match="did you mean 'overwrite'"):
        bk.slice(first, tmp_path / "slice", overwrites=True)  # type: ignore[call-arg]


def test_the_functions_of_the_package_take_keys(tmp_path: Path) -> None:
    log = CORPUS / "encrypted/mariadb-11.8/binlog.000001"
    with pytest.raises(bk.EncryptedError):
        bk.gtids(log)
    keys = keys_of(case("encrypted", "mariadb-11.8"))
    whole = bk.gtids(log, keys=keys)
    (sliced,) = bk.slice(log, tmp_path / "slice", keys=keys)
    repaired = bk.repair(log, tmp_path / "repaired", keys=keys)
    for copy in (sliced, repaired):
        assert bk.gtids(copy.target) == whole
