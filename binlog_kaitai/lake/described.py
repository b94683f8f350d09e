"""What the definition of a table on its server says, as metadata of its tables in a lake.

The columns of a lake may be null whatever the server says, since it may say otherwise later.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from binlog_kaitai.arrow import pa
from binlog_kaitai.lake.lineage import Entry
from binlog_kaitai.lake.types import type_in_lake
from binlog_kaitai.rows.change_schemas import own_columns
from binlog_kaitai.text.line_arrays import plain
from binlog_kaitai.values.schema import Schema

#: Metadata of columns: the comment; that it is NOT NULL on the server; its number in the primary key, from 1.
COMMENT, _NOT_NULL, _KEY = "comment", "binlog-kaitai.not-null", "binlog-kaitai.primary-key"


def definition_facts(table: Schema, columns: Iterable[pa.Field], *, has_texts: bool = True) -> dict[str, Any]:
    """Fields of an effect of kind `KEYED`, by a definition of a table.

    `columns`: those of its changes; others are metadata. Without any, only the key is known.
    `has_texts`: with the comments of columns.
    """
    own = own_columns(table)
    fields = [(column.name, str(type_in_lake(column.type))) for column in columns if column.name in own]
    chosen = [own[name] for name, _ in fields]
    facts = [[not column.is_nullable, plain(column.comment or "") * has_texts] for column in chosen]
    key = tuple(name for name, column in own.items() if column.is_primary_key)
    return {"key": key, "columns": tuple(fields), "values": json.dumps(facts) if facts else ""}


@dataclass(frozen=True)
class Described:
    """The metadata of columns by their names, with empty texts for what does not hold."""

    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, defined: Entry | None) -> Described:
        """What an entry of kind `KEYED` says; nothing without one."""
        if defined is None or not defined.values:
            return NOTHING
        numbers = {name: str(number) for number, name in enumerate(defined.key, 1)}
        columns = {}
        for (name, _), (is_required, comment) in zip(
            defined.columns, json.loads(defined.values), strict=True
        ):
            required = "true" if is_required else ""
            columns[name] = {COMMENT: comment, _NOT_NULL: required, _KEY: numbers.get(name, "")}
        return cls(columns)

    @property
    def properties(self) -> dict[str, str]:
        """JSON lists of columns for a table whose columns have only comments."""
        if not self.columns:
            return {}
        required = [name for name, facts in self.columns.items() if facts[_NOT_NULL]]
        key = sorted((int(facts[_KEY]), name) for name, facts in self.columns.items() if facts[_KEY])
        lists = {_NOT_NULL: required, _KEY: [name for _, name in key]}
        return {name: json.dumps(names, ensure_ascii=False) if names else "" for name, names in lists.items()}

    def new_metadata(self, columns: pa.Schema) -> dict[str, dict[str, str]]:
        """What the metadata of columns, some of which may be missing, lacks."""
        missing = {}
        for column in columns:
            known = {name.decode(): text.decode() for name, text in (column.metadata or {}).items()}
            wanted = self.columns.get(column.name, {})
            if new := {name: text for name, text in wanted.items() if known.get(name, "") != text}:
                missing[column.name] = new
        return missing

    def with_metadata(self, columns: pa.Schema) -> pa.Schema:
        """The columns with their metadata."""
        wanted = ((column, self.columns.get(column.name, {})) for column in columns)
        return pa.schema(
            [
                column.with_metadata({name: text for name, text in own.items() if text})
                if any(own.values())
                else column
                for column, own in wanted
            ]
        )


NOTHING = Described()
