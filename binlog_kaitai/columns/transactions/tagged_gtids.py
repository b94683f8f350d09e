"""The tagged GTIDs (MySQL 8.3 and later) of a block: sources and numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.columns.blocks.block import Block
from binlog_kaitai.columns.rows.groups import distinct, group_ranges
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.gtids import TAG
from binlog_kaitai.core.transactions import mysql_source

_KIND = EventType.gtid_tagged_log_event
_UUID, _TAG = "fields.uuid.bytes.value", "fields.tag.text"
_UUID_SIZE = 16


class TaggedGtids(NamedTuple):
    """The tagged GTIDs of some events.

    Attributes
    ----------
    sources : list of str
        The distinct ``uuid:tag``.
    codes, numbers : int64 arrays
        For each event, the index of its source, and its number.
    matches : bool array
        Whether the GTID of an event is valid; the event reader decodes the others.
    """

    sources: list[str]
    codes: NDArray[np.int64]
    numbers: NDArray[np.int64]
    matches: NDArray[np.bool_]

    @classmethod
    def of(cls, block: Block) -> TaggedGtids:
        """The tagged GTIDs of a block."""
        body = block.body(_KIND)
        parts, numbers = body.lists(_UUID), body.numbers("gno")
        matches = body.matches & ((parts >= 0) & (parts <= 0xFF)).all(axis=0) & (numbers > 0)
        uuids = np.ascontiguousarray(parts.T.astype(np.uint8)).reshape(-1)
        offsets = np.arange(len(numbers), dtype=np.int64) * _UUID_SIZE
        tags, lengths = body.ranges(_TAG)
        of_uuid = group_ranges(uuids, offsets, offsets + _UUID_SIZE)
        of_tag = group_ranges(block.data, tags, tags + lengths)
        first, codes = distinct(of_uuid * (len(numbers) + 1) + of_tag)
        sources = []
        for number, index in enumerate(first.tolist()):
            start = int(tags[index])
            tag = bytes(block.data[start : start + int(lengths[index])])
            uuid = bytes(uuids[index * _UUID_SIZE : (index + 1) * _UUID_SIZE])
            text = tag.decode("latin-1")
            if text and TAG.fullmatch(text) is None:
                matches[codes == number] = False
                text = ""
            sources.append(mysql_source(uuid, text))
        return cls(sources, codes, numbers, matches)
