"""What a snapshot leaves out, masks and renames: the rules of its lake, applied before it is written."""

from __future__ import annotations

from binlog_kaitai.arrow import pa
from binlog_kaitai.errors import ServerError
from binlog_kaitai.lake.rules import Rules
from binlog_kaitai.lake.storage import table_name
from binlog_kaitai.values.schema import Column, Schema
from binlog_kaitai.views.row_masks import Method


class SnapshotRules:
    """Applies rules, and notes what follows from them.

    Attributes
    ----------
    rules : Rules
        The rules.
    incomplete : dict of (str, str) to str
        Tables whose contents cannot be derived from their changes, with reasons.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.incomplete: dict[tuple[str, str], str] = {}

    def withheld(self, schema: Schema) -> frozenset[str]:
        """The columns of which no value is needed, so that the server need not send any.

        Raises
        ------
        UsageError
            The rules do not fit the table.
        """
        treatments = self.rules.masks.treatments(schema)
        return frozenset(name for name, one in treatments.items() if one.method >= Method.NULL)

    def folder(self, schema: Schema) -> str:
        """The folder of a table in the lake.

        Raises
        ------
        UsageError
            Another table gets this name.
        """
        return table_name(self.rules.name_of((schema.schema_name, schema.table_name)))

    def note(self, schema: Schema) -> None:
        """Note what follows for a table that has rows."""
        masks = self.rules.masks
        if masks and (reason := masks.why_no_key(schema)) is not None:
            self.incomplete[schema.schema_name, schema.table_name] = reason

    def shows(self, schema: Schema, column: Column) -> bool:
        """Whether a column is written as it is."""
        return column.name not in self.rules.masks.treatments(schema)

    def applied(self, schema: Schema, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of a table, masked.

        Raises
        ------
        UsageError
            The rules do not fit the table.
        """
        self.note(schema)
        masks = self.rules.masks
        if not masks:
            return batch
        return masks.applied(schema, batch, masks.schema(schema, batch.schema))

    def error(self, schema: Schema, column: Column, error: Exception) -> ServerError:
        """The error for a value that cannot be converted; with masks, it does not quote the value."""
        text = type(error).__name__ if self.rules.masks else str(error)
        found = ServerError(f"{schema.full_name}, column {column.name}: {text}")
        found.__cause__ = None if self.rules.masks else error
        return found
