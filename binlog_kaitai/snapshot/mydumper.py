"""Directories of mydumper: a file ``metadata`` with the position, and scripts for each table.

==================================  ==========================================
``db-schema-create.sql``            CREATE DATABASE
``db.table-schema.sql``             CREATE TABLE; of a view, a placeholder
``db.table-schema-view.sql``        CREATE VIEW
``db.table.sql``                    rows; with chunks ``db.table.00000.sql``
==================================  ==========================================

All may be compressed. ``metadata`` is written as ``metadata.partial``, and renamed at the end.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from binlog_kaitai.errors import SourceError, TruncatedError
from binlog_kaitai.snapshot.dump_loading import Loading
from binlog_kaitai.snapshot.dump_script import Kind, Script
from binlog_kaitai.snapshot.snapshot_files import SnapshotFiles
from binlog_kaitai.sources.packed import SUFFIXES, open_file
from binlog_kaitai.sources.source import natural_key

_METADATA, _PARTIAL = "metadata", "metadata.partial"

_SCRIPT = re.compile(rf"(?P<name>.+?)\.sql(?:{'|'.join(map(re.escape, SUFFIXES))})?")
_CREATE, _TABLE, _VIEW = "-schema-create", "-schema", "-schema-view"
_OTHERS = ("-schema-triggers", "-schema-post", "-schema-sequence", "-schema-tablespace", "-schema-indexes")

_DATABASE = re.compile(rb"CREATE\s+DATABASE\s.*?`((?:[^`]|``)+)`", re.IGNORECASE | re.DOTALL)

#: The sections with the position of the server itself; others are about the server that it replicates.
_SECTION = re.compile(r"\[(.*)\]\s*|SHOW (MASTER|SLAVE|REPLICA) STATUS:\s*")
_OWN = ("master", "source")
_ENTRY = re.compile(r"[#\s]*(\w+)\s*[:=]\s*(.*?)\s*")
_FILES, _POSITIONS = ("log", "file", "source_log_file"), ("pos", "position", "source_log_pos")
_MARIADB_GTID = re.compile(r"\d+-\d+-\d+\s*(?:,|$)")

_HOW = "take it with a version of mydumper that writes the position; since 0.19 with --source-data"


class Mydumper:
    """A directory.

    Parameters
    ----------
    loading, files
        Where to load it.
    """

    def __init__(self, folder: Path, loading: Loading, files: SnapshotFiles) -> None:
        self._folder = folder
        self._loading = loading
        self._files = files
        self._rows: dict[str, int] = {}

    def read(self) -> None:
        """Load all of it.

        Raises
        ------
        BinlogError
            It cannot be read, is incomplete, or was taken in a way that a snapshot cannot be made of.
        """
        self._read_metadata()
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
        if definitions and not with_rows and not self._rows:
            raise SourceError("has no rows of any table; dump without --no-data", file=str(self._folder))
        for name, path in with_rows.items():
            self._run(path, databases, name)
        self._check_rows()

    # -- metadata

    def _read_metadata(self) -> None:
        path = self._folder / _METADATA
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError as error:
            raise self._not_mydumper() from error
        own: dict[str, str] = {}
        section, is_own, is_finished = "", False, False
        for line in text.splitlines():
            if (found := _SECTION.fullmatch(line.strip())) is not None:
                section = found[1] or ""
                is_own = (found[2] == "MASTER") if found[1] is None else section.lower() in _OWN
            elif line.lstrip("# ").startswith("Finished dump at"):
                is_finished = True
            elif (entry := _ENTRY.fullmatch(line)) is not None:
                if is_own:
                    own.setdefault(entry[1].lower(), entry[2].strip("\"'"))
                elif entry[1].lower() == "rows" and entry[2].isdigit():
                    self._rows[section.replace("`", "")] = int(entry[2])
        if not is_finished:
            reason = "has no line 'Finished dump at'; mydumper did not complete the dump"
            raise TruncatedError(reason, file=str(path))
        log, position = (
            next((own[one] for one in names if own.get(one)), "") for names in (_FILES, _POSITIONS)
        )
        if not log or not position.isdigit():
            raise SourceError(f"has no position of the server's log; {_HOW}", file=str(path))
        self._files.log, self._files.position = log, int(position)
        gtids = own.get("gtid", "") + own.get("executed_gtid_set", "")
        self._loading.is_mariadb = _MARIADB_GTID.match(gtids) is not None
        self._loading.gtids = "" if self._loading.is_mariadb else own.get("executed_gtid_set", "")

    def _not_mydumper(self) -> SourceError:
        names = set(os.listdir(self._folder))
        what = "is not a directory of mydumper: it has no file metadata"
        if _PARTIAL in names:
            what = "is incomplete: mydumper leaves metadata.partial until it has finished"
        elif "@.json" in names:
            what = "is a dump of MySQL Shell, which is not supported; use mysqldump or mydumper"
        elif any(name.endswith(".txt") for name in names):
            what = "is a dump of mysqldump --tab, which is not supported; dump without --tab"
        elif names & {"xtrabackup_info", "mariadb_backup_info", "backup-my.cnf"}:
            what = "is a physical backup, which is not supported; use mysqldump or mydumper"
        return SourceError(what, file=str(self._folder))

    def _check_rows(self) -> None:
        """Compare the number of rows with those that newer versions note for each table.

        Empty tables have no file with rows.
        """
        for (schema_name, table_name), table in self._loading.tables.items():
            table.has_data = True
            noted = self._rows.get(f"{schema_name}.{table_name}", table.rows)
            if noted != table.rows:
                reason = (
                    f"{table.schema.full_name} had {noted} rows, but its files have {table.rows}: files are "
                )
                raise SourceError(reason + "missing; copy the dump again", file=str(self._folder))

    # -- scripts

    def _scripts(self) -> Iterator[tuple[str, Path]]:
        """The scripts by their names without extensions."""
        for name in sorted(os.listdir(self._folder), key=natural_key):
            if name.endswith((".dat", ".csv")):
                reason = "LOAD DATA is not supported; run mydumper without --load-data and --csv"
                raise SourceError(reason, file=str(self._folder / name))
            if (found := _SCRIPT.fullmatch(name)) is not None:
                yield found["name"], self._folder / name

    def _databases(self, scripts: dict[str, Path]) -> dict[str, str]:
        """The databases by their names in files, which differ where a file's name cannot have a character."""
        databases = {}
        for name, path in scripts.items():
            if name.endswith(_CREATE):
                with open_file(str(path)) as stream:
                    texts = [one.text for one in Script(stream, str(path)) if one.kind is Kind.STATEMENT]
                for text in texts:
                    if (found := _DATABASE.match(text)) is not None:
                        databases[name.removesuffix(_CREATE)] = found[1].replace(b"``", b"`").decode()
        return databases

    def _run(self, path: Path, databases: dict[str, str], name: str) -> None:
        known = [one for one in databases if name.startswith(f"{one}.")]
        self._loading.database = databases[max(known, key=len)] if known else name.partition(".")[0]
        with open_file(str(path)) as stream:
            self._loading.run(Script(stream, str(path)))
