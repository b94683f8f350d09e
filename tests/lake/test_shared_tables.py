"""Several tables of a server that share one in a lake: `--rename` with a glob."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from binlog_kaitai.errors import UsageError
from binlog_kaitai.lake.changes import changes
from binlog_kaitai.lake.rules import Rules
from binlog_kaitai.rows.row_masks import NO_MASKS
from tests.lake.lakes import KINDS, fill, opened, rows, table
from tests.lake.table_log import TableLog
from tests.snapshot.building import HEADER, loaded, script
from tests.snapshot.building import table as dumped

SHARED = Rules.of(NO_MASKS, ["s.?=s.all"])


def log_of_tables(folder: Path) -> Path:
    """Changes of `s.t` and `s.u`, both with the key 1; a column of `s.u` is renamed, and `s.t` is emptied."""
    log = TableLog(["id", "x"], ["id"])
    for name in "tu":
        log.table = name
        log.insert(1, 10 + (name == "u"))
    log.run("ALTER TABLE s.u RENAME COLUMN x TO y")
    log._names = ["id", "y"]
    log.update((1, 11), (1, 12))
    log.run("TRUNCATE TABLE s.t")
    log.table, log._names = "t", ["id", "x"]
    log.insert(2, 20)
    return log.write(folder)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [60, 30_000])
def test_rows_say_which_table_they_are_from(size: int, kind: str, tmp_path: Path) -> None:
    shared, own, log = tmp_path / "shared", tmp_path / "own", log_of_tables(tmp_path)
    fill(shared, [log], size, format=kind, rules=SHARED)
    fill(own, [log], size, format=kind)
    assert opened(shared, kind).storage.names("changes") == ["s.all"]
    found = table(opened(shared, kind), "changes/s.all")
    assert found.column_names[:2] == ["_schema", "_table"]
    assert Counter(found["_table"].to_pylist()) == {"t": 2, "u": 3}
    for name in "tu":
        of_table = found.filter(pc.field("_table") == name)
        expected = changes(str(own), f"s.{name}", kind=kind).read_all()
        is_now = changes(str(shared), f"s.{name}", kind=kind).read_all()
        assert rows(is_now, "_schema", "_table") == rows(expected)
        assert {*of_table["_schema"].to_pylist()} == {"s"}
    # TRUNCATE is about one of the tables.
    assert changes(str(shared), "s.t", kind=kind).read_all()["id"].to_pylist() == [2]


def test_a_snapshot_has_the_columns_too(tmp_path: Path) -> None:
    dump = script(dumped("t", "id int", "(1)"), header=HEADER.replace("Database: d", "Database: s"))
    loaded(dump, tmp_path, rules=SHARED)
    whole = pq.read_table(tmp_path / "snapshot" / "changes" / "s.all")
    assert whole.select(["_schema", "_table", "id"]).to_pylist() == [{"_schema": "s", "_table": "t", "id": 1}]


def test_names_in_full_come_first() -> None:
    rules = Rules.of(NO_MASKS, ["shop_*.orders=shop.orders", "shop_1.orders=first.orders", "shop_*=shop"])
    assert rules.name_of(("shop_1", "orders")) == ("first", "orders")
    assert rules.name_of(("shop_2", "orders")) == ("shop", "orders")
    assert rules.name_of(("shop_2", "items")) == ("shop", "items")
    assert not rules.is_shared(("shop_1", "orders"))
    with pytest.raises(
        UsageError, match=r"in the lake, shop\.orders is shop_\*\.orders; rename shop\.orders, too"
    ):
        rules.name_of(("shop", "orders"))


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a valid rename"):
        Rules.of(NO_MASKS, ["a.b=c.*"])
    with pytest.raises(UsageError, match="--state needs a table of its own"):
        fill(tmp_path / "lake", [log_of_tables(tmp_path)], rules=SHARED, keeps_state=True)
    log = TableLog(["id", "_Table"], ["id"])
    log.insert(1, 10)
    with pytest.raises(UsageError, match=r"s\.t has a column _table"):
        fill(tmp_path / "lake", [log.write(tmp_path)], rules=SHARED)
