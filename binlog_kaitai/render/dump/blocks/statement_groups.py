"""Statements of a block: groups them by status variables and by other text-relevant properties.

The status variables of most statements differ only in a fractional second or a transaction number. The
grammar parses each such :class:`_Template` once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from binlog_kaitai.core.tree import extents
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.byte_kernels import read_numbers
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.gather import Gathered
from binlog_kaitai.log.groups import distinct, group_ranges
from binlog_kaitai.render.dump.fields import MICROSECONDS, XIDS
from binlog_kaitai.render.dump.variables import (
    ends_group,
    is_transaction_keyword,
    is_two_phase,
    starts_group,
)

if TYPE_CHECKING:
    from binlog_kaitai.kernels.arrays import Bytes, Ints


#: Number of templates that are cached.
_MOST = 1 << 10
#: Maximum number of new templates in a block; statements beyond it are printed one by one.
_NEW = 64
#: Longer status variables are not matched, in bytes.
_LONGEST = 1 << 10
_MILLION = 10**6
_ALTER = "mariadb_gtid_flags3"
#: Beginnings of statements that may affect transactions.
_WORDS = [np.frombuffer(word, dtype=np.uint8) for word in (b"BEG", b"COM", b"SAV", b"ROL", b"XA ")]


class _Template(NamedTuple):
    """Status variables, with the offsets of the parts that vary: -1 for none."""

    number: int
    content: Any
    is_fixed: Any
    fraction_at: int
    xid_at: int
    is_usual: bool


class Templates:
    """The status variables seen so far."""

    def __init__(self) -> None:
        self._known: dict[int, list[_Template]] = {}

    def match(self, block: Block, events: Ints, body: Gathered) -> tuple[Any, Any, Any]:
        """For each statement, the template (-1 for none), the microseconds, and the transaction number."""
        if sum(map(len, self._known.values())) >= _MOST:
            self._known.clear()
        data, matches, (starts, lengths) = block.data, body.matches, body.ranges("status_vars")
        template_of, fractions, xids = (np.full(len(matches), -1, dtype=np.int64) for _ in range(3))
        new = 0
        for length in np.flatnonzero(np.bincount(lengths[matches])).tolist():
            rows = np.flatnonzero(matches & (lengths == length))
            if length > _LONGEST:
                continue
            known = self._known.setdefault(length, [])
            contents = data[starts[rows][:, None] + np.arange(length)]
            tried = 0
            while len(rows):
                if tried == len(known):
                    new += 1
                    template = self._read(block, int(events[rows[0]]), contents[0]) if new < _NEW else None
                    if template is None:
                        break
                    known.append(template)
                template = known[tried]
                tried += 1
                is_same = ((contents == template.content) | ~template.is_fixed).all(axis=1)
                if not is_same.any():
                    continue
                found = rows[is_same]
                if template.is_usual:
                    template_of[found] = template.number
                    for at, size, out in ((template.fraction_at, 3, fractions), (template.xid_at, 8, xids)):
                        if at >= 0:
                            out[found] = values = _numbers(data, starts[found] + at, size)
                            # Forms that servers do not write are printed one by one.
                            template_of[found[(values < 0) | (out is fractions) & (values >= _MILLION)]] = -1
                rows, contents = rows[~is_same], contents[~is_same]
        return template_of, fractions, xids

    def _read(self, block: Block, event: int, content: Bytes) -> _Template | None:
        one = block.event(event)
        try:
            variables = one.body.status_vars
        except BinlogError:
            return None
        offsets = {"fraction": -1, "xid": -1}
        is_fixed = np.ones(len(content), dtype=np.bool_)
        is_usual = variables is not None
        for variable in variables.variables if variables is not None else ():
            name = getattr(variable.key, "name", "")
            field = "microseconds" if name in MICROSECONDS else "xid" if name in XIDS else None
            if name == _ALTER and is_two_phase(variable.value):
                is_usual = False
            if field is None:
                continue
            which = "xid" if name in XIDS else "fraction"
            start, end, _ = extents(variable.value)[field]
            assert end is not None
            (stated,) = _numbers(content, np.array([start]), end - start)
            is_usual &= offsets[which] < 0 and stated == getattr(variable.value, field)
            offsets[which] = start
            is_fixed[start:end] = False
        number = sum(map(len, self._known.values()))
        return _Template(number, content.copy(), is_fixed, offsets["fraction"], offsets["xid"], is_usual)


def _numbers(data: Bytes, offsets: Ints, size: int) -> Any:
    found = np.zeros(len(offsets), dtype=np.uint64)
    read_numbers.run(data, offsets, 0, size, False, found)
    return found.view(np.int64)


def meanings(data: Bytes, starts: Ints, lengths: Ints) -> Any:
    """A number for each statement, equal for statements with the same effect on their transaction."""
    found = np.zeros(len(starts), dtype=np.int64)
    long = np.flatnonzero(lengths >= 3)
    first = data[starts[long][:, None] + np.arange(3)]
    upper = np.where((first >= ord("a")) & (first <= ord("z")), first - 32, first)
    long = long[np.any([(upper == word).all(axis=1) for word in _WORDS], axis=0)]
    if not len(long):
        return found
    firsts, which = distinct(group_ranges(data, starts[long], starts[long] + lengths[long]))
    texts = [bytes(data[starts[at] : starts[at] + lengths[at]]) for at in long[firsts].tolist()]
    bits = [is_transaction_keyword(one) | starts_group(one) << 1 | ends_group(one) << 2 for one in texts]
    found[long] = np.array(bits, dtype=np.int64)[which]
    return found
