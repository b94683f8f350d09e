"""Tables in Spark's catalog: ``CREATE TABLE orders USING binlog OPTIONS (path ..., table ...)``.

When Spark creates such a table, it requests the columns and passes the options among its own properties. When
it reads the table, it passes the columns but no options. So the options are stored in the metadata of the
first column.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from pyspark.sql.types import StructField, StructType

from binlog_kaitai.errors import UsageError

_METADATA = "binlog.options"
#: Properties that Spark gives every table it creates; no option has one of these names.
_OF_A_TABLE = {"provider", "owner"}
#: Names in OPTIONS are passed both with this prefix and without, those in TBLPROPERTIES only without.
_PREFIX = "option."


def is_new_table(given: Mapping[str, str]) -> bool:
    """Whether Spark is creating a table, and the options are among its properties."""
    return given.keys() >= _OF_A_TABLE


def options_of_new_table(properties: Mapping[str, str]) -> dict[str, str]:
    """The options from OPTIONS and LOCATION of a CREATE TABLE, without the properties of the table."""
    found = {
        name.removeprefix(_PREFIX): text for name, text in properties.items() if name.startswith(_PREFIX)
    }
    return found | {"path": properties["path"]} if "path" in properties else found


def with_options(columns: StructType, options: Mapping[str, str]) -> StructType:
    """The columns, with the options of their table in the metadata of the first."""
    first, *others = columns.fields
    metadata = {**first.metadata, _METADATA: json.dumps(dict(options))}
    return StructType([StructField(first.name, first.dataType, first.nullable, metadata), *others])


def options_of_read(given: Mapping[str, str], columns: StructType) -> dict[str, str]:
    """The options of a read: those given, and those of the table if it is read from the catalog.

    Raises `UsageError`: a table of the catalog was created with a list of columns, so that its options are
    unknown.
    """
    if "path" in given or "paths" in given:
        return dict(given)
    stored = [field.metadata[_METADATA] for field in columns.fields if _METADATA in field.metadata]
    if not stored and not given:
        reason = "Spark passes no options of a table that was created with a list of columns"
        raise UsageError(f"no path given; if this is a catalog table: {reason}; create it without the list")
    return {**(json.loads(stored[0]) if stored else {}), **given}
