"""Batches with types that Spark supports."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa

from binlog_kaitai.lake.types import conform
from binlog_kaitai.spark.schemas import plain_type


def test_long_decimals_are_text_as_the_servers_print_them() -> None:
    kind = pa.decimal256(65, 30)
    numbers = [Decimal("0E-30"), None, Decimal("-12345678901234567890123456789012345.5")]
    batch = pa.record_batch({"d": pa.array(numbers, kind)})
    target = pa.schema([pa.field("d", plain_type(kind))])
    assert conform(batch, target).column("d").to_pylist() == [
        "0." + 30 * "0",
        None,
        "-12345678901234567890123456789012345.5" + 29 * "0",
    ]


def test_columns_by_name_and_null_where_there_is_none() -> None:
    batch = pa.record_batch({"a": pa.array([1], pa.uint8()), "b": pa.array(["x"]).dictionary_encode()})
    target = pa.schema([pa.field("c", pa.int64()), pa.field("b", pa.string()), pa.field("a", pa.int16())])
    assert conform(batch, target).to_pylist() == [{"c": None, "b": "x", "a": 1}]
