"""`read_changes` and the Parquet files written from it."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.filters import Filters, ZeroDates
from binlog_kaitai.rows.change_schemas import CHANGES_SCHEMA, META_FIELDS
from binlog_kaitai.rows.log_pages import RowsPages
from binlog_kaitai.views.changes_view import read_changes
from binlog_kaitai.views.parquet_folder import write_changes
from tests.corpus_files import case
from tests.extent import sample

TYPES = case("mysql-9.7", "types_metadata")


def test_a_table_has_typed_columns() -> None:
    reader = read_changes(TYPES.logs, table="t.ints")
    names = [field.name for field in META_FIELDS]
    assert reader.schema.names[: len(names)] == names
    assert reader.schema.field("bu").type == pa.decimal128(20, 0)
    assert reader.schema.field("tu").type == pa.uint8()
    assert reader.schema.field("m").type == pa.int32()
    rows = reader.read_all().to_pylist()
    first = rows[0]
    assert (first["_change_type"], first["_row"], first["id"], first["b"]) == ("insert", 0, 1, -(1 << 63))
    assert max(row["bu"] for row in rows if row["bu"] is not None) == Decimal((1 << 64) - 1)
    assert {row["_file"] for row in rows} <= {str(path) for path in TYPES.logs}


def test_both_images_of_an_update_follow_each_other() -> None:
    rows = read_changes(TYPES.logs, table="t.ints").read_all().to_pylist()
    kinds = [row["_change_type"] for row in rows]
    assert "update_preimage" in kinds
    for at, kind in enumerate(kinds):
        if kind == "update_preimage":
            assert kinds[at + 1] == "update_postimage"
            assert rows[at]["_row"] == rows[at + 1]["_row"]
            assert rows[at]["_position"] == rows[at + 1]["_position"]


def test_without_a_table_images_are_json() -> None:
    reader = read_changes(TYPES.logs)
    assert reader.schema == CHANGES_SCHEMA
    rows = reader.read_all().to_pylist()
    assert {row["change"] for row in rows} == {"insert", "update", "delete"}
    for row in rows:
        assert (row["before"] is None) == (row["change"] == "insert")
        assert (row["after"] is None) == (row["change"] == "delete")
    one = next(row for row in rows if row["table"] == "ints")
    assert json.loads(one["after"])["id"] == 1


@pytest.mark.parametrize("zero_dates", ["null", "text", "error"])
def test_dates_that_no_calendar_has(zero_dates: ZeroDates) -> None:
    folder = case("mysql-5.6", "types_full")
    tables = {
        (row["schema"], row["table"])
        for row in read_changes(folder.logs).read_all().to_pylist()
        if '"0000-00-00"' in (row["before"] or "") + (row["after"] or "")
    }
    schema, table = sorted(tables)[0]
    reader = read_changes(folder.logs, table=f"{schema}.{table}", zero_dates=zero_dates)
    if zero_dates == "error":
        with pytest.raises(bk.BinlogError, match="invalid date") as caught:
            reader.read_all()
        assert not isinstance(caught.value, bk.DamagedError)
        assert f"{schema}.{table}, column" in str(caught.value)
        return
    values = [value for row in reader.read_all().to_pylist() for value in row.values()]
    assert ("0000-00-00" in values) == (zero_dates == "text")
    assert any(isinstance(value, date) for value in values) == (zero_dates == "null") or zero_dates == "text"


def test_wrong_arguments_are_reported_at_once() -> None:
    with pytest.raises(bk.UsageError):
        read_changes(TYPES.logs, zero_dates="never")  # type: ignore[arg-type]
    with pytest.raises(bk.UsageError):
        read_changes(TYPES.logs, table="ints")


def test_rows_before_the_damage_come_first() -> None:
    log = case("damaged", "mysql-9.7-flipped_bit").logs[0]
    batches = list[pa.RecordBatch]()
    with pytest.raises(bk.ChecksumError):
        batches.extend(read_changes(log))
    assert sum(batch.num_rows for batch in batches)


def test_parquet_files_of_tables_follow_their_definitions(tmp_path: Path) -> None:
    logs = case("mysql-9.7", "ddl").logs
    counts = dict[str, int]()
    write_changes(RowsPages(logs, Filters()), tmp_path, counts=counts)
    assert sum(counts.values())
    for name, count in counts.items():
        files = sorted((tmp_path / name).glob("*.parquet"))
        assert sum(pq.read_metadata(file).num_rows for file in files) == count
        schemas = [pq.read_schema(file) for file in files]
        merged = pa.unify_schemas(schemas, promote_options="permissive")
        assert ds.dataset(files, schema=merged).count_rows() == count
    assert any(len(list((tmp_path / name).glob("*.parquet"))) > 1 for name in counts)


def test_columns_of_all_definitions_are_there_by_name() -> None:
    logs = case("mysql-9.7", "ddl").logs
    views = read_changes(logs).read_all().to_pylist()
    by_table: dict[str, set[str]] = {}
    for row in views:
        for image in (row["before"], row["after"]):
            by_table.setdefault(f"{row['schema']}.{row['table']}", set()).update(json.loads(image or "{}"))
    for table, names in sample(list(by_table.items()), 5):
        found = read_changes(logs, table=table).read_all()
        assert names <= set(found.schema.names)
        images = [row for row in views if f"{row['schema']}.{row['table']}" == table]
        assert found.num_rows == sum(
            (row["before"] is not None) + (row["after"] is not None) for row in images
        )


def test_a_stream_is_read_once() -> None:
    with TYPES.logs[0].open("rb") as stream:
        once = read_changes(stream, table="t.ints").read_all()
    again = read_changes(TYPES.logs[0], table="t.ints").read_all()
    assert once.drop(["_file"]) == again.drop(["_file"])
