"""Reads a dump into a snapshot."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.table_set import TableSet
from binlog_kaitai.errors import SourceError, reading
from binlog_kaitai.following.log_headers import LogHeader
from binlog_kaitai.lake.rules import NO_RULES, Rules
from binlog_kaitai.snapshot.dump_loading import Loading
from binlog_kaitai.snapshot.dump_progress import DumpProgress
from binlog_kaitai.snapshot.mydumper import Mydumper
from binlog_kaitai.snapshot.mysqldump import Mysqldump
from binlog_kaitai.snapshot.snapshot_files import Snapshot, SnapshotFiles, completed
from binlog_kaitai.snapshot.snapshot_rules import SnapshotRules


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

    Parameters
    ----------
    path
        A script of mysqldump or mariadb-dump, possibly compressed, or a directory of mydumper.
    tables
        Only these; all if empty.
    rules
        What is left out, masked and renamed, before anything is written.
    header_of
        Returns the start of the log with the given name. A dump does not say when it was taken in UTC, nor
        from which server, so its rows have the time at which that log began, and its server.
    report
        Called every few seconds with a line on how much of the dump has been read.

    Raises
    ------
    BinlogError
        The dump cannot be read, is incomplete, or has no position. Nothing in the folder counts.
    UsageError
        The rules do not fit a table, or the complete snapshot was taken with other ones.
    """
    return completed(
        folder, rules, lambda: _read(path, folder, tables, kind, zero_dates, rules, header_of, report)
    )


def _read(
    path: Path,
    folder: Path,
    tables: TableSet,
    kind: str,
    zero_dates: str,
    rules: Rules,
    header_of: Callable[[str], LogHeader | None],
    report: Callable[[str], object],
) -> Snapshot:
    files = SnapshotFiles(folder, kind, SnapshotRules(rules))
    files.time = datetime.fromtimestamp(0, UTC)

    def identify() -> None:
        if (header := header_of(files.log)) is not None:
            files.time, files.server_id = datetime.fromtimestamp(header.begun, UTC), header.server_id
            _check_server(header, loading.gtids, files.log)

    try:
        with reading(str(path)):
            loading = Loading(tables, files, zero_dates, identify, DumpProgress(path, report))
            (Mydumper if path.is_dir() else Mysqldump)(path, loading, files).read()
            ddl = loading.end()
    finally:
        files.close()
    return files.snapshot(ddl)


def _check_server(header: LogHeader, gtids: str, log: str) -> None:
    """Reject a log of another server: what its earlier logs have was executed before the dump."""
    if header.previous and gtids and (missing := header.previous.without(GtidSet.parse(gtids))):
        reason = (
            f"the dump is of another server than {log}, or of other logs with this name: it does not have "
        )
        raise SourceError(f"{reason}the transactions {missing}, which are in earlier logs")
