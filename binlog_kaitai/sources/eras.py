"""Directories of an archive that `fetch` continued at another server: `archive/era-1`, `archive/era-2` …

The archive itself is the first era, number 0. It may be the URL of a folder in an object store.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.errors import SourceError, UsageError, reading
from binlog_kaitai.sources import remote
from binlog_kaitai.sources.disk import content_of

#: The file with the state of an archive, which each era has from its beginning on; and the file's version.
STATE, VERSION = "fetch.json", 1

#: A store that seems to have more eras has any file that is asked for.
_MOST_ERAS = 1000

_ERA = re.compile(r"era-(?a:(\d{1,9}))")


def folder_of(archive: str, number: int) -> str:
    """The directory of an era, from 1 on."""
    return joined(archive, f"era-{number}")


def folders(archive: str) -> list[str]:
    """The directories of the later eras, oldest first.

    Raises `SourceError`: the store that has them cannot be reached, or invents them.
    """
    eras: list[str] = []
    while _exists(joined(era := folder_of(archive, len(eras) + 1), STATE)):
        eras.append(era)
        if len(eras) > _MOST_ERAS:
            raise SourceError(f"has more than {_MOST_ERAS} eras", file=remote.without_options(archive))
    return eras


def read_state(folder: str) -> dict[str, Any] | None:
    """The state of an archive or era, as JSON; None if there is none.

    Raises `SourceError`: the file cannot be read.
    """
    path = joined(folder, STATE)
    name, read = path, partial(content_of, path)
    if remote.is_url(path):
        name, read = remote.without_options(path), partial(remote.read_whole, path)
    with reading(name), suppress(FileNotFoundError), reading_state(folder):
        state: dict[str, Any] = json.loads(read())
        if state["version"] != VERSION:
            raise ValueError(f"version {state['version']}")
        return state
    return None


@contextmanager
def reading_state(folder: str) -> Iterator[None]:
    """Raise `SourceError` for a state with invalid content."""
    try:
        yield
    except (ValueError, KeyError, TypeError, UsageError) as error:
        raise SourceError(f"not the state of an archive: {error}", file=joined(folder, STATE)) from error


def read_before(era: str) -> GtidSet:
    """The transactions that an archive had when an era began.

    Raises `SourceError`: the era's state cannot be read.
    """
    with reading_state(era):
        return GtidSet.parse((read_state(era) or {}).get("read_before", ""))


def joined(folder: str, name: str) -> str:
    """The path or URL of a file in a folder."""
    return remote.join(folder, name) if remote.is_url(folder) else os.path.join(folder, name)


def _exists(path: str) -> bool:
    if not remote.is_url(path):
        return os.path.exists(path)
    with reading(remote.without_options(path)):
        return bool(remote.existing([path]))


def number_of(path: str) -> int:
    """The number of the era that a log belongs to; 0 outside of archives, too."""
    if remote.is_url(path):
        path = remote.without_options(path)
    era = _ERA.fullmatch(os.path.basename(os.path.dirname(os.path.normpath(path))))
    return int(era[1]) if era else 0


def log_of(path: str) -> str:
    """A log's path in the directory of its archive."""
    era, name = number_of(path), os.path.basename(path)
    return os.path.join(folder_of("", era), name) if era else name
