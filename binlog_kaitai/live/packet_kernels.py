"""A kernel that concatenates the payloads of many packets."""

from __future__ import annotations

import numpy as np

from binlog_kaitai.core.grammar import sizes
from binlog_kaitai.kernels.arrays import Bools, Bytes
from binlog_kaitai.kernels.byte_kernels import read_u4
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.log.text_kernels import copy

#: Why `unpack` stopped: the next packet is incomplete; it is not a plain event; the output is full; a packet
#: is missing.
MORE, SPECIAL, FULL, BROKEN = 0, 1, 2, 3

PACKET_HEADER, SEQUENCE_AT = sizes.NetworkPacket.HEAD_SIZE, sizes.NetworkPacket.SEQUENCE_ID_AT
#: A payload of this length continues in the next packet.
CONTINUED = (1 << 8 * sizes.NetworkPacket.LEN_PAYLOAD_SIZE) - 1

_ONE, _TWO = np.uint64(1), np.uint64(2)


@kernel
def unpack(
    data: Bytes,
    begin: int,
    end: int,
    sequence: int,
    prefix: int,
    header_length: int,
    size_at: int,
    type_at: int,
    special: Bools,
    ack_mask: int,
    out: Bytes,
) -> tuple[int, int, int, int]:
    """Copy the events of the packets in `data[begin:end]` to `out`, without gaps.

    `sequence`: expected number of the next packet.
    `prefix`: bytes of a payload before its event: 1, or 3 with semi-synchronous replication.
    `header_length`, `size_at`, `type_at`: length of an event header, and the offsets of the event size and
    type code in it.
    `special`: 256 flags: the type codes to stop at.
    `ack_mask`: bits of the third byte of `prefix` that request an acknowledgement; stops at such an event.
    Returns (offset of the next packet, its number, bytes in `out`, why it stopped)
    """
    count = 0
    while True:
        event = begin + PACKET_HEADER + prefix
        if begin < 0 or end > data.shape[0] or event + header_length > end:
            return begin, sequence, count, MORE
        first = np.uint64(begin)
        length = (
            np.int64(data[first])
            | np.int64(data[first + _ONE]) << np.int64(8)
            | np.int64(data[first + _TWO]) << np.int64(16)
        )
        if np.int64(data[np.uint64(begin + SEQUENCE_AT)]) != sequence:
            return begin, sequence, count, BROKEN
        size = int(length - prefix)
        if length == CONTINUED or size < header_length or data[np.uint64(begin + PACKET_HEADER)] != 0:
            return begin, sequence, count, SPECIAL
        if prefix > 1 and np.int64(data[np.uint64(event - 1)]) & ack_mask:
            return begin, sequence, count, SPECIAL
        if special[data[np.uint64(event + type_at)]] or read_u4(data, np.uint64(event + size_at)) != size:
            return begin, sequence, count, SPECIAL
        if event + size > end:
            return begin, sequence, count, MORE
        if count + size > out.shape[0]:
            return begin, sequence, count, FULL
        copy(data, event, size, out, count)
        count += size
        begin = event + size
        sequence = (sequence + 1) % 256
