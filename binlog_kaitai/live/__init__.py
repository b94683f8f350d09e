"""Running servers: archives of their binary logs, fetched like a replica and identical byte for byte.

===========  ==================================================================
address      `mysql://…` URLs, option files and the environment: how to connect
causes       what a server's refusal means, and whether another try may help
requests     the messages that a replica sends, as bytes
parsec       MariaDB's authentication method of this name
login        the authentication methods, and the connections over which they are safe
connection   a connection of PyMySQL, with limits on what a server may send
queries      queries to a server, whose answers are checked
session      a connection that asks for a log
wire         the packets of a connection, as they come
packet_kernels  joins the payloads of many packets
packets      the stream of packets → the bytes of one log after another
state        the files of an archive besides its logs
log_file     the file of a log: its in-use flag, and the transactions that are whole
flushing     syncs a log in a thread, while more of it is received
archive      the directory: its logs, index and state
eras         archives that continue at another server
starts       where a new archive begins
packing      closed logs, compressed
storing      closed logs in an object store
closed       what happens to closed logs: packing and storing
gap          events that are missing, on the way or because a server has purged logs
tear         logs that end within an event, and whether the next log continues them
fetching     archive and server together: resume, reconnect, follow
api          the function that programs, and the command line, call
lag          what a server has and an archive lacks
metrics      a file for Prometheus
source       a server's logs as streams, for whatever reads logs
spool        an archive that queries share, and whose logs go once they have been read
questions    questions to a server, asked again while connections are lost
direct       a spool in a temporary directory, for one reader
===========  ==================================================================

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
from binlog_kaitai.live.api import fetch
from binlog_kaitai.live.fetching import Fetch

__all__ = ["Address", "Fetch", "fetch"]
