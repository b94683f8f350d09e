"""Lakes that begin with a dump and continue with a directory of logs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest
import zstandard

from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.lake.batches import Lake
from binlog_kaitai.lake.place import WORK
from binlog_kaitai.pipeline.progress import Progress
from binlog_kaitai.rows.change_schemas import META_FIELDS
from tests.follow.logs import ROTATED, ends_of_transactions
from tests.lake.lakes import fill, opened
from tests.lake.lakes import table as table_of
from tests.snapshot.building import HEADER, POSITION, script, table


def run(lake: Path, logs: Path, dump: Path, **job: Any) -> list[Progress]:
    return fill(lake, [logs], 1 << 20, work=str(lake / WORK), dump=str(dump), **job)


def test_a_dump_and_compressed_logs(tmp_path: Path) -> None:
    """The first batch has the rows of the dump, and no change from before its position."""
    first = ROTATED[0]
    logs, lake, dump = tmp_path / "logs", tmp_path / "lake", tmp_path / "dump.sql"
    logs.mkdir()
    for path in ROTATED:
        (logs / f"{path.name}.zst").write_bytes(zstandard.compress(path.read_bytes()))
    place = ends_of_transactions(first)[1]
    position = POSITION.replace("binlog.000007", first.name).replace("158", str(place))
    dump.write_bytes(script(table("dumped", "`i` int PRIMARY KEY", "(1),(2)"), position=position))
    first_batch, second = run(lake, logs, dump)
    assert (first_batch.batch, first_batch.rows) == (0, {"changes/d.dumped": 2})
    assert second.rows["events"] > 0
    found = table_of(opened(lake), "changes/d.dumped")
    assert sorted(found["i"].to_pylist()) == [1, 2]
    assert set(found["_change_type"].to_pylist()) == {"snapshot"}
    events = table_of(opened(lake), "events").filter(pc.field("file") == str(logs / f"{first.name}.zst"))
    assert min(events["position"].to_pylist()) == place
    assert run(lake, logs, dump) == []


def test_a_dump_without_partitions(tmp_path: Path) -> None:
    dump = tmp_path / "dump.sql"
    position = POSITION.replace("binlog.000007", ROTATED[0].name)
    position = position.replace("158", str(ends_of_transactions(ROTATED[0])[1]))
    dump.write_bytes(script(table("dumped", "`i` int PRIMARY KEY", "(1),(2)"), position=position))
    run(tmp_path / "lake", ROTATED[0].parent, dump, has_dates=False)
    found = table_of(opened(tmp_path / "lake"), "changes/d.dumped")
    assert sorted(found["i"].to_pylist()) == [1, 2]
    assert not list((tmp_path / "lake" / "changes").rglob("log_date=*"))


def test_changes_have_the_columns_of_the_dump(tmp_path: Path) -> None:
    """The logs after a dump have no CREATE TABLE, and no names of columns."""
    lake, dump = tmp_path / "lake", tmp_path / "dump.sql"
    position = POSITION.replace("binlog.000007", ROTATED[1].name).replace("158", "198")
    rows = table("a", "`id` int PRIMARY KEY AUTO_INCREMENT,\n  `v` varchar(200)", "(1,'first log')")
    dump.write_bytes(script(rows, header=HEADER.replace("Database: d", "Database: t"), position=position))
    run(lake, ROTATED[0].parent, dump)
    found = table_of(opened(lake), "changes/t.a")
    assert set(found.column_names) == {field.name for field in META_FIELDS} | {"id", "v"}
    assert {1: "first log", 2: "second log", 50: "after the stop"}.items() <= dict(
        zip(found["id"].to_pylist(), found["v"].to_pylist(), strict=True)
    ).items()


def test_a_dump_is_in_the_lake_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pipeline is killed after it has planned the batch with the rows of the dump."""
    dump, lake = tmp_path / "dump.sql", tmp_path / "lake"
    position = POSITION.replace("binlog.000007", ROTATED[0].name)
    position = position.replace("158", str(ends_of_transactions(ROTATED[0])[1]))
    dump.write_bytes(script(table("dumped", "`i` int PRIMARY KEY", "(1),(2)"), position=position))
    with monkeypatch.context() as patch:
        patch.setattr(Lake, "commit", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run(lake, ROTATED[0].parent, dump)
    first, *_ = run(lake, ROTATED[0].parent, dump)
    assert (first.batch, first.is_recovered) == (0, True)
    assert table_of(opened(lake), "changes/d.dumped").num_rows == 2


def test_a_table_of_a_lake_is_read_from_a_dump_again(tmp_path: Path) -> None:
    """Its contents begin anew with the rows of the dump; the changes from before stay."""
    lake, dump = tmp_path / "lake", tmp_path / "dump.sql"
    position = POSITION.replace("binlog.000007", ROTATED[1].name).replace("158", "198")
    rows = table("a", "`id` int PRIMARY KEY AUTO_INCREMENT,\n  `v` varchar(200)", "(1,'from the dump')")
    dump.write_bytes(script(rows, header=HEADER.replace("Database: d", "Database: t"), position=position))

    def read_again(name: str) -> None:
        run(lake, ROTATED[0].parent, dump, resnapshot=[name], keeps_state=True)

    with pytest.raises(UsageError, match="is new: --resnapshot is for a lake that exists"):
        read_again("t.a")
    fill(lake, [ROTATED[0]], keeps_state=True)
    with pytest.raises(UsageError, match="the dump has no such table"):
        read_again("t.none")
    read_again("t.a")
    state = table_of(opened(lake), "state/t.a")
    values = dict(zip(state["id"].to_pylist(), state["v"].to_pylist(), strict=True))
    assert {1: "from the dump", 2: "second log"}.items() <= values.items()
    changes = table_of(opened(lake), "changes/t.a")
    assert {"first log", "from the dump"} <= {*changes.filter(pc.field("id") == 1)["v"].to_pylist()}
    with pytest.raises(
        UsageError, match=r"too old: the lake has changes from after binlog\.000002, position 198"
    ):
        read_again("t.a")


def test_refusals(tmp_path: Path) -> None:
    dump = tmp_path / "dump.sql"
    dump.write_bytes(script(table("dumped", "`i` int", "(1)")))
    with pytest.raises(SourceError, match=r"continues in binlog\.000007, which is not among the logs"):
        run(tmp_path / "new", ROTATED[0], dump)
    fill(tmp_path / "old", [ROTATED[0]])
    with pytest.raises(UsageError, match="was begun without a snapshot"):
        run(tmp_path / "old", ROTATED[0], dump)
