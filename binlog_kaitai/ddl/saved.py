"""Definitions serialized to compact text, so that a reader that resumes in mid-log has the earlier
definitions.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from binlog_kaitai.ddl.definitions import Definitions
from binlog_kaitai.ddl.store import Store
from binlog_kaitai.errors import UsageError
from binlog_kaitai.values.definition import Charset, ColumnDefinition, HiddenColumn, TableDefinition


def save(definitions: Definitions) -> str:
    """Serialize the definitions made by a log's statements; deterministic, and ``""`` for none.

    Definitions from a file (`Definitions.load`) are excluded unless a statement has changed them.
    """
    store, folded, has_case = definitions.state
    parts = [_of_store(store), _of_store(folded)]
    if not any(any(part) for part in parts):
        return ""
    state = json.dumps([*parts, has_case], separators=(",", ":"))
    return base64.b64encode(zlib.compress(state.encode(), 9)).decode()


def _of_store(store: Store) -> list[Any]:
    return [
        [_plain(table) for _, table in sorted(store.tables.items())],
        [[*key, reason] for key, reason in sorted(store.lost.items())],
        [[name, one.charset, one.collation] for name, one in sorted(store.databases.items())],
        [[thread, *key] for thread, key in sorted(store.temporary)],
        [list(key) for key in store.absent],
    ]


def restore(text: str, ddl: str | None = None) -> Definitions:
    """Restore definitions from `save`, on top of those of a file (the argument of `Definitions.load`).

    Raises
    ------
    UsageError
        The text was not written by `save`.
    """
    definitions = Definitions()
    if ddl is not None:
        definitions.load(ddl)
    if not text:
        return definitions
    store, folded, had_case = definitions.state
    try:
        *parts, has_case = json.loads(zlib.decompress(base64.b64decode(text, validate=True)))
        for target, part in zip((store, folded), parts, strict=True):
            _fill(target, *part)
    except (ValueError, zlib.error, KeyError, TypeError) as error:
        raise UsageError(f"not valid saved definitions: {error}") from error
    return Definitions.of_state(store, folded, had_case or has_case)


def _fill(
    store: Store,
    tables: list[Any],
    lost: list[Any],
    databases: list[Any],
    temporary: list[Any],
    absent: Sequence[Any] = (),  # not in states of earlier versions
) -> None:
    for one in tables:
        table = _table(one)
        store.tables[table.schema_name, table.table_name] = table
    store.lost.update({(schema, name): reason for schema, name, reason in lost})
    store.databases.update({name: Charset(*rest) for name, *rest in databases})
    store.absent.update(dict.fromkeys((schema, name) for schema, name in absent))
    store.temporary.update((thread, (schema, name)) for thread, schema, name in temporary)


def _plain(value: Any) -> dict[str, Any]:
    """The fields of a definition that differ from their defaults."""
    found = {}
    for field in fields(value):
        own = getattr(value, field.name)
        if own != field.default:
            found[field.name] = own
    if isinstance(value, TableDefinition):
        found["columns"] = [_plain(column) for column in value.columns]
        if value.default_charset:
            found["default_charset"] = [value.default_charset.charset, value.default_charset.collation]
    return found


def _table(found: dict[str, Any]) -> TableDefinition:
    found = _tuples(found)
    found["columns"] = tuple(ColumnDefinition(**_tuples(column)) for column in found["columns"])
    if "hidden_columns" in found:
        found["hidden_columns"] = tuple(HiddenColumn(*one) for one in found["hidden_columns"])
    if "default_charset" in found:
        found["default_charset"] = Charset(*found["default_charset"])
    return TableDefinition(**found)


def _tuples(found: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}
