"""The data source for ``format("binlog")``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
)
from pyspark.sql.types import StructType

from binlog_kaitai.errors import UsageError
from binlog_kaitai.sources import is_server
from binlog_kaitai.sources.keys import use
from binlog_kaitai.spark.batch import BinlogReader
from binlog_kaitai.spark.catalog import is_new_table, options_of_new_table, options_of_read, with_options
from binlog_kaitai.spark.reader_options import TABLE, ReadOptions
from binlog_kaitai.spark.schemas import check_columns, spark_schema, with_corrupt_column
from binlog_kaitai.spark.stream import BinlogStreamReader
from binlog_kaitai.spark.stream_options import parse_stream, without_stream_options


class BinlogDataSource(DataSource):
    """Binary logs of MySQL and MariaDB; see docs/spark.md for options and columns."""

    @classmethod
    def name(cls) -> str:
        return "binlog"

    def schema(self) -> StructType:
        """Columns of the view that the options select.

        Raises `UsageError`: an option is unknown, or the columns of a table are not found.
        """
        if not is_new_table(self.options):
            return _schema(self.options)
        given = options_of_new_table(self.options)
        return with_options(_schema(given), given)

    def reader(self, schema: StructType) -> DataSourceReader:
        """A reader of the columns in `schema`, which may be fewer than the view has; for a table it may have
        others, which are null.

        Raises `UsageError`: an option or column is unknown.
        """
        options = ReadOptions.parse(options_of_read(self.options, schema))
        if any(map(is_server, options.paths)):
            raise UsageError("a server can only be streamed: use readStream, or fetch its logs and read them")
        if options.view != TABLE:
            check_columns(schema, view_schema(options))
        return BinlogReader(options, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """A stream of the columns in `schema`.

        Raises `UsageError`: an option or column is unknown.
        """
        options, following = parse_stream(options_of_read(self.options, schema))
        if options.view != TABLE:
            check_columns(schema, view_schema(options))
        return BinlogStreamReader(options, following, schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        raise UsageError("binary logs can be read only, not written")

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: N802
        raise UsageError("binary logs can be read only, not written")


def _schema(given: Mapping[str, str]) -> StructType:
    options = ReadOptions.parse(without_stream_options(given))
    if options.view == TABLE:
        use(options.keys)
        if any(map(is_server, options.paths)):
            from binlog_kaitai.spark.spooling import logs_here

            options = replace(options, paths=logs_here(parse_stream(given)[1]))
        from binlog_kaitai.spark.infer import table_columns

        return _of_mode(spark_schema(table_columns(options)), options)
    return view_schema(options)


def view_schema(options: ReadOptions) -> StructType:
    """The columns of a view, which are the same for all logs."""
    from binlog_kaitai.views.splits import VIEWS

    return _of_mode(spark_schema(VIEWS[options.view]), options)


def _of_mode(schema: StructType, options: ReadOptions) -> StructType:
    is_permissive = options.mode == "PERMISSIVE"
    return with_corrupt_column(schema, options.corrupt_column) if is_permissive else schema
