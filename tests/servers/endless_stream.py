"""A query that streams from a server, in the order in which Spark calls a source, until it is killed.

python -m tests.servers.endless_stream URL SPOOL CHECKPOINT

An offset is noted before its batch is read, and the rows of a batch before the next one begins. Nothing of
this needs Java, so that a query starts in a second.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from pyspark.sql.streaming.datasource import ReadMaxBytes

from binlog_kaitai.spark.data_source import BinlogDataSource
from binlog_kaitai.spark.stream import BinlogStreamReader


class Query:
    """The files of a checkpoint: `offset-N`, where batch N ends, and `batch-N`, its rows."""

    def __init__(self, url: str, spool: str, checkpoint: Path, **options: str) -> None:
        given = {"path": url, "spool": spool, "view": "transactions", "maxBytesPerTrigger": "20k", **options}
        source = BinlogDataSource(given)
        reader = source.streamReader(source.schema())
        assert isinstance(reader, BinlogStreamReader)
        self.reader = reader
        self._folder = checkpoint
        checkpoint.mkdir(exist_ok=True)

    def run(self, pause: float | None = 0.05) -> None:
        """Make batches for ever; without a pause, of what the server has now."""
        if pause is None:
            self.reader.prepareForTriggerAvailableNow()
        number = self._newest("batch") + 1
        begin = self._offset(number - 1) or self.reader.initialOffset()
        if (end := self._offset(number)) is not None:
            self._make(number, begin, end)
            begin, number = end, number + 1
        while True:
            end = self.reader.latestOffset(begin, ReadMaxBytes(20 << 10))
            if end != begin:
                self._write(f"offset-{number}", end)
                self.reader.commit(begin)
                self._make(number, begin, end)
                begin, number = end, number + 1
            elif pause is None:
                self.reader.stop()
                return
            else:
                time.sleep(pause)

    def rows(self) -> list[tuple[str, int]]:
        """Log and position of each transaction that was read."""
        batches = sorted(self._folder.glob("batch-*"))
        return [(name, position) for path in batches for name, position in json.loads(path.read_text())]

    def _make(self, number: int, begin: dict[str, Any], end: dict[str, Any]) -> None:
        rows = []
        for partition in self.reader.partitions(begin, end):
            for batch in self.reader.read(partition):
                rows += batch.select(["file", "position"]).to_pylist()
        self._write(f"batch-{number}", [(os.path.basename(row["file"]), row["position"]) for row in rows])

    def _write(self, name: str, content: Any) -> None:
        draft = self._folder / f".{name}"
        draft.write_text(json.dumps(content))
        draft.rename(self._folder / name)

    def _offset(self, number: int) -> dict[str, Any] | None:
        path = self._folder / f"offset-{number}"
        found: dict[str, Any] | None = json.loads(path.read_text()) if path.exists() else None
        return found

    def _newest(self, kind: str) -> int:
        return max((int(path.name.rpartition("-")[2]) for path in self._folder.glob(f"{kind}-*")), default=-1)


if __name__ == "__main__":
    Query(sys.argv[1], sys.argv[2], Path(sys.argv[3])).run()
