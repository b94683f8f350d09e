"""A table with edge values of all types, and conditions on each of its columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

NAMES = [
    "new", "NEW", "paid", "pa_id", "it''s", "José", "jose", "Jose ", "5", "", "Müller", "a!", "aB", "a_",
    "中", "[x", "Zoe", "tab\t",
]  # fmt: skip
TEXTS = [
    "'new'", "'NEW'", "'new '", "'jose'", "'Bob'", "'a'", "'a_'", "'zz'", "''", "'5'", "5",
    "BINARY 'New'", "BINARY 'new'", "BINARY 'José'", "'José'", "0x6E6577",
]  # fmt: skip
PATTERNS = [
    "'n%'", "'N%'", "'%e'", "'jos_'", "'JOSE'", "'new'", "'new_'", "'pa\\_id'", "'pa_id'", "''", "'%'",
    "'_'", "'é%'", "BINARY 'n%'", "BINARY '%é'", "'%\\\\'", "'[_'", "'%.%'",
]  # fmt: skip
DAYS = [
    "2026-11-20 03:00:00", "2026-11-20 02:59:59", "2026-11-20 03:00:01", "2026-11-20 00:00:00",
    "2026-01-05 00:00:00", "2026-01-05 12:34:56.789012", "2026-11-20 03:00:00.5", "0000-00-00 00:00:00",
    "2038-01-19 03:14:07", "1970-01-01 00:00:01",
]  # fmt: skip
MOMENTS = [
    "'2026-11-20'", "'2026-11-20 03:00'", "'2026-11-20 3:0:0'", "'2026-11-20T03:00:00'",
    "'2026-11-20 03'", "'2026-11-20 03:00:00.5'", "'2026-11-20 03:00:00.500000'",
    "'2026-11-20 02:59:59.999999'", "'2026-1-5'", "'26-1-5'", "'2026/01/05'", "'2026.1.5 12:34:56.789'",
    "'20261120'", "'261120'", "'20261120030000'", "'20261120T030000'", "'261120030000'", "20261120",
    "261120", "20261120030000", "20260105123456", "0", "'0000-00-00'", "'2026-11-00'",
    "'9999-12-31 23:59:59'", "'1960-01-01'",
]  # fmt: skip
NO_MOMENTS = [
    "'2026-02-30'", "'2026-11-20 24:00'", "'2026-11-20 03:00:60'", "'202611200300'", "'2026-11'", "'x'",
    "''", "'2026-11-20 03:00:00 x'", "'2026-11-20 05:00:00+02:00'", "'2026-11-20 03:00:00Z'",
    "20261120030000.5", "2.026112e7", "'2026-11-20 03:00:00.0000006'", "-20261120", "0x20", "12",
]  # fmt: skip
TIMES = [
    "'03:00:00'", "'3:00'", "'3:0:0'", "'1 03:00:00'", "'-2:00'", "'10'", "'1011'", "'10:11:12'", "10",
    "1011", "30000", "-20000", "0", "'-0:00:00'", "'838:59:59'", "8385959", "'100:00:00'", "'0:00:10.5'",
    "10.5", "'03:00:00.123456'", "'839:00:00'", "'03:60:00'", "'x'", "''", "'1 3'",
    "'2026-11-20 03:00:00'", "3e4",
]  # fmt: skip
YEARS = [
    "2026", "26", "69", "70", "99", "100", "0", "-1", "3000", "1900", "2025.5", "26.0", "2.6e1",
    "'2026'", "'26'", "'0'", "'00'", "'000'", "'0000'", "'026'", "'x'",
]  # fmt: skip
CLOCKS = [
    "03:00:00", "-02:00:00", "00:00:10", "00:00:10.5", "838:59:59", "-838:59:59", "00:00:00", "00:10:11",
    "27:00:00", "10:11:12", "03:00:00.123456",
]  # fmt: skip
INTEGERS = [
    "0", "1", "-1", "42", "1.5", "-0.5", "42.0", "'42'", "'42.0'", "'1.5'", "'-1'", "' 42'", "'4_2'",
    "'42x'", "''", "'nan'", "'inf'", "'0x2A'", "0x2A", "0x7FFFFFFF", "TRUE", "1e0", "4.2e1", "'4.2e1'",
    "1e60", "-1e60", "'1e60'", "1e400", "127", "128", "-128", "-129", "255", "256", "'128'",
    "2147483647", "2147483648", "4294967295", "9007199254740992", "9007199254740993",
    "9007199254740993.0", "9007199254740992.5", "9007199254740993e0", "'9007199254740993'",
    "'9007199254740992.5'", "9223372036854775807", "9223372036854775808", "'9223372036854775807'",
    "18446744073709551615", "18446744073709551616", "'18446744073709551615'",
    "99999999999999999999999999999999", "0xFFFFFFFFFFFFFFFF", "0x010000000000000000",
]  # fmt: skip
NUMBERS = [
    "0", "-1", "1.1", "-1.1", "1.10000000000000000001", "'1.1'", "1.1e0", "1.5", "'1.5'", "15e-1", "0.1",
    "'0.1'", "1e-1", "0.1000000001", "'0.1000000001'", "0.5", "'0.50'", "42", "'42'", "4.2e1", "0x2A",
    "1e-50", "'1e-50'", "9999999.99", "9999999.995", "1e60", "9007199254740993", "'9007199254740993'",
    "9007199254740993e0", "16777217", "1.100000000000000000000000000001",
    "1.1000000000000000000000000000001", "'nan'", "'1_0'", "''", "'x'", "1e309",
]  # fmt: skip


class Edges(NamedTuple):
    """A type of SQL, values, literals to compare with, and patterns for LIKE."""

    type: str
    values: list[str]
    literals: list[str]
    patterns: Sequence[str] = ()


def _text(type_name: str, names: list[str] = NAMES) -> Edges:
    return Edges(type_name, [f"'{name}'" for name in names], TEXTS, PATTERNS)


def _integer(type_name: str, *values: int) -> Edges:
    return Edges(type_name, [str(value) for value in (0, 1, 42, *values)], INTEGERS)


def _moments(type_name: str) -> Edges:
    return Edges(
        type_name, [f"'{day}'" for day in DAYS], [*MOMENTS, *NO_MOMENTS], ["'2026-11-20%'", "'%03:00:0_'"]
    )


_LATIN = [name for name in NAMES if name != "中"]
_DECIMALS = ["0", "1.1", "-1.1", "1.5", "42", "0.1", "0.5"]

COLUMNS = {
    "i8": _integer("TINYINT", -128, 127, -1),
    "u8": _integer("TINYINT UNSIGNED", 255, 128),
    "i24": _integer("MEDIUMINT", -8388608, 8388607),
    "i32": _integer("INT", -2147483648, 2147483647, -7),
    "u32": _integer("INT UNSIGNED", 4294967295, 2147483648),
    "i64": _integer("BIGINT", -(2**63), 2**63 - 1, 2**53, 2**53 + 1, 2**53 + 2, -1),
    "u64": _integer("BIGINT UNSIGNED", 2**64 - 1, 2**64 - 2, 2**63, 2**53 + 1),
    "bits": _integer("BIT(64)", 2**64 - 1, 53),
    "bit1": Edges("BIT(1)", ["0", "1"], ["0", "1", "2", "'1'", "TRUE", "0x01", "0.5"]),
    "d9": Edges("DECIMAL(9,2)", [*_DECIMALS, "9999999.99", "-9999999.99"], NUMBERS),
    "d38": Edges(
        "DECIMAL(38,10)", [*_DECIMALS, "0.1000000001", "9007199254740993", "9007199254740992"], NUMBERS
    ),
    "d65": Edges(
        "DECIMAL(65,30)",
        [*_DECIMALS, "1.100000000000000000000000000001", "9007199254740993", "9" * 35 + "." + "9" * 30],
        NUMBERS,
    ),
    "f32": Edges("FLOAT", [*_DECIMALS, "16777216", "3.4e38", "1e-40"], NUMBERS),
    "f64": Edges("DOUBLE", [*_DECIMALS, "9007199254740992", "1.7e308", "1e-300"], NUMBERS),
    "fixed": Edges("FLOAT(10,2)", [*_DECIMALS, "123456.78", "1.23"], [*NUMBERS, "1.23", "123456.78"]),
    "y": Edges(
        "YEAR",
        ["2026", "1970", "2000", "0000", "1901", "2155", "2069", "1926"],
        YEARS,
    ),
    "da": _moments("DATE"),
    "dt": _moments("DATETIME"),
    "dt3": _moments("DATETIME(3)"),
    "dt6": _moments("DATETIME(6)"),
    "ts": _moments("TIMESTAMP NULL"),
    "ts6": _moments("TIMESTAMP(6) NULL"),
    **{
        name: Edges(
            f"TIME({digits})",
            [
                f"'{clock}'"
                for clock in CLOCKS
            ],
            TIMES,
        )
        for name, digits in (("t", 0), ("t3", 3), ("t6", 6))
    },
    "general": _text("VARCHAR(50) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci"),
    "unicode": _text("VARCHAR(50) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci"),
    "newest": _text("VARCHAR(50) CHARACTER SET utf8mb4"),
    "bin": _text("VARCHAR(50) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"),
    "swedish": _text("VARCHAR(50) CHARACTER SET latin1", _LATIN),
    "latin_bin": _text("VARCHAR(50) CHARACTER SET latin1 COLLATE latin1_bin", _LATIN),
    "polish": _text("VARCHAR(50) CHARACTER SET utf8mb4 COLLATE utf8mb4_polish_ci"),
    "wide": _text("VARCHAR(50) CHARACTER SET utf16"),
    "ch": _text("CHAR(10)"),
    "tx": Edges(
        "TEXT",
        ["'new'", "'b_c'", "'b%c'", r"'b\\_c'", "'bxc'", r"'b\\xc'", r"'b\\'"],
        [*TEXTS, r"'b\_c'", r"'b\\_c'", r"'b\xc'"],
        [*PATTERNS, r"'b\_c'", r"'b\%c'", "'b_c'", r"'b\\\_c'", r"'b\\\\_c'", r"'b\\xc'", r"'b\xc'"],
    ),
    "b4": Edges(
        "BINARY(4)",
        ["0x61620000", "'AB'", "0x00FF", "''"],
        ["'ab'", "0x61620000", r"'ab\0\0'", "'AB'", "5"],
    ),
    "vb": Edges(
        "VARBINARY(20)",
        ["0x61620000", "'ab'", "'AB'", "0x00FF", "''", "'5'"],
        ["'ab'", "'AB'", "0x6162", "0x00ff", "'a'", "''", "5", "BINARY 'ab'"],
        ["'a%'"],
    ),
    "en": Edges(
        "ENUM('new','paid','Open','5')",
        ["'new'", "'paid'", "'Open'", "'5'", "0"],
        ["'new'", "'NEW'", "'new '", "'open'", "'5'", "'1'", "''", "'x'", "0", "1", "5", "-1", "1.5", "2.0"],
        ["'n%'", "'N%'", "'%e%'"],
    ),
    "st": Edges(
        "SET('a','b','c')",
        ["'a'", "'b'", "'a,b'", "'c'", "''", "'a,b,c'"],
        ["'a'", "'A,B'", "'b,a'", "'a,b'", "'3'", "''", "3", "0", "4", "-1", "8", "1.5"],
        ["'%b%'", "'A%'"],
    ),
    "js": Edges(
        "JSON",
        ["'1'", "'\"a\"'", '\'{"a": 1, "b": [1.5, true]}\'', "'[]'", "'null'", "'\"A_\"'"],
        ["1", "'1'", "'a'", "'\"a\"'"],
        ["'%a%'", "'\"a%'", "'%A%'", "'[%'", "'1'"],
    ),
}  # fmt: skip

OPERATORS = ["=", "!=", "<", "<=", ">", ">=", "<=>"]

#: Conditions of more than one comparison, and with NULL.
JOINED = [
    "i32 IS NULL", "NOT i32 IS NULL", "i32 <=> NULL", "i32 = NULL", "i32 IN (1, NULL)",
    "i32 NOT IN (1, NULL)", "NOT i32 IN (1, NULL)", "i32 BETWEEN NULL AND 2",
    "i32 NOT BETWEEN NULL AND 2", "i32 BETWEEN 2 AND NULL", "general IN ('new', NULL)",
    "general LIKE NULL", "dt IN ('2026-11-20 03:00', NULL)", "i32 = 1 OR i32 = 42 AND NOT u8 = 42",
    "(i32 = 1 OR i32 = 42) AND NOT u8 = 42", "NOT (i32 = 1 OR da > '2026-1-5')",
    "NOT i32 = 1 AND NOT i32 = 0", "i32 IN (0, 1) AND general <> 'Bob'", "general = 'jose' AND i32 = 99",
    "i64 IN (9007199254740993, '42')", "i64 IN ('9007199254740993', '42.5')", "y IN (26, 70)",
    "y IN (2026, 70)", "i64 BETWEEN 9007199254740993 AND 9.007199254740993e15",
    "dt IN ('2026-11-20 03:00:00', 20260105)",
]  # fmt: skip


def conditions() -> Iterator[str]:
    """All conditions: each literal with each operator, and neighbouring ones in lists and ranges."""
    for name, edges in COLUMNS.items():
        for literal in edges.literals:
            yield from (f"{name} {operator} {literal}" for operator in OPERATORS)
        for low, high in pairwise(edges.literals):
            yield f"{name} IN ({low}, {high})"
            yield f"{name} NOT IN ({high}, {low})"
            yield f"{name} BETWEEN {low} AND {high}"
            yield f"{name} NOT BETWEEN {high} AND {low}"
        for pattern in edges.patterns:
            yield f"{name} LIKE {pattern}"
            yield f"NOT {name} LIKE {pattern}"
    yield from JOINED


def statements() -> Iterator[str]:
    """The statements that make the table `w.t`, in `sql_mode` ''."""
    columns = ", ".join(f"{name} {edges.type}" for name, edges in COLUMNS.items())
    yield f"CREATE TABLE w.t (id INT PRIMARY KEY, {columns})"
    for number in range(max(len(edges.values) for edges in COLUMNS.values()) + 1):
        values = [*(edges.values[number : number + 1] or ["NULL"] for edges in COLUMNS.values())]
        yield f"INSERT INTO w.t VALUES ({number}, {', '.join(value for (value,) in values)})"
