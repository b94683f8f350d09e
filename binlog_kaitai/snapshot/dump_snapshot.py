"""Reads a dump into a snapshot: a script of mysqldump or mariadb-dump, or a directory of mydumper."""

from __future__ import annotations

import io
import os
import re
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.filters import TableSet
from binlog_kaitai.core.framing import read_up_to
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.spans import LogHeader
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.store import TableKey
from binlog_kaitai.errors import BinlogError, SourceError, TruncatedError, reading
from binlog_kaitai.lake.rules import NO_RULES, Rules
from binlog_kaitai.live.server_tables import SYSTEM, quoted
from binlog_kaitai.rows.arrow_types import arrow_type
from binlog_kaitai.snapshot.dump_literals import Converter
from binlog_kaitai.snapshot.dump_script import DumpScript, PieceKind, ScriptPiece
from binlog_kaitai.snapshot.server_snapshot import BATCH_BYTES, BATCH_ROWS
from binlog_kaitai.snapshot.snapshot_files import Snapshot, SnapshotFiles, completed
from binlog_kaitai.snapshot.snapshot_values import schema_of
from binlog_kaitai.sources.packed import SUFFIXES, PackedStream, open_file
from binlog_kaitai.sources.source import natural_key
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
        self._files.tables = [(*key, table.create) for key, table in self._tables.items()]
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


# -- mysqldump, mariadb-dump

_TOOL = re.compile(rb"-- (MySQL|MariaDB) dump [^\n]*")
_PUMP = b"MySQL pump"
_HEADER = 4096

_DATABASE = re.compile(r"-- Host: .*?    Database: (.+?)\s*\Z")
_SERVER = re.compile(r"-- Server version\s.*MariaDB")
_POSITION = re.compile(
    r"(?:-- )?CHANGE (?:MASTER|REPLICATION SOURCE)\b.*?\b(?:MASTER|SOURCE)_LOG_FILE\s*=\s*"
    r"'((?:[^'\\]|\\.)+)',\s*(?:MASTER|SOURCE)_LOG_POS\s*=\s*(\d+)",
    re.DOTALL,
)
_GTIDS = re.compile(
    r"(?:-- |/\*\s*)?SET\s+(?:@@)?GLOBAL(?:\.|\s+)(GTID_PURGED|gtid_slave_pos)\s*=.*'([^']*)'",
    re.IGNORECASE | re.DOTALL,
)
_HISTORY = re.compile(r"\bsystem_versioning_insert_history\s*=\s*(?:1|ON)\b", re.IGNORECASE)
_WHERE = re.compile(r"-- WHERE:\s*(.*)")
_COMPLETED = "-- Dump completed"

_MYSQLDUMP_HOW = (
    "take it with --source-data=2 (mysqldump before 8.0.26 and mariadb-dump: --master-data=2), and with "
    "--single-transaction if all tables are of InnoDB"
)


class Mysqldump(DumpLoading):
    """A script of mysqldump or mariadb-dump.

    Its header has the position, with ``--source-data`` (``--master-data``), which also locks all tables
    unless ``--single-transaction`` reads them in one transaction. Without it nothing in the script says
    whether its tables belong to one moment. The last line shows that a script is complete.
    """

    _has_gtids = _is_completed = False

    def _read(self) -> None:
        with open_file(str(self._path)) as stream:
            self._check_kind(read_up_to(stream, _HEADER))
            # Find out early that the script is truncated, if it is not compressed.
            if not isinstance(stream, PackedStream) and not _ends(stream):
                raise self._incomplete(os.path.getsize(self._path))
        script = self._load(self._path)
        self._check_position(script)
        if not self._is_completed:
            raise self._incomplete(script.position)

    def _check_kind(self, start: bytes) -> None:
        if (tool := _TOOL.search(start)) is not None:
            self._is_mariadb = tool[1] == b"MariaDB" or b"-MariaDB" in tool[0]
            return
        reason = "is not a dump of mysqldump or mariadb-dump: the comment at its start that names the tool "
        reason += "is missing; dump without --compact and --skip-comments"
        if start.lstrip().startswith(b"<?xml"):
            reason = "is XML (--xml), which is not supported; dump as SQL"
        elif _PUMP in start:
            reason = "is a dump of mysqlpump, which has no position of the log; use mysqldump --source-data=2"
        raise SourceError(reason, file=str(self._path))

    def _incomplete(self, position: int) -> TruncatedError:
        reason = f"does not end with {_COMPLETED!r}: it is truncated, or was taken with --compact or "
        reason += "--skip-comments; take it again"
        return TruncatedError(reason, file=str(self._path), position=position)

    def _comment(self, script: DumpScript, text: str) -> None:
        if (database := _DATABASE.match(text)) is not None and not self._database:
            self._database = database[1]
        elif _SERVER.match(text) is not None:
            self._is_mariadb = True
        elif (where := _WHERE.match(text)) is not None:
            raise script.error(f"the dump has only some rows (--where {where[1].strip()}); dump all rows")
        elif text.startswith(_COMPLETED):
            self._is_completed = True
        self._other(script, text)

    def _other(self, script: DumpScript, text: str) -> None:
        if _HISTORY.search(text) is not None:
            raise script.error("the dump has the history of tables (--dump-history); dump without it")
        if (gtids := _GTIDS.match(text)) is not None:
            self._has_gtids = True
            self._gtids = gtids[2] if gtids[1].upper() == "GTID_PURGED" else ""
        if (change := _POSITION.match(text)) is None:
            return
        position = change[1], int(change[2])
        if self._files.log and position != (self._files.log, self._files.position):
            reason = "the dump has two positions (of a replica and of its sources); "
            raise script.error(reason + "take it with --source-data or --master-data alone")
        self._files.log, self._files.position = position

    def _check_position(self, script: DumpScript) -> None:
        if not self._files.log:
            gtids = "GTIDs, but not the position of its rows in the log" if self._has_gtids else "no position"
            raise script.error(f"the dump has {gtids}; {_MYSQLDUMP_HOW}")


def _ends(stream: BinaryIO) -> bool:
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(size - _HEADER, 0))
    return _COMPLETED.encode() in stream.read()


# -- mydumper

_METADATA, _PARTIAL = "metadata", "metadata.partial"

_SCRIPT = re.compile(rf"(?P<name>.+?)\.sql(?:{'|'.join(map(re.escape, SUFFIXES))})?")
_OF_DATABASE, _OF_TABLE, _OF_VIEW = "-schema-create", "-schema", "-schema-view"
_OTHERS = ("-schema-triggers", "-schema-post", "-schema-sequence", "-schema-tablespace", "-schema-indexes")

_CREATE_DATABASE = re.compile(rb"CREATE\s+DATABASE\s.*?`((?:[^`]|``)+)`", re.IGNORECASE | re.DOTALL)

#: The sections with the position of the server itself; others are about the server that it replicates.
_SECTION = re.compile(r"\[(.*)\]\s*|SHOW (MASTER|SLAVE|REPLICA) STATUS:\s*")
_OWN = ("master", "source")
_ENTRY = re.compile(r"[#\s]*(\w+)\s*[:=]\s*(.*?)\s*")
_FILES, _POSITIONS = ("log", "file", "source_log_file"), ("pos", "position", "source_log_pos")
_MARIADB_GTID = re.compile(r"\d+-\d+-\d+\s*(?:,|$)")

_MYDUMPER_HOW = "take it with a version of mydumper that writes the position; since 0.19 with --source-data"


class Mydumper(DumpLoading):
    """A directory of mydumper: a file ``metadata`` with the position, and scripts for each table.

    ==================================  ==========================================
    ``db-schema-create.sql``            CREATE DATABASE
    ``db.table-schema.sql``             CREATE TABLE; of a view, a placeholder
    ``db.table-schema-view.sql``        CREATE VIEW
    ``db.table.sql``                    rows; with chunks ``db.table.00000.sql``
    ==================================  ==========================================

    All may be compressed. ``metadata`` is written as ``metadata.partial``, and renamed at the end.
    """

    def _read(self) -> None:
        noted_rows = self._read_metadata()
        scripts = dict(self._scripts())
        databases = self._databases(scripts)
        views = {name.removesuffix(_OF_VIEW) + _OF_TABLE for name in scripts if name.endswith(_OF_VIEW)}
        definitions = {
            name: path for name, path in scripts.items() if name.endswith(_OF_TABLE) and name not in views
        }
        for name, path in definitions.items():
            self._run(path, databases, name)
        special = (_OF_DATABASE, _OF_TABLE, _OF_VIEW, *_OTHERS)
        with_rows = {name: path for name, path in scripts.items() if not name.endswith(special)}
        if definitions and not with_rows and not noted_rows:
            raise SourceError("has no rows of any table; dump without --no-data", file=str(self._path))
        for name, path in with_rows.items():
            self._run(path, databases, name)
        self._check_rows(noted_rows)

    # -- metadata

    def _read_metadata(self) -> dict[str, int]:
        """Find the position; returns the numbers of rows that newer versions note for each table."""
        path = self._path / _METADATA
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError as error:
            raise self._not_mydumper() from error
        own, noted_rows = dict[str, str](), dict[str, int]()
        section, is_own, is_finished = "", False, False
        for line in text.splitlines():
            if (heading := _SECTION.fullmatch(line.strip())) is not None:
                section = heading[1] or ""
                is_own = (heading[2] == "MASTER") if heading[1] is None else section.lower() in _OWN
            elif line.lstrip("# ").startswith("Finished dump at"):
                is_finished = True
            elif (entry := _ENTRY.fullmatch(line)) is not None:
                if is_own:
                    own.setdefault(entry[1].lower(), entry[2].strip("\"'"))
                elif entry[1].lower() == "rows" and entry[2].isdigit():
                    noted_rows[section.replace("`", "")] = int(entry[2])
        if not is_finished:
            reason = "has no line 'Finished dump at'; mydumper did not complete the dump"
            raise TruncatedError(reason, file=str(path))
        log, position = (
            next((own[name] for name in names if own.get(name)), "") for names in (_FILES, _POSITIONS)
        )
        if not log or not position.isdigit():
            raise SourceError(f"has no position of the server's log; {_MYDUMPER_HOW}", file=str(path))
        self._files.log, self._files.position = log, int(position)
        gtids = own.get("gtid", "") + own.get("executed_gtid_set", "")
        self._is_mariadb = _MARIADB_GTID.match(gtids) is not None
        self._gtids = "" if self._is_mariadb else own.get("executed_gtid_set", "")
        return noted_rows

    def _not_mydumper(self) -> SourceError:
        names = set(os.listdir(self._path))
        what = "is not a directory of mydumper: it has no file metadata"
        if _PARTIAL in names:
            what = "is incomplete: mydumper leaves metadata.partial until it has finished"
        elif "@.json" in names:
            what = "is a dump of MySQL Shell, which is not supported; use mysqldump or mydumper"
        elif any(name.endswith(".txt") for name in names):
            what = "is a dump of mysqldump --tab, which is not supported; dump without --tab"
        elif names & {"xtrabackup_info", "mariadb_backup_info", "backup-my.cnf"}:
            what = "is a physical backup, which is not supported; use mysqldump or mydumper"
        return SourceError(what, file=str(self._path))

    def _check_rows(self, noted_rows: dict[str, int]) -> None:
        """Compare the number of rows with those noted; empty tables have no file with rows."""
        for (schema_name, table_name), table in self._tables.items():
            table.has_data = True
            noted = noted_rows.get(f"{schema_name}.{table_name}", table.rows)
            if noted != table.rows:
                reason = f"{table.schema.full_name} had {noted} rows, but its files have {table.rows}: "
                raise SourceError(f"{reason}files are missing; copy the dump again", file=str(self._path))

    # -- scripts

    def _scripts(self) -> Iterator[tuple[str, Path]]:
        """The scripts by their names without extensions."""
        for name in sorted(os.listdir(self._path), key=natural_key):
            if name.endswith((".dat", ".csv")):
                reason = "LOAD DATA is not supported; run mydumper without --load-data and --csv"
                raise SourceError(reason, file=str(self._path / name))
            if (script := _SCRIPT.fullmatch(name)) is not None:
                yield script["name"], self._path / name

    def _databases(self, scripts: dict[str, Path]) -> dict[str, str]:
        """The databases by their names in files, which differ where a file's name cannot have a character."""
        databases = {}
        for name, path in scripts.items():
            if name.endswith(_OF_DATABASE):
                with open_file(str(path)) as stream:
                    pieces = list(DumpScript(stream, str(path)))
                for piece in pieces:
                    create = _CREATE_DATABASE.match(piece.text)
                    if piece.kind is PieceKind.STATEMENT and create is not None:
                        databases[name.removesuffix(_OF_DATABASE)] = create[1].replace(b"``", b"`").decode()
        return databases

    def _run(self, path: Path, databases: dict[str, str], name: str) -> None:
        known = [prefix for prefix in databases if name.startswith(f"{prefix}.")]
        self._database = databases[max(known, key=len)] if known else name.partition(".")[0]
        self._load(path)


def snapshot_of_dump(
    path: Path,
    folder: Path,
    *,
    tables: TableSet,
    kind: str = "delta",
    zero_dates: str = "null",
    rules: Rules = NO_RULES,
    header_of: Callable[[str], LogHeader | None] = lambda log: None,
    report: Callable[[str], object] = lambda line: None,
    era: int = 0,
    first_row: int = 0,
) -> Snapshot:
    """Write the rows of a dump to a folder, or return the complete snapshot there.

    `path`: a script of mysqldump or mariadb-dump, possibly compressed, or a directory of mydumper.
    `tables`: only these; all if empty.
    `rules`: what is left out, masked and renamed, before anything is written.
    `header_of`: returns the start of the log with the given name. A dump does not say when it was taken in
    UTC, nor from which server, so its rows have the time at which that log began, and its server.
    `report`: called every few seconds with a line on how much of the dump has been read.
    `era`, `first_row`: the era of that log; see `Snapshot`.
    Raises `BinlogError`: the dump cannot be read, is incomplete, or has no position. Nothing in the folder
    counts; `UsageError`: the rules do not fit a table, or the complete snapshot was taken with other ones.
    """

    def read() -> Snapshot:
        files = SnapshotFiles(folder, kind, rules)
        files.time, files.era, files.first_row = datetime.fromtimestamp(0, UTC), era, first_row
        loading = Mydumper if path.is_dir() else Mysqldump
        try:
            with reading(str(path)):
                ddl = loading(path, tables, files, zero_dates, header_of, report).read()
        finally:
            files.close()
        header = header_of(files.log)
        files.log_id = None if header is None else header.log_id
        return files.snapshot(ddl)

    return completed(folder, rules, read)
