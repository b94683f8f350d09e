"""Logs of one table whose columns and primary key change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from binlog_kaitai.core.grammar import EventType
from tests.corpus_files import case
from tests.grammar.row_bytes import field, table_map_bytes
from tests.log_maker import LogMaker, events_of, statement
from tests.rows.test_rows_hostile import row_event

#: The number of the list of names, and of the primary key, in a table map.
_COLUMN_NAME, _PRIMARY_KEY = 4, 8

Row = tuple[int | None, ...]


class TableLog:
    """Changes of `s.t`, whose columns are TINYINTs, with their names and the primary key.

    `without`: columns that images after an update lack.
    `has_names`: table maps have the names of columns, and the primary key.
    `table`: the table of the next changes, if that is another one.
    """

    def __init__(
        self,
        names: Sequence[str],
        key: Sequence[str],
        *,
        without: str = "",
        has_names: bool = True,
    ) -> None:
        self.layout, groups = events_of(case("mysql-9.7", "no_checksum").logs[0])
        self.table = "t"
        self._has_names = has_names
        self.log = LogMaker(self.layout)
        self.log.add_all(groups[0])
        self.alter("", names, key)
        self._without = without

    def alter(self, clauses: str, names: Sequence[str], key: Sequence[str]) -> None:
        """ALTER TABLE s.t; `names` and `key`: its columns and primary key after it."""
        if clauses:
            self.run(f"ALTER TABLE s.t {clauses}")
        self._names, self._key = names, key

    def run(self, text: bytes | str, variables: bytes = b"") -> None:
        """A statement, with its status variables."""
        query = text.encode() if isinstance(text, str) else text
        head = bytes(11) + len(variables).to_bytes(2, "little") + variables + b"\0"
        self.event(EventType.query_event, head + query)

    def event(self, kind: EventType, body: bytes) -> None:
        """An event with any body."""
        self.log.add(bytes(4) + bytes([kind]) + bytes(14) + body + bytes(4 * self.layout.is_checksummed))

    def insert(self, *row: int | None) -> None:
        self._write(EventType.write_rows_event, row)

    def update(self, old: Row, new: Row) -> None:
        self._write(EventType.update_rows_event, old, new)

    def delete(self, *row: int | None) -> None:
        self._write(EventType.delete_rows_event, row)

    def _write(self, kind: EventType, *images: Row) -> None:
        names = b"".join(bytes([len(name)]) + name.encode() for name in self._names)
        optional = field(_COLUMN_NAME, names) if self._has_names else b""
        if self._key and self._has_names:
            optional += field(_PRIMARY_KEY, bytes(map(self._names.index, self._key)))
        count = len(self._names)
        head = bytes.fromhex("070000000000 0100 0200") + bytes([count])
        masks = [(1 << count) - 1] * len(images)
        if kind == EventType.update_rows_event:  # the image after the change lacks some columns
            masks[1] &= ~sum(1 << at for at, name in enumerate(self._names) if name in self._without)
        self.log.add(statement(b"BEGIN", self.layout))
        nullable = sum(1 << at for at, name in enumerate(self._names) if name not in self._key)
        null_bits = nullable.to_bytes((count + 7) // 8, "little").hex()
        table_map = table_map_bytes([1] * count, null_bits=null_bits, optional=optional)
        table_map = table_map.replace(b"\1t\0", b"\1" + self.table.encode() + b"\0", 1)
        self.log.add(row_event(EventType.table_map_event, table_map))
        data = b""
        for mask, image in zip(masks, images, strict=True):
            values = [value for at, value in enumerate(image) if mask >> at & 1]
            nulls = sum(1 << at for at, value in enumerate(values) if value is None)
            data += bytes([nulls, *(value for value in values if value is not None)])
        self.log.add(row_event(kind, head + bytes(masks) + data))
        self.log.add(statement(None, self.layout))

    def write(self, folder: Path) -> Path:
        """The log, as a file of a folder."""
        return self.log.write(folder / "binlog.000001")
