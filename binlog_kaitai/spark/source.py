"""The entry that Spark calls for ``format("binlog")``."""

from __future__ import annotations

from pyspark.sql.datasource import DataSource, DataSourceReader
from pyspark.sql.types import StructType

from binlog_kaitai.spark.batch import BinlogReader
from binlog_kaitai.spark.options import ReadOptions
from binlog_kaitai.spark.schemas import check_columns, spark_schema


class BinlogDataSource(DataSource):
    """Binary logs of MySQL and MariaDB; see docs/spark.md for options and columns."""

    @classmethod
    def name(cls) -> str:
        return "binlog"

    def schema(self) -> StructType:
        """Columns of the view that the options ask for."""
        from binlog_kaitai.columns import EVENTS_SCHEMA

        ReadOptions.parse(self.options)
        return spark_schema(EVENTS_SCHEMA)

    def reader(self, schema: StructType) -> DataSourceReader:
        """A reader of the columns in `schema`, which may be fewer than the view has.

        Raises
        ------
        UsageError
            An option or column is unknown.
        """
        options = ReadOptions.parse(self.options)
        check_columns(schema, self.schema())
        return BinlogReader(options, schema)
