"""Loads what the scripts of a dump create and insert, whatever tool has written them."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.filters import TableSet
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.spans import LogHeader
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

#: Seconds between two lines on the progress.
SECONDS = 5.0

_MEGABYTE = 1_000_000

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


class DumpLoading:
    """What the scripts of a dump create and insert, written to the files of a snapshot.

    A subclass for each kind of dump reads its scripts, and finds the position in them.

    `path`: the script, or the directory of scripts.
    `wanted`: only these tables; all if empty.
    `header_of`: returns the start of the log with the given name.
    `report`: called every few seconds with a line on how much of the dump has been read.
    """

    def __init__(
        self,
        path: Path,
        wanted: TableSet,
        files: SnapshotFiles,
        zero_dates: str,
        header_of: Callable[[str], LogHeader | None],
        report: Callable[[str], object],
    ) -> None:
        self._path = path
        self._files = files
        self._database = ""  # the default one
        self._is_mariadb = False  # which some types depend on
        self._gtids = ""  # MySQL's, of the dump's position
        self._tables: dict[TableKey, _DumpedTable] = {}
        self._skipped: set[TableKey] = set()
        self._wanted = wanted
        self._zero_dates = zero_dates
        self._header_of = header_of
        self._has_begun = False
        self._charset = self._time_zone = ""
        self._batch: _Batch | None = None
        self._report_line = report
        self._size = _size_of(path)
        self._before = 0  # bytes of the scripts that have been read
        self._next_line = time.monotonic() + SECONDS

    def read(self) -> str:
        """Load all of it; returns the definitions of the tables.

        Raises `BinlogError`: it cannot be read, or contains what a snapshot cannot be made of.
        """
        self._read()
        self._flush()
        lacking = [table.schema.full_name for table in self._tables.values() if not table.has_data]
        if lacking:
            reason = f"the dump has the definition of {', '.join(sorted(lacking))}, but no data: "
            reason += "dump without --no-data and --ignore-table-data, or choose other tables with --tables"
            raise SourceError(reason)
        for table in self._tables.values():
            self._report_gaps(table)
        return "\n".join(
            f"USE {quoted(database)};\n{table.create};\n" for (database, _), table in self._tables.items()
        )

    # -- of each kind of dump

    def _read(self) -> None:
        """Load the scripts."""
        raise NotImplementedError

    def _comment(self, script: DumpScript, text: str) -> None:
        """Take a comment."""

    def _other(self, script: DumpScript, text: str) -> None:
        """Take a statement that is none of a table's."""

    def _check_position(self, script: DumpScript) -> None:
        """Raise if the position is still unknown, before the first row."""

    # -- scripts

    def _load(self, path: Path) -> DumpScript:
        """Load a script; returns it, at its end."""
        self._charset = self._time_zone = ""
        with open_file(str(path)) as stream:
            script = DumpScript(stream, str(path))
            for piece in script:
                match piece.kind:
                    case PieceKind.INSERT:
                        self._insert(script, piece)
                    case PieceKind.COMMENT:
                        text = piece.text.decode("utf-8", "replace")
                        self._see_data(text)
                        self._comment(script, text)
                    case PieceKind.STATEMENT:
                        self._statement(script, piece.text)
            self._before += script.position
            return script

    def _show_progress(self, position: int) -> None:
        """Report the offset in the current script and the number of tables so far, if a line is due."""
        if (now := time.monotonic()) < self._next_line:
            return
        self._next_line = now + SECONDS
        read = (self._before + position) // _MEGABYTE
        # How long compressed scripts are is not known before their end.
        of_total = "" if self._size is None else f" of {self._size // _MEGABYTE}"
        count = sum(table.has_data for table in self._tables.values())
        self._report_line(f"dump: {read}{of_total} MB read, {count} {'table' if count == 1 else 'tables'}")

    def _begin(self, script: DumpScript) -> None:
        """Before the first row: check the position, and date the rows by the log at it."""
        self._check_position(script)
        self._has_begun = True
        if (header := self._header_of(self._files.log)) is None:
            return
        self._files.time = datetime.fromtimestamp(header.begun, UTC)
        self._files.server_id = header.server_id or 0
        # What the earlier logs of the same server have was executed before the dump.
        previous, gtids = header.previous, self._gtids
        if previous and gtids and (missing := previous.without(GtidSet.parse(gtids))):
            reason = (
                f"the dump is of another server than {self._files.log}, or of other logs with this name: "
            )
            reason += f"it does not have the transactions {missing}, which are in earlier logs"
            raise SourceError(reason)

    # -- statements

    def _statement(self, script: DumpScript, raw: bytes) -> None:
        executed = _EXECUTED.match(raw)
        text = raw.decode("utf-8", "replace")
        own = text if executed is None else raw[executed.end() :].decode("utf-8", "replace")
        if (use := _USE.match(own)) is not None:
            self._database = _plain(use[1])
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
            self._other(script, own)

    def _see_data(self, text: str) -> None:
        """Note that the dump has the data of a table."""
        if (named := _HAS_DATA.match(text)) is not None:
            key = self._database, _plain(named[1] or named[2] or named[3])
            if (table := self._tables.get(key)) is not None:
                table.has_data = True

    def _known_database(self, script: DumpScript) -> str:
        if not self._database:
            reason = "the dump does not name the database; dump with --databases, or without --skip-comments"
            raise script.error(reason)
        return self._database

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
            schema = schema_of(known, is_mariadb=self._is_mariadb)
        except BinlogError as error:
            raise script.error(error.reason) from error
        self._files.withheld(schema)  # which raises if a rule does not fit the table
        self._tables[key] = _DumpedTable(schema, create)
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
        table = self._tables.get(key)
        if table is None:
            if key in self._skipped or not self._is_wanted(key):
                return
            reason = "but no CREATE TABLE before; dump without --no-create-info"
            raise script.error(f"rows of {'.'.join(key)}, {reason}")
        if not self._has_begun:
            self._begin(script)
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
                self._show_progress(position)

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

    def _report_gaps(self, table: _DumpedTable) -> None:
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


def _size_of(path: Path) -> int | None:
    """The size of all files in bytes; None if one is compressed."""
    files = [path] if not path.is_dir() else [file for file in path.iterdir() if file.is_file()]
    for file in files:
        with open_file(str(file)) as stream:
            if isinstance(stream, PackedStream):
                return None
    return sum(file.stat().st_size for file in files)
