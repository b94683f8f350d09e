"""The additional options of a stream."""

from __future__ import annotations

from collections.abc import Mapping

from binlog_kaitai.core.filters import at_least_one
from binlog_kaitai.errors import UsageError
from binlog_kaitai.following.walk import FAR
from binlog_kaitai.pipeline.followed_logs import MAX_BYTES, Following, parse_starting, spooled
from binlog_kaitai.spark.reader_options import ReadOptions, parse_bool

_OPTIONS = ("maxBytesPerTrigger", "maxFilesPerTrigger", "startingOffsets", "failOnDataLoss", "spool")
_BY_LOWER = {name.lower(): name for name in _OPTIONS}


def parse_stream(raw: Mapping[str, str]) -> tuple[ReadOptions, Following]:
    """Parse Spark's options, whose names may have any case, into those of a batch and those of a stream.

    Raises `UsageError`: an option is unknown or invalid.
    """
    texts = {_BY_LOWER[name.lower()]: text for name, text in raw.items() if name.lower() in _BY_LOWER}
    read = ReadOptions.parse(without_stream_options(raw))
    if read.ending is not None or {"start_position", "stop_position"} & set(read.filters):
        reason = "has no endingOffsets, startPosition or stopPosition"
        raise UsageError(f"a stream starts at startingOffsets, and {reason}")
    if read.where is not None:
        raise UsageError("a stream has no option where")
    files = texts.get("maxFilesPerTrigger")
    paths, server = spooled(read.paths, texts.get("spool"))
    return read, Following(
        paths,
        at_least_one("maxBytesPerTrigger", texts.get("maxBytesPerTrigger", str(MAX_BYTES))),
        None if files is None else at_least_one("maxFilesPerTrigger", files),
        parse_starting("startingOffsets", texts.get("startingOffsets", "earliest")),
        parse_bool("failOnDataLoss", texts.get("failOnDataLoss", "true")),
        read.ddl,
        read.split_size or FAR,
        mode=read.mode,
        server=server,
    )


def without_stream_options(raw: Mapping[str, str]) -> dict[str, str]:
    """The options without those that only a stream has."""
    return {name: text for name, text in raw.items() if name.lower() not in _BY_LOWER}
