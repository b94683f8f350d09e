"""The data source for ``format("binlog")``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
)
from pyspark.sql.types import StructField, StructType

from binlog_kaitai.errors import UsageError
from binlog_kaitai.pipeline.followed_logs import logs_here
from binlog_kaitai.sources import is_server
from binlog_kaitai.sources.keys import use
from binlog_kaitai.spark.batch import BinlogReader
from binlog_kaitai.spark.reader_options import TABLE, ReadOptions
from binlog_kaitai.spark.schemas import check_columns, spark_schema, with_corrupt_column
from binlog_kaitai.spark.stream import BinlogStreamReader
from binlog_kaitai.spark.stream_options import parse_stream, without_stream_options

#: When Spark creates a table (``CREATE TABLE orders USING binlog OPTIONS (path ..., table ...)``), it
#: requests the columns and passes the options among its own properties. When it reads the table, it passes
#: the columns but no options. So the options are stored in the metadata of the first column.
_METADATA = "binlog.options"
#: Properties that Spark gives every table it creates; no option has one of these names.
_OF_A_TABLE = {"provider", "owner"}
#: Names in OPTIONS are passed both with this prefix and without, those in TBLPROPERTIES only without.
_PREFIX = "option."


class BinlogDataSource(DataSource):
    """Binary logs of MySQL and MariaDB; see docs/spark.md for options and columns."""

    @classmethod
    def name(cls) -> str:
        return "binlog"

    def schema(self) -> StructType:
        """Columns of the view that the options select.

        Raises `UsageError`: an option is unknown, or the columns of a table are not found.
        """
        if not self.options.keys() >= _OF_A_TABLE:
            return _schema(self.options)  # else Spark is creating a table, with the options as properties
        raw = _options_of_new_table(self.options)
        return _with_options(_schema(raw), raw)

    def reader(self, schema: StructType) -> DataSourceReader:
        """A reader of the columns in `schema`, which may be fewer than the view has; for a table it may have
        others, which are null.

        Raises `UsageError`: an option or column is unknown.
        """
        options = ReadOptions.parse(_options_of_read(self.options, schema))
        if any(map(is_server, options.paths)):
            raise UsageError("a server can only be streamed: use readStream, or fetch its logs and read them")
        if options.view != TABLE:
            check_columns(schema, view_schema(options))
        return BinlogReader(options, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """A stream of the columns in `schema`.

        Raises `UsageError`: an option or column is unknown.
        """
        options, following = parse_stream(_options_of_read(self.options, schema))
        if options.view != TABLE:
            check_columns(schema, view_schema(options))
        return BinlogStreamReader(options, following, schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        raise UsageError("binary logs can be read only, not written")

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: N802
        raise UsageError("binary logs can be read only, not written")


def _schema(raw: Mapping[str, str]) -> StructType:
    options = ReadOptions.parse(without_stream_options(raw))
    if options.view == TABLE:
        use(options.keys)
        if any(map(is_server, options.paths)):
            options = replace(options, paths=logs_here(parse_stream(raw)[1]))
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


def _options_of_new_table(properties: Mapping[str, str]) -> dict[str, str]:
    """The options from OPTIONS and LOCATION of a CREATE TABLE, without the properties of the table."""
    options = {
        name.removeprefix(_PREFIX): text for name, text in properties.items() if name.startswith(_PREFIX)
    }
    return options | {"path": properties["path"]} if "path" in properties else options


def _with_options(columns: StructType, options: Mapping[str, str]) -> StructType:
    """The columns, with the options of their table in the metadata of the first."""
    first, *others = columns.fields
    metadata = {**first.metadata, _METADATA: json.dumps(dict(options))}
    return StructType([StructField(first.name, first.dataType, first.nullable, metadata), *others])


def _options_of_read(raw: Mapping[str, str], columns: StructType) -> dict[str, str]:
    """The options of a read: those given, and those of the table if it is read from the catalog.

    Raises `UsageError`: a table of the catalog was created with a list of columns, so that its options are
    unknown.
    """
    if "path" in raw or "paths" in raw:
        return dict(raw)
    stored = [field.metadata[_METADATA] for field in columns.fields if _METADATA in field.metadata]
    if not stored and not raw:
        reason = "Spark passes no options of a table that was created with a list of columns"
        raise UsageError(f"no path given; if this is a catalog table: {reason}; create it without the list")
    return {**(json.loads(stored[0]) if stored else {}), **raw}
