"""The metrics of a fetch."""

from __future__ import annotations

import time
from pathlib import Path

from binlog_kaitai.following.metrics_file import MetricsFile

#: Minimum interval between two versions of the file, in seconds.
_SECONDS = 1.0

_METRICS = {
    "connected": ("gauge", "1 while a dump is open, else 0."),
    "caught_up": ("gauge", "1 while the server has nothing more to send, else 0."),
    "reconnects_total": ("counter", "Connections that were lost, or could not be made."),
    "bytes_total": ("counter", "Bytes of logs written since the start."),
    "log_number": ("gauge", "Number of the newest log in the archive."),
    "position_bytes": ("gauge", "Offset in it up to which all is on disk."),
    "last_event_timestamp_seconds": ("gauge", "Server's time of the newest event, in seconds since 1970."),
    "lag_seconds": ("gauge", "Age of the newest event; 0 when caught up."),
    "bytes_behind": ("gauge", "Bytes of logs that the server has and the archive lacks."),
    "gtids_behind": ("gauge", "Transactions with GTIDs that the server has and the archive lacks."),
    "unstored_logs": ("gauge", "Closed logs that are not in the object store yet."),
    "store_failures_total": ("counter", "Failed attempts to put a log into the object store."),
    "last_contact_timestamp_seconds": (
        "gauge",
        "When the server last sent something, in seconds since 1970.",
    ),
}


class Metrics:
    """The metrics of a fetch; without a path, they are not written."""

    def __init__(self, path: Path | None) -> None:
        self._file = None if path is None else MetricsFile(path, "binlog_kaitai_fetch_", _METRICS)
        self._written_at = 0.0
        self.values: dict[str, float] = dict.fromkeys(_METRICS, 0)

    def write(self, *, at_once: bool = False) -> None:
        """Write the file, unless it has just been written."""
        if self._file is not None and (at_once or time.monotonic() - self._written_at >= _SECONDS):
            self.values["lag_seconds"] = self.lag()
            self._file.write(self.values)
            self._written_at = time.monotonic()

    def lag(self) -> float:
        """Age of the newest event, in seconds."""
        event = self.values["last_event_timestamp_seconds"]
        return max(0.0, time.time() - event) if event and not self.values["caught_up"] else 0.0
