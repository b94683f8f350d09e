"""`columns`, `where` and `tables` return a subset of the whole, in any order of columns."""

from __future__ import annotations

import random
from pathlib import Path
from typing import get_args

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import binlog_kaitai as bk
from binlog_kaitai.views.events_view import EVENTS_SCHEMA, EventColumn
from tests.corpus_files import case

LOGS = [
    (case(server, name).logs[0], table)
    for server, name, table in (
        ("mysql-9.7", "types_minimal", "t.misc"),
        ("mysql-9.7", "types_payload", "t.temps"),
        ("mysql-9.7", "json_partial", None),
        ("mariadb-11.8", "types_compressed", "t.strs"),
        ("mysql-5.6", "types_v1_rows", "t.decs"),
    )
]
IDS = [f"{log.parts[-3]}/{log.parts[-2]}" for log, _ in LOGS]


def table_of(log: Path, table: str | None) -> str:
    return table or next(bk.read_rows(log)).schema.full_name


@pytest.mark.parametrize(("log", "table"), LOGS, ids=IDS)
def test_some_columns_are_a_part_of_all(log: Path, table: str | None) -> None:
    table = table_of(log, table)
    everything = bk.read_changes(log, table=table).read_all()
    shuffle = random.Random(7)
    for size in (1, 2, 5):
        names = shuffle.sample(everything.schema.names, size)
        assert bk.read_changes(log, table=table, columns=names).read_all().equals(everything.select(names))
    assert bk.read_changes(log, table=table, columns=[]).read_all().num_rows == everything.num_rows


@pytest.mark.parametrize(("log", "table"), LOGS, ids=IDS)
def test_a_condition_takes_what_arrow_takes(log: Path, table: str | None) -> None:
    table = table_of(log, table)
    everything = bk.read_changes(log, table=table).read_all()
    key = next(name for name in everything.schema.names if not name.startswith("_"))
    values = [value for value in everything.column(key).unique().to_pylist() if value is not None]
    for condition in (
        pc.field(key) == values[0],
        (pc.field(key) > values[0]) & (pc.field("_change_type") != "delete"),
        pc.field(key).is_null() | (pc.field("_row") > 1),
    ):
        found = bk.read_changes(log, table=table, where=condition).read_all()
        assert found.to_pylist() == everything.filter(condition).to_pylist()
        some = bk.read_changes(log, table=table, columns=["_position"], where=condition).read_all()
        assert some.to_pylist() == found.select(["_position"]).to_pylist()


def test_changes_of_all_tables() -> None:
    log = case("mysql-9.7", "mixed").logs[0]
    everything = bk.read_changes(log).read_all()
    names = ["change", "_gtid"]
    assert bk.read_changes(log, columns=names).read_all().equals(everything.select(names))
    condition = (pc.field("table") == "my") & (pc.field("change") == "insert")
    table = bk.read_changes(log, columns=["after"], where=condition).read_all()
    assert table.equals(everything.filter(condition).select(["after"]).combine_chunks())
    assert table.num_rows
    both = bk.read_changes(log, tables=["t.my", "t2.x"], columns=["schema", "table"]).read_all()
    assert set(map(tuple, (row.values() for row in both.to_pylist()))) == {("t", "my"), ("t2", "x")}
    with pytest.raises(bk.UsageError, match="either table"):
        bk.read_changes(log, table="t.my", tables=["t.my"])


def test_events() -> None:
    log = case("mysql-9.7", "mixed").logs[0]
    everything = bk.read_events(log).read_all()
    condition = (pc.field("size") > 100) & (pc.field("type") == "QUERY_EVENT")
    expected = everything.filter(condition)
    assert 0 < expected.num_rows < everything.num_rows
    assert bk.read_events(log, where=condition).read_all().equals(expected.combine_chunks())
    table = bk.read_events(log, columns=["position", "info"], where=condition).read_all()
    assert table.to_pylist() == expected.select(["position", "info"]).to_pylist()


def test_a_decimal_is_compared_with_whole_numbers() -> None:
    log = case("mysql-5.6", "types_v1_rows").logs[0]
    everything = bk.read_changes(log, table="t.decs").read_all()
    decimals = [field.name for field in everything.schema if pa.types.is_decimal(field.type)]
    assert decimals
    for name in decimals:
        condition = (pc.field(name) > 0) & (pc.field("_row") < 10**6)
        chosen = bk.read_changes(log, table="t.decs", where=condition).read_all()
        expected = [row for row in everything.to_pylist() if row[name] is not None and row[name] > 0]
        assert chosen.to_pylist() == expected
        zero = bk.read_changes(log, table="t.decs", where=pc.field(name) == 0).read_all()
        assert zero.to_pylist() == [row for row in everything.to_pylist() if row[name] == 0]


def test_what_is_not_there_is_refused_at_once() -> None:
    log = case("mysql-9.7", "mixed").logs[0]
    with pytest.raises(bk.UsageError, match=r"column 'nope' not found; available: .*_change_type.*, id"):
        bk.read_changes(log, table="t.s", columns=["id", "nope"])
    with pytest.raises(bk.UsageError, match="where is not a valid condition on columns"):
        bk.read_changes(log, table="t.s", where=pc.field("nope") == 1)
    with pytest.raises(bk.UsageError, match="where is not a valid condition"):
        bk.read_changes(log, table="t.s", where=pc.field("id") == "one")
    with pytest.raises(bk.UsageError, match="where must be Expression"):
        bk.read_events(log, where="size > 5")  # type: ignore[arg-type,unused-ignore]


def test_damage_in_columns_that_nobody_reads_is_not_found() -> None:
    """The same values are read, and refused, with `columns` and without where they are asked for."""
    log = case("mysql-9.7", "odd_values").logs[0]
    tables = {row.schema.full_name for row in bk.read_rows(log)}
    for table in tables:
        names = [n for n in bk.read_changes(log, table=table).schema.names if not n.startswith("_")]
        for name in names:
            with_all = _error(bk.read_changes(log, table=table, zero_dates="error"))
            alone = _error(bk.read_changes(log, table=table, columns=[name], zero_dates="error"))
            assert alone is None or with_all is not None


def _error(reader: pa.RecordBatchReader) -> str | None:
    try:
        reader.read_all()
    except bk.BinlogError as error:
        return str(error)
    return None


def test_an_empty_set_of_gtids_takes_nothing() -> None:
    log = case("mysql-9.7", "mixed").logs[0]
    with pytest.warns(bk.FilterWarning):
        assert not bk.read_events(log, include_gtids=bk.GtidSet()).read_all().num_rows


def test_names_of_columns_are_typed() -> None:
    assert list(get_args(EventColumn)) == EVENTS_SCHEMA.names
