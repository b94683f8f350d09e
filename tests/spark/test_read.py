"""`binlog_kaitai.spark.read`: only the selected columns and rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.errors import PySparkException

import binlog_kaitai as bk
from binlog_kaitai.errors import UsageError
from binlog_kaitai.spark import read
from binlog_kaitai.spark.reader_options import as_text, of_text
from binlog_kaitai.views.row_conditions import Where
from tests.corpus_files import CORPUS
from tests.extent import sample

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOG = CORPUS / "mysql-9.7/mixed/binlog.000001"
TABLE = "t.s"

CONDITIONS = {
    "of a column of the table": pc.field("id") > 600,
    "of columns in front": (pc.field("_change_type") == "insert") & (pc.field("_row") < 3),
    "of no row": pc.field("id").is_null(),
    "of all rows": pc.field("id").is_valid() | (pc.field("v") == "x"),
}


@pytest.mark.spark
@pytest.mark.parametrize("where", sample(list(CONDITIONS.values()), 1), ids=sample(list(CONDITIONS), 1))
def test_rows_are_those_of_read_changes(spark: SparkSession, where: Any) -> None:
    names = ["_position", "_row", "v"]
    expected = bk.read_changes(LOG, table=TABLE, columns=names, where=where).read_all()
    frame = read(spark, LOG, table=TABLE, columns=names, where=where, splitSize="8k")
    assert frame.columns == names
    assert sorted(map(tuple, frame.collect())) == sorted(tuple(row.values()) for row in expected.to_pylist())


@pytest.mark.thorough
@pytest.mark.spark
def test_all_columns_of_several_paths(spark: SparkSession) -> None:
    frame = read(spark, [str(LOG)], table=TABLE)
    assert frame.columns == bk.read_changes(LOG, table=TABLE).schema.names
    assert read(spark, [LOG], table=TABLE, columns=["V", "ID"]).columns == ["v", "id"]


@pytest.mark.spark
def test_what_is_not_there(spark: SparkSession) -> None:
    with pytest.raises(UsageError, match=r"column 'nothing' not found; available: .*_file.*id"):
        read(spark, LOG, table=TABLE, columns=["nothing"])
    with pytest.raises(UsageError, match="where is not a valid condition on columns"):
        read(spark, LOG, table=TABLE, where=pc.field("nothing") == 1)
    with pytest.raises(PySparkException, match="option where: conditions are given to"):
        spark.read.format("binlog").option("table", TABLE).option("where", "id > 5").load(str(LOG)).collect()


def test_a_condition_as_text() -> None:
    schema = pa.schema([("id", pa.int64()), ("v", pa.dictionary(pa.int32(), pa.string()))])
    where = Where.of((pc.field("id") > 5) & pc.field("v").isin(["a", "b"]), schema)
    again = of_text(as_text(where))
    assert again.needed == where.needed
    assert again.expression.equals(where.expression)
