"""Metrics for operators: a file in Prometheus' text format, for node_exporter's textfile collector."""

from __future__ import annotations

import time
from collections.abc import Mapping
from math import isnan
from pathlib import Path

from binlog_kaitai.sources.disk import replace_file

#: Minimum interval between two versions of the file, in seconds.
_SECONDS = 1.0

_PREFIX = "binlog_kaitai_fetch_"
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
    """The metrics file and its values; without a path, nothing is written.

    Attributes
    ----------
    values : dict
        By metric name.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._written_at = 0.0
        self.values: dict[str, float] = dict.fromkeys(_METRICS, 0)

    def write(self, *, at_once: bool = False) -> None:
        """Write the file, unless it has just been written.

        Raises
        ------
        SourceError
            It cannot be written.
        """
        if self._path is None or not (at_once or time.monotonic() - self._written_at >= _SECONDS):
            return
        self.values["lag_seconds"] = self.lag()
        replace_file(self._path, self.text())
        self._written_at = time.monotonic()

    def lag(self) -> float:
        """Age of the newest event, in seconds."""
        event = self.values["last_event_timestamp_seconds"]
        return max(0.0, time.time() - event) if event and not self.values["caught_up"] else 0.0

    def text(self) -> str:
        """The content of the file."""
        return prometheus_text(_PREFIX, _METRICS, {name: {"": value} for name, value in self.values.items()})


def prometheus_text(
    prefix: str,
    metrics: Mapping[str, tuple[str, str]],
    values: Mapping[str, Mapping[str, float]],
    label: str = "",
) -> str:
    """Metrics in Prometheus' text format.

    Parameters
    ----------
    metrics
        Kind and meaning of each metric.
    values
        For each metric, its values by the value of the label; a metric without a label has one, for ``""``.
    label
        The name of the label.
    """
    lines = []
    for name, (kind, meaning) in metrics.items():
        lines += [f"# HELP {prefix}{name} {meaning}", f"# TYPE {prefix}{name} {kind}"]
        for of, value in values.get(name, {}).items():
            text = "NaN" if isnan(value) else format(value, ".15g")
            lines.append(f"{prefix}{name}{_labelled(label, of)} {text}")
    return "\n".join(lines) + "\n"


def _labelled(label: str, value: str) -> str:
    if not value:
        return ""
    escaped = value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return f'{{{label}="{escaped}"}}'
