"""The values of a column as JSON text, as `rows --format json` has them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from binlog_kaitai.columns.json_strings import json_texts
from binlog_kaitai.columns.lines import plain
from binlog_kaitai.columns.rows.arrow_types import arrow_type
from binlog_kaitai.columns.rows.builders import build
from binlog_kaitai.columns.rows.cells import Cells
from binlog_kaitai.columns.rows.float_texts import float_texts
from binlog_kaitai.columns.rows.fused_columns import contents
from binlog_kaitai.columns.rows.strings import LONGEST, is_utf8, may_hide_bytes, of_bytes
from binlog_kaitai.core.grammar import ColumnType
from binlog_kaitai.reader.rows import to_json
from binlog_kaitai.values import json_form
from binlog_kaitai.values.charsets import decode
from binlog_kaitai.values.json_text import MARKER, marked
from binlog_kaitai.values.strings import has_own_text

_HEX = np.array([list(b"%02x" % byte) for byte in range(256)], dtype=np.uint8)

#: What JSON text escapes in a string.
_UNCLEAN = r'["\\\x00-\x1f]'

_DOCUMENTS = frozenset((ColumnType.json, ColumnType.typed_array))


def json_values(cells: Cells) -> Any:
    """JSON text of each value, as an Arrow array; null where there is none.

    Raises
    ------
    CellError
        A value is none.
    """
    kind = arrow_type(cells.column)
    if pa.types.is_integer(kind):
        return build(cells).cast(pa.string())
    if pa.types.is_decimal(kind):
        return _decimals(cells, kind)
    if pa.types.is_floating(kind):
        return _floats(cells, kind)
    if cells.column.type in _DOCUMENTS:
        return _documents(build(cells))
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _dates(cells, kind)
    if pa.types.is_binary(kind):
        return joined('{"hex": "', _hexed(build(cells)), '"}')
    if pa.types.is_string(kind) and cells.column.type not in (
        ColumnType.varchar_compressed,
        ColumnType.blob_compressed,
    ):
        return _strings(cells)
    return _by_reader(cells)


def _documents(found: Any) -> Any:
    """Documents with the marker where they would read as NULL, or as the marker; see `marked`."""
    is_rare = pc.or_(pc.equal(found, "null"), pc.starts_with(found, MARKER))
    is_rare = pc.fill_null(is_rare, False)
    if not pc.any(is_rare).as_py():
        return found
    texts = [plain(marked(text)) for text in found.filter(is_rare).to_pylist()]
    return pc.replace_with_mask(found, is_rare, pa.array(texts, found.type))


def joined(*pieces: Any) -> Any:
    """Texts put together, row by row; null where one of them is."""
    return pc.binary_join_element_wise(*pieces, "", null_handling="emit_null")


def _by_reader(cells: Cells, rows: Any = None) -> Any:
    def convert(value: Any) -> str:
        return plain(to_json(json_form(value, cells.column)))

    return pa.array(cells.by_reader(np.arange(len(cells)) if rows is None else rows, convert), pa.string())


def _mended(cells: Cells, found: Any, is_other: Any) -> Any:
    """The values with those of some rows by the reader."""
    rows = np.flatnonzero(is_other)
    return pc.replace_with_mask(found, pa.array(is_other), _by_reader(cells, rows)) if len(rows) else found


def _decimals(cells: Cells, kind: Any) -> Any:
    text = build(cells).cast(pa.string())
    if kind.scale == 0 and cells.column.type != ColumnType.newdecimal:
        return text
    # Arrow has an exponent in some small ones.
    is_other = pc.fill_null(pc.match_substring(text, "E"), False).to_numpy(zero_copy_only=False)
    return _mended(cells, joined('"', text, '"'), is_other)


def _floats(cells: Cells, kind: Any) -> Any:
    """FLOAT and DOUBLE: by the kernel where few digits do, else each distinct one once, told by its bits."""
    found = build(cells)
    is_single = kind.bit_width == 32
    values = np.frombuffer(found.buffers()[1], dtype=np.float32 if is_single else np.float64)[: len(cells)]
    digits, is_left = float_texts(values, cells.valid, is_bare=False)
    texts = digits.view(pa.string())
    if not cells.valid.all():
        texts = pc.if_else(pa.array(cells.valid), texts, None)
    rows = np.flatnonzero(is_left)
    if not len(rows):
        return texts
    bits = values[rows].view(np.int32 if is_single else np.int64)
    distinct, which = np.unique(bits, return_inverse=True)
    numbers = distinct.view(values.dtype).tolist()
    if is_single or not np.isfinite(values[rows]).all():
        made = [to_json(json_form(value, cells.column)) for value in numbers]
    else:
        made = list(map(repr, numbers))  # the same, and many times faster
    return pc.replace_with_mask(texts, pa.array(is_left), pa.array(made, pa.string()).take(which.reshape(-1)))


def _dates(cells: Cells, kind: Any) -> Any:
    found = build(cells)
    is_zero = cells.valid & found.is_null().to_numpy(zero_copy_only=False) if found.null_count else None
    if pa.types.is_timestamp(kind):
        digits = cells.column.fractional_digits
        text = found.view(pa.timestamp("us")).cast(pa.string())
        text = pc.utf8_slice_codeunits(text, 0, 20 + digits if digits else 19)
    else:
        text = found.cast(pa.string())
    text = joined('"', text, '"')
    return text if is_zero is None else _mended(cells, text, is_zero)


def _strings(cells: Cells) -> Any:
    if has_own_text(cells.column):
        return _by_reader(cells)
    if may_hide_bytes(cells.column):
        return _by_codec(cells)
    if is_utf8(cells, pa.string()):
        data, offsets = contents(cells)
        out, ends = json_texts(data, offsets)
        if len(out) <= LONGEST:
            return of_bytes(cells, pa.string(), out, np.append(0, ends))
    found = build(cells)
    unclean = pc.fill_null(pc.match_substring_regex(found, _UNCLEAN), False)
    quoted = joined('"', found, '"')
    is_unclean = unclean.to_numpy(zero_copy_only=False)
    # Bytes that are no text have been escaped, and are told as bytes here.
    return _mended(cells, quoted, is_unclean) if is_unclean.any() else quoted


def _by_codec(cells: Cells) -> Any:
    """Text of a character set in which ASCII bytes may be no text, such as UTF-16; each distinct one once."""
    data, offsets = contents(cells)
    found = of_bytes(cells, pa.binary(), data, offsets).dictionary_encode()
    column = cells.column
    values = (decode(raw, column.charset) for raw in found.dictionary.to_pylist())
    texts = [plain(to_json(json_form(value, column))) for value in values]
    return pa.array(texts, pa.string()).take(found.indices)


def _hexed(found: Any) -> Any:
    bits, offsets, data = found.buffers()
    places = np.frombuffer(offsets, dtype=np.int32)[: len(found) + 1]
    digits = _HEX[np.frombuffer(data, dtype=np.uint8)[: places[-1]]] if data is not None else _HEX[:0]
    buffers = [bits, pa.py_buffer(places * 2), pa.py_buffer(np.ascontiguousarray(digits))]
    return pa.Array.from_buffers(pa.string(), len(found), buffers, found.null_count)


def key_text(name: str) -> str:
    """A key of a JSON object with its colon."""
    return plain(json.dumps(name, ensure_ascii=False)) + ": "
