"""A lake has each row once, whenever its pipeline was killed; and it equals what the readers read."""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

import binlog_kaitai as bk
from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.following.effects import EffectKind
from binlog_kaitai.lake import delta
from binlog_kaitai.lake.batches import Lake
from binlog_kaitai.lake.files import TableFiles, by_date, rows_by_table
from binlog_kaitai.lake.lineage import Entry, entries_of
from binlog_kaitai.lake.place import PlanTable
from binlog_kaitai.lake.rules import NO_RULES
from binlog_kaitai.lake.storage import Storage, table_name
from binlog_kaitai.lake.types import schema_in_lake
from binlog_kaitai.lake.write import write_damage, write_lake
from binlog_kaitai.log.gaps import Gap
from binlog_kaitai.views.skip_damage import read_around
from binlog_kaitai.views.splits import plan
from tests.corpus_files import CORPUS
from tests.extent import sample
from tests.lake.lakes import DDL, WORKLOAD, KilledError, OneByOne, contents, dying, fill, opened, rows, table

CASES = ["mysql-9.7/mixed", "mysql-9.7/payloads", "mysql-9.7/ddl", "mysql-5.6/rotate", "mariadb-11.8/ddl"]


def statements_and_keys(lake: Lake) -> tuple[list[Entry], dict[tuple[str, str], list[str]]]:
    """The lineage: what statements did to tables, and the last key of each table."""
    recorded = lake.private.open("_lineage")
    entries = [] if recorded is None else entries_of(recorded.batches())
    return [entry for entry in entries if entry.kind != EffectKind.KEYED], lake.lineage.keys


@pytest.mark.parametrize("case", sample(CASES, 2))
def test_a_lake_is_what_the_readers_read(case: str, tmp_path: Path) -> None:
    paths = [str(path) for path in sorted((CORPUS / case).glob("*.0*"))]
    fill(tmp_path, paths, 9000)
    lake = opened(tmp_path)
    for name, read in (
        ("events", bk.read_events),
        ("transactions", bk.read_transactions),
        ("statements", bk.read_ddl),
    ):
        expected = read(paths).read_all()
        types = schema_in_lake(expected.schema)
        assert rows(table(lake, name)) == rows(expected.cast(types)), name
    images = Counter[str]()
    for row in bk.read_changes(paths).read_all().to_pylist():
        name = table_name((row["schema"], row["table"]))
        images[name] += (row["before"] is not None) + (row["after"] is not None)
    assert {name: table(lake, f"changes/{name}").num_rows for name in lake.storage.names("changes")} == images


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("left", sample([7, 0, 1, 2, 3, 4, 9, 14, 22, 30], 2))
def test_killed_around_any_commit(
    left: int, when: str, ddl_lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dies = dying(left, when)
    with monkeypatch.context() as patch:
        patch.setattr(delta.DeltaTables, "create", dies(delta.DeltaTables.create))
        patch.setattr(delta.DeltaTable, "append", dies(delta.DeltaTable.append))
        patch.setattr(PlanTable, "store", dies(PlanTable.store))
        with pytest.raises(KilledError):
            fill(tmp_path / "lake", DDL, 9000)
    fill(tmp_path / "lake", DDL, 9000)
    again, whole = opened(tmp_path / "lake"), opened(ddl_lake)
    assert contents(again) == contents(whole)
    # An entry of a key has the position of its task, and a repeated batch may be divided differently.
    assert statements_and_keys(again) == statements_and_keys(whole)
    assert again.plan is not None
    assert whole.plan is not None
    assert again.plan.batch == whole.plan.batch


def test_a_recovered_batch_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Lake, "commit", lambda *_: (_ for _ in ()).throw(KilledError))
        with pytest.raises(KilledError):
            fill(tmp_path, DDL, 20_000)
    first, second, *_ = fill(tmp_path, DDL, 20_000)
    assert first.line().startswith("batch 0: ")
    assert ", recovered; " in first.line()
    assert "/s)" not in first.line()
    assert "recovered" not in second.line()


def test_the_second_writer_fails(ddl_lake: Path, tmp_path: Path) -> None:
    lake = str(shutil.copytree(ddl_lake, tmp_path / "lake"))
    one, other = Lake(lake), Lake(lake)
    plan_of_one, plan_of_other = one.open(NO_RULES), other.open(NO_RULES)
    assert plan_of_one == plan_of_other
    one.begin(plan_of_one.next({"file": "a"}, {"file": "b"}))
    with pytest.raises(SourceError, match="another pipeline is writing to this lake"):
        other.begin(plan_of_other.next({"file": "a"}, {"file": "b"}))


def test_a_batch_that_two_processes_commit_is_in_the_lake_once(ddl_lake: Path, tmp_path: Path) -> None:
    """The first of them was only slow, and not dead."""
    slow = OneByOne()

    def overtaken(task: Any, inputs: Any) -> Any:
        pieces = OneByOne().run(task, inputs)
        assert len(fill(tmp_path / "lake", DDL, 1 << 20)) == 1
        return pieces

    slow.run = overtaken  # type: ignore[method-assign]
    from binlog_kaitai.pipeline.followed_logs import Following
    from binlog_kaitai.pipeline.pipeline import Job, Pipeline

    following = Following(tuple(map(str, DDL)), max_bytes=1 << 20)
    Pipeline(Job(following, str(tmp_path / "lake"))).run(slow)
    assert contents(opened(tmp_path / "lake")) == contents(opened(ddl_lake))


def test_files_of_a_failed_attempt_are_in_no_table(ddl_lake: Path, tmp_path: Path) -> None:
    lake = Path(shutil.copytree(ddl_lake, tmp_path / "lake"))
    before = rows(table(opened(lake), "events"))
    (path, *_) = (lake / "events").rglob("*.parquet")
    (path.parent / "part-00000000000000000000000000000000.parquet").write_bytes(path.read_bytes())
    assert rows(table(opened(lake), "events")) == before


def test_nothing_new_makes_no_batch(ddl_lake: Path, tmp_path: Path) -> None:
    lake = Path(shutil.copytree(ddl_lake, tmp_path / "lake"))
    version = DeltaTable(str(lake / "statements")).version()
    assert fill(lake, DDL, 9000) == []
    assert DeltaTable(str(lake / "statements")).version() == version


def test_files_have_statistics_of_their_rows(tmp_path: Path) -> None:
    fill(tmp_path, [CORPUS / "mysql-9.7" / "rotate" / "binlog.000001"])
    (log,) = (tmp_path / "changes" / "t.a" / "_delta_log").glob("*.json")
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    (added,) = (one["add"] for one in actions if "add" in one)
    found, expected = json.loads(added["stats"]), table(opened(tmp_path), "changes/t.a")
    assert found["numRecords"] == expected.num_rows
    values = expected["_sequence"].to_pylist()
    assert found["minValues"] == {"_sequence": min(values)}
    assert found["maxValues"] == {"_sequence": max(values)}


def test_the_history_of_a_table_has_the_batch_and_the_rows_of_each_commit(tmp_path: Path) -> None:
    fill(tmp_path, WORKLOAD, keeps_state=True)
    lake = opened(tmp_path)
    names = {(folder, name) for folder in ("changes", "state") for name in lake.storage.names(folder)}
    assert {folder for folder, _ in names} == {"changes", "state"}
    for folder, name in names:
        history = DeltaTable(str(tmp_path / folder / name)).history()[::-1]
        noted = [json.loads(commit["userMetadata"]) for commit in history if "userMetadata" in commit]
        batches = [one["batch"] for one in noted]
        assert batches == sorted(set(batches))
        assert lake.plan is not None
        assert batches[-1] <= lake.plan.batch
        if folder == "changes":
            assert sum(one["rows"] for one in noted) == table(lake, f"{folder}/{name}").num_rows
            assert sum(one["files"] for one in noted) == len(
                list(tmp_path.glob(f"{folder}/{name}/*/*.parquet"))
            )


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(UsageError, match="is not empty and is not a pipeline's lake"):
        Lake(str(tmp_path)).open(NO_RULES)


def test_a_lake_of_the_old_kind(tmp_path: Path) -> None:
    (tmp_path / "_pipeline" / "batches").mkdir(parents=True)
    with pytest.raises(UsageError, match="is a lake of an earlier version; begin a new one"):
        Lake(str(tmp_path)).open(NO_RULES)


@pytest.mark.iceberg
def test_a_lake_goes_on_as_what_it_is(tmp_path: Path) -> None:
    fill(tmp_path, DDL)
    with pytest.raises(UsageError, match="is a lake in delta format; keep that format"):
        Lake(str(tmp_path), "iceberg").check()


@pytest.mark.parametrize(("kind", "package"), [("delta", "deltalake"), ("iceberg", "pyiceberg")])
def test_a_package_that_is_missing_is_named_before_anything_begins(
    kind: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError, match=rf'pip install "{package}[^"]*>='):
        Lake(str(tmp_path / "lake"), kind)
    assert not (tmp_path / "lake").exists()


def test_rows_by_date() -> None:
    day = 86_400_000_000
    times = pa.array([1, day - 1, None, day, -1], pa.timestamp("us", tz="UTC"))
    batch = pa.record_batch({"time": times, "n": list(range(5))})
    found = {date: part.column("n").to_pylist() for date, part in by_date(batch, "time")}
    assert found == {
        "1970-01-01": [0, 1],
        "1970-01-02": [3],
        "1969-12-31": [4],
        "__HIVE_DEFAULT_PARTITION__": [2],
    }


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (("shop", "orders"), "shop.orders"),
        (("s", "a/b"), "s.a~2Fb"),
        (("a.b", "c#"), "a~2Eb.c~23"),
        (("a b", "50%"), "a~20b.50~25"),
        (("~", "~2F"), "~7E.~7E2F"),
        (("été", "表"), "été.表"),
        (("..", "\0"), "~2E~2E.~00"),
    ],
)
def test_the_folder_of_a_table_needs_no_encoding_in_a_url(key: tuple[str, str], name: str) -> None:
    assert table_name(key) == name


def test_the_folder_of_a_table_with_a_long_name() -> None:
    long = "\N{CJK UNIFIED IDEOGRAPH-8868}" * 63
    keys = [(long + one, long + other) for one in "ab" for other in "ab"]
    names = [table_name(key) for key in keys]
    assert len(set(names)) == len(keys)
    assert all(len(name.encode()) <= 255 and "%" not in name for name in names)
    assert "~~" not in table_name(("~~", "%~"))


@pytest.mark.parametrize("case", ["mysql-9.7-flipped_bit", "mariadb-10.11-hole", "mysql-9.7-garbage_tail"])
def test_a_lake_around_damage_has_all_that_is_whole(case: str, tmp_path: Path) -> None:
    (split,) = plan(str(next((CORPUS / "damaged" / case).glob("*.0*"))), 0)
    files = TableFiles(Storage(str(tmp_path)))
    written = write_lake(split, files, skips_damage=True)
    damages = written.damages
    write_damage(damages, split, files)
    files.close()
    counts = rows_by_table(files.files)
    assert counts.pop("damage") == len(damages) > 0
    for view in ("events", "transactions", "statements"):
        found = read_around(split, "ddl" if view == "statements" else view)
        expected = sum(item.num_rows for item in found if not isinstance(item, Gap))
        assert counts.pop(view, 0) == expected
    images = Counter[str]()
    for item in read_around(split, "changes"):
        for row in [] if isinstance(item, Gap) else item.to_pylist():
            name = f"changes/{row['schema']}.{row['table']}"
            images[name] += (row["before"] is not None) + (row["after"] is not None)
    assert counts == images
    assert {f"changes/{'.'.join(name)}" for name in {fact.table for fact in written.facts}} == images.keys()
    (file,) = (file for file in files.files if file.table == "damage")
    reported = pq.read_table(tmp_path / "damage" / file.path, partitioning=None).to_pylist()
    assert [(row["file"], row["from"]) for row in reported] == [(split.name, one.start) for one in damages]
    assert all(row["from"] < row["to"] <= split.size for row in reported)


def test_credentials_are_in_no_name() -> None:
    storage = Storage(
        "s3://key:secret@bucket/lake?region=eu-central-1&endpoint_override=localhost:1&scheme=http"
    )
    assert storage.name == "s3://bucket/lake"
    assert storage.delta_url("events") == "s3://bucket/lake/events"
    assert storage.delta_options() == {
        "AWS_REGION": "eu-central-1",
        "AWS_ENDPOINT_URL": "http://localhost:1",
        "ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
    }


def test_tables_without_partitions(ddl_lake: Path, tmp_path: Path) -> None:
    """They have the same rows; a lake keeps its choice."""
    fill(tmp_path, DDL, 20_000, has_dates=False)
    assert contents(opened(tmp_path)) == contents(opened(ddl_lake))
    assert list(ddl_lake.rglob("log_date=*"))
    assert not list(tmp_path.rglob("log_date=*"))
    with pytest.raises(UsageError, match="was begun without partitions by date; add --no-dates"):
        fill(tmp_path, DDL, 20_000)


def test_tables_need_no_feature_of_a_reader_but_times_without_a_zone(tmp_path: Path) -> None:
    """Merged, changed and new tables; platforms differ in the features of Delta that they know."""
    fill(tmp_path, sorted((CORPUS / "mysql-9.7" / "ddl").glob("*.0*")), 9000, keeps_state=True)
    features = {}
    for log in tmp_path.glob("**/_delta_log"):
        name, handle = str(log.parent.relative_to(tmp_path)), DeltaTable(log.parent)
        protocol, has_times = handle.protocol(), "timestamp_ntz" in handle.schema().to_json()
        wanted = (3, 7, ["timestampNtz"], ["timestampNtz"]) if has_times else (1, 2, None, None)
        assert (
            protocol.min_reader_version,
            protocol.min_writer_version,
            protocol.reader_features,
            protocol.writer_features,
        ) == wanted, name
        features[name] = protocol.reader_features
        if not name.startswith("_"):
            settings = handle.metadata().configuration
            limited = settings.pop("delta.dataSkippingStatsColumns", None)
            assert limited == "`_sequence`" or not name.startswith("changes/"), name
            assert settings == {
                "delta.checkpointInterval": "10",
                "delta.dataSkippingNumIndexedCols": "0",
            }, name
            assert handle.metadata().partition_columns == (
                [] if name.startswith("state/") else ["log_date"]
            ), name
    assert features["changes/t.wide"] == features["state/t.wide"] == ["timestampNtz"]
    assert features["events"] is None
