"""Columns read together: equal compiled and as Python, over many rows, never out of bounds."""

from __future__ import annotations

import random
from decimal import Decimal, localcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from binlog_kaitai.core.adapter import digit_groups
from binlog_kaitai.kernels import compile as compiling
from binlog_kaitai.rows import read_kernels as ways
from binlog_kaitai.rows.column_cells import Cells
from binlog_kaitai.rows.fused_columns import ReadMethod, read_together
from binlog_kaitai.rows.image_walk import ABSENT, NULL
from binlog_kaitai.rows.table_maps import Width


@pytest.fixture(params=["plain", "compiled"], autouse=True)
def mode(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling.Kernel, "run", property(lambda kernel: getattr(kernel, request.param)))


def cells(data: bytes, starts: list[int], width: Width) -> Cells:
    table: Any = SimpleNamespace(widths=[width], memory={})
    column: Any = SimpleNamespace(index=0)
    return Cells(table, column, np.frombuffer(data, dtype=np.uint8), np.array(starts, dtype=np.int64))


def stored(value: Decimal, precision: int, scale: int) -> bytes:
    """A DECIMAL as the server stores it (strings/decimal.cc, decimal2bin)."""
    digits = f"{int(abs(value).scaleb(scale)):0{precision}d}"
    at, found = 0, b""
    for count, size, _ in digit_groups(precision, scale)[0]:
        found += int(digits[at : at + count]).to_bytes(size, "big")
        at += count
    found = bytes([found[0] ^ 0x80]) + found[1:]
    return bytes(byte ^ 0xFF for byte in found) if value < 0 else found


@pytest.mark.parametrize(
    ("precision", "scale"), [(1, 0), (9, 9), (10, 2), (18, 4), (19, 0), (20, 6), (38, 10), (39, 1), (65, 30)]
)
def test_decimals_of_all_lengths(precision: int, scale: int) -> None:
    chance, most = random.Random(precision), 10**precision - 1
    numbers = [0, 1, -1, most, -most, *(chance.randint(-most, most) for _ in range(40))]
    with localcontext() as context:
        context.prec = 80
        values = [Decimal(number).scaleb(-scale) for number in numbers]
        raw = [stored(value, precision, scale) for value in values]
    size = len(raw[0])
    is_long = precision > 38
    groups = np.array([group[:2] for group in digit_groups(precision, scale)[0]], dtype=np.int64).reshape(-1)
    way = ReadMethod(ways.LONG_DECIMALS if is_long else ways.DECIMALS, 32 if is_long else 16, 0, groups)
    (found,) = read_together([(cells(b"".join(raw), [size * n for n in range(len(raw))], Width(size)), way)])
    kind = (pa.decimal256 if is_long else pa.decimal128)(precision, scale)
    assert found.array(kind, len(raw)).to_pylist() == values
    assert not found.invalid


def test_bytes_that_are_no_digits_are_counted() -> None:
    way = ReadMethod(ways.DECIMALS, 16, 0, np.array([9, 4], dtype=np.int64))
    data = b"\x80\0\0\1" + b"\xff\xff\xff\xff"
    (found,) = read_together([(cells(data, [0, 4, NULL], Width(4)), way)])
    assert (found.invalid, found.nulls) == (1, 1)


def test_strings_and_numbers_over_many_steps() -> None:
    """Strings of many lengths up to the last byte there is, some not there; more rows than a step has."""
    chance, data, numbers, texts = random.Random(3), bytearray(), list[int](), list[bytes | None]()
    starts: list[list[int]] = [[], []]
    for row in range(2 * ways.ROWS_AT_ONCE + 77):
        numbers.append(chance.randrange(1 << 32))
        starts[0].append(len(data))
        data += numbers[-1].to_bytes(4, "little")
        is_there = chance.random() < 0.9
        content = bytes([row & 0xFF]) * chance.choice([0, 1, 7, 15, 16, 17, 33, 200])
        texts.append(content if is_there else None)
        starts[1].append(len(data) if is_there else chance.choice([NULL, ABSENT]))
        data += bytes([len(content)]) + content if is_there else b""
    first = cells(bytes(data), starts[0], Width(4))
    second = cells(bytes(data), starts[1], Width(0, 1))
    number, text = read_together(
        [(first, ReadMethod(ways.INTEGERS, 4)), (second, ReadMethod(ways.STRINGS, 4))]
    )
    assert number.array(pa.uint32(), len(numbers)).to_pylist() == numbers
    assert text.array(pa.binary(), len(texts)).to_pylist() == texts


ITEMS = {
    ways.INTEGERS: 4,
    ways.YEARS: 2,
    ways.DATES: 4,
    ways.DECIMALS: 16,
    ways.LONG_DECIMALS: 32,
}


@pytest.mark.parametrize("how", range(ways.MEMBERS))
def test_values_that_are_not_inside_are_nothing(how: int) -> None:
    way = ReadMethod(how, ITEMS.get(how, 8), 1, np.array([9, 4, 9, 4], dtype=np.int64))
    (found,) = read_together([(cells(b"\xff" * 8, [9, 8, 1 << 40, NULL], Width(8)), way)])
    assert not any(bytes(found.values)[: 4 * way.item])
    assert found.invalid == 0


def test_machine_code_goes_by_the_functions_of_other_modules_that_it_calls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = compiling.fingerprint(ways.read_columns.plain)
    monkeypatch.setattr(ways, "int_4", lambda data, offset, is_unsigned: 0)
    assert compiling.fingerprint(ways.read_columns.plain) != before
    monkeypatch.undo()
    assert compiling.fingerprint(ways.read_columns.plain) == before
