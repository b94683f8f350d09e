"""Tables built from the row changes of a log, to compare with the contents reported by the server."""

from __future__ import annotations

import base64
import copy
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import binlog_kaitai as bk
from binlog_kaitai.log.event_rows import Change, Row, has_rows, rows_of
from binlog_kaitai.values.representations import text_form
from binlog_kaitai.values.schema import Column, Schema, is_mariadb

_JSON_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")|(-?\d+)\.0(?![0-9])')
_BYTES_IN_JSON = re.compile(r'"base64:type253:([^"]*)"')
_MEMBER = re.compile(r"'((?:[^']|'')*)'")
_DIGITS = re.compile(r"(?:float|double)\(\d+,(\d+)\)")
_WIDTH = re.compile(r"int\((\d+)\).*zerofill")
_DDL = re.compile(
    r"\s*(?:/\*.*?\*/\s*)*(DROP|TRUNCATE|ALTER|RENAME|CREATE\s+OR\s+REPLACE)\s+(?:TEMPORARY\s+)?(?:TABLE\s+)?"
    r"(?:IF\s+EXISTS\s+)?(.*)", re.I | re.S,
)  # fmt: skip
_WRITES = re.compile(r"\s*(?:SET STATEMENT .* FOR )?(?:INSERT|REPLACE|UPDATE|DELETE|LOAD)\b", re.I)
_XA = re.compile(r"\s*XA\s+(START|END|COMMIT|ROLLBACK)\s+X'(\w*)',X'(\w*)',(\d+)", re.I)
_SAVEPOINT = re.compile(r"\s*(SAVEPOINT|ROLLBACK\s+(?:WORK\s+)?TO(?:\s+SAVEPOINT)?)\s+(.*)", re.I | re.S)

#: What a table of the oracle is known by.
TableName = tuple[str, str]


@dataclass(frozen=True)
class OracleColumn:
    """A column as the server describes it, in the form of a definition."""

    name: str
    type_name: str
    charset: str | None
    is_unsigned: bool | None
    members: tuple[str, ...] | None
    is_hexed: bool
    is_primary_key: bool | None = None
    is_visible: bool | None = None
    is_generated: bool | None = None
    is_row_period: bool | None = None
    has_on_update: bool | None = None
    collation: str | None = None
    default: str | None = None
    comment: str | None = None


@dataclass(frozen=True)
class OracleTable:
    """A table of the oracle: its columns, and its rows as texts."""

    name: TableName
    columns: tuple[OracleColumn, ...]
    rows: tuple[tuple[Any, ...], ...]

    @classmethod
    def of(cls, found: dict[str, Any]) -> OracleTable:
        columns = tuple(map(_oracle_column, found["columns"]))
        rows = (row.values() if isinstance(row, dict) else row for row in found["rows"])
        texts = tuple(tuple(map(_oracle_text, row, columns)) for row in rows)
        return cls((found["db"], found["table"]), columns, texts)


def _oracle_text(value: Any, column: OracleColumn) -> str | None:
    if isinstance(value, dict):
        value = value["hex"]
        if column.type_name.startswith("bit"):
            return str(int(value, 16))
        return "0x" + value.lower()
    if value is None or not column.is_hexed:
        return value
    return str(int(value, 16)) if column.type_name.startswith("bit") else "0x" + value.lower()


def _oracle_column(found: dict[str, Any]) -> OracleColumn:
    kind = re.sub(r"\s*/\*.*?\*/", "", found["type"])
    is_choice = kind.startswith(("enum(", "set("))
    members = tuple(one.replace("''", "'") for one in _MEMBER.findall(kind)) if is_choice else None
    is_bytes = kind.split("(")[0] in (
        "binary",
        "varbinary",
        "blob",
        "tinyblob",
        "mediumblob",
        "longblob",
        "vector",
    )
    charset = found["charset"] or ("binary" if is_bytes or is_choice else None)
    return OracleColumn(found["name"], kind, charset, "unsigned" in kind, members, bool(found.get("hexed")))


class Store:
    """Tables after applying row changes.

    Attributes
    ----------
    incomplete : dict
        Tables whose contents cannot be derived from rows alone, with reasons.
    """

    def __init__(self, oracle: Iterable[OracleTable]) -> None:
        self.oracle = {table.name: table for table in oracle}
        self.tables: dict[TableName, list[dict[str, str | None]]] = {}
        self.incomplete: dict[TableName, str] = {}
        self._prepared: dict[str, list[tuple[Schema, Row]]] = {}
        self._current: str | None = None
        self._savepoints: dict[str, dict[TableName, list[dict[str, str | None]]]] = {}

    def read(self, paths: Iterable[Path]) -> Store:
        for path in paths:
            with bk.open(path) as log:
                for event in log:
                    self._take(event)
        return self

    def _take(self, event: Any) -> None:
        if has_rows(event):
            schema = self._schema(event)
            for row in rows_of(event, schema):
                if self._current is None:
                    self._apply(schema, row)
                else:
                    self._prepared[self._current].append((schema, row))
        elif event.type in ("QUERY_EVENT", "QUERY_COMPRESSED_EVENT", "EXECUTE_LOAD_QUERY_EVENT"):
            self._statement(event.body.schema_name, event.body.query_text or "")
        elif event.type == "GTID_EVENT" and event.body.is_prepared_xa:
            self._start(
                _xid(event.body.xid.gtrid.hex(), event.body.xid.bqual.hex(), event.body.xid.format_id)
            )
        elif event.type == "XA_PREPARE_LOG_EVENT":
            if event.body.is_one_phase:
                self._finish(self._current, is_commit=True)
            self._current = None

    def _schema(self, event: Any) -> Schema:
        name = (event.table_map.schema_name, event.table_map.table_name)
        definition: Any = self.oracle.get(name)
        return Schema.of(event.table_map, definition, is_mariadb=is_mariadb(event.layout))

    def _statement(self, schema: str, text: str) -> None:
        if match := _XA.match(text):
            verb, xid = match[1].upper(), _xid(match[2], match[3], match[4])
            if verb == "START":
                self._start(xid)
            elif verb in ("COMMIT", "ROLLBACK"):
                self._finish(xid, is_commit=verb == "COMMIT")
        elif match := _SAVEPOINT.match(text):
            if match[1].upper() == "SAVEPOINT":
                self._savepoints[match[2]] = copy.deepcopy(self.tables)
            else:
                self.tables = copy.deepcopy(self._savepoints[match[2]])
        elif match := _DDL.match(text):
            for name in self._names(schema, match[2]):
                self.tables.pop(name, None)
                if match[1].upper() in ("ALTER", "RENAME"):
                    self.incomplete[name] = text[:60]
        elif _WRITES.match(text):
            for name in self._names(schema, text):
                self.incomplete.setdefault(name, text[:60])

    def _start(self, xid: str) -> None:
        self._current = xid
        self._prepared[xid] = []

    def _finish(self, xid: str | None, *, is_commit: bool) -> None:
        for schema, row in self._prepared.pop(xid or "", ()):
            if is_commit:
                self._apply(schema, row)
        self._current = None

    def _names(self, schema: str, text: str) -> list[TableName]:
        words = set(re.findall(r"\w+", text))
        known = {*self.oracle, *self.tables}
        if re.match(r"DATABASE|SCHEMA", text, re.I):
            return [name for name in known if name[0] in words]
        return [name for name in known if name[1] in words and (name[0] == schema or name[0] in words)]

    def _apply(self, schema: Schema, row: Row) -> None:
        name = (schema.schema_name, schema.table_name)
        if name in self.incomplete:
            return
        rows = self.tables.setdefault(name, [])
        columns = {column.name: column for column in schema.columns}
        before = _image(row.before, columns)
        after = _image(row.after, columns)
        if row.change is Change.INSERT:
            rows.append(after)
            return
        found = next(
            (row for row in rows if all(row.get(key) == value for key, value in before.items())), None
        )
        if found is None:
            raise AssertionError(f"{schema.full_name} has no row {before}")
        if row.change is Change.DELETE:
            rows.remove(found)
            return
        for column, diff in row.diffs.items():
            document = diff.apply(found[column] or "")
            if column in after and after[column] != document:
                raise AssertionError("a change of a document gives another one here")
            after[column] = document
        found.update(after)


def _xid(gtrid: str, bqual: str, format_id: object) -> str:
    return f"{gtrid.lower()},{bqual.lower()},{format_id}"


def _image(image: dict[str, Any] | None, columns: dict[str, Column]) -> dict[str, str | None]:
    return {name: server_text(value, columns[name]) for name, value in (image or {}).items()}


def server_text(value: Any, column: Column) -> str | None:
    """A value as the text protocol has it; byte strings and BIT as hexadecimal."""
    kind = column.type_name or ""
    if value is None:
        return None
    if column.charset == "binary" and column.members and isinstance(value, str):
        return "0x" + value.encode().hex()
    if isinstance(value, list):  # a vector
        return "0x" + struct.pack(f"<{len(value)}f", *value).hex()
    if (match := _DIGITS.match(kind)) and isinstance(value, float):
        return f"{value:.{match[1]}f}"
    if match := _WIDTH.search(kind):
        return f"{value:0{match[1]}}"
    return text_form(value, column)


def as_5_7_shows(text: str) -> str:
    """The text of a document without what MySQL 5.7 does not show.

    It prints doubles without a fraction like integers, and byte strings in base64.
    """

    def plain(found: re.Match[str]) -> str:
        if found[2] is not None:
            return found[2]
        encoded = _BYTES_IN_JSON.fullmatch(found[1])
        return found[1] if encoded is None else f'"{base64.b64decode(encoded[1]).decode()}"'

    return _JSON_TOKEN.sub(plain, text)


def differences(
    oracle: Iterable[OracleTable], store: Store, document: Callable[[str], str] = str
) -> Iterator[str]:
    """Where the tables of a store are not those of the server; JSON is compared as `document` gives it."""

    def compared(row: Sequence[str | None], table: OracleTable) -> tuple[str | None, ...]:
        return tuple(
            document(value) if column.type_name == "json" and value is not None else value
            for value, column in zip(row, table.columns, strict=True)
        )

    for table in oracle:
        if table.name in store.incomplete:
            continue
        mine = [
            compared([row.get(column.name) for column in table.columns], table)
            for row in store.tables.get(table.name, [])
        ]
        theirs = [compared(row, table) for row in table.rows]
        for row in list(mine):
            if row in theirs:
                theirs.remove(row)
                mine.remove(row)
        for left, right in zip(sorted(mine, key=repr), sorted(theirs, key=repr), strict=False):
            for column, a, b in zip(table.columns, left, right, strict=True):
                if a != b:
                    yield f"{'.'.join(table.name)}.{column.name} {column.type_name}: {a!r:.90} is {b!r:.90}"
        if len(mine) != len(theirs):
            yield f"{'.'.join(table.name)}: {len(mine)} and {len(theirs)} differing rows"
