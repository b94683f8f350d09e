"""Comparisons of columns with literals, by the rules of the servers, for each kind of column.

Each literal becomes a `Point` in the order of its column's values, once. Literals without a meaning for the
column are refused, and so are forms for which MySQL and MariaDB select different rows:
`tests/servers/test_conditions.py` compares what remains with both.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial, reduce
from typing import Literal, NamedTuple

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.core.filters import shortened
from binlog_kaitai.core.times import LONGEST_TIME, date_parts, time_microseconds
from binlog_kaitai.errors import UsageError
from binlog_kaitai.values.charsets import BINARY, UTF8, extends_ascii
from binlog_kaitai.values.collations import (
    CODES,
    Collation,
    Compare,
    Point,
    UnsupportedError,
    collation_of,
    like,
    point_between,
    point_of,
    text_point,
)
from binlog_kaitai.values.column_kinds import CHOICES, COMPRESSED, DOCUMENTS, MOMENTS, STRINGS, Kind, of_type
from binlog_kaitai.values.schema import Column
from binlog_kaitai.values.strings import has_own_text


class Constant(NamedTuple):
    """A literal of a condition: its form and its text, of strings without quotes.

    `form`: ``"hex"`` is ``0x…``, ``"binary"`` a string after BINARY.
    """

    form: Literal["number", "string", "hex", "binary", "NULL"]
    text: str = ""

    @property
    def is_text(self) -> bool:
        return self.form in ("string", "binary")


class Comparison(NamedTuple):
    """A comparison of a column, by name, with literals.

    `operator`: one of ``= != < <= > >= <=> IN BETWEEN LIKE`` and ``IS NULL``, which has no literal.
    """

    name: str
    operator: str
    constants: tuple[Constant, ...] = ()


class _Rule(NamedTuple):
    """How values of one kind compare.

    `forms`: the literals that they compare with, as in an error.
    `points`: the points of literals, given whether order matters.
    `prepared`: the Arrow array that the points compare, given that of the column.
    `unknown`: what an unknown outcome depends on.
    """

    forms: str
    points: Callable[[Column, Sequence[Constant], bool], Sequence[Point]]
    prepared: Callable[[Column, pa.Array], pa.Array] = lambda _, values: values
    unknown: str = ""


_TESTS: dict[str, Callable[[Point], Compare]] = {
    "=": lambda point: point.equal,
    "!=": lambda point: lambda values: pc.invert(point.equal(values)),
    "<": lambda point: lambda values: pc.invert(point.at_least(values)),
    "<=": lambda point: lambda values: pc.invert(point.above(values)),
    ">": lambda point: point.above,
    ">=": lambda point: point.at_least,
}
_TESTS |= {"IN": _TESTS["="], "<=>": _TESTS["="]}

#: A number: digits before and after the decimal point, exponent. Most digits of DECIMAL; 8 bytes after 0x.
_NUMBER = r"(?ai)[-+]?(?=\.?\d)(\d*)\.?(\d*)(e[-+]?\d{1,4})?"
_MOST_DIGITS, _MOST_SCALE, _MOST_HEX = 65, 30, 18
#: Decimals of so many digits have the order and equality of the doubles nearest to them.
_DOUBLE_DIGITS = 15
#: A date, or a date and time, as a number; a year in quotes.
_DATE_NUMBER, _YEAR = r"(?a)0|\d{6}|\d{8}|\d{12}|\d{14}", r"(?a)\d{4}|\d\d?"
_FIRST_TIMESTAMP = (1970, 1, 1, 0, 0, 1)
#: MariaDB's types with a text of their own, as it prints them.
_OWN_TEXTS = {
    "uuid": r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "inet4": r"(?a)((0|[1-9]\d?\d?)(\.(?!$)|$)){4}",
}


class ColumnComparison:
    """A comparison whose literals have the type of their column.

    `name`: qualified name of the column.
    Raises `UsageError`: a literal has no meaning for the column, or not the same for all servers.
    """

    def __init__(self, column: Column, comparison: Comparison, name: str) -> None:
        self._column, self._comparison, self._name = column, comparison, name
        constants = [constant for constant in comparison.constants if constant.form != "NULL"]
        self._rule = _rule_of(column, constants)
        try:
            self._tests = self._tests_of(constants)
        except UnsupportedError as error:
            kind = column.kind.name.removeprefix("OLD_")
            texts = ", ".join(shortened(text) if form == "string" else text[:80] for form, text in constants)
            reason = "".join(f": {argument}" for argument in error.args)
            raise UsageError(
                f"column {name} ({kind}) does not compare with {texts}{reason}; use {self._rule.forms}"
            ) from None

    def _tests_of(self, constants: Sequence[Constant]) -> list[Compare]:
        _, operator, all_constants = self._comparison
        if self._rule is not _BYTES and len({constant.is_text for constant in constants}) > 1:
            raise UnsupportedError("numbers and strings in one comparison")
        if operator == "LIKE":
            return [_pattern(self._column, constant) for constant in constants]
        if operator == "BETWEEN" and self._rule is _TEXT and any(form == "binary" for form, _ in constants):
            raise UnsupportedError("what BETWEEN does with BINARY depends on the server")
        signs = (">=", "<=") if operator == "BETWEEN" else (operator,) * len(all_constants)
        points = iter(self._rule.points(self._column, constants, operator not in ("=", "!=", "<=>", "IN")))
        return [
            _TESTS[sign](next(points))
            for sign, constant in zip(signs, all_constants, strict=False)
            if constant.form != "NULL"
        ]

    def outcome(self, values: pa.Array) -> tuple[pa.BooleanArray, pa.BooleanArray | None]:
        """Compare the values of the column, as an Arrow array with dates as text.

        Returns which fulfil the comparison, null for neither; and for which that is unknown, if for any.
        """
        if self._comparison.operator == "IS NULL":
            return pc.is_null(values), None
        prepared = self._rule.prepared(self._column, values)
        parts = [test(prepared) for test in self._tests]
        unknown = [
            pc.and_(pc.is_null(part), pc.is_valid(values))
            for part in parts
            if part.null_count > values.null_count
        ]
        if len(parts) < len(self._comparison.constants):
            parts.append(pa.nulls(len(values), pa.bool_()))
        holds = reduce(pc.or_kleene if self._comparison.operator == "IN" else pc.and_kleene, parts)
        if self._comparison.operator == "<=>":
            holds = pc.if_else(pc.is_null(values), False, holds)
        return holds, reduce(pc.or_, unknown) if unknown else None

    def unknown_error(self, value: object) -> UsageError:
        """The error for a value whose outcome is unknown."""
        return UsageError(
            f"whether {shortened(value)} in column {self._name} matches depends on {self._rule.unknown}"
        )


def _number(constant: Constant) -> tuple[Fraction, int, bool]:
    """A number, its digits, and whether it has an exponent, and so is a DOUBLE."""
    match = re.fullmatch(_NUMBER, constant.text)
    if constant.form == "hex" and len(constant.text) <= _MOST_HEX:
        return Fraction(int(constant.text, 16)), 0, False
    if match is None or constant.form in ("hex", "binary"):
        raise UnsupportedError
    digits = len((match[1] + match[2]).lstrip("0"))
    double = float(constant.text)
    if digits > _MOST_DIGITS or len(match[2]) > _MOST_SCALE:
        raise UnsupportedError("more digits than a DECIMAL has")
    if math.isinf(double) or (not double and digits):
        raise UnsupportedError("beyond the range of DOUBLE")
    return Fraction(double if match[3] else constant.text), digits, match[3] is not None


def _integers_from(number: int, low: int, high: int, scale: int = 0) -> Compare:
    """Which values, from `low` to `high`, are a number or more, in units of 10 to the power of `-scale`."""
    is_inside = number <= high
    bound = max(number, low) if is_inside else high

    def compare(values: pa.Array) -> pa.BooleanArray:
        exact = Decimal(f"{bound}E-{scale}") if pa.types.is_decimal(values.type) else bound
        return (pc.greater_equal if is_inside else pc.greater)(values, pa.scalar(exact, values.type))

    return compare


def _range(column: Column) -> tuple[int, int, int]:
    """The lowest and highest value as integers, and the scale."""
    if column.kind == Kind.DECIMAL:
        most = 10 ** (column.precision or 1) - 1
        return -most, most, column.scale or 0
    bits = 8 * of_type(column.type).size or (16 if column.kind == Kind.ENUM else 64)
    is_signed = column.kind == Kind.INTEGER and not column.is_unsigned
    return (-1 << bits - 1, (1 << bits - 1) - 1, 0) if is_signed else (0, (1 << bits) - 1, 0)


def _numbers(column: Column, constants: Sequence[Constant], is_ordered: bool) -> list[Point]:
    low, high, scale = _range(column)
    points = []
    for constant in constants:
        number, digits, has_exponent = _number(constant)
        if column.kind in CHOICES and (constant.is_text or "" in (column.members or ())):
            raise UnsupportedError("the log does not have the members, or one is empty")
        if has_exponent:
            raise UnsupportedError("a number with an exponent is not exact")
        is_decimal = column.kind == Kind.DECIMAL
        is_exact = (
            max(digits, column.precision or 0) <= _DOUBLE_DIGITS if is_decimal else number.denominator == 1
        )
        if constant.is_text and not is_exact:
            raise UnsupportedError("a number in quotes is not exact")
        if len(constants) > 1 and not scale and not -1 << 63 <= number <= max(high, (1 << 63) - 1):
            raise UnsupportedError("more than 64 bits")
        start, end = math.ceil(number * 10**scale), math.floor(number * 10**scale) + 1
        point = point_between(*(_integers_from(bound, low, high, scale) for bound in (start, end)))
        if column.kind == Kind.INTEGER and column.is_unsigned is None:
            unsigned = point.except_where(lambda values: pc.less(values, 0))
            point = unsigned._replace(equal=point.equal) if 0 <= number <= high else unsigned
        points.append(point)
    return points


def _floats(column: Column, constants: Sequence[Constant], is_ordered: bool) -> list[Point]:
    points = []
    for constant in constants:
        double = float(_number(constant)[0])
        with np.errstate(over="ignore"):
            near = float(np.float32(double))
        point = point_of(double)
        is_fixed = column.type_name is None or "," in column.type_name
        if column.kind == Kind.FLOAT and near != double and is_fixed:
            point = point.except_where(partial(pc.equal, near))
        points.append(point)
    return points


def _years(column: Column, constants: Sequence[Constant], is_ordered: bool) -> list[Point]:
    points = []
    for constant in constants:
        number, *_ = _number(constant)
        if number.denominator > 1 or (constant.is_text and not re.fullmatch(_YEAR, constant.text)):
            raise UnsupportedError
        if 0 < number < 100 or (constant.is_text and len(constant.text) < 3):
            if len(constants) > 1 and not is_ordered:
                raise UnsupportedError("servers differ in lists of years of two digits")
            number += 2000 if number < 70 else 1900
        points.append(point_between(*(_integers_from(int(number) + step, 0, 2155) for step in (0, 1))))
    return points


def _moments(column: Column, constants: Sequence[Constant], is_ordered: bool) -> list[Point]:
    points = []
    for form, text in constants:
        if form not in ("number", "string") or (form == "number" and not re.fullmatch(_DATE_NUMBER, text)):
            raise UnsupportedError
        parts = date_parts("00000000" if (form, text) == ("number", "0") else text)
        if parts is None or (form == "number" and column.kind == Kind.DATE and any(parts[3:])):
            raise UnsupportedError
        if column.kind in (Kind.TIMESTAMP, Kind.OLD_TIMESTAMP) and any(parts) and parts < _FIRST_TIMESTAMP:
            raise UnsupportedError("before the first TIMESTAMP")
        year, month, day, *clock, microsecond = parts
        key = f"{year:04}-{month:02}-{day:02}"
        if column.kind != Kind.DATE or any(parts[3:]):
            key += " {:02}:{:02}:{:02}".format(*clock)
        # Digits beyond those of the column sort the literal between two values.
        digits, fraction = column.fractional_digits, f"{microsecond:06}"
        fraction = fraction if fraction[digits:].strip("0") else fraction[:digits]
        points.append(point_of(f"{key}.{fraction}" if fraction else key))
    return points


def _times(column: Column, constants: Sequence[Constant], is_ordered: bool) -> list[Point]:
    points = []
    for form, text in constants:
        length = time_microseconds(text)
        if length is None or form not in ("number", "string"):
            raise UnsupportedError
        if length % 10 ** (6 - column.fractional_digits):
            raise UnsupportedError("smaller fractions of a second than the column has")
        bounds = (_integers_from(bound, -LONGEST_TIME, LONGEST_TIME) for bound in (length, length + 1))
        points.append(point_between(*bounds))
    return points


def _texts(column: Column, constants: Sequence[Constant], is_ordered: bool) -> list[Point]:
    texts = [_text(column, constant) for constant in constants]
    return [text_point(text, collation, column, is_ordered=is_ordered) for text, collation in texts]


def _text(column: Column, constant: Constant) -> tuple[str, Collation]:
    """The text of a literal, and how it compares."""
    if not constant.is_text:
        raise UnsupportedError
    if constant.form == "string":
        return constant.text, collation_of(column)
    if column.charset not in UTF8 and not (constant.text.isascii() and extends_ascii(column.charset)):
        raise UnsupportedError(f"its bytes differ in {column.charset}")
    return constant.text, CODES


def _own_texts(column: Column, constants: Sequence[Constant], is_ordered: bool) -> list[Point]:
    pattern = _OWN_TEXTS.get((column.type_name or "").lower(), "(?!)")
    if is_ordered or not all(form == "string" and re.fullmatch(pattern, text) for form, text in constants):
        raise UnsupportedError
    return [point_of(text) for _, text in constants]


def _bytes(column: Column, constants: Sequence[Constant], is_ordered: bool) -> list[Point]:
    if any(form == "number" for form, _ in constants):
        raise UnsupportedError
    return [point_of(bytes.fromhex(text[2:]) if form == "hex" else text.encode()) for form, text in constants]


def _none(column: Column, constants: Sequence[Constant], is_ordered: bool) -> list[Point]:
    if constants:
        raise UnsupportedError
    return []


def _pattern(column: Column, constant: Constant) -> Compare:
    rule = _rule_of(column, [constant])
    if rule is _TEXT:
        return like(*_text(column, constant))
    if not constant.is_text or rule not in (_MOMENT, _DOCUMENT):
        raise UnsupportedError("LIKE is for text and dates")
    return like(constant.text, CODES)


def _member_numbers(column: Column, values: pa.Array) -> pa.Array:
    """The numbers of members of an ENUM, and the bits of a SET, from their texts."""
    if not pa.types.is_string(values.type):
        return values
    encoded, members = values.dictionary_encode(), column.members or ()
    is_enum = column.kind == Kind.ENUM
    bits = {member: place + 1 if is_enum else 1 << place for place, member in enumerate(members)}
    texts = encoded.dictionary.to_pylist()
    distinct = [
        sum(bits[member] for member in ([text] if is_enum else text.split(",")) if text) for text in texts
    ]
    return pa.array(distinct, pa.uint64()).take(encoded.indices)


_NUMBER_FORMS = "a number such as 42, -1.5 or 0x2A, also in quotes"
_NUMBERS = _Rule(_NUMBER_FORMS, _numbers, unknown="its sign, which the log does not have; give --ddl FILE")
_FLOATS = _Rule(
    _NUMBER_FORMS,
    _floats,
    lambda _, values: values.cast(pa.float64()),
    "whether it is FLOAT(M,D), which the log does not have; give --ddl FILE, or a number between two values",
)
_MOMENT = _Rule("a date 'YYYY-MM-DD', a time 'YYYY-MM-DD hh:mm:ss', or YYYYMMDDhhmmss", _moments)
_TIME = _Rule("a time 'hh:mm:ss', 'D hh:mm:ss' or hhmmss", _times, lambda _, values: values.cast(pa.int64()))
_TEXT = _Rule(
    "text in quotes, or BINARY '…' to compare byte by byte",
    _texts,
    unknown="its collation; compare byte by byte, with BINARY '…'",
)
_BYTES = _Rule("0x… or text in quotes", _bytes)
_OWN_TEXT = _Rule("= or IN and the text of a UUID or INET4, as the server prints it, in quotes", _own_texts)
_MEMBER_NUMBERS = _Rule("the number of a member, or members in quotes", _numbers, _member_numbers)
_DOCUMENT = _Rule("LIKE or IS NULL", _none)
_OTHER = _Rule("IS NULL", _none)
_RULES = {
    **dict.fromkeys((Kind.INTEGER, Kind.DECIMAL, Kind.BIT), _NUMBERS),
    **dict.fromkeys((Kind.FLOAT, Kind.DOUBLE), _FLOATS),
    Kind.YEAR: _Rule("a year of four digits", _years),
    **dict.fromkeys((Kind.DATE, *MOMENTS), _MOMENT),
    **dict.fromkeys((Kind.TIME, Kind.OLD_TIME), _TIME),
    **dict.fromkeys(DOCUMENTS, _DOCUMENT),
}


def _rule_of(column: Column, constants: Sequence[Constant]) -> _Rule:
    if column.kind in STRINGS | COMPRESSED:
        return _OWN_TEXT if has_own_text(column) else _BYTES if column.charset == BINARY else _TEXT
    if column.kind in CHOICES:
        is_text = column.members is not None and all(constant.is_text for constant in constants)
        return _TEXT if is_text else _MEMBER_NUMBERS
    return _RULES.get(column.kind, _OTHER)
