"""Metrics for operators: files in Prometheus' text format, for node_exporter's textfile collector."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from binlog_kaitai.core.extras import pip_install
from binlog_kaitai.errors import UsageError
from binlog_kaitai.sources.disk import replace_file

if TYPE_CHECKING:
    from prometheus_client import Metric

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
