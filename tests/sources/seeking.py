"""Streams of a log's bytes are read at any offset, like files."""

from __future__ import annotations

import random

from binlog_kaitai.sources.source import Source


def assert_any_part_can_be_read(source: Source, data: bytes, longest: int = 3000) -> None:
    """A source has these bytes; parts of up to `longest` bytes are read one after the other."""
    chance = random.Random(4)
    with source.open() as stream:
        assert stream.read() == data
        for _ in range(30):
            start, size = chance.randrange(len(data)), chance.randrange(longest)
            assert stream.seek(start) == start
            assert stream.read(size) == data[start : start + size]
        assert stream.seek(0, 2) == len(data)
        assert stream.read() == b""
