"""Metrics for operators: files in Prometheus' text format, for node_exporter's textfile collector."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from binlog_kaitai.core.extras import pip_install
from binlog_kaitai.errors import UsageError
from binlog_kaitai.sources.disk import replace_file

if TYPE_CHECKING:
    from prometheus_client import Metric

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

#: By metric; of some, by table.
Values = Mapping[str, float | Mapping[str, float]]


class MetricsFile:
    """A file of metrics.

    Raises `UsageError`: the package `prometheus_client` is missing.

    `prefix`: what their names begin with in the file.
    `metrics`: the kind (gauge or counter) and the meaning of each metric.
    """

    def __init__(self, path: Path, prefix: str, metrics: Mapping[str, tuple[str, str]]) -> None:
        try:
            from prometheus_client import core, generate_latest
        except ImportError as error:
            raise UsageError(f"metrics need prometheus_client: {pip_install('live')}") from error
        self._path, self._prefix, self._metrics = path, prefix, metrics
        self._families = {"counter": core.CounterMetricFamily, "gauge": core.GaugeMetricFamily}
        self._text_of = generate_latest
        self._values: dict[str, Values] = {}

    def values(self, source: str = "") -> Values:
        """The values of a source in the file."""
        return self._values.get(source, {})

    def write(self, values: Values, source: str = "") -> None:
        """Replace the file.

        `values`: by metric; of some, by table.
        `source`: the name of the source that has them, if there are several.
        """
        self._values[source] = values
        replace_file(self._path, self._text_of(self).decode(), 0o644)  # other programs read it

    def collect(self) -> Iterator[Metric]:
        """The metrics, for `prometheus_client`."""
        for name, (kind, meaning) in self._metrics.items():
            labels = ["table"] if "" in self._values else ["source", "table"]
            family = self._families[kind](self._prefix + name, meaning, labels=labels)
            for source, values in self._values.items():
                value = values.get(name, {})
                for table, number in value.items() if isinstance(value, Mapping) else [("", value)]:
                    family.add_metric([text for text in (source, table) if text], number)
            yield family


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
