"""The function that programs, and the command line, call."""

from __future__ import annotations

from pathlib import Path

from binlog_kaitai.errors import UsageError
from binlog_kaitai.live.address import Address
from binlog_kaitai.live.fetching import Fetch, Report
from binlog_kaitai.live.starts import EARLIEST
from binlog_kaitai.sources.remote import is_url


def fetch(
    url: str,
    to: str | Path,
    *,
    start: str = EARLIEST,
    follow: bool = False,
    semi_sync: bool = False,
    server_id: int | None = None,
    heartbeat: float = 10.0,
    defaults_file: str | None = None,
    metrics_file: Path | None = None,
    measure: bool = False,
    compress: str | None = None,
    store: str | None = None,
    keep_local: int | None = None,
    report: Report = lambda what, facts: None,
) -> None:
    """Copy the binary logs of a running server into a directory, or update an earlier copy.

    Parameters
    ----------
    url
        See `Address.parse`.
    to
        The archive's directory.
    start, follow, semi_sync, server_id, heartbeat, metrics_file, report
        See `Fetch`.
    defaults_file
        The only option file to read.
    measure
        Report progress, with what the server has and the archive lacks; a metrics file always has that.
    compress
        ``"zstd"``: compress logs that the server has closed; readers find them by the index as before.
    store
        The URL of a folder in an object store, into which closed logs are copied.
    keep_local
        How many of the stored logs stay in the directory; None for all.

    Raises
    ------
    ServerError, SourceError, UsageError
        As `Fetch.run` does.
    """
    if compress not in (None, "zstd"):
        raise UsageError(f"compress must be zstd, not {compress!r}")
    if store is not None and not is_url(store):
        raise UsageError(f"the store must be a URL, such as s3://bucket/folder, not {store!r}")
    if keep_local is not None and (store is None or keep_local < 0):
        raise UsageError("keep_local requires a store, and a number from 0 on")
    addresses = Address.parse(url, defaults_file=defaults_file)
    Fetch(
        addresses,
        Path(to),
        start=start,
        follows=follow,
        semi_sync=semi_sync,
        server_id=server_id,
        heartbeat=heartbeat,
        metrics_file=metrics_file,
        measures=measure or metrics_file is not None,
        compresses=compress is not None,
        store=store,
        keep_local=keep_local,
        report=report,
    ).run()
