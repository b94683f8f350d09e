"""Running servers: archives of their binary logs, fetched like a replica and identical byte for byte.

==============  ==================================================================
address         `mysql://…` URLs, option files and the environment: how to connect
causes          the meaning of a server's errors, and whether to try again
requests        the messages that a replica sends, as bytes
session         a connection that asks for a log
wire            the packets of a connection
packet_kernels  a kernel that concatenates the payloads of packets
packets         converts the stream of packets to the bytes of consecutive logs
state           the files of an archive besides its logs
archive         the directory: its logs, index and state
fetching        keeps an archive up to date: resume, reconnect, follow
gap             what is lost between an archive and a server that has purged logs
metrics         a metrics file for Prometheus
source          a server's logs as streams, like other sources
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

from binlog_kaitai.live.address import Address
from binlog_kaitai.live.fetching import Fetch, fetch

__all__ = ["Address", "Fetch", "fetch"]
