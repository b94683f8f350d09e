"""A kernel that concatenates the payloads of many packets."""

from __future__ import annotations

from typing import Any

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
    at: int,
    end: int,
    sequence: int,
    prefix: int,
    header_length: int,
    size_at: int,
    type_at: int,
    special: Bools,
    ack_mask: int,
    out: Bytes,
    out_at: int,
) -> Any:
    """Copy the events of the packets in `data[at:end]` to `out[out_at:]`, without gaps.

    Parameters
    ----------
    sequence
        Expected number of the next packet.
    prefix
        Bytes of a payload before its event: 1, or 3 with semi-synchronous replication.
    header_length, size_at, type_at
        Length of an event header, and the offsets of the event size and type code in it.
    special
        256 flags: the type codes to stop at.
    ack_mask
        Bits of the third byte of `prefix` that request an acknowledgement; stops at such an event.

    Returns
    -------
    (offset of the next packet, its number, offset after the last event, why it stopped)
    """
    while True:
        event = at + PACKET_HEADER + prefix
        if at < 0 or out_at < 0 or end > data.shape[0] or event + header_length > end:
            return at, sequence, out_at, MORE
        first = np.uint64(at)
        length = (
            np.int64(data[first])
            | np.int64(data[first + _ONE]) << np.int64(8)
            | np.int64(data[first + _TWO]) << np.int64(16)
        )
        if np.int64(data[np.uint64(at + SEQUENCE_AT)]) != sequence:
            return at, sequence, out_at, BROKEN
        size = int(length - prefix)
        if length == CONTINUED or size < header_length or data[np.uint64(at + PACKET_HEADER)] != 0:
            return at, sequence, out_at, SPECIAL
        if prefix > 1 and np.int64(data[np.uint64(event - 1)]) & ack_mask:
            return at, sequence, out_at, SPECIAL
        if special[data[np.uint64(event + type_at)]] or read_u4(data, np.uint64(event + size_at)) != size:
            return at, sequence, out_at, SPECIAL
        if event + size > end:
            return at, sequence, out_at, MORE
        if out_at + size > out.shape[0]:
            return at, sequence, out_at, FULL
        copy(data, event, size, out, out_at)
        out_at += size
        at = event + size
        sequence = (sequence + 1) % 256
