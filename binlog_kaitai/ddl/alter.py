"""Applies ALTER TABLE to a table definition.

Columns are ordered as the server does it (sql/sql_table.cc, `mysql_prepare_alter_table`): first the existing
columns in their order, without those dropped, changed ones in place; then the new ones come, and others move,
in the order of the statement. AFTER means the names after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from binlog_kaitai.ddl.column_charsets import CharsetChange, read_charset
from binlog_kaitai.ddl.column_grammar import Key, read_column, read_default
from binlog_kaitai.ddl.elements import (
    hidden_columns_of,
    is_column,
    parted,
    read_key,
    read_new_name,
    with_period,
)
from binlog_kaitai.ddl.lexer import Token, TokenCursor, UnreadableError, split
from binlog_kaitai.ddl.partitions import altered
from binlog_kaitai.values.table_definition import ColumnDefinition, Columns, HiddenColumn, TableDefinition

_AT_END = None
_FIRST = ""

#: No table of a server has more.
_MOST_COLUMNS = 4096

#: First words of clauses that do not affect columns.
_HARMLESS = frozenset(
    re.findall(
        r"\w+",
        "ENGINE TYPE AUTO_INCREMENT AVG_ROW_LENGTH CHECKSUM COMMENT COMPRESSION CONNECTION DATA "
        "DELAY_KEY_WRITE ENCRYPTION ENGINE_ATTRIBUTE SECONDARY_ENGINE_ATTRIBUTE INDEX INSERT_METHOD "
        "SECONDARY_ENGINE KEY_BLOCK_SIZE MAX_ROWS MIN_ROWS PACK_KEYS PASSWORD ROW_FORMAT START "
        "STATS_AUTO_RECALC STATS_PERSISTENT STATS_SAMPLE_PAGES TABLESPACE UNION AUTOEXTEND_SIZE "
        "SECONDARY_LOAD SECONDARY_UNLOAD STORAGE TRANSACTIONAL PAGE_CHECKSUM ALGORITHM LOCK FORCE "
        "ENABLE DISABLE DISCARD IMPORT WITH WITHOUT ORDER PARTITION COALESCE REORGANIZE EXCHANGE "
        "ANALYZE CHECK OPTIMIZE REBUILD REPAIR REMOVE TRUNCATE UPGRADE VALIDATE NOWAIT WAIT "
        "SEQUENCE ",
    )
)


class ContradictionError(Exception):
    """The statement contradicts the definition, so one of the two is not about this table at this time."""


class Alteration:
    """Parses the clauses of one ALTER TABLE, then applies them.

    `table`: without columns, for any table: the clauses are only parsed.
    `partition_tables`: tables created from partitions; they have the same columns.
    `absorbed_tables`: tables that become partitions.
    """

    def __init__(
        self,
        table: TableDefinition,
        clauses: Sequence[Sequence[Token]],
        sql_mode: int,
        charsets: CharsetChange,
    ) -> None:
        self.partition_tables: list[tuple[str, ...]] = []
        self.absorbed_tables: list[tuple[str, ...]] = []
        # With the hidden columns, which keep their places among the others.
        self._table = replace(table, columns=table.all_columns, hidden_columns=())
        self._sql_mode, self._charsets, self._clauses = sql_mode, charsets, clauses
        self._hidden = {hidden.name: hidden for hidden in table.hidden_columns}
        self._new_hidden: list[HiddenColumn] = []
        self._renamed_keys: dict[str, str] = {}
        self._dropped: set[int] = set()
        self._changed: dict[int, ColumnDefinition] = {}
        self._redefined: set[int] = set()
        self._added: set[str] = set()
        self._new_names: list[str] = []
        #: New columns (None: one that is there), their keys and places.
        self._placed: list[tuple[ColumnDefinition | None, str, str | None]] = []
        self._key: Sequence[str] | None = None
        self._has_other_key = False
        self._unique_keys = table.unique_keys
        self._foreign_keys = [*table.foreign_keys]
        self._required: set[str] = set()
        self._versioning: bool | None = None
        self._is_in_list = False
        for clause in clauses:
            self._read(TokenCursor(clause))

    def result(self) -> TableDefinition:
        """The table after the statement."""
        columns, keys = self._columns()
        names = {*keys} if self._placed or self._changed or self._new_names else ()
        if names and len(names) < len(keys):
            raise ContradictionError("duplicate column")
        for name in self._new_names:
            if name.casefold() not in names:
                raise ContradictionError(f"column {name} not found")
        for number, key in enumerate(keys if self._required else ()):
            if key in self._required:
                columns[number] = replace(columns[number], is_nullable=False)
        visible, hidden = Columns(columns, keys), tuple[HiddenColumn, ...]()
        if self._hidden or self._new_hidden:
            columns, hidden = parted(columns, self._hidden, self._renamed_keys, self._new_hidden)
            visible = Columns(columns)
        table = replace(
            self._table,
            columns=visible,
            partitioning=altered(self._table.partitioning, self._clauses),
            default_charset=self._charsets.default,
            hidden_columns=hidden,
            unique_keys=self._unique_keys,
            has_implicit_period=False,
            foreign_keys=tuple(self._foreign_keys),
        )
        if self._has_other_key:
            table = table.with_primary_key(self._key)
        return with_period(table) if self._has_implicit_period(columns) else table

    def _columns(self) -> tuple[list[ColumnDefinition], list[str]]:
        """The columns and their keys, with hidden ones, without an implicit period."""
        before = self._table.columns
        columns, keys = [*before], [*before.keys]
        if self._table.has_implicit_period:
            del columns[-2:], keys[-2:]
        if self._charsets.converts:
            columns = [*map(self._charsets.kept, columns)]
        for number, column in self._changed.items():
            is_defined = number in self._redefined
            columns[number] = self._charsets.defined(column) if is_defined else self._charsets.kept(column)
            keys[number] = column.key
        for number in sorted(self._dropped, reverse=True):
            del columns[number], keys[number]
        for new, key, place in self._placed:
            if new is not None:
                former = before.numbers.get(key)
                # A new column takes the place of a dropped one of its name in the primary key.
                new = _in_key_like(new, before[former]) if former in self._dropped else new
                columns.append(self._charsets.defined(new))
                keys.append(key)
            if place is not _AT_END:
                number = _find(keys, key) if new is None else -1
                column = columns.pop(number)
                del keys[number]
                number = 0 if place == _FIRST else _find(keys, place) + 1
                columns.insert(number, column)
                keys.insert(number, key)
            if len(keys) > _MOST_COLUMNS:
                raise ContradictionError("too many columns")
        return columns, keys

    def _has_implicit_period(self, columns: Sequence[ColumnDefinition]) -> bool:
        """Whether the table is versioned, and has no columns for that."""
        table = self._table
        was_versioned = table.has_implicit_period or any(
            table.columns[number].is_row_period for number in self._dropped
        )
        is_versioned = was_versioned if self._versioning is None else self._versioning
        return is_versioned and not any(column.is_row_period for column in columns)

    @property
    def changes_only_columns(self) -> bool:
        """Whether the clauses, parsed for any table, change no key, default, character set or versioning."""
        others = self._has_other_key, self._charsets.is_given, self._new_hidden, self._new_names
        return not any(others) and self._versioning is None

    # Clauses ------------------------------------------------------------------------------------------

    def _read(self, cursor: TokenCursor) -> None:
        readers: dict[str, Callable[[TokenCursor], None]] = {
            "ADD": self._add,
            "DROP": self._drop,
            "CHANGE": self._change,
            "MODIFY": partial(self._change, is_renamed=False),
            "RENAME": self._rename,
            "ALTER": self._alter,
            "CONVERT": self._convert,
        }
        if word := cursor.skip_one(*readers):
            readers[word](cursor)
        else:
            self._options(cursor)

    def _options(self, cursor: TokenCursor) -> None:
        """Skip table options, with or without commas between them, and clauses that change no column."""
        while cursor:
            if charset := read_charset(cursor):
                self._charsets.options.append(charset)
                continue
            word = cursor.keyword()
            # Partition names, or the columns of ORDER BY, follow with commas of their own.
            self._is_in_list |= word == "ORDER" or cursor.keyword(1) == "PARTITION"
            if not (word in _HARMLESS or cursor.mark(1) == "=" or self._is_in_list):
                raise UnreadableError(f"unknown clause {cursor.next().shown}")
            if word in ("PARTITION", "UNION", "EXCHANGE") or self._is_in_list:
                cursor.rest()
                return
            cursor.next()
            cursor.skip("=")
            # The value of an option, or the rest of a clause; it ends at the next option.
            while cursor and cursor.keyword() not in _HARMLESS and not _is_charset(cursor):
                cursor.next()

    def _add(self, cursor: TokenCursor) -> None:
        if cursor.skip("SYSTEM", "VERSIONING"):
            self._versioning = True
            return
        if cursor.keyword() == "PARTITION":
            return
        if cursor.keyword() != "COLUMN" and not is_column(cursor):
            self._add_key(cursor)
            return
        cursor.skip("COLUMN")
        only_if_new = cursor.skip("IF", "NOT", "EXISTS")
        if cursor.mark() != "(":
            self._add_column(cursor, only_if_new)
            return
        for element in map(TokenCursor, split(cursor.group())):
            if is_column(element):
                self._add_column(element, only_if_new)
            else:
                self._add_key(element)

    def _add_key(self, cursor: TokenCursor) -> None:
        key = read_key(cursor)
        if key.primary != ():
            if key.only_if_new and any(column.is_primary_key is not False for column in self._table.columns):
                return
            self._set_key(key.primary)
        if key.expressions:
            self._new_hidden += hidden_columns_of(key, 0, [*self._hidden.values(), *self._new_hidden])
            if len(self._new_hidden) > _MOST_COLUMNS:
                raise ContradictionError("too many columns")
        self._take_key(key)

    def _take_key(self, key: Key) -> None:
        self._unique_keys += key.is_unique
        self._required.update(name.casefold() for name in key.required)
        if key.foreign is not None:
            self._foreign_keys.append(key.foreign.of_schema(self._table.schema_name))

    def _set_key(self, names: Sequence[str] | None) -> None:
        self._key, self._has_other_key = names, True

    def _drop_key(self) -> None:
        if not self._has_other_key:  # one that is added in the same statement replaces it
            self._set_key(())

    def _add_column(self, cursor: TokenCursor, only_if_new: bool) -> None:
        column, place = self._column(cursor)
        key = column.key
        if only_if_new and (key in self._table.columns.numbers or key in self._added):
            return
        if column.is_primary_key:
            self._set_key((column.name,))
        self._added.add(key)
        self._placed.append((column, key, place))

    def _column(self, cursor: TokenCursor) -> tuple[ColumnDefinition, str | None]:
        column, key = read_column(cursor, self._sql_mode)
        self._take_key(key)
        place = _AT_END
        if cursor.skip("FIRST"):
            place = _FIRST
        elif cursor.skip("AFTER"):
            place = cursor.dotted_name()[-1].casefold()
        self._end(cursor)
        return column, place

    def _end(self, cursor: TokenCursor) -> None:
        """Only table options may follow a clause without a comma."""
        if cursor:
            self._options(cursor)

    def _drop(self, cursor: TokenCursor) -> None:
        word = cursor.keyword()
        if cursor.skip("PRIMARY", "KEY"):
            self._drop_key()
        elif cursor.skip("SYSTEM", "VERSIONING"):
            self._versioning = False
        elif word == "FOREIGN" or cursor.skip_one("CONSTRAINT", "INDEX", "KEY"):
            cursor.skip("FOREIGN", "KEY")
            cursor.skip("IF", "EXISTS")
            name = cursor.name()
            if word in ("FOREIGN", "CONSTRAINT"):
                self._drop_foreign(name.casefold())
            if word != "FOREIGN":
                self._rename_index(name, "")
            if name.upper() == "PRIMARY":
                self._drop_key()
        elif word in ("CHECK", "PARTITION", "PERIOD"):
            self._is_in_list |= word == "PARTITION"
            if word == "PERIOD" and cursor.keyword(1) not in ("FOR", "IF"):
                self._drop_column(cursor)
        else:
            self._drop_column(cursor)

    def _drop_foreign(self, name: str) -> None:
        """Drop a foreign key; InnoDB numbers those without a name: ``t_ibfk_1``."""
        number = 0
        for key in [*self._foreign_keys]:
            number += not key.name
            if key.name.casefold() == name or (not key.name and name.endswith(f"_ibfk_{number}")):
                self._foreign_keys.remove(key)

    def _number_of(self, name: str, *, may_miss: bool) -> int | None:
        """The number of an existing column; None if there is none, which the statement may allow."""
        number = self._table.find(name)
        if number is None and not may_miss and self._table.columns:
            raise ContradictionError(f"column {name} not found")
        return number

    def _drop_column(self, cursor: TokenCursor) -> None:
        cursor.skip("COLUMN")
        may_miss = cursor.skip("IF", "EXISTS")
        name = cursor.dotted_name()[-1]
        cursor.skip_one("RESTRICT", "CASCADE")
        self._end(cursor)
        if (number := self._number_of(name, may_miss=may_miss)) is not None:
            self._dropped.add(number)

    def _change(self, cursor: TokenCursor, *, is_renamed: bool = True) -> None:
        cursor.skip("COLUMN")
        may_miss = cursor.skip("IF", "EXISTS")
        old = cursor.dotted_name()[-1] if is_renamed else ""
        column, place = self._column(cursor)
        if not old and column.key in self._added:  # in MariaDB
            self._placed = [placed for placed in self._placed if placed[1] != column.key]
            self._placed.append((column, column.key, place))
            return
        number = self._number_of(old or column.name, may_miss=may_miss)
        if number is None:
            return
        if column.is_primary_key:
            self._set_key((column.name,))
        self._changed[number] = _in_key_like(column, self._table.columns[number])
        self._redefined.add(number)
        if place is not _AT_END:
            self._placed.append((None, column.key, place))

    def _rename(self, cursor: TokenCursor) -> None:
        if cursor.skip("COLUMN"):
            may_miss = cursor.skip("IF", "EXISTS")
            old = cursor.dotted_name()[-1]
            if not cursor.skip("TO"):
                raise UnreadableError("RENAME COLUMN without TO")
            if (number := self._number_of(old, may_miss=may_miss)) is not None:
                column = self._changed.get(number) or self._table.columns[number]
                self._changed[number] = replace(column, name=cursor.dotted_name()[-1])
        elif cursor.skip_one("INDEX", "KEY"):
            cursor.skip("IF", "EXISTS")
            old = cursor.name()
            cursor.skip("TO")
            self._rename_index(old, cursor.name())
        else:
            read_new_name(cursor)
            self._end(cursor)

    def _rename_index(self, old: str, new: str) -> None:
        """Rename an index with its hidden columns, or drop it if there is no new name."""
        self._renamed_keys[old.casefold()] = new

    def _alter(self, cursor: TokenCursor) -> None:
        """ALTER COLUMN changes a default or the visibility of a column; MariaDB takes its new name, too."""
        if cursor.keyword() in ("INDEX", "KEY", "CHECK", "CONSTRAINT"):
            return
        cursor.skip("COLUMN")
        cursor.skip("IF", "EXISTS")
        number = self._table.find(name := cursor.dotted_name()[-1])
        if number is None:
            self._new_names.append(name)
            return
        column = self._changed.get(number) or self._table.columns[number]
        if cursor.skip("SET") and (word := cursor.skip_one("VISIBLE", "INVISIBLE")):
            column = replace(column, is_visible=word == "VISIBLE")
        elif word := cursor.skip_one("DEFAULT", "DROP"):
            column = replace(column, default=read_default(cursor) if word == "DEFAULT" else None)
        self._changed[number] = column

    def _convert(self, cursor: TokenCursor) -> None:
        if cursor.skip("PARTITION"):
            cursor.name()
            if not cursor.skip("TO", "TABLE"):
                raise UnreadableError("CONVERT PARTITION without TO TABLE")
            self.partition_tables.append(cursor.dotted_name())
        elif cursor.skip("TABLE"):
            self.absorbed_tables.append(cursor.dotted_name())
        elif cursor.skip("TO"):
            self._charsets.read_conversion(cursor)
            self._end(cursor)
        else:
            raise UnreadableError("unknown form of CONVERT")


def _is_charset(cursor: TokenCursor) -> bool:
    start = 1 if cursor.keyword() == "DEFAULT" else 0
    return cursor.keyword(start) in ("COLLATE", "CHARSET") or cursor.keyword(start + 1) == "SET"


def _in_key_like(column: ColumnDefinition, before: ColumnDefinition) -> ColumnDefinition:
    """A column in the place of an earlier one, in the primary key if that was."""
    is_nullable = column.is_nullable and not before.is_primary_key
    return replace(
        column, is_primary_key=column.is_primary_key or before.is_primary_key, is_nullable=is_nullable
    )


def _find(keys: Sequence[str], key: str) -> int:
    try:
        return keys.index(key)
    except ValueError:
        raise ContradictionError(f"column {key} not found") from None
