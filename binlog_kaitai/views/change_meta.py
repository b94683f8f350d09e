"""The metadata columns of the changes view, which describe the origin of a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from binlog_kaitai.arrow import pa
from binlog_kaitai.kernels.arrays import Array, Bools, Bytes, Ints
from binlog_kaitai.log.event_gtids import gtid_texts
from binlog_kaitai.log.line_arrays import plain
from binlog_kaitai.rows.arrow_types import of_numbers
from binlog_kaitai.rows.image_walk import find_runs, spread
from binlog_kaitai.rows.log_pages import RowsPage
from binlog_kaitai.rows.sequences import BY_COMMIT, sequences
from binlog_kaitai.views.change_schemas import TIME

#: Change types of Delta's change data feed, in the order of the row kinds in `walk`.
CHANGE_TYPES = pa.array(["insert", "update_preimage", "update_postimage", "delete"], pa.string())

_SECOND = 1_000_000


def change_types(changes: Bytes) -> Any:
    """The change types of row kinds."""
    codes = changes.astype(np.int32) if changes.any() else zeros(len(changes))
    return pa.DictionaryArray.from_arrays(of_numbers(codes), CHANGE_TYPES, safe=False)


def meta_columns(
    page: RowsPage, of_rows: Ints, numbers: Ints, is_given: Bools, names: Iterable[str]
) -> dict[str, Any]:
    """The requested metadata columns, from :data:`META_FIELDS` without the first.

    The arguments are each row's event, its number in the event, and whether its image adds a row.
    """
    # The rows of an event are consecutive, so its values are repeated.
    limits = np.empty(len(of_rows) + 1, dtype=np.int64)
    limits = limits[: find_runs.run(of_rows, limits) + 1]
    in_images = of_rows[limits[:-1]]
    events = page.images.rows[in_images]

    def over_rows(values: Ints, kind: pa.DataType | None = None) -> Any:
        if len(values) and (values == values[0]).all():
            return of_numbers(same(int(values[0]), len(of_rows)), kind)
        out = np.empty(len(of_rows), dtype=np.int64)
        spread.run(np.ascontiguousarray(values, dtype=np.int64), limits, out)
        return of_numbers(out, kind)

    def gtids() -> Any:
        codes, texts = _gtids(page, events)
        return named(np.repeat(codes, np.diff(limits)), texts)

    def sequence() -> Any:
        eras = page.commit_times[events] if page.era == BY_COMMIT else np.full(len(events), page.era)
        positions = page.block.positions[events]
        return sequences(eras, page.block.file, positions, limits, page.numbered(of_rows, numbers), is_given)

    columns: dict[str, Callable[[], Any]] = {
        "_commit_timestamp": lambda: over_rows(page.commit_times[events], TIME),
        "_file": lambda: named(zeros(len(of_rows)), pa.array([plain(page.block.file)], pa.string())),
        "_position": lambda: over_rows(page.block.positions[events]),
        "_row": lambda: of_numbers(page.numbered(of_rows, numbers)),
        "_gtid": gtids,
        "_server_id": lambda: over_rows(page.headers.numbers("server_id")[in_images]),
        "_timestamp": lambda: over_rows(page.headers.numbers("timestamp")[in_images] * _SECOND, TIME),
        "_sequence": sequence,
    }
    return {name: columns[name]() for name in names if name in columns}


def zeros(count: int) -> Any:
    """Zeros, int32, shared by many batches; read-only."""
    return _zeros(1 << max(count - 1, 1).bit_length())[:count]


@lru_cache(maxsize=4)
def _zeros(count: int) -> Any:
    return np.zeros(count, dtype=np.int32)


def same(value: int, count: int) -> Any:
    """The same number repeated, int64, shared by many batches; read-only."""
    return _same(value, 1 << max(count - 1, 1).bit_length())[:count]


@lru_cache(maxsize=4)
def _same(value: int, count: int) -> Any:
    return np.full(count, value, dtype=np.int64)


def named(codes: Array, texts: pa.Array) -> Any:
    """Texts by index; null for a negative index."""
    valid = codes >= 0 if len(codes) and codes.min() < 0 else None
    return pa.DictionaryArray.from_arrays(of_numbers(codes, valid=valid), texts, safe=False)


def _gtids(page: RowsPage, events: Ints) -> tuple[Any, Any]:
    """The distinct GTIDs of some events, in log order, and the index of each event's GTID, or -1."""
    first, second, which = page.gtids_in_force
    which = which.take(events)
    is_new = np.diff(which, prepend=-1) != 0
    distinct = which[is_new]
    is_gtid = first.take(distinct) != -page.pool.null[0] - 1
    codes = np.where(is_gtid, np.cumsum(is_gtid) - 1, -1).astype(np.int32)
    return codes.take(np.cumsum(is_new) - 1), gtid_texts(first, second, distinct[is_gtid], page.pool)
