"""The layout of values is stated in formats/: handwritten code does not take bytes apart by itself.

Looked for are bytes that are shifted or masked, and calls that read numbers out of bytes. What is left has a
reason here, and goes from here with the code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "binlog_kaitai"

#: Calls that read numbers.
READERS = {"from_bytes", "Struct", "unpack", "unpack_from", "iter_unpack"}
BITS = (ast.LShift, ast.RShift, ast.BitAnd)

#: The files that have values in them: what they hold of layouts.
FOLDERS = ("columns/rows", "columns/text", "values", "render/dump", "render/sql")
OTHERS = ("core/adapter.py", "reader/rows.py", "columns/views/changes.py", "columns/kernel/decoders.py")
FOUND = [path for folder in FOLDERS for path in sorted((PACKAGE / folder).rglob("*.py"))]
VALUES = [*OTHERS, *(path.relative_to(PACKAGE).as_posix() for path in FOUND)]

ALLOWED = {
    # Text, not bytes of a log.
    "columns/text/base64.py": "base64",
    "columns/text/sql_kernels.py": "digits of hexadecimal numbers",
    "columns/text/printed_values.py": "IEEE 754 numbers, single bits, digits of escapes",
    "columns/rows/json_kernels.py": "a length in groups of seven bits; digits of escapes",
    "columns/rows/counting.py": "eight null bits at once, and those of no column masked",
    "values/charsets/tables.py": "code points of a table of characters, no bytes of a log",
    "columns/text/sql.py": "SRIDs of a whole column at once",
    # Values that the grammar has as bytes, since they may have more than 53 bits.
    "values/temporal.py": "MariaDB's old times with a fraction",
    "values/types.py": "BIT",
    "values/strings.py": "MariaDB's UUID and INET6, strings to the log; lengths of COMPRESSED values",
    "values/sql_text.py": "the SRID in front of a shape, which is one string of bytes by then",
    "render/sql/where.py": "hexadecimal literals",
    "core/adapter.py": "the checksum of an event",
    "render/dump/cells.py": "bytes as a row of bits",
    "render/dump/inverse_rows.py": "the flag of a statement's end",
}


def restated(source: str) -> Iterator[str]:
    """The places that take bytes apart, as text."""
    tree = ast.parse(source)
    bytes_ = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _is_byte(node.value, set())
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in READERS:
            yield f"line {node.lineno}: {ast.unparse(node)}"
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, BITS):
            continue
        if _is_byte(node.left, bytes_) or _is_byte(node.right, bytes_):
            yield f"line {node.lineno}: {ast.unparse(node)}"


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


def test_every_exception_is_a_file_that_is_there() -> None:
    assert set(ALLOWED) <= set(VALUES)


@pytest.mark.parametrize("name", VALUES)
def test_no_file_takes_values_apart(name: str) -> None:
    found = list(restated((PACKAGE / name).read_text(encoding="utf-8")))
    assert bool(found) == (name in ALLOWED), f"let a decoder do it (tools/generate/decoders.py): {found}"


@pytest.mark.parametrize(
    "source",
    [
        "a = np.int64(data[at]) | np.int64(data[at + 1]) << 8",
        "a = data[at] & 0x80",
        "a = (data[bit >> 3] >> (bit & 7)) & 1",
        "a = int.from_bytes(cell.packed, 'big')",
        "a = struct.Struct('<I')",
        "a = data[starts + 1].astype(np.int64) << 8",
        "byte = np.int64(data[at])\nlength |= byte & 0x7F",
    ],
)
def test_what_takes_bytes_apart_is_found(source: str) -> None:
    assert list(restated(source))


@pytest.mark.parametrize("source", ["a = 1 << 20", "a = which & 1", "a = sizes[1] >> side", "a = data[at]"])
def test_other_arithmetic_is_not(source: str) -> None:
    assert not list(restated(source))
