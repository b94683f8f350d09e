"""Scripts of mysqldump and mariadb-dump.

Their header has the position, with ``--source-data`` (``--master-data``), which also locks all tables unless
``--single-transaction`` reads them in one transaction. Without it nothing in the script says whether its
tables belong to one moment. The last line shows that a script is complete.
"""

from __future__ import annotations

import io
import os
import re
from pathlib import Path
from typing import BinaryIO

from binlog_kaitai.core.framing import read_up_to
from binlog_kaitai.errors import SourceError, TruncatedError
from binlog_kaitai.snapshot.dump_loading import Loading
from binlog_kaitai.snapshot.dump_script import Script
from binlog_kaitai.snapshot.snapshot_files import SnapshotFiles
from binlog_kaitai.sources.packed import PackedStream, open_file

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

_HOW = (
    "take it with --source-data=2 (mysqldump before 8.0.26 and mariadb-dump: --master-data=2), and with "
    "--single-transaction if all tables are of InnoDB"
)


class Mysqldump:
    """A script.

    Parameters
    ----------
    loading, files
        Where to load it.
    """

    def __init__(self, path: Path, loading: Loading, files: SnapshotFiles) -> None:
        self._path = path
        self._loading = loading
        self._files = files
        self._has_gtids = self._is_completed = False
        loading.on_comment = self._comment
        loading.on_statement = self._statement
        loading.check_position = self._check_position

    def read(self) -> None:
        """Load all of it.

        Raises
        ------
        BinlogError
            It cannot be read, is incomplete, or was taken in a way that a snapshot cannot be made of.
        """
        with open_file(str(self._path)) as stream:
            self._check_kind(read_up_to(stream, _HEADER))
        self._check_end()
        with open_file(str(self._path)) as stream:
            script = Script(stream, str(self._path))
            self._loading.run(script)
            self._check_position(script)
            if not self._is_completed:
                raise self._incomplete(script.position)

    def _check_kind(self, start: bytes) -> None:
        if (tool := _TOOL.search(start)) is not None:
            self._loading.is_mariadb = tool[1] == b"MariaDB" or b"-MariaDB" in tool[0]
            return
        reason = "is not a dump of mysqldump or mariadb-dump: the comment at its start that names the tool "
        reason += "is missing; dump without --compact and --skip-comments"
        if start.lstrip().startswith(b"<?xml"):
            reason = "is XML (--xml), which is not supported; dump as SQL"
        elif _PUMP in start:
            reason = "is a dump of mysqlpump, which has no position of the log; use mysqldump --source-data=2"
        raise SourceError(reason, file=str(self._path))

    def _check_end(self) -> None:
        """Find out early that the script is truncated, if it is not compressed."""
        with open_file(str(self._path)) as stream:
            if not isinstance(stream, PackedStream) and not _ends(stream):
                raise self._incomplete(os.path.getsize(self._path))

    def _incomplete(self, position: int) -> TruncatedError:
        reason = f"does not end with {_COMPLETED!r}: it is truncated, or was taken with --compact or "
        reason += "--skip-comments; take it again"
        return TruncatedError(reason, file=str(self._path), position=position)

    def _comment(self, script: Script, text: str) -> None:
        if (found := _DATABASE.match(text)) is not None and not self._loading.database:
            self._loading.database = found[1]
        elif _SERVER.match(text) is not None:
            self._loading.is_mariadb = True
        elif (where := _WHERE.match(text)) is not None:
            raise script.error(f"the dump has only some rows (--where {where[1].strip()}); dump all rows")
        elif text.startswith(_COMPLETED):
            self._is_completed = True
        self._statement(script, text)

    def _statement(self, script: Script, text: str) -> None:
        if _HISTORY.search(text) is not None:
            raise script.error("the dump has the history of tables (--dump-history); dump without it")
        if (gtids := _GTIDS.match(text)) is not None:
            self._has_gtids = True
            self._loading.gtids = gtids[2] if gtids[1].upper() == "GTID_PURGED" else ""
        if (found := _POSITION.match(text)) is None:
            return
        place = found[1], int(found[2])
        if self._files.log and place != (self._files.log, self._files.position):
            reason = "the dump has two positions (of a replica and of its sources); "
            raise script.error(reason + "take it with --source-data or --master-data alone")
        self._files.log, self._files.position = place

    def _check_position(self, script: Script) -> None:
        if not self._files.log:
            gtids = "GTIDs, but not the position of its rows in the log" if self._has_gtids else "no position"
            raise script.error(f"the dump has {gtids}; {_HOW}")


def _ends(stream: BinaryIO) -> bool:
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(size - _HEADER, 0))
    return _COMPLETED.encode() in stream.read()
