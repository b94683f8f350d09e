"""Only formats/ states bits, widths and layouts; handwritten code takes them from there.

Looked for are literal masks, shifts and widths, bytes that are shifted or masked, and calls that make numbers
of bytes. What handwritten code may still do has a reason below.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "binlog_kaitai"

#: Why code does so, by file and function, or file alone.
REASONS = {
    # Not bytes of a log, but numbers, text and programs of ours.
    "log/crc32.py": "arithmetic of CRC32",
    "text/line_arrays.py": "UTF-8 and hexadecimal digits",
    "kernels/byte_kernels.py: hash_of": "a hash",
    "rows/row_images.py: _new_program": "which images are wanted",
    "text/json_kernels.py: put_document": "types of containers, odd: large; a stack, packed",
    "text/json_kernels.py: put_path": "types of containers in a stack, packed",
    "rows/read_kernels.py: mark_valid": "Arrow's validity bits",
    "rows/read_kernels.py: read_columns": "the bytes that some bits take",
    "rows/string_columns.py: vectors": "the alignment of Arrow's buffers",
    "rows/read_kernels.py: days_of": "arithmetic of the calendar",
    "rows/image_walk.py: walk_images": "which images are wanted",
    "rows/image_walk.py: after_image": "null bits, eight at once",
    "rows/rolled_back_rows.py: _candidates": "letters in lower case",
    "text/base64_kernel.py": "base64",
    "text/listed_values.py: put_cell": "packed numbers",
    "text/listed_values.py: put_sql": "packed numbers",
    "text/listed_values.py: put_members": "members of a SET, which the grammar has as one number",
    "text/float_texts.py: _power": "the upper half of a power of ten",
    "text/float_texts.py: put_general": "decimal digits of a floating-point number",
    "text/float_texts.py: put_shortest": "the exponent of an IEEE 754 number",
    "text/float_texts.py: shortest": "the parts of an IEEE 754 number, and its decimal digits",
    "text/text_kernels.py": "hexadecimal digits",
    "text/listed_values.py: put_client": "packed numbers",
    "lines/row_line_kernel.py: code_at": "UTF-8",
    "lines/row_line_kernel.py: put_printable": "UTF-8 and hexadecimal digits",
    "text/sql_kernels.py: put_digits": "hexadecimal digits",
    "log/event_gtids.py: _of_mysql": "the halves of a UUID",
    "lines/debezium_rows.py: base64_texts": "base64",
    "snapshot/snapshot_values.py: value_of_text": "a BIT that a query returns",
    "dump/printer.py: print_intvar": "the client prints an unsigned number as a signed one",
    "render/sql/logged_statements.py: xa_rows": "letters in lower case",
    "spark/infer.py: _tables": "a size in MiB",
    "sources/remote.py: read_whole": "a size in MiB",
    "values/charsets.py: _characters": "code points of a table of characters",
    "values/numbers.py: shortest_float": "a number rounded to single precision",
    "values/strings.py: set_of": "members of a SET, which the grammar has as one number",
    # The bytes of numbers whose widths and offsets come from the grammar.
    "log/block_reader.py": "the magic; the part of a position that the start of a log has",
    "log/resync.py: _may_be": "the lowest and the highest byte of an offset",
    "kernels/byte_kernels.py: read_u4": "a number of 4 bytes",
    "kernels/byte_kernels.py: byte_swapped": "the bytes of a number in the other order",
    "core/adapter.py: stored_checksum": "the checksum of an event, without reading the event",
    "core/framing.py: is_start": "the part of a position that the start of a log has",
    "core/rows_events.py: _has_checksum": "the checksum of an event, without reading the event",
    "live/packets.py: unpack": "the length of a packet, of millions of them; a flag by its mask",
    "live/packets.py: length": "the length of a packet",
    "dump/flashback.py: flagged": "the flag of a statement's end, set and not read",
    "sources/event_cipher.py": "lengths and checksums of events, at the grammar's offsets",
    "sources/encryption.py": "the flag that servers set, and the checksum after that",
    "sources/innodb_pages.py: page": "the checksum of a page",
    "check/format_search.py": "fields of a drafted format description",
    "check/log_start.py: _neighbours": "the checksum without the flag of a log in use",
    # Values that the grammar has as bytes, since they may have more than 53 bits or are strings to the log.
    "rows/event_metadata.py: _times": "the flag in the highest bit of a timestamp",
    "text/json_kernels.py: put_scalar": "types of integers; odd: signed",
    "text/json_kernels.py: string_at": "a length in groups of seven bits",
    "text/printed_values.py: put_bits": "BIT, a bit at a time",
    "values/sql_text.py": "the SRID before a shape, which is one string of bytes by then",
    "values/strings.py: _inet6": "MariaDB's INET6",
    "values/strings.py: _unpack": "lengths of COMPRESSED values",
    "values/strings.py: _uuid": "MariaDB's UUID",
    "values/temporal.py": "MariaDB's old times with a fraction",
    "values/representations.py": "BIT",
}

_BITS = (ast.LShift, ast.RShift, ast.BitAnd)
_STRUCT = ("Struct", "pack", "unpack", "unpack_from", "iter_unpack", "calcsize")
_FORMAT = re.compile(r"[<>]?[0-9]*[xcbBhHiIlLqQfd]+|[<>][iuf][1248]")


def restated(path: str, source: str) -> Iterator[tuple[str, str]]:
    """Bits and layouts stated by a module: the location (file and function), and the code."""
    tree = ast.parse(source)
    literals = _named(tree.body, lambda value: _is_literal(value, set()))
    bytes_ = _named(ast.walk(tree), lambda value: _is_byte(value, set()))
    for function, node in _nodes(tree):
        if _states(node, literals, bytes_):
            yield f"{path}: {function}", ast.unparse(node)


def _named(nodes: Iterable[ast.AST], is_wanted: Callable[[ast.expr], bool]) -> set[str]:
    """The names that are given a value of a kind."""
    found = [node for node in nodes if isinstance(node, ast.Assign) and is_wanted(node.value)]
    return {target.id for node in found for target in node.targets if isinstance(target, ast.Name)}


def _nodes(tree: ast.AST, function: str = "") -> Iterator[tuple[str, ast.AST]]:
    for node in ast.iter_child_nodes(tree):
        name = node.name if isinstance(node, ast.FunctionDef) and not function else function
        yield name, node
        yield from _nodes(node, name)


def _states(node: ast.AST, literals: set[str], bytes_: set[str]) -> bool:
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            both = (left, right)
            if isinstance(op, _BITS) and any(_is_byte(one, bytes_) for one in both):
                return True
            if isinstance(op, (ast.BitAnd, ast.BitOr)):
                return sum(_is_literal(one, literals) for one in both) == 1
            return isinstance(op, ast.RShift) and _is_literal(right, literals)
        case ast.AugAssign(op=ast.BitAnd() | ast.BitOr() | ast.RShift(), value=value):
            return _is_literal(value, literals)
        case ast.Attribute(attr="from_bytes"):
            return True
        case ast.Call(func=ast.Attribute(attr="to_bytes"), args=[ast.Constant(), *_]):
            return True
        case ast.Call(func=ast.Attribute(attr=name), args=[ast.Constant(value=form), *_]):
            return name in _STRUCT and bool(_FORMAT.fullmatch(str(form)))
    return False


def _is_literal(node: ast.AST, literals: set[str]) -> bool:
    """Whether a number is a literal, or a module-level name for one."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int) and not isinstance(value, bool)
        case ast.Name(id=name):
            return name in literals
        case ast.UnaryOp(operand=operand):
            return _is_literal(operand, literals)
        case ast.BinOp(left=left, right=right):
            return _is_literal(left, literals) and _is_literal(right, literals)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np")), args=[one]):
            return _is_literal(one, literals)
    return False


def _is_byte(node: ast.expr, names: set[str]) -> bool:
    """Whether it is a byte of some data, or a name that was given one; also converted, as by `np.int64`."""
    while isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("astype", "view"):
            node = node.func.value
        elif len(node.args) == 1:
            node = node.args[0]
        else:
            return False
    if isinstance(node, ast.Name):
        return node.id in names
    return isinstance(node, ast.Subscript) and ast.unparse(node.value).split(".")[-1] in ("data", "raw")


@cache
def everything() -> list[tuple[str, str]]:
    return [
        place
        for path in sorted(PACKAGE.rglob("*.py"))
        for place in restated(path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8"))
    ]


def is_reason_for(reason: str, place: str) -> bool:
    return place == reason or place.startswith(f"{reason}: ")


def test_handwritten_code_restates_no_layout() -> None:
    found = [
        f"{place}: {code}"
        for place, code in everything()
        if not any(is_reason_for(reason, place) for reason in REASONS)
    ]
    assert found == [], "take it from the grammar: masks, layouts, or a decoder (tools/generate/decoders.py)"


def test_every_reason_is_needed() -> None:
    offsets = {place for place, _ in everything()}
    assert [reason for reason in REASONS if not any(is_reason_for(reason, place) for place in offsets)] == []


@pytest.mark.parametrize(
    "source",
    [
        "x = flags & 0x0C",
        "x = flags & ~1",
        "M = 1 << 3\nx = flags & M",
        "x = bits >> 4 & one",
        "x |= 0x40",
        "x = size.to_bytes(4, 'little')",
        "x = struct.unpack_from('<I', data, 9)",
        "x = struct.Struct('<I')",
        "M = np.uint64(0x7F)\nx = data[0] & M",
        "x = np.int64(data[at]) | np.int64(data[at + 1]) << shift",
        "x = (data[bit >> three] >> (bit & seven)) & one",
        "x = int.from_bytes(cell.packed, 'big')",
        "x = data[starts + 1].astype(np.int64) << shift",
        "byte = np.int64(data[at])\nlength = byte & mask",
    ],
)
def test_what_states_a_layout_is_found(source: str) -> None:
    assert list(restated("some.py", source))


@pytest.mark.parametrize(
    "source",
    [
        "x = a & b",
        "x = flags & masks.EventHeader.IS_IN_USE",
        "x = 1 << 20",
        "x = sizes[1] >> side",
        "x = data[at]",
        "x = struct.Struct(layout_format)",
    ],
)
def test_other_arithmetic_is_not(source: str) -> None:
    assert not list(restated("some.py", source))
