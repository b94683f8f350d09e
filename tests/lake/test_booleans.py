"""BIT(1) as boolean, in readers and in lakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import binlog_kaitai as bk
from binlog_kaitai.cli.app import app
from binlog_kaitai.errors import UsageError
from binlog_kaitai.lake.erasing import erase
from binlog_kaitai.lake.rules import Rules
from binlog_kaitai.rows.row_masks import Masks
from binlog_kaitai.values.conditions import parse_where
from tests.corpus_files import case
from tests.lake.lakes import KINDS, fill, opened, table
from tests.snapshot.building import loaded, script
from tests.snapshot.building import table as dumped

LOGS = case("mysql-9.7", "types_full").logs
BOOLEANS = Rules(bit1_as_boolean=True)


def values(found: pa.Table, name: str = "b1") -> list[Any]:
    return sorted(found[name].to_pylist(), key=repr)


def test_only_columns_of_one_bit_are_boolean(tmp_path: Path) -> None:
    plain = bk.read_changes(LOGS, table="t.misc").read_all()
    rows = bk.read_changes(LOGS, table="t.misc", bit1_as_boolean=True).read_all()
    assert rows.schema.field("b1").type == pa.bool_()
    assert rows["b1"].to_pylist() == [None if bit is None else bool(bit) for bit in plain["b1"].to_pylist()]
    assert {True, False} <= {*rows["b1"].to_pylist()}
    assert rows.drop_columns("b1") == plain.drop_columns("b1")
    chosen = bk.read_changes(LOGS, table="t.misc", bit1_as_boolean=True, where=pc.field("b1")).read_all()
    assert {*chosen["b1"].to_pylist()} == {True}
    options = ["--view", "changes", "-t", "t.misc", "--bit1-as-boolean", *map(str, LOGS)]
    assert CliRunner().invoke(app, ["export", "--to", str(tmp_path / "to"), *options]).exit_code == 0
    assert values(pq.read_table(tmp_path / "to" / "changes" / "t.misc")) == values(rows)


@pytest.mark.parametrize("kind", KINDS)
def test_a_lake_keeps_its_type(kind: str, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    fill(lake, LOGS, format=kind, rules=BOOLEANS, keeps_state=True)
    expected = bk.read_changes(LOGS, table="t.misc", bit1_as_boolean=True).read_all()
    assert values(table(opened(lake, kind), "changes/t.misc")) == values(expected)
    assert table(opened(lake, kind), "state/t.misc").schema.field("b1").type == pa.bool_()
    with pytest.raises(UsageError, match=r"has BIT\(1\) as boolean; add --bit1-as-boolean"):
        fill(lake, LOGS, format=kind)
    fill(tmp_path / "plain", LOGS, format=kind)
    with pytest.raises(UsageError, match=r"has BIT\(1\) not as boolean; omit --bit1-as-boolean"):
        fill(tmp_path / "plain", LOGS, format=kind, rules=BOOLEANS)


def test_rows_that_are_true_are_erased(tmp_path: Path) -> None:
    fill(tmp_path, LOGS, rules=BOOLEANS)
    count = values(table(opened(tmp_path), "changes/t.misc")).count(True)
    (erased,) = erase(str(tmp_path), "t.misc", parse_where("b1 = 1"))
    assert erased.rows == count > 0
    assert True not in values(table(opened(tmp_path), "changes/t.misc"))


def test_snapshots_have_the_types_of_changes(tmp_path: Path) -> None:
    columns = "`id` int PRIMARY KEY, `a` bit(1), `b` bit(2), `c` bit(1)"
    dump = script(dumped("x", columns, "(1,b'1',b'1',b'1'),(2,b'0',b'10',NULL)"))
    rules = Rules(Masks.of((), (), ("d.x.c=sha256",), None), bit1_as_boolean=True)
    loaded(dump, tmp_path, rules=rules)
    rows = pq.read_table(tmp_path / "snapshot" / "changes" / "d.x")
    assert rows["a"].to_pylist() == [True, False]
    assert rows["b"].to_pylist() == [1, 2]
    assert [value and len(value) for value in rows["c"].to_pylist()] == [64, None]
