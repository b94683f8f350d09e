"""A lake has each row once, even if a writer was killed; and it equals the output of `export`."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.definitions import restore
from binlog_kaitai.errors import UsageError
from binlog_kaitai.following import Follower, Step
from binlog_kaitai.lake.commits import Lake
from binlog_kaitai.lake.iceberg import IcebergTables
from binlog_kaitai.lake.types import DIALECTS
from binlog_kaitai.lake.write import by_date, write_around, write_damage, write_lake
from binlog_kaitai.log.gaps import Gap
from binlog_kaitai.rows.log_pages import RowsPages
from binlog_kaitai.views.parquet_folder import folder_name, write_changes
from binlog_kaitai.views.skip_damage import read_around
from binlog_kaitai.views.splits import plan
from tests.corpus_files import CORPUS
from tests.extent import sample

CASES = ["mysql-9.7/mixed", "mysql-9.7/payloads", "mysql-9.7/ddl", "mysql-5.6/rotate", "mariadb-11.8/ddl"]


class KilledError(Exception):
    """Stands for the end of the process."""


def fill(lake: Lake, paths: list[str], batch_size: int, kind: str = "parquet") -> None:
    """All of some logs, in batches of several small steps; those that are decided are not made again."""
    follower = Follower(paths, follows_definitions=True, split_size=batch_size // 3)
    checkpoint = follower.earliest()
    for batch in itertools.count():
        end = follower.advance(checkpoint, max_bytes=batch_size)
        if end == checkpoint:
            return
        steps = [] if lake.is_decided(batch) else follower.steps(checkpoint, end)
        lake.commit(batch, [piece(lake, step, kind) for step in steps])
        checkpoint = end


def piece(lake: Lake, step: Step, kind: str) -> dict[str, Any]:
    staging, definitions = lake.new_staging(), restore(step.span.definitions)
    written = write_lake(step.source, staging, definitions=definitions, dialect=DIALECTS[kind])
    table_effects = [asdict(one) for one in step.effects]
    found = {"files": written.files, "keys": written.keys, "incomplete": written.incomplete}
    return {"staging": str(staging), "table_effects": table_effects, **found}


def opened(folder: Path, kind: str = "parquet") -> Lake:
    lake = Lake(folder, kind, IcebergTables(folder) if kind == "iceberg" else None)
    lake.open()
    (lake.checkpoint / "offsets").mkdir(parents=True, exist_ok=True)
    (lake.checkpoint / "offsets" / "0").touch()
    (lake.checkpoint / "metadata").write_text('{"id": "one"}')
    return lake


def rows(folder: Path, without: str = "") -> Counter[str]:
    """The rows below a folder, whichever files and columns they are in, but for one column."""
    found: Counter[str] = Counter()
    for path in sorted(folder.rglob("*.parquet")):
        for row in ds.dataset(path).to_table().to_pylist():
            row.pop("log_date", None)
            row.pop(without, None)
            found[repr([(name, str(value)) for name, value in row.items() if value is not None])] += 1
    return found


def expected(paths: list[str]) -> tuple[Counter[str], Counter[str]]:
    def count(table: pa.Table) -> Counter[str]:
        kept = [
            [(name, str(value)) for name, value in row.items() if value is not None]
            for row in table.to_pylist()
        ]
        return Counter(map(repr, kept))

    return count(bk.read_events(paths).read_all()), count(bk.read_transactions(paths).read_all())


@pytest.mark.parametrize("case", sample(CASES, 2))
def test_a_lake_is_what_export_writes(case: str, tmp_path: Path) -> None:
    paths = [str(path) for path in sorted((CORPUS / case).glob("*.0*"))]
    lake = opened(tmp_path / "lake")
    fill(lake, paths, 9000)
    assert (rows(lake.folder / "events"), rows(lake.folder / "transactions")) == expected(paths)
    write_changes(RowsPages(paths, Filters()), tmp_path / "export")
    names = sorted(path.name for path in (tmp_path / "export").iterdir())
    assert sorted(path.name for path in (lake.folder / "changes").iterdir()) == names
    for name in names:
        found = rows(lake.folder / "changes" / name, without="_sequence")
        assert found == rows(tmp_path / "export" / name), name


@pytest.mark.parametrize("left", sample([10, 0, 1, 2, 9, 11, 12, 23, 30, 37], 1))
def test_killed_between_any_two_renames(left: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [str(CORPUS / "mysql-9.7" / "ddl" / "binlog.000001")]
    whole = opened(tmp_path / "whole")
    fill(whole, paths, 9000)
    rename, renames = Path.rename, itertools.count()

    def rename_or_die(self: Path, target: Path) -> Path:
        if next(renames) == left:
            raise KilledError
        return rename(self, target)

    lake = opened(tmp_path / "lake")
    monkeypatch.setattr(Path, "rename", rename_or_die)
    with pytest.raises(KilledError):
        fill(lake, paths, 9000)
    lake.close()
    again = opened(tmp_path / "lake")
    fill(again, paths, 9000)
    for view in ("events", "transactions", "changes"):
        assert rows(again.folder / view) == rows(whole.folder / view)
    assert not list((again.folder / "_pipeline" / "staging").iterdir())
    assert len(list(again.records())) == len(list(whole.records()))


def test_files_that_no_batch_decided_are_not_in_the_lake(tmp_path: Path) -> None:
    lake = opened(tmp_path)
    staging = lake.new_staging() / "events"
    staging.mkdir(parents=True)
    (staging / "part.parquet").write_bytes(b"half")
    lake.close()
    assert not list(opened(tmp_path).folder.rglob("*.parquet"))


def test_files_that_somebody_removed_from_the_lake_are_not_missed(tmp_path: Path) -> None:
    lake = opened(tmp_path)
    fill(lake, [str(CORPUS / "mysql-5.6" / "rotate")], 9000)
    lake.close()
    for path in (tmp_path / "events").rglob("*.parquet"):
        path.unlink()
    opened(tmp_path)


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    lake = opened(tmp_path)
    code = "import sys; from pathlib import Path; from binlog_kaitai.lake.commits import Lake;"
    command = [sys.executable, "-c", code + "Lake(Path(sys.argv[1])).open()", str(tmp_path)]
    assert b"another pipeline is writing" in subprocess.run(command, capture_output=True).stderr
    lake.close()
    assert subprocess.run(command, capture_output=True).returncode == 0


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(UsageError, match="is not empty and is not"):
        Lake(tmp_path).open()


def test_a_lake_goes_on_as_what_it_is(tmp_path: Path) -> None:
    lake = opened(tmp_path)
    fill(lake, [str(CORPUS / "mysql-5.6" / "rotate")], 9000)
    lake.close()
    with pytest.raises(UsageError, match="is a lake in parquet format"):
        Lake(tmp_path, "delta").open()
    opened(tmp_path)


def test_a_package_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyiceberg", None)
    with pytest.raises(UsageError, match=r'pip install "binlog-kaitai\[iceberg\]"'):
        IcebergTables(tmp_path)


def test_without_its_checkpoint_a_lake_is_refused(tmp_path: Path) -> None:
    lake = opened(tmp_path)
    fill(lake, [str(CORPUS / "mysql-5.6" / "rotate")], 9000)
    lake.close()
    (lake.checkpoint / "offsets" / "0").unlink()
    with pytest.raises(UsageError, match="checkpoint is missing"):
        Lake(tmp_path).open()


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


def test_decimals_that_spark_has_not_are_text(tmp_path: Path) -> None:
    path = CORPUS / "mysql-9.7" / "types_full" / "binlog.000001"
    follower = Follower([str(path)], follows_definitions=True)
    start = follower.earliest()
    written = [
        write_lake(step.source, tmp_path, views=["changes"], definitions=restore(step.span.definitions))
        for step in follower.steps(start, follower.advance(start))
    ]
    kinds = {field.type for file in written[0].files for field in ds.dataset(tmp_path / file).schema}
    assert any(pa.types.is_decimal(kind) for kind in kinds)
    assert not any(pa.types.is_decimal(kind) and kind.precision > 38 for kind in kinds)


@pytest.mark.parametrize(
    "key", [("s", "a/b"), ("..", "/etc/t"), ("", "."), ("", ""), ("a\0", "c:"), ("a.b", "c#")]
)
def test_the_folder_of_a_table_is_one_name(key: tuple[str, str]) -> None:
    name = folder_name(key)
    assert not set(name) & set("/\\\0:#")
    assert tuple(map(unquote, name.split("."))) == key
    assert name != ".."


def test_the_folder_of_a_table_with_a_long_name(tmp_path: Path) -> None:
    long = "\N{CJK UNIFIED IDEOGRAPH-8868}" * 63
    keys = [(long + one, long + other) for one in "ab" for other in "ab"] + [("." * 64, "." * 64)]
    names = [folder_name(key) for key in keys]
    assert len(set(names)) == len(keys)
    for key, name in zip(keys, names, strict=True):
        assert len(name.encode()) <= 255
        assert folder_name(key) == name
        (tmp_path / name).mkdir()
    assert names[0].startswith(long + "a.")
    assert "%~" not in folder_name(("%~", "t"))


@pytest.mark.parametrize("case", ["mysql-9.7-flipped_bit", "mariadb-10.11-hole", "mysql-9.7-garbage_tail"])
def test_a_lake_around_damage_has_all_that_is_whole(case: str, tmp_path: Path) -> None:
    (split,) = plan(str(next((CORPUS / "damaged" / case).glob("*.0*"))), 0)
    written, damages = write_around(split, tmp_path, definitions_at=lambda part: Definitions())
    assert damages
    for view in ("events", "transactions"):
        batches = [item for item in read_around(split, view) if not isinstance(item, Gap)]
        assert sum(rows(tmp_path / view).values()) == sum(batch.num_rows for batch in batches)
    images: Counter[str] = Counter()
    for item in read_around(split, "changes"):
        for row in [] if isinstance(item, Gap) else item.to_pylist():
            count = (row["before"] is not None) + (row["after"] is not None)
            images[f"{row['schema']}.{row['table']}"] += count
    assert {path.name: rows(path).total() for path in (tmp_path / "changes").iterdir()} == images
    found = write_damage(damages, split, tmp_path)
    reported = pa.concat_tables(
        pq.read_table(tmp_path / path, partitioning=None) for path in found
    ).to_pylist()
    assert [(row["file"], row["from"]) for row in reported] == [(split.name, one.start) for one in damages]
    assert all(row["from"] < row["to"] <= split.size for row in reported)
    assert sum(written.files.values()) > 0
