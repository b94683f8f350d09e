"""Bits and widths of event fields are stated in formats/ alone: handwritten code takes them from there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "binlog_kaitai"

#: Values of row cells; the check does not cover them yet.
CELLS = (
    "columns/rows/",
    "columns/text/",
    "values/",
    "columns/views/changes.py",
    "core/adapter.py: decimal_text",
    "render/dump/cells.py",
)

#: Bits that are not those of a field of an event, by file and function (or all of a file).
OTHER_BITS = {
    "columns/blocks/frame_kernels.py: _is_start": "as many bytes of a position as the start of a log has",
    "columns/blocks/resync.py: _may_be": "the lowest and the highest byte of an offset",
    "columns/blocks/crc32_shift.py": "arithmetic of CRC32",
    "columns/blocks/crc32_short.py": "arithmetic of CRC32",
    "columns/json_strings.py": "UTF-8 and hexadecimal digits",
    "columns/kernel/byte_kernels.py: hash_ranges": "a hash",
    "columns/kernel/byte_kernels.py: turned": "the bytes of a number in the other order",
    "columns/transactions/gtid_runs.py: _mysql_source": "the halves of a UUID",
    "columns/transactions/gtids.py: _of_mysql": "the halves of a UUID",
    "core/framing.py: is_start": "as many bytes of a position as the start of a log has",
    "lake/write.py: _changes": "which images a program has",
    "render/dump/printer.py: print_intvar": "the client prints an unsigned number as a signed one",
    "render/dump/row_programs.py": "numbers that programs of columns pack",
    "render/sql/event_roles.py: xa_rows": "letters in lower case",
    "spark/infer.py: _tables": "a size in MiB",
}

_FORMAT = re.compile(r"[<>]?[0-9]*[xcbBhHiIlLqQfd]+|[<>][iuf][1248]")


def problems(path: str, source: str) -> Iterator[str]:
    """Every literal mask, shift or width of a field in a module: its place, and what is there."""
    for place, found in all_bits(path, source):
        if not place.startswith((*CELLS, *OTHER_BITS)):
            yield f"{place}: {found}"


def all_bits(path: str, source: str) -> Iterator[tuple[str, str]]:
    """The same without exceptions, the place (file and function) by itself."""
    tree = ast.parse(source)
    literals = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and _is_literal(node.value, set())
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for function, node in _nodes(tree):
        if found := _problem(node, literals):
            yield f"{path}: {function}", found


def _nodes(tree: ast.AST, function: str = "") -> Iterator[tuple[str, ast.AST]]:
    for node in ast.iter_child_nodes(tree):
        name = node.name if isinstance(node, ast.FunctionDef) and not function else function
        yield name, node
        yield from _nodes(node, name)


def _problem(node: ast.AST, literals: set[str]) -> str | None:
    if isinstance(node, ast.BinOp):
        is_mask = isinstance(node.op, (ast.BitAnd, ast.BitOr))
        both = (node.left, node.right)
        if is_mask and sum(_is_literal(one, literals) for one in both) == 1:
            return ast.unparse(node)
        if isinstance(node.op, ast.RShift) and _is_literal(node.right, literals):
            return ast.unparse(node)
    if isinstance(node, ast.AugAssign):
        is_bits = isinstance(node.op, (ast.BitAnd, ast.BitOr, ast.RShift))
        if is_bits and _is_literal(node.value, literals):
            return ast.unparse(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        first = node.args[0]
        if node.func.attr == "to_bytes" and isinstance(first, ast.Constant):
            return ast.unparse(node)
        is_struct = node.func.attr in ("Struct", "pack", "unpack", "unpack_from", "calcsize")
        if is_struct and isinstance(first, ast.Constant) and _FORMAT.fullmatch(str(first.value)):
            return ast.unparse(node)
    return None


def _is_literal(node: ast.AST, literals: set[str]) -> bool:
    """Whether a number is written out, as it is or under a name of the module."""
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


def modules() -> Iterator[tuple[str, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8")


def test_handwritten_code_restates_no_bit_of_an_event() -> None:
    assert [problem for path, source in modules() for problem in problems(path, source)] == []


@pytest.mark.parametrize(
    "line",
    [
        "x = flags & 0x0C",
        "x = flags & ~1",
        "M = 1 << 3\nx = flags & M",
        "x = bits >> 4 & one",
        "x |= 0x40",
        "x = size.to_bytes(4, 'little')",
        "x = struct.unpack_from('<I', data, 9)",
        "M = np.uint64(0x7F)\nx = data[0] & M",
    ],
)
def test_the_check_sees_them(line: str) -> None:
    assert list(problems("some.py", line))


@pytest.mark.parametrize("line", ["x = a & b", "x = flags & masks.EventHeader.IS_IN_USE", "x = 1 << 20"])
def test_the_check_sees_nothing_else(line: str) -> None:
    assert not list(problems("some.py", line))


def test_every_exception_is_needed() -> None:
    places = [place for path, source in modules() for place, _ in all_bits(path, source)]
    assert [one for one in OTHER_BITS if not any(place.startswith(one) for place in places)] == []
