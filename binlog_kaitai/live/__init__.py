"""Running servers: archives of their binary logs, fetched like a replica and identical byte for byte.

==============  ==================================================================
address         `mysql://…` URLs, option files and the environment: how to connect
causes          what a server's refusal means, and whether another try may help
connection      a connection of PyMySQL: safe logins, and limits on what a server may send
packets         the stream of packets → the bytes of one log after another
server_session  queries to a server, the messages of a replica, and the logs that it sends
server_tables   the tables of a server, and their definitions
archive         the directory: its logs, index and state
archive_eras    where an archive begins, and how it continues at another server
closed_logs     closed logs, compressed and stored in the background
metrics         those of a fetch, for Prometheus
server_logs     a server's logs as streams, for whatever reads logs; logs that end within an event
fetching        archive and server together: resume, reconnect, follow; what the archive still lacks
fetch_command   `binlog-kaitai fetch`
log_spool       an archive that queries share, and whose logs go once they have been read
==============  ==================================================================

Rules
-----
1. A log in the archive is identical to the server's log, up to the position fetched. Events that a server
   creates for the stream (its first ROTATE, heartbeats, a format description in mid-log) are not stored.
2. Only complete transactions count, and only once they are on disk (fsync).
3. Fetched bytes are never overwritten. After an interruption, the last transaction is fetched again and
   compared, which detects a server that was reset or replaced.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from binlog_kaitai.live.address import Address
    from binlog_kaitai.live.fetching import Fetch, fetch

__all__ = ["Address", "Fetch", "fetch"]

#: Modules of the names, imported on demand: the help of `fetch` needs none.
_HOME = {"Address": "address", "Fetch": "fetching", "fetch": "fetching"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(name)
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
