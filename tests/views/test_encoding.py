"""Parquet encoding of columns: little work, few bytes, and an exact round trip."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from binlog_kaitai.rows.change_schemas import META_FIELDS
from binlog_kaitai.views.parquet_folder import PartWriter, parquet_options

COUNT = 20_000


def names(values: list[str | None]) -> pa.DictionaryArray:
    return pa.array(values, pa.string()).dictionary_encode()


def batch(start: int = 0, *, of_transaction: int = 1000) -> pa.RecordBatch:
    """Rows with columns that differ in how often values come again."""
    number = np.arange(start, start + COUNT)
    texts = number.astype("U")
    return pa.RecordBatch.from_pydict(
        {
            "_change_type": names(["insert"] * COUNT),
            "_gtid": names([f"0b0c:{index}" for index in (number // of_transaction).tolist()]),
            "id": pa.array(number),
            "customer": pa.array(number * 7919 % 2000),
            "price": pa.array(number * 0.1),
            "city": pa.array([f"city {index}" for index in (number * 31 % 50).tolist()]),
            "name": pa.array(texts),
            "note": pa.array([f"{text} {'x' * 100}" for text in texts]),
            "nothing": pa.nulls(COUNT, pa.int32()),
        }
    )


def write(folder: Path, *batches: pa.RecordBatch) -> Path:
    writer = PartWriter(folder)
    for batch in batches:
        writer.write(batch)
    writer.close()
    (path,) = folder.iterdir()
    return path


def chunks(path: Path) -> dict[str, Any]:
    group = pq.read_metadata(path).row_group(0)
    columns = [group.column(number) for number in range(group.num_columns)]
    return {column.path_in_schema: column for column in columns}


def with_dictionary(path: Path) -> set[str]:
    return {name for name, column in chunks(path).items() if column.has_dictionary_page}


def test_a_dictionary_is_for_values_that_come_again(tmp_path: Path) -> None:
    path = write(tmp_path, *(batch(number * COUNT) for number in range(4)))
    assert with_dictionary(path) == {"_change_type", "_gtid", "customer", "city", "nothing"}


def test_the_dictionary_holds_for_batches_with_dictionaries_of_their_own(tmp_path: Path) -> None:
    path = write(tmp_path, *(batch(number * COUNT) for number in range(4)))
    # Written plainly, each GTID would be there a thousand times.
    assert chunks(path)["_gtid"].total_uncompressed_size < 4 * COUNT * 2


def test_gtids_of_single_rows_have_no_dictionary(tmp_path: Path) -> None:
    assert "_gtid" not in with_dictionary(write(tmp_path, batch(of_transaction=2)))


def test_statistics_are_for_values_that_have_an_order_of_use(tmp_path: Path) -> None:
    found = chunks(write(tmp_path, batch()))
    without = {name for name, column in found.items() if not column.is_stats_set}
    assert without == {"_gtid", "note"}
    assert (found["id"].statistics.min, found["id"].statistics.max) == (0, COUNT - 1)


def test_columns_are_compressed_by_zstd(tmp_path: Path) -> None:
    assert {column.compression for column in chunks(write(tmp_path, batch())).values()} == {"ZSTD"}


@pytest.mark.parametrize("of_transaction", [1, 1000])
def test_what_is_read_is_what_was_written(tmp_path: Path, of_transaction: int) -> None:
    batches = [batch(number * COUNT, of_transaction=of_transaction) for number in range(3)]
    read = pq.read_table(write(tmp_path, *batches))
    assert read.schema.remove_metadata() == batches[0].schema
    assert read.to_pydict() == pa.Table.from_batches(batches).to_pydict()


def test_files_of_one_table_are_one_dataset_whatever_was_chosen(tmp_path: Path) -> None:
    parts = [batch(0), batch(COUNT, of_transaction=1)]
    for number, one in enumerate(parts):
        write(tmp_path / str(number), one)
    assert with_dictionary(tmp_path / "0/part-00001.parquet") != with_dictionary(
        tmp_path / "1/part-00001.parquet"
    )
    read = ds.dataset(tmp_path, format="parquet").to_table().sort_by("id")
    assert read.to_pydict() == pa.Table.from_batches(parts).to_pydict()


def test_a_page_of_long_values_is_not_longer_than_a_few_megabytes(tmp_path: Path) -> None:
    documents = pa.array([f"{number}" * 10_000 for number in range(10_000, 10_100)])
    options = parquet_options(pa.table({"document": documents}))
    assert options["write_batch_size"] * 50_000 < 4 << 20


@pytest.mark.parametrize(
    "value",
    [
        True,
        b"\x00\xff",
        1.5,
        decimal.Decimal("12345678901234567890123456789012345678901234567890.12"),
        datetime.datetime(2026, 11, 22, 1, 2, 3, 4),
        datetime.date(2026, 11, 22),
        datetime.timedelta(microseconds=-5),
        [1.5, 2.5],
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_of_any_type_are_written(tmp_path: Path, value: Any) -> None:
    one = pa.RecordBatch.from_pydict({"a": pa.array([value, None, value])})
    read = pq.read_table(write(tmp_path, one))
    assert read.schema.remove_metadata() == one.schema
    assert read.to_pydict() == one.to_pydict()


@pytest.mark.parametrize("name", ["a.b", "", "ключ", "a b", "_gtid"])
def test_any_name_of_a_column_is_taken(tmp_path: Path, name: str) -> None:
    one = pa.RecordBatch.from_arrays([names(["x"] * COUNT), pa.nulls(COUNT)], ["_gtid", name])
    path = write(tmp_path, one)
    assert with_dictionary(path) >= {"_gtid"}
    assert pq.read_metadata(path).num_columns == 2


def test_no_rows_at_all_are_a_file_with_the_columns(tmp_path: Path) -> None:
    nothing = pa.RecordBatch.from_pylist([], schema=pa.schema(META_FIELDS))
    assert pq.read_schema(write(tmp_path, nothing)).names == [field.name for field in META_FIELDS]
