"""Several sources in one lake: the rows of each are those that a lake of its own would have."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from binlog_kaitai.errors import UsageError
from binlog_kaitai.lake.batches import Lake
from binlog_kaitai.lake.changes import TableChanges, changes
from binlog_kaitai.lake.upkeep import compact, vacuum
from tests.corpus_files import CORPUS
from tests.lake.lakes import DDL, KINDS, WORKLOAD, KilledError, fill, opened, rows, table

TYPES = {
    server: sorted((CORPUS / server / "types_metadata").glob("*.0*"))
    for server in ("mysql-9.7", "mariadb-11.8")
}

VIEWS = ("events", "transactions", "statements")


def add(lake: Path, source: str, paths: list[Path], size: int, **job: Any) -> None:
    fill(lake, paths, size, source=source, is_shared=True, **job)


def rows_of(lake: Lake, name: str, source: str) -> Counter[str]:
    """The rows of a source, without its name."""
    found = table(lake, name)
    assert found.schema.names[0] == "_source"
    return rows(found.filter(pc.field("_source") == source), "_source")


@pytest.mark.parametrize("kind", KINDS)
def test_tables_have_the_rows_of_each_source(kind: str, tmp_path: Path) -> None:
    """They are loaded in turns; batches of one number have different rows."""
    sources = {"first": (WORKLOAD[:2], 50_000), "second": (WORKLOAD[:1], 20_000), "third": (DDL, 20_000)}
    for count in (1, 2):
        for source, (paths, size) in sources.items():
            add(tmp_path / "one", source, list(paths[:count]), size, format=kind)
    for source, (paths, _) in sources.items():
        fill(tmp_path / source, paths, 1 << 20, format=kind)
        shared, own = opened(tmp_path / "one", kind, source), opened(tmp_path / source, kind)
        for name in VIEWS:
            assert rows_of(shared, name, source) == rows(table(own, name)), name
        kept, expected = TableChanges(shared), TableChanges(own)
        assert kept.lineage.tables() == expected.lineage.tables() != []
        for key in expected.lineage.tables():
            if expected.parts(key):
                # What an ALTER gives to older rows is applied in lakes of one source only.
                names = {one.column.name for one in expected.lineage.redefined(key)}
                given = {f"{name}{ending}" for name in names for ending in ("", "_", "__")}
                found = changes(str(tmp_path / "one"), ".".join(key), kind=kind, source=source).read_all()
                assert rows(found, "_source", *given) == rows(expected.changes(key).read_all(), *given), key


@pytest.mark.parametrize("kind", KINDS)
def test_state_is_that_of_each_source(kind: str, tmp_path: Path) -> None:
    sources = {"first": (WORKLOAD, 50_000), "second": (WORKLOAD[:2], 20_000)}
    job: dict[str, Any] = {"views": ["changes"], "keeps_state": True, "format": kind}
    for count in (1, 3):
        for source, (paths, size) in sources.items():
            add(tmp_path / "one", source, paths[:count], size, **job)
    for source, (paths, _) in sources.items():
        fill(tmp_path / source, paths, 1 << 20, **job)
        own = opened(tmp_path / source, kind)
        names = [f"state/{name}" for name in own.storage.names("state")]
        assert any(table(own, name).num_rows for name in names)
        for name in names:
            shared = opened(tmp_path / "one", kind, source)
            if rows(table(own, name)) or shared.tables.open(name):
                assert rows_of(shared, name, source) == rows(table(own, name)), name


def values(found: pa.Table) -> Counter[str]:
    """The values of each row, whatever the names of their columns."""
    found = found.drop_columns("_source") if "_source" in found.schema.names else found
    return Counter(
        repr(sorted(str(value) for value in row.values() if value is not None)) for row in found.to_pylist()
    )


def test_columns_of_other_types_are_kept_apart(tmp_path: Path) -> None:
    """One server may define a table differently from another."""
    for source, paths in TYPES.items():
        add(tmp_path / "one", source, paths, 1 << 20, views=["changes"])
    for source, paths in TYPES.items():
        fill(tmp_path / source, paths, 1 << 20, views=["changes"])
        own, shared = opened(tmp_path / source), opened(tmp_path / "one", source=source)
        for name in (f"changes/{name}" for name in own.storage.names("changes")):
            found = table(shared, name)
            assert values(found.filter(pc.field("_source") == source)) == values(table(own, name)), name


def test_one_source_that_was_killed_repeats_its_batch(tmp_path: Path) -> None:
    add(tmp_path / "one", "first", WORKLOAD[:2], 50_000)
    append = Lake._append

    def dying(lake: Lake, name: str, files: Any, batch: int, *others: Any, **named: Any) -> None:
        if batch == 1 and name == "events":
            raise KilledError
        append(lake, name, files, batch, *others, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Lake, "_append", dying)
        with pytest.raises(KilledError):
            add(tmp_path / "one", "second", WORKLOAD[:2], 20_000)
    assert not opened(tmp_path / "one", source="second").is_complete
    assert opened(tmp_path / "one", source="first").is_complete
    add(tmp_path / "one", "second", WORKLOAD[:2], 20_000)
    fill(tmp_path / "own", WORKLOAD[:2], 1 << 20)
    own = opened(tmp_path / "own")
    names = [f"changes/{name}" for name in own.storage.names("changes")]
    for source in ("first", "second"):
        lake = opened(tmp_path / "one", source=source)
        for name in (*VIEWS, *names):
            assert rows_of(lake, name, source) == rows(table(own, name)), name


def test_a_lake_has_one_source_or_several(tmp_path: Path) -> None:
    add(tmp_path / "one", "first", WORKLOAD[:1], 1 << 20)
    fill(tmp_path / "own", WORKLOAD[:1])
    with pytest.raises(UsageError, match="is a lake of several sources"):
        fill(tmp_path / "one", WORKLOAD)
    with pytest.raises(UsageError, match="is not empty and is not a pipeline's lake of several sources"):
        add(tmp_path / "own", "first", WORKLOAD, 1 << 20)


@pytest.mark.iceberg
def test_a_lake_of_several_sources_keeps_its_format(tmp_path: Path) -> None:
    add(tmp_path, "first", WORKLOAD[:1], 1 << 20)
    with pytest.raises(UsageError, match="is a lake in delta format; keep that format"):
        Lake(str(tmp_path), "iceberg", "second").check()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("has_dates", "reason"),
    [
        (True, "was begun with partitions by date; omit --no-dates"),
        (False, "was begun without partitions by date; add --no-dates"),
    ],
)
def test_sources_agree_on_partitions(kind: str, has_dates: bool, reason: str, tmp_path: Path) -> None:
    add(tmp_path, "first", WORKLOAD[:1], 1 << 20, format=kind, has_dates=has_dates)
    for source in ("first", "second"):
        with pytest.raises(UsageError, match=reason):
            add(tmp_path, source, WORKLOAD, 1 << 20, format=kind, has_dates=not has_dates)
    add(tmp_path, "second", WORKLOAD[:1], 1 << 20, format=kind, has_dates=has_dates)
    lake = opened(tmp_path, kind, "second")
    assert rows_of(lake, "events", "first") == rows_of(lake, "events", "second") != Counter()
    assert bool(list((tmp_path / "events").rglob("log_date=*"))) == has_dates


def test_upkeep_covers_the_tables_of_all_sources(tmp_path: Path) -> None:
    for source in ("first", "second"):
        add(tmp_path, source, WORKLOAD[:2], 20_000)
    before = rows(table(opened(tmp_path, source="first"), "events"))
    done = {one.table: one for one in compact(str(tmp_path), target_size=1 << 20)}
    assert done["events"].files > done["events"].new_files > 0
    assert {"_sources/first/_lineage", "_sources/second/_lineage"} <= done.keys()
    list(vacuum(str(tmp_path), hours=168))
    assert rows(table(opened(tmp_path, source="first"), "events")) == before
