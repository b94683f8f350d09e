"""Headers of transaction payload events, decoded for many events at a time.

Strategy
--------
A header consists of type-length-value fields, and most headers of a log have the same fields and differ only
in their sizes. The grammar parses each such :class:`_Template` once and yields the offsets of the sizes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.core.grammar import CHECKSUM_SIZE, read_event
from binlog_kaitai.core.tree import extents
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Bytes, Ints
from binlog_kaitai.log.block import Block

#: Minimum number of payloads for templates to pay off; maximum number of templates kept, and new per block.
_FEW, _MOST = 8, 64

_SIZES = ("len_payload", "len_uncompressed")
#: Number of fields of a typical header: compression type, the two sizes, and the end mark.
_USUAL = 4
#: Length of a packed integer in one byte; a larger first byte gives the number of bytes that follow.
_LAST_OF_ONE = 250


class PayloadHeaders(NamedTuple):
    """Headers of several payload events, as int64 and bool arrays.

    Attributes
    ----------
    fits : bool array
        Which events the other arrays are valid for: compressed with zstd, with a header that matches.
    starts, ends
        Range of the compressed bytes in the block.
    payload_sizes, uncompressed_sizes
        Lengths according to the event.
    """

    matches: NDArray[np.bool_]
    starts: Any
    ends: Any
    payload_sizes: Any
    uncompressed_sizes: Any

    def part(self, begin: int, end: int) -> PayloadHeaders:
        """A range of the events."""
        return PayloadHeaders(*(values[begin:end] for values in self))


class _Template(NamedTuple):
    """A header with its sizes masked; `offsets` holds start and end of the two sizes."""

    content: Any
    is_fixed: Any
    offsets: tuple[tuple[int, int], ...]
    is_usual: bool


def payload_headers(block: Block, rows: Ints) -> PayloadHeaders:
    """Headers of the given transaction payload events of a block."""
    starts = block.starts[rows] + block.header_length
    ends = block.body_ends(rows)
    headers = PayloadHeaders(np.zeros(len(rows), dtype=np.bool_), *(np.zeros((4, len(rows)), dtype=np.int64)))
    headers.ends[:] = ends
    left = np.flatnonzero(ends > starts) if len(rows) >= _FEW else rows[:0]
    for template in _templates(block, rows, left, headers):
        length = len(template.content)
        near = left[ends[left] - starts[left] >= length]
        contents = block.data[starts[near][:, None] + np.arange(length)]
        found = near[((contents == template.content) | ~template.is_fixed).all(axis=1)]
        values = [_numbers(block.data, starts[found], *byte_range) for byte_range in template.offsets]
        headers.starts[found] = starts[found] + length
        headers.payload_sizes[found], headers.uncompressed_sizes[found] = values
        is_known = np.all([value >= 0 for value in values], axis=0)
        headers.matches[found] = is_known & template.is_usual
        left = left[~np.isin(left, found[is_known])]
        if not len(left):
            break
    return headers


_known: list[_Template] = []


def _templates(block: Block, rows: Ints, left: Ints, headers: PayloadHeaders) -> Iterator[_Template]:
    """The known templates, then new ones for events that match none."""
    if len(_known) >= _MOST:
        _known.clear()  # a log may contain any number of different headers
    yield from list(_known)
    for _ in range(_MOST):
        others = left[headers.starts[left] == 0]
        template = _read(block, int(rows[others[0]])) if len(others) else None
        if template is None:
            return
        _known.append(template)
        yield template


def _read(block: Block, row: int) -> _Template | None:
    """The template of one event; None if the grammar cannot parse it."""
    event = block.event(row)
    try:
        parsed, _ = read_event(event.raw, event.type_code, event.layout)
        body: Any = parsed.body.content
        length = extents(body)["payload"].start
    except (BinlogError, AttributeError, KeyError, TypeError):
        return None
    start = len(event.raw) - parsed.body._io.size() - (0 if parsed.checksum is None else CHECKSUM_SIZE)
    content = np.frombuffer(event.raw[start : start + length], dtype=np.uint8)
    is_fixed = np.ones(length, dtype=np.bool_)
    offsets = tuple(_range_of(body, name) for name in _SIZES)
    is_usual = body.compression_type == type(body).CompressionAlgorithm.zstd and len(body.fields) == _USUAL
    for (begin, end), name in zip(offsets, _SIZES, strict=True):
        is_fixed[begin:end] = False
        # The packed integer must decode to the grammar's value; otherwise the template is not used.
        is_usual &= _numbers(content, np.zeros(1, dtype=np.int64), begin, end)[0] == getattr(body, name)
    return _Template(content, is_fixed, offsets, bool(is_usual))


def _range_of(body: Any, name: str) -> tuple[int, int]:
    """Range of a size within the header: the value of the field that changes `name`."""
    for field in body.fields:
        if getattr(field, name) != getattr(field, f"previous_{name}"):
            number = field.value.number
            start, end, _ = list(extents(number).values())[-1]
            assert end is not None
            base = extents(field)["value"].start
            return base + start, base + end
    return 0, 0


def _numbers(data: Bytes, starts: Ints, begin: int, end: int) -> Any:
    """Little-endian numbers in `begin:end` relative to each start; -1 if a number does not fit."""
    values = np.zeros(len(starts), dtype=np.int64)
    for step in range(begin, end):
        values |= data[starts + step].astype(np.int64) << (8 * (step - begin))
    is_none = (values < 0) | (begin == end)
    if end - begin == 1:
        is_none |= values > _LAST_OF_ONE
    return np.where(is_none, -1, values)
