"""Sources: everything that yields the bytes of a log, such as files, streams and object stores.

Running servers are sources, too, by the scheme of their URL. The table of schemes is filled where the
package's parts are put together (`binlog_kaitai/__init__.py`), since what reads servers uses this layer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class Servers(NamedTuple):
    """What reads the servers of a URL scheme.

    `logs`: URL → the logs that the server has, oldest first, each a `Source`.
    `definitions`: URL → the current CREATE TABLE of the server's tables.
    `feed`: URL, where to begin, and whether only to read what there is now → a `Feed` to follow.
    """

    logs: Callable[[str], Sequence[object]]
    definitions: Callable[[str], str]
    feed: Callable[[str, str | Mapping[str, object], bool], object]


_BY_SCHEME: dict[str, Servers] = {}


def register(schemes: tuple[str, ...], servers: Servers) -> None:
    """Have URLs that begin with one of the schemes, such as `mysql`, read as servers."""
    _BY_SCHEME.update(dict.fromkeys(schemes, servers))


def is_server(path: str) -> bool:
    """Whether a source is the URL of a running server."""
    return _scheme(path) in _BY_SCHEME


def servers_of(url: str) -> Servers:
    """What reads the server of a URL; KeyError if it is not one."""
    return _BY_SCHEME[_scheme(url)]


def _scheme(path: str) -> str:
    scheme, separator, _ = path.partition("://")
    return scheme.lower() if separator else ""
