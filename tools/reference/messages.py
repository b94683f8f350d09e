"""Messages of the replication protocol in the corpus, dissected like events."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from binlog_grammar.com_binlog_dump import ComBinlogDump
from binlog_grammar.com_binlog_dump_gtid import ComBinlogDumpGtid
from binlog_grammar.com_register_slave import ComRegisterSlave
from binlog_grammar.network_packet import NetworkPacket
from binlog_grammar.semi_sync_ack import SemiSyncAck
from binlog_grammar.stream_packet import StreamPacket
from kaitaistruct import KaitaiStream

from binlog_kaitai.core.grammar import YearBits, header_offset, parsed
from binlog_kaitai.render.explanation import Dissection, leaves_of

#: The two directions of a capture.
FROM_REPLICA, FROM_SERVER = "client.bin", "server.bin"

_COMMANDS = {0x12: ComBinlogDump, 0x15: ComRegisterSlave, 0x1E: ComBinlogDumpGtid, 0xEF: SemiSyncAck}


class Piece(NamedTuple):
    """A part of a file that is dissected on its own: an event of a log, a captured packet, the message in it.

    Attributes
    ----------
    position, payload_index
        Offset of its bytes in the file; number of the event in a transaction payload.
    title
        The type of the event, or another description.
    raw
        Its bytes.
    dissect
        Dissects it.
    """

    position: int
    payload_index: int | None
    title: str
    raw: bytes
    dissect: Callable[[], Dissection]


def messages(path: Path) -> Iterator[Piece]:
    """Each packet of a capture, then the message in it; no captured message spans several packets."""
    data, position = path.read_bytes(), 0
    read = _read_command if path.name == FROM_REPLICA else _Stream("semi_sync" in path.parent.name).read
    while position < len(data):
        packet = parse(NetworkPacket, data[position:])
        end = position + packet._io.pos()
        yield _piece(position, "Packet", data[position:end], packet)
        # The server's first packet is the OK that answers the registration, not part of the stream.
        if path.name == FROM_REPLICA or position:
            yield _piece(end - packet.len_payload, "Message", packet.payload, read(packet.payload))
        position = end


def _piece(position: int, title: str, raw: bytes, root: Any) -> Piece:
    return Piece(position, None, title, raw, lambda: Dissection(leaves_of(root, raw), [], None, root))


def _read_command(payload: bytes) -> Any:
    return parse(_COMMANDS[payload[0]], payload)


class _Stream:
    """Parses a server's messages, with the post-header lengths and YEAR bits of its format description."""

    def __init__(self, has_semi_sync: bool) -> None:
        self._has_semi_sync = has_semi_sync
        # After the kind of the message, and the header of semi-synchronous replication.
        self._ofs_type_code = (3 if has_semi_sync else 1) + header_offset("type_code")
        self._len_post_headers: list[int] = []
        self._year_bits = YearBits.undetermined

    def read(self, payload: bytes) -> Any:
        kind = payload[self._ofs_type_code : self._ofs_type_code + 1]
        known = self._len_post_headers[kind[0] - 1 : kind[0]] if kind and kind[0] else []
        context = (4, 19, known[0] if known else 0, True, False, self._year_bits, None, False)
        message = parse(StreamPacket, payload, self._has_semi_sync, *context)
        if message.kind == StreamPacket.PacketKind.event and message.body.event.is_format_description:
            described = message.body.event.body.content
            self._len_post_headers, self._year_bits = described.len_post_headers, described.year_bits
        return message


def parse(type_: Callable[..., Any], data: bytes, *context: Any) -> Any:
    """An object of a generated class, read from bytes."""
    return parsed(type_(*context, KaitaiStream(io.BytesIO(data))))
