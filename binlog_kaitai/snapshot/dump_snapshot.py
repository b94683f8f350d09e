"""Reads a dump into a snapshot: a script of mysqldump or mariadb-dump, or a directory of mydumper."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from binlog_kaitai.core.filters import TableSet
from binlog_kaitai.core.framing import read_up_to
from binlog_kaitai.core.spans import LogHeader
from binlog_kaitai.errors import SourceError, TruncatedError, reading
from binlog_kaitai.lake.rules import NO_RULES, Rules
from binlog_kaitai.snapshot.dump_loading import DumpLoading
from binlog_kaitai.snapshot.dump_script import DumpScript, PieceKind
from binlog_kaitai.snapshot.snapshot_files import Snapshot, SnapshotFiles, completed
from binlog_kaitai.sources.packed import SUFFIXES, PackedStream, open_file
from binlog_kaitai.sources.source import natural_key

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


_METADATA, _PARTIAL = "metadata", "metadata.partial"

_SCRIPT = re.compile(rf"(?P<name>.+?)\.sql(?:{'|'.join(map(re.escape, SUFFIXES))})?")
_CREATE, _TABLE, _VIEW = "-schema-create", "-schema", "-schema-view"
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
        views = {name.removesuffix(_VIEW) + _TABLE for name in scripts if name.endswith(_VIEW)}
        definitions = {
            name: path for name, path in scripts.items() if name.endswith(_TABLE) and name not in views
        }
        for name, path in definitions.items():
            self._run(path, databases, name)
        special = (_CREATE, _TABLE, _VIEW, *_OTHERS)
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
                reason = (
                    f"{table.schema.full_name} had {noted} rows, but its files have {table.rows}: files are "
                )
                raise SourceError(reason + "missing; copy the dump again", file=str(self._path))

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
            if name.endswith(_CREATE):
                with open_file(str(path)) as stream:
                    pieces = list(DumpScript(stream, str(path)))
                for piece in pieces:
                    create = _CREATE_DATABASE.match(piece.text)
                    if piece.kind is PieceKind.STATEMENT and create is not None:
                        databases[name.removesuffix(_CREATE)] = create[1].replace(b"``", b"`").decode()
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
) -> Snapshot:
    """Write the rows of a dump to a folder, or return the complete snapshot there.

    `path`: a script of mysqldump or mariadb-dump, possibly compressed, or a directory of mydumper.
    `tables`: only these; all if empty.
    `rules`: what is left out, masked and renamed, before anything is written.
    `header_of`: returns the start of the log with the given name. A dump does not say when it was taken in
    UTC, nor from which server, so its rows have the time at which that log began, and its server.
    `report`: called every few seconds with a line on how much of the dump has been read.
    Raises `BinlogError`: the dump cannot be read, is incomplete, or has no position. Nothing in the folder
    counts; `UsageError`: the rules do not fit a table, or the complete snapshot was taken with other ones.
    """

    def read() -> Snapshot:
        files = SnapshotFiles(folder, kind, rules)
        files.time = datetime.fromtimestamp(0, UTC)
        loading = Mydumper if path.is_dir() else Mysqldump
        try:
            with reading(str(path)):
                ddl = loading(path, tables, files, zero_dates, header_of, report).read()
        finally:
            files.close()
        return files.snapshot(ddl)

    return completed(folder, rules, read)
