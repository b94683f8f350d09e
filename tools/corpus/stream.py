"""Network streams: the bytes that a server sends to a replica, packet by packet.

        network/<server>-<kind>/client.bin     the packets sent: commands, acknowledgements
        network/<server>-<kind>/server.bin     the packets received, in order, up to `until`
        network/<server>-<kind>/binlog.000001  the log that is sent

A packet is stored as transmitted: 3 bytes length, 1 byte sequence number, then the content. The login and the
statements before the dump command are omitted.
"""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tools.corpus.case import CORPUS
from tools.corpus.recorder import Recorder, facts, writer_for
from tools.corpus.scenario import SCENARIOS, load
from tools.servers import Server

COM_BINLOG_DUMP, COM_REGISTER_SLAVE, COM_BINLOG_DUMP_GTID = 0x12, 0x15, 0x1E
NON_BLOCK, HEARTBEAT_V2, THROUGH_GTID = 1, 2, 4
# In MariaDB, bit 1 requests annotate events, which are otherwise omitted.
SEND_ANNOTATE = 2
REPLICA_ID = 4711
HEARTBEATS = (27, 41)
# Commands shared by MySQL and MariaDB use "slave" up to this version; MySQL 9 supports only the new names.
_SETTINGS = {
    "mysql-5.6": ("@master_binlog_checksum=@@global.binlog_checksum", "@master_heartbeat_period={}"),
    "mysql-9.7": (
        "@source_binlog_checksum=@@global.binlog_checksum",
        "@source_heartbeat_period={}",
        "@replica_uuid='00000000-1111-2222-3333-444444444444'",
    ),
    "mariadb": (
        "@master_binlog_checksum=@@global.binlog_checksum",
        "@master_heartbeat_period={}",
        "@mariadb_slave_capability=4",
    ),
}
_HEARTBEAT_NANOSECONDS = 200_000_000


class Stream(NamedTuple):
    """One capture: the dump command to send, and the settings before it."""

    server: str
    kind: str
    what: str
    flags: int = 0
    gtid: bool = False
    file: str = "binlog.000001"
    semi_sync: bool = False


STREAMS = (
    Stream("mysql-5.6", "heartbeat", "a dump that waits for more: ends with two heartbeats"),
    Stream("mysql-5.6", "to_the_end", "a dump that does not wait: ends with an EOF packet", NON_BLOCK),
    Stream("mysql-9.7", "heartbeat", "a dump that waits for more: ends with two heartbeats"),
    Stream("mysql-9.7", "heartbeat_v2", "the same, with heartbeats of version 2", HEARTBEAT_V2),
    Stream(
        "mysql-9.7", "gtid", "a dump by GTID set; ends with an EOF packet", NON_BLOCK | THROUGH_GTID, True
    ),
    Stream("mysql-9.7", "error", "a dump of a log that is not there: an error packet", file="binlog.009999"),
    Stream("mysql-9.7", "semi_sync", "semi-synchronous: a header before every event", semi_sync=True),
    Stream("mariadb-10.11", "heartbeat", "a dump that waits for more: ends with two heartbeats"),
    Stream(
        "mariadb-10.11",
        "to_the_end",
        "a dump that does not wait, with annotate events",
        NON_BLOCK | SEND_ANNOTATE,
    ),
    Stream("mariadb-11.8", "semi_sync", "semi-synchronous: a header before every event", semi_sync=True),
    Stream(
        "mariadb-11.8", "error", "a dump of a log that is not there: an error packet", file="binlog.009999"
    ),
)


@dataclass
class _Wire:
    """The socket of a connection after login, which records both directions."""

    connection: Any
    sent: bytearray = field(default_factory=bytearray)
    received: bytearray = field(default_factory=bytearray)

    def send(self, payload: bytes, sequence: int = 0) -> None:
        packet = len(payload).to_bytes(3, "little") + bytes([sequence]) + payload
        self.sent += packet
        self.connection._sock.sendall(packet)

    def receive(self) -> bytes:
        head = self.connection._rfile.read(4)
        payload: bytes = self.connection._rfile.read(int.from_bytes(head[:3], "little"))
        self.received += head + payload
        return payload


def record_stream(stream: Stream) -> list[str]:
    """Capture one stream; returns what looks wrong."""
    folder = CORPUS / "network" / f"{stream.server}-{stream.kind}"
    with Server(stream.server, "corpus") as server:
        writer = writer_for(server, folder)
        recorder = Recorder(server, writer)
        recorder.prepare()
        recorder.run(load(SCENARIOS / "streamed.sql"))
        if stream.semi_sync:
            _enable_semi_sync(server)
        wire = _Wire(server.connect(unix_socket=None, ssl_disabled=True))
        try:
            end = _capture(server, stream, wire)
        finally:
            wire.connection._force_close()
        recorder.close()
        writer.add_log(server.data / "binlog.000001")
        writer.text("client.bin", bytes(wire.sent))
        writer.text("server.bin", bytes(wire.received))
        writer.text("scenario.sql", recorder.text)
        writer.info(case=stream.kind, **facts(server), what=stream.what, until=end, flags=stream.flags)
        # The log is still open, which its client reports on stderr; this is not a failure.
        return writer.oracle(strict=False) + recorder.wrong


def _capture(server: Server, stream: Stream, wire: _Wire) -> str:
    cursor = wire.connection.cursor()
    settings = _SETTINGS.get(stream.server) or _SETTINGS["mariadb"]
    for setting in settings:
        cursor.execute("SET " + setting.format(_HEARTBEAT_NANOSECONDS))
    if stream.semi_sync:
        cursor.execute(f"SET @rpl_semi_sync_{'replica' if stream.server == 'mysql-9.7' else 'slave'}=1")
    # Host, user, password, port, rank and source id are reported too, but only the server id matters.
    wire.send(
        struct.pack("<BI", COM_REGISTER_SLAVE, REPLICA_ID)
        + b"\x04host\x04user\x00"
        + struct.pack("<HII", 3306, 0, 0)
    )
    if wire.receive()[0] != 0:
        return "registration refused"
    if stream.gtid:
        gtid_set = struct.pack("<Q", 0)
        name = stream.file.encode()
        head = struct.pack("<BHII", COM_BINLOG_DUMP_GTID, stream.flags, REPLICA_ID, len(name))
        wire.send(head + name + struct.pack("<QI", 4, len(gtid_set)) + gtid_set)
    else:
        wire.send(struct.pack("<BIHI", COM_BINLOG_DUMP, 4, stream.flags, REPLICA_ID) + stream.file.encode())
    return _follow(server, stream, wire)


def _follow(server: Server, stream: Stream, wire: _Wire) -> str:
    heartbeats = written = 0
    while True:
        packet = wire.receive()
        if packet[0] == 0xFE and len(packet) < 9:
            return "EOF packet"
        if packet[0] == 0xFF:
            return "error packet"
        event = packet[3:] if stream.semi_sync else packet[1:]
        heartbeats += event[4] in HEARTBEATS
        if stream.semi_sync and packet[2] == 1:
            _acknowledge(wire, event, stream)
            return "acknowledged transaction"
        if stream.semi_sync and heartbeats and not written:
            # The dump has caught up; from now on, the server waits for this replica.
            written = 1
            _write_later(server)
        if heartbeats == 2 and not stream.semi_sync:
            return "second heartbeat"


def _acknowledge(wire: _Wire, event: bytes, stream: Stream) -> None:
    wire.send(b"\xef" + event[13:17] + bytes(4) + stream.file.encode())
    time.sleep(0.3)


def _write_later(server: Server) -> None:
    connection = server.connect()
    connection._execute_command(3, "INSERT INTO t.a (v) VALUES ('acknowledged')")


def _enable_semi_sync(server: Server) -> None:
    if server.spec.flavour == "mysql":
        plugins = [row[0] for row in server.execute("SHOW PLUGINS")]
        if "rpl_semi_sync_source" not in plugins:
            server.execute("INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'")
        server.execute("SET GLOBAL rpl_semi_sync_source_enabled=1, GLOBAL rpl_semi_sync_source_timeout=3000")
    else:
        server.execute("SET GLOBAL rpl_semi_sync_master_enabled=1, GLOBAL rpl_semi_sync_master_timeout=3000")
