"""Lines on how much of a dump has been read."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.filters import TableSet
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.store import TableKey
from binlog_kaitai.errors import BinlogError, SourceError
from binlog_kaitai.rows.arrow_types import arrow_type
from binlog_kaitai.snapshot.dump_literals import Converter
from binlog_kaitai.snapshot.dump_script import DumpScript, PieceKind, ScriptPiece
from binlog_kaitai.snapshot.server_snapshot import BATCH_BYTES, BATCH_ROWS, SYSTEM
from binlog_kaitai.snapshot.snapshot_files import SnapshotFiles
from binlog_kaitai.snapshot.snapshot_values import quoted, schema_of
from binlog_kaitai.sources.packed import PackedStream, open_file
from binlog_kaitai.values.charsets import decode
from binlog_kaitai.values.column_kinds import Kind
from binlog_kaitai.values.schema import Column, Schema

#: Seconds between two lines.
SECONDS = 5.0

_MEGABYTE = 1_000_000


class DumpProgress:
    """Counts the bytes read of a dump's scripts, and reports them now and then.

    `path`: the script, or the directory of scripts.
    """

    def __init__(self, path: Path, report: Callable[[str], object]) -> None:
        self._report = report
        self._total = _size_of(path)
        self._before = 0  # bytes of the scripts that have been read
        self._next = time.monotonic() + SECONDS

    def advance(self, position: int, tables: int) -> None:
        """Report the offset in the current script and the number of tables so far, if a line is due."""
        if (now := time.monotonic()) < self._next:
            return
        self._next = now + SECONDS
        read = (self._before + position) // _MEGABYTE
        # How long compressed scripts are is not known before their end.
        of_total = "" if self._total is None else f" of {self._total // _MEGABYTE}"
        self._report(f"dump: {read}{of_total} MB read, {tables} {'table' if tables == 1 else 'tables'}")

    def end_script(self, size: int) -> None:
        """Add a script that has been read to its end."""
        self._before += size


def _size_of(path: Path) -> int | None:
    """The size of all files in bytes; None if one is compressed."""
    files = [path] if not path.is_dir() else [file for file in path.iterdir() if file.is_file()]
    for file in files:
        with open_file(str(file)) as stream:
            if isinstance(stream, PackedStream):
                return None
    return sum(file.stat().st_size for file in files)


_EXECUTED = re.compile(rb"/\*M?!\d*\s*")
_NAMES = re.compile(rb"`((?:[^`]|``)*)`|([0-9A-Za-z_$\x80-\xff]+)")
_NAME = r"(`(?:[^`]|``)+`|[^\s;`]+)"
_USE = re.compile(rf"USE\s+{_NAME}\s*", re.IGNORECASE | re.ASCII)
_SET_NAMES = re.compile(r"SET\s+NAMES\s+'?(\w+)", re.IGNORECASE)
_TIME_ZONE = re.compile(r"SET\s+(?:SESSION\s+)?TIME_ZONE\s*=\s*(\S+?)\s*(?:\*/|$)", re.IGNORECASE)
_CREATE = re.compile(rf"CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?{_NAME}", re.IGNORECASE | re.ASCII)
_HAS_DATA = re.compile(
    rf"-- Dumping data for table {_NAME}|LOCK\s+TABLES\s+{_NAME}\s+WRITE|ALTER\s+TABLE\s+{_NAME}\s+DISABLE",
    re.IGNORECASE | re.ASCII,
)
_LOAD = re.compile(r"LOAD\s+DATA\b", re.IGNORECASE)
_ENGINE = re.compile(r"\bENGINE\s*=\s*(\w+)", re.IGNORECASE)
_SEQUENCE = re.compile(r"\bSEQUENCE\s*=\s*1\b", re.IGNORECASE)

#: Engines whose tables a transaction sees as they were at its start.
_TRANSACTIONAL = frozenset(("innodb", "rocksdb", "tokudb", "ndbcluster", "ndb"))

_UTC = "'+00:00'"


@dataclass
class _DumpedTable:
    """A table of the dump."""

    schema: Schema
    create: str
    has_data: bool = False
    rows: int = 0
    lacking: frozenset[str] = frozenset()


@dataclass
class _Batch:
    """Rows of one table that are not written yet, with their offsets in the script."""

    table: _DumpedTable
    columns: tuple[int, ...]
    charset: str
    name: str
    rows: list[tuple[bytes, ...]] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)


class Loading:
    """What scripts create and insert, written to the files of a snapshot.

    `wanted`: only these tables; all if empty.
    `identify`: called before the first row, once the position is known.
    `database`: the default database.
    `is_mariadb`: the kind of the dumped server, which some types depend on.
    `on_comment`, `on_statement`: called with the text of each comment, and of each statement that is none of
    a table's.
    `check_position`: called before the first row; raises if the position is unknown.
    `gtids`: MySQL's GTIDs of the dump's position, if it has them.
    """

    def __init__(
        self,
        wanted: TableSet,
        files: SnapshotFiles,
        zero_dates: str,
        identify: Callable[[], None],
        progress: DumpProgress,
    ) -> None:
        self.database = ""
        self.is_mariadb = False
        self.gtids = ""
        self.on_comment: Callable[[DumpScript, str], None] = lambda script, text: None
        self.on_statement: Callable[[DumpScript, str], None] = lambda script, text: None
        self.check_position: Callable[[DumpScript], None] = lambda script: None
        self.tables: dict[TableKey, _DumpedTable] = {}
        self._identify: Callable[[], None] | None = identify
        self._skipped: set[TableKey] = set()
        self._wanted = wanted
        self._progress = progress
        self._files = files
        self._zero_dates = zero_dates
        self._charset = self._time_zone = ""
        self._batch: _Batch | None = None

    def run(self, script: DumpScript) -> None:
        """Take a script.

        Raises `BinlogError`: it cannot be read, or contains what a snapshot cannot be made of.
        """
        self._charset = self._time_zone = ""
        for piece in script:
            match piece.kind:
                case PieceKind.INSERT:
                    self._insert(script, piece)
                case PieceKind.COMMENT:
                    text = piece.text.decode("utf-8", "replace")
                    self._see_data(text)
                    self.on_comment(script, text)
                case PieceKind.STATEMENT:
                    self._statement(script, piece.text)
        self._progress.end_script(script.position)

    def end(self) -> str:
        """Write the remaining rows; returns the definitions of the tables."""
        self._flush()
        lacking = [table.schema.full_name for table in self.tables.values() if not table.has_data]
        if lacking:
            reason = f"the dump has the definition of {', '.join(sorted(lacking))}, but no data: "
            reason += "dump without --no-data and --ignore-table-data, or choose other tables with --tables"
            raise SourceError(reason)
        for table in self.tables.values():
            self._report(table)
        return "\n".join(
            f"USE {quoted(database)};\n{table.create};\n" for (database, _), table in self.tables.items()
        )

    def see_data_of(self, schema_name: str, table_name: str) -> None:
        """Note that the dump has the data of a table."""
        if (table := self.tables.get((schema_name, table_name))) is not None:
            table.has_data = True

    # -- statements

    def _statement(self, script: DumpScript, raw: bytes) -> None:
        executed = _EXECUTED.match(raw)
        text = raw.decode("utf-8", "replace")
        own = text if executed is None else raw[executed.end() :].decode("utf-8", "replace")
        if (use := _USE.match(own)) is not None:
            self.database = _plain(use[1])
        elif (names := _SET_NAMES.match(own)) is not None:
            self._charset = names[1].lower()
        elif (zone := _TIME_ZONE.match(own)) is not None:
            self._time_zone = zone[1]
        elif (created := _CREATE.match(own)) is not None:
            if executed is None:
                self._create(script, raw, _plain(created[1]))
        elif _LOAD.match(own) is not None:
            raise script.error("LOAD DATA is not supported; dump with INSERT statements")
        else:
            self._see_data(own)
            self.on_statement(script, own)

    def _see_data(self, text: str) -> None:
        if (table := _HAS_DATA.match(text)) is not None:
            self.see_data_of(self._known_database(None), _plain(table[1] or table[2] or table[3]))

    def _known_database(self, script: DumpScript | None) -> str:
        if not self.database and script is not None:
            reason = "the dump does not name the database; dump with --databases, or without --skip-comments"
            raise script.error(reason)
        return self.database

    def _create(self, script: DumpScript, raw: bytes, name: str) -> None:
        # mysqldump writes definitions in UTF-8, whatever the character set of the dump is.
        create = raw.decode("utf-8", "surrogateescape")
        key = self._known_database(script), name
        options = create[create.rfind("\n)") :]
        if not self._is_wanted(key) or _SEQUENCE.search(options):
            self._skipped.add(key)
            return
        definitions = Definitions("file")
        definitions.observe(key[0], create)
        known = next(iter(definitions), None)
        if known is None:
            notes = "; ".join(definitions.notes) or "not a definition of columns"
            raise script.error(f"the definition of {'.'.join(key)} cannot be read: {notes}")
        try:
            schema = schema_of(known, is_mariadb=self.is_mariadb)
        except BinlogError as error:
            raise script.error(error.reason) from error
        self._files.withheld(schema)  # which raises if a rule does not fit the table
        self.tables[key] = _DumpedTable(schema, create)
        self._warn_of_engine(key, options)

    def _is_wanted(self, key: TableKey) -> bool:
        return key[0] not in SYSTEM and (not self._wanted or ".".join(key) in self._wanted)

    def _warn_of_engine(self, key: TableKey, options: str) -> None:
        engine = _ENGINE.search(options)
        if engine is not None and engine[1].lower() not in _TRANSACTIONAL:
            warnings.warn(
                f"{'.'.join(key)} is a table of {engine[1]}: its rows belong to the position of the dump "
                "only if no one wrote to it meanwhile, or the dump locked it (no --single-transaction)",
                stacklevel=2,
            )

    # -- rows

    def _insert(self, script: DumpScript, piece: ScriptPiece) -> None:
        names = self._names(piece.table)
        key = (names[-2] if len(names) > 1 else self._known_database(script)), names[-1]
        table = self.tables.get(key)
        if table is None:
            if key in self._skipped or not self._is_wanted(key):
                return
            reason = "but no CREATE TABLE before; dump without --no-create-info"
            raise script.error(f"rows of {'.'.join(key)}, {reason}")
        if self._identify is not None:
            self.check_position(script)
            self._identify()
            self._identify = None
        table.has_data = True
        columns = self._columns(script, table, piece)
        self._check_session(script, table.schema, columns)
        batch = self._batch_of(script, table, columns)
        for row in script.rows(len(columns)):
            position = script.position
            batch.rows.append(row)
            batch.positions.append(position)
            table.rows += 1
            if len(batch.rows) == BATCH_ROWS or position - batch.positions[0] >= BATCH_BYTES:
                self._flush()
                batch = self._batch_of(script, table, columns)
                self._progress.advance(position, sum(table.has_data for table in self.tables.values()))

    def _names(self, text: bytes) -> list[str]:
        """Names in a list or a qualified name: in UTF-8, or in the character set of the rows."""
        names = []
        for quoted_name, bare in _NAMES.findall(text):
            raw = quoted_name.replace(b"``", b"`") or bare
            name = decode(raw, None)
            names.append(name if isinstance(name, str) else str(decode(raw, self._charset)))
        return names

    def _columns(self, script: DumpScript, table: _DumpedTable, piece: ScriptPiece) -> tuple[int, ...]:
        """The indexes of the columns for which an INSERT has values."""
        all_columns = table.schema.columns
        if not piece.columns:
            indexes = [column.index for column in all_columns if column.is_visible]
        else:
            by_name = {column.name.casefold(): column.index for column in all_columns}
            indexes = []
            for name in self._names(piece.columns):
                if name.casefold() not in by_name:
                    raise script.error(f"{table.schema.full_name} has no column {name}")
                indexes.append(by_name[name.casefold()])
        missing = [column for column in all_columns if column.index not in indexes]
        for column in missing:
            if not (column.is_generated or column.is_row_period):
                reason = "is not in the dump; dump with a newer version of the tool"
                raise script.error(f"column {column.name} of {table.schema.full_name} {reason}")
        table.lacking |= {column.name for column in missing}
        return tuple(indexes)

    def _check_session(self, script: DumpScript, schema: Schema, columns: tuple[int, ...]) -> None:
        kinds = {schema.columns[index].kind for index in columns}
        if Kind.TIMESTAMP in kinds and self._time_zone != _UTC:
            reason = f"the TIMESTAMP columns of {schema.full_name} are not in UTC: the dump does not set "
            raise script.error(reason + "TIME_ZONE='+00:00'; dump with --tz-utc")
        if not self._charset:
            raise script.error("the dump has no SET NAMES before its rows; dump with --set-charset")

    def _batch_of(self, script: DumpScript, table: _DumpedTable, columns: tuple[int, ...]) -> _Batch:
        batch = self._batch
        if batch is not None and (batch.table, batch.columns, batch.charset, batch.name) == (
            table, columns, self._charset, script.name,
        ):  # fmt: skip
            return batch
        self._flush()
        self._batch = _Batch(table, columns, self._charset, script.name)
        return self._batch

    def _flush(self) -> None:
        batch, self._batch = self._batch, None
        if batch is None or not batch.rows:
            return
        schema = batch.table.schema
        arrays = [
            pa.nulls(len(batch.rows), arrow_type(column, self._zero_dates)) for column in schema.columns
        ]
        for index, literals in zip(batch.columns, zip(*batch.rows, strict=True), strict=True):
            arrays[index] = self._array(batch, schema.columns[index], literals)
        self._files.write(schema, arrays)

    def _array(self, batch: _Batch, column: Column, literals: tuple[bytes, ...]) -> pa.Array:
        converter = Converter(column, batch.charset, self._zero_dates)
        try:
            return converter.array(literals)
        except (BinlogError, ValueError, TypeError, ArithmeticError):
            for position, literal in zip(batch.positions, literals, strict=True):
                try:
                    converter.array([literal])
                except (BinlogError, ValueError, TypeError, ArithmeticError) as error:
                    refused = self._files.error(batch.table.schema, column, error)
                    reason = f"row of {refused.reason}"
                    raise SourceError(reason, file=batch.name, position=position) from refused.__cause__
            raise

    def _report(self, table: _DumpedTable) -> None:
        """Report values that the dump lacks, and tables that cannot be derived without them."""
        schema, name = table.schema, table.schema.full_name
        lacking = [column.name for column in schema.columns if column.name in table.lacking]
        if lacking and table.rows:
            warnings.warn(f"{name}: the dump lacks {', '.join(lacking)}: NULL in its rows", stacklevel=2)
        if schema.primary_key or not table.rows:
            return
        floats = [column.name for column in schema.columns if column.kind == Kind.FLOAT]
        if lacking or floats:
            reason = "it has no primary key, and a dump " + (
                f"lacks {', '.join(lacking)}" if lacking else f"rounds FLOAT ({', '.join(floats)})"
            )
            self._files.incomplete[schema.schema_name, schema.table_name] = reason


def _plain(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name
