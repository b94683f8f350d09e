"""Arrow arrays of strings and types stored like them, of ENUM and SET, and of JSON documents."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.kernels.arrays import Array, Bytes, Ints
from binlog_kaitai.kernels.byte_kernels import read_numbers
from binlog_kaitai.rows import read_kernels as ways
from binlog_kaitai.rows.column_cells import LONGEST, Cells, check_ends
from binlog_kaitai.rows.fused_columns import ColumnValues, ReadMethod
from binlog_kaitai.rows.string_kernels import copy_members, measure, measure_recoded, pad_values, recode
from binlog_kaitai.text.json_kernels import LEVEL, MAX_DEPTH, put_documents
from binlog_kaitai.text.line_arrays import escape_bytes, plain
from binlog_kaitai.values.charsets import BINARY, UTF8, escaped, extends_ascii, single_bytes
from binlog_kaitai.values.column_kinds import STRINGS, Kind
from binlog_kaitai.values.representations import Value
from binlog_kaitai.values.schema import Column
from binlog_kaitai.values.strings import has_own_text

#: Maximum number of bytes of an escaped byte.
_OF_BYTE = 4


def _way(cells: Cells, kind: pa.DataType) -> ReadMethod | None:
    column = cells.column
    if has_own_text(column) or (pa.types.is_binary(kind) and _is_padded(column)):
        return None
    return ReadMethod(ways.STRINGS, 4)


def _is_padded(column: Column) -> bool:
    return column.kind == Kind.CHAR and column.charset == BINARY and column.length > 0


def texts(cells: Cells, kind: pa.DataType, values: ColumnValues | None, zero_dates: str) -> pa.Array:
    """CHAR, VARCHAR, TEXT and their binary counterparts."""
    column = cells.column
    if values is None:
        return _by_reader(cells, kind) if has_own_text(column) else _padded(cells, kind)
    strings = values.array(kind, len(cells))
    if pa.types.is_binary(kind):
        return strings
    if column.charset in UTF8:
        if is_text(strings):
            return strings
        data, offsets = values.bytes_and_offsets()
        is_small = _OF_BYTE * len(data) <= LONGEST
        return _escaped(cells, kind, data, offsets) if is_small else _decoded(cells, kind, strings)
    data, offsets = values.bytes_and_offsets()
    if extends_ascii(column.charset) and is_ascii(data):
        return strings
    if (table := single_bytes(column.charset)) is not None:
        sizes, characters = table
        if sizes.all() or sizes[data].all():
            return _recoded(cells, kind, data, offsets, sizes, characters)
    return _decoded(cells, kind, strings)


def is_ascii(data: Bytes) -> bool:
    """Whether all bytes are below 128, which is much faster than validating UTF-8."""
    return not len(data) or int(data.view(np.int8).min()) >= 0


def is_text(strings: pa.Array) -> bool:
    """Whether all values of a string array are valid UTF-8."""
    data = strings.buffers()[2]
    if data is None or is_ascii(np.frombuffer(data, dtype=np.uint8)):
        return True
    try:
        strings.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def of_bytes(cells: Cells, kind: pa.DataType, data: Bytes, offsets: Array) -> pa.Array:
    """An Arrow string array from bytes and offsets, with nulls for missing values.

    Raises `CellError`: the bytes exceed Arrow's limit.
    """
    check_ends(offsets[1:])
    valid = cells.valid
    nulls = len(valid) - int(np.count_nonzero(valid))
    bits = pa.py_buffer(np.packbits(valid, bitorder="little")) if nulls else None
    buffers = [bits, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)]
    return pa.Array.from_buffers(kind, len(cells), buffers, nulls)


def _escaped(cells: Cells, kind: pa.DataType, data: Bytes, offsets: Array) -> pa.Array:
    """Strings with invalid UTF-8, all decoded with `escape_bytes`."""
    out, ends = np.empty(_OF_BYTE * len(data), dtype=np.uint8), np.empty(len(offsets), dtype=np.int64)
    size = escape_bytes.run(data, offsets.astype(np.int64, copy=False), out, ends)
    if size < 0:
        raise AssertionError("decoded strings exceed their buffer")
    return of_bytes(cells, kind, out[:size] if 2 * size > len(out) else out[:size].copy(), ends)


def _decoded(cells: Cells, kind: pa.DataType, strings: pa.Array) -> pa.Array:
    """By Python's codecs, each distinct value once."""
    as_bytes = strings.view(pa.binary()).dictionary_encode()
    texts = [escaped(raw, cells.column.charset) for raw in as_bytes.dictionary.to_pylist()]
    return pa.array(texts, kind).take(as_bytes.indices)


def _padded(cells: Cells, kind: pa.DataType) -> pa.Array:
    """BINARY, with the trailing zero bytes that logs omit."""
    offsets = np.empty(len(cells) + 1, dtype=np.int64)
    offsets[0] = 0
    cells.run(measure, cells.width.prefix, cells.column.length, 0, offsets[1:])
    out = np.empty(int(offsets[-1]), dtype=np.uint8)
    pad_values.run(cells.data, cells.starts, cells.width.prefix, offsets, out)
    return of_bytes(cells, kind, out, offsets)


def _recoded(
    cells: Cells, kind: pa.DataType, data: Bytes, offsets: Array, sizes: Ints, characters: Bytes
) -> pa.Array:
    positions = np.empty(len(offsets), dtype=np.int64)
    measure_recoded.run(data, offsets, sizes, positions)
    out = np.empty(int(positions[-1]), dtype=np.uint8)
    recode.run(data, sizes, characters, out)
    return of_bytes(cells, kind, out, positions)


def geometries(cells: Cells, kind: pa.DataType, values: ColumnValues, zero_dates: str) -> pa.Array:
    """SRID and WKB, as stored."""
    return values.array(kind, len(cells))


def vectors(cells: Cells, kind: pa.DataType, values: ColumnValues, zero_dates: str) -> pa.Array:
    """VECTOR: the log stores the floats in Arrow's representation."""
    data, offsets = values.bytes_and_offsets()
    if (offsets & 3).any():
        return _by_reader(cells, kind)
    floats = pa.Array.from_buffers(pa.float32(), len(data) // 4, [None, values.data])
    buffers = [values.valid, pa.py_buffer(offsets >> 2)]
    return pa.Array.from_buffers(kind, len(cells), buffers, values.nulls, children=[floats])


def _by_reader(cells: Cells, kind: pa.DataType) -> pa.Array:
    def convert(value: Value) -> Any:
        return escaped(value, cells.column.charset) if isinstance(value, bytes) else value

    return pa.array(cells.by_reader(np.arange(len(cells)), convert), kind)


#: Read methods and array constructors of string types: see `builders`.
BUILDERS: dict[Kind, tuple[Callable[..., ReadMethod | None], Callable[..., pa.Array]]] = {
    **dict.fromkeys(STRINGS, (_way, texts)),
    Kind.GEOMETRY: (_way, geometries),
    Kind.VECTOR: (_way, vectors),
}


#: For numbers of up to this many bytes, all possible texts are cached.
_SHORT = 2

#: Number of bytes after the texts that kernels may overwrite.
_SLACK = 16


class _KnownChoices:
    """Cached texts of a column.

    `numbers`: int64 array, for each value, the number of its text; -1 if unknown.
    `texts`: uint8 array, texts without separators.
    `limits`: int64 array, start of each text, and the end of the last.
    """

    def __init__(self) -> None:
        self.numbers = np.zeros(0, dtype=np.int64)
        self.texts = np.zeros(0, dtype=np.uint8)
        self.limits = np.zeros(1, dtype=np.int64)
        self.lock = Lock()  # pages of a table are processed in several threads

    def add(self, values: Ints, texts: list[str]) -> None:
        """Add values that are not cached yet, in ascending order, with their texts."""
        room = max(len(self.numbers), int(values[-1]) + 1)
        numbers = np.full(room, -1, dtype=np.int64)
        numbers[: len(self.numbers)] = self.numbers
        numbers[values] = len(self.limits) - 1 + np.arange(len(values))
        raw = [plain(text).encode() for text in texts]
        ends = self.limits[-1] + np.cumsum([len(text) for text in raw])
        self.numbers, self.limits = numbers, np.concatenate((self.limits, ends))
        self.texts = np.concatenate((self.texts, np.frombuffer(b"".join(raw), dtype=np.uint8)))


def _known(cells: Cells) -> _KnownChoices:
    known: _KnownChoices = cells.table.memory.setdefault(("choices", cells.column.index), _KnownChoices())
    return known


def choice_way(cells: Cells) -> ReadMethod | None:
    """How kernels read the values; None if there are too many to cache."""
    return ReadMethod(ways.MEMBERS, 4, 0, _known(cells).numbers) if cells.width.fixed <= _SHORT else None


def choice_texts(cells: Cells, kind: pa.DataType, values: ColumnValues | None) -> pa.Array:
    """The column as an Arrow array, from the values read."""
    if values is None:
        return _by_value(cells, kind)
    known, count = _known(cells), len(cells)
    numbers = np.frombuffer(values.values, dtype=np.int32)[:count]
    if values.invalid:
        raw = _raw(cells)
        unknown = np.flatnonzero(cells.valid & (numbers < 0))
        new, first = np.unique(raw[unknown], return_index=True)
        texts = cells.by_reader(unknown[first])
        positions = np.where(cells.valid, raw, 0).astype(np.int64)
        with known.lock:
            known.add(new.astype(np.int64), texts)
            numbers = np.where(cells.valid, known.numbers[positions], -1).astype(np.int32, copy=False)
    with known.lock:
        members, limits = known.texts, known.limits
    # The last entry stands for no value.
    lengths = np.append(np.diff(limits), 0)
    ends = np.cumsum(lengths[numbers])
    check_ends(ends)
    offsets = np.zeros(count + 1, dtype=np.int32)
    offsets[1:] = ends
    out = np.empty(int(offsets[-1]) + _SLACK, dtype=np.uint8)
    copy_members.run(members, limits, numbers, offsets, out)
    buffers = [values.valid, pa.py_buffer(offsets), pa.py_buffer(out[: int(offsets[-1])])]
    return pa.Array.from_buffers(kind, count, buffers, values.nulls)


def _raw(cells: Cells) -> NDArray[np.uint64]:
    raw = np.empty(len(cells), dtype=np.uint64)
    cells.run(read_numbers, 0, cells.width.fixed, False, raw)
    return raw


def _by_value(cells: Cells, kind: pa.DataType) -> pa.Array:
    valid = cells.valid
    _, first, which = np.unique(_raw(cells)[valid], return_index=True, return_inverse=True)
    texts = cells.by_reader(np.flatnonzero(valid)[first])
    codes = np.zeros(len(cells), dtype=np.int32)
    codes[valid] = which.reshape(-1)
    return pa.array([plain(text) for text in texts], kind).take(pa.array(codes, mask=~valid))


#: Size of the output per byte of input, and minimum size.
_RATIO, _LEAST = 2, 1 << 12


def documents(cells: Cells, kind: pa.DataType) -> pa.Array:
    """JSON in the format of the server."""
    count, prefix = len(cells), cells.width.prefix
    offsets = np.zeros(count + 1, dtype=np.int64)
    size = int(cells.run(measure, prefix, 0, 0, offsets[1:]))
    out, is_left = np.empty(_RATIO * size + _LEAST, dtype=np.uint8), np.zeros(count, dtype=np.bool_)
    stack = np.empty(MAX_DEPTH * LEVEL, dtype=np.int64)
    offsets[0] = 0
    reached = 0
    while True:
        state = prefix, reached, stack
        reached, offset = put_documents.run(cells.data, cells.starts, *state, out, offsets, is_left)
        if reached == count:
            break
        out = _doubled(out, offset)
    texts = of_bytes(cells, kind, out[:offset], offsets)
    rows = np.flatnonzero(is_left if is_text(texts) else cells.valid)
    if not len(rows):
        return texts
    mask = np.zeros(count, dtype=np.bool_)
    mask[rows] = True
    by_reader = cells.by_reader(rows, lambda value: plain(str(value)))
    return pc.replace_with_mask(texts, pa.array(mask), pa.array(by_reader, kind))


def _doubled(buffer: Bytes, used: int) -> Bytes:
    """A buffer of twice the size with the same start; memory that is not used is not touched."""
    doubled = np.empty(2 * len(buffer), dtype=np.uint8)
    doubled[:used] = buffer[:used]
    return doubled
