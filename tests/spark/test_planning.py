"""What the driver reads before any task runs: names, sizes, and a little of the newest log."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from binlog_kaitai.sources.source import Source
from binlog_kaitai.spark.batch import BinlogReader
from binlog_kaitai.spark.data_source import BinlogDataSource
from tests.corpus_files import case
from tests.extent import rounds
from tests.log_maker import LogMaker, events_of

#: Several times what the driver may read.
SIZE = rounds(24, 6) << 20


class Counting(io.FileIO):
    """A file that counts the bytes read from it."""

    total = 0

    def readinto(self, room: Any) -> int:
        count = super().readinto(room) or 0
        Counting.total += count
        return count

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(-1 if size is None else size) or b""
        Counting.total += len(data)
        return data


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> type[Counting]:
    def of_path(path: str, keys: object = None) -> Source:
        def opened() -> BinaryIO:
            return io.BufferedReader(Counting(path), 8192)  # the default depends on Python

        return Source(path, opened, path)

    Counting.total = 0
    monkeypatch.setattr(Source, "of_path", staticmethod(of_path))
    return Counting


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A log of some size whose tables are named by the log."""
    layout, (head, *transactions) = events_of(case("mysql-9.7", "metadata").logs[0])
    log = LogMaker(layout)
    log.add_all(head)
    once = [raw for transaction in transactions for raw in transaction]
    while len(log.data) < SIZE:
        log.add_all(once)
    return log.write(tmp_path / "binlog.000001")


def test_the_driver_reads_less_than_two_megabytes(large: Path, counted: type[Counting]) -> None:
    import binlog_kaitai as bk

    first = next(iter(bk.read_changes(str(large), stop_position=1 << 20))).to_pylist()[0]
    table = f"{first['schema']}.{first['table']}"
    counted.total = 0
    source = BinlogDataSource({"path": str(large), "table": table, "splitSize": "1m"})
    schema = source.schema()
    assert 0 < counted.total < 2_000_000
    read = counted.total
    reader = source.reader(schema)
    assert isinstance(reader, BinlogReader)
    assert len(reader.partitions()) == round(large.stat().st_size / (1 << 20))
    assert counted.total == read
