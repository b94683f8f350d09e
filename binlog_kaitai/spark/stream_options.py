"""The additional options of a stream."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from binlog_kaitai.core.filters import at_least_one
from binlog_kaitai.errors import UsageError
from binlog_kaitai.following.follower import SPLIT_SIZE
from binlog_kaitai.following.walk import FAR
from binlog_kaitai.lake.place import Offset
from binlog_kaitai.sources import is_server
from binlog_kaitai.spark.reader_options import ReadOptions, parse_bool

_OPTIONS = ("maxBytesPerTrigger", "maxFilesPerTrigger", "startingOffsets", "failOnDataLoss", "spool")
_BY_LOWER = {name.lower(): name for name in _OPTIONS}


#: The field of an offset with the name of its query in the spool of a server.
READER = "reader"

#: Default size of a batch, in bytes, so that finding its end does not take long.
MAX_BYTES = 1 << 30


@dataclass(frozen=True)
class Following:
    """Which logs to follow, and how.

    `max_bytes`: maximum size of a batch; it has at least one transaction.
    `max_files`: maximum number of logs in a batch.
    `starting`: ``"earliest"``, ``"latest"``, or a position as for `Follower.place`.
    `fails_on_data_loss`: End the query if logs were removed before they were read.
    `ddl`: initial table definitions.
    `split_size`: approximate bytes per task.
    `at_once`: number of tasks that run at a time.
    `mode`: one of `binlog_kaitai.spark.reader_options.MODES`.
    `server`: the URL of a running server; `paths` is then the directory of its spool.
    """

    paths: tuple[str, ...]
    max_bytes: int = MAX_BYTES
    max_files: int | None = None
    starting: str | Offset = "earliest"
    fails_on_data_loss: bool = True
    ddl: str | None = None
    split_size: int = SPLIT_SIZE
    at_once: int = 1
    mode: str = "FAILFAST"
    server: str | None = None


def parse_stream(given: Mapping[str, str]) -> tuple[ReadOptions, Following]:
    """Parse Spark's options, whose names may have any case, into those of a batch and those of a stream.

    Raises `UsageError`: an option is unknown or invalid.
    """
    texts = {_BY_LOWER[name.lower()]: text for name, text in given.items() if name.lower() in _BY_LOWER}
    read = ReadOptions.parse(without_stream_options(given))
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


def spooled(paths: tuple[str, ...], spool: str | None) -> tuple[tuple[str, ...], str | None]:
    """The paths to follow; for a server, its spool and its URL.

    Raises `UsageError`: a server is not the only source, or its URL is invalid; or a spool is given without a
    server.
    """
    servers = [path for path in paths if is_server(path)]
    if not servers:
        if spool is not None:
            raise UsageError("a spool is for a server: mysql://USER@HOST/")
        return paths, None
    if len(paths) > 1:
        raise UsageError("a server cannot be followed together with other sources; start a query for each")
    from binlog_kaitai.live.log_spool import default_folder

    folder = default_folder(servers[0]) if spool is None else Path(spool)
    return (str(folder.absolute()),), servers[0]


def without_stream_options(given: Mapping[str, str]) -> dict[str, str]:
    """The options without those that only a stream has."""
    return {name: text for name, text in given.items() if name.lower() not in _BY_LOWER}


def parse_starting(name: str, text: str) -> str | Offset:
    """``earliest``, ``latest``, or a position as JSON.

    Raises `UsageError`: it is none of them.
    """
    if text.lower() in ("earliest", "latest"):
        return text.lower()
    try:
        place = json.loads(text)
    except ValueError:
        place = None
    if not isinstance(place, dict):
        example = '{"file": "binlog.000007", "position": 4}'
        raise UsageError(f"option {name}: {text!r} is not earliest, latest, or JSON like {example}")
    return place
