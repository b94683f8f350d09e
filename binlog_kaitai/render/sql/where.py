"""Conditions on values, as in `sql --where`: ``id = 42 AND (status = 'new' OR note IS NULL)``.

The syntax is that of SQL: ``= <=> != <> < <= > >=``, ``[NOT] IN (…)``, ``[NOT] BETWEEN … AND …``,
``[NOT] LIKE``, ``IS [NOT] NULL``, ``NOT``, ``AND``, ``OR``, parentheses; names plain or in backquotes;
numbers, strings and ``0x…``. A comparison with NULL is neither true nor false. Text is compared byte by byte,
so case matters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from functools import reduce
from typing import NamedTuple

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.errors import UsageError

#: A literal: a number, a string, bytes, or None for NULL.
Literal = Decimal | str | bytes | None


class ConditionValues(NamedTuple):
    """The values of a column as an Arrow array; for times (as text), the number of fractional digits."""

    array: pa.Array
    digits: int | None = None


#: Returns the values of a column by name.
Values = Callable[[str], ConditionValues]

#: Evaluates the condition for each row: an Arrow array, null for neither.
Condition = Callable[[Values], "pa.BooleanArray"]

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<name>`(?:[^`]|``)+`|[^\W\d][\w$]*)
      | (?P<hex>0[xX](?:[0-9a-fA-F]{2})+)
      | (?P<number>-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,4})?)
      | (?P<string>'(?:[^'\\]|''|\\.)*'|"(?:[^"\\]|""|\\.)*")
      | (?P<sign><=>|<=|>=|<>|!=|[=<>(),])
    )""",
    re.VERBOSE | re.DOTALL,
)
_CLOCK = re.compile(r"(-?)([0-9]{1,9}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,6}))?)?")
_COMPARE = {
    "=": "equal",
    "<=>": "equal",
    "!=": "not_equal",
    "<>": "not_equal",
    "<": "less",
    "<=": "less_equal",
    ">": "greater",
    ">=": "greater_equal",
}
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class _Token(NamedTuple):
    kind: str
    text: str


class WhereCondition(NamedTuple):
    """A condition, and the columns that it refers to."""

    holds: Condition
    columns: frozenset[str]


def parse_where(text: str) -> WhereCondition:
    """Parse a condition.

    Raises `UsageError`: it cannot be parsed.
    """
    return _Parser(text).read()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._position = 0
        self._columns: set[str] = set()

    def read(self) -> WhereCondition:
        condition = self._either()
        if self._position < len(self._tokens):
            raise self._error("an end")
        return WhereCondition(condition, frozenset(self._columns))

    def _error(self, wanted: str) -> UsageError:
        is_end = self._position == len(self._tokens)
        if is_end:
            return UsageError(f"the condition {self._text!r} ends where {wanted} is expected")
        hint = "; put text in quotes" if wanted == "a value" else ""
        actual = self._tokens[self._position].text
        return UsageError(f"the condition {self._text!r}: expected {wanted}, found {actual!r}{hint}")

    def _word(self, *words: str) -> str | None:
        """Consume one of several words or symbols."""
        if self._position < len(self._tokens):
            token = self._tokens[self._position]
            if token.kind in ("name", "sign") and token.text.upper() in words:
                self._position += 1
                return token.text.upper()
        return None

    def _need(self, word: str) -> None:
        if self._word(word) is None:
            raise self._error(word)

    def _either(self) -> Condition:
        parts = [self._both()]
        while self._word("OR"):
            parts.append(self._both())
        return _folded(pc.or_kleene, parts)

    def _both(self) -> Condition:
        parts = [self._factor()]
        while self._word("AND"):
            parts.append(self._factor())
        return _folded(pc.and_kleene, parts)

    def _factor(self) -> Condition:
        if self._word("NOT"):
            return _inverted(self._factor())
        if self._word("("):
            condition = self._either()
            self._need(")")
            return condition
        return self._comparison(self._name())

    def _name(self) -> str:
        if self._position == len(self._tokens) or self._tokens[self._position].kind != "name":
            raise self._error("the name of a column")
        text = self._tokens[self._position].text
        self._position += 1
        name = text[1:-1].replace("``", "`") if text.startswith("`") else text
        self._columns.add(name)
        return name

    def _comparison(self, name: str) -> Condition:
        if sign := self._word(*_COMPARE):
            return _compared(name, sign, self._literal())
        if self._word("IS"):
            is_not = self._word("NOT")
            self._need("NULL")
            condition = _compared(name, "<=>", None)
            return _inverted(condition) if is_not else condition
        is_not = self._word("NOT")
        match self._word("IN", "BETWEEN", "LIKE"):
            case "IN":
                condition = self._list(name)
            case "BETWEEN":
                least = self._literal()
                self._need("AND")
                pair = _compared(name, ">=", least), _compared(name, "<=", self._literal())
                condition = _folded(pc.and_kleene, list(pair))
            case "LIKE":
                condition = _like(name, self._literal())
            case _:
                raise self._error("a comparison")
        return _inverted(condition) if is_not else condition

    def _list(self, name: str) -> Condition:
        self._need("(")
        parts = [_compared(name, "=", self._literal())]
        while self._word(","):
            parts.append(_compared(name, "=", self._literal()))
        self._need(")")
        return _folded(pc.or_kleene, parts)

    def _literal(self) -> Literal:
        if word := self._word("NULL", "TRUE", "FALSE"):
            return None if word == "NULL" else Decimal(word == "TRUE")
        token = self._tokens[self._position] if self._position < len(self._tokens) else _Token("", "")
        if token.kind not in ("number", "string", "hex"):
            raise self._error("a value")
        self._position += 1
        if token.kind == "number":
            return Decimal(token.text)
        return bytes.fromhex(token.text[2:]) if token.kind == "hex" else _unquoted(token.text)


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while text[position:].strip():
        match = _TOKEN.match(text, position)
        if match is None:
            raise UsageError(f"the condition {text!r} is not valid at {text[position:].strip()!r}")
        yield _Token(match.lastgroup or "", match[match.lastgroup or 0])
        position = match.end()


def _unquoted(text: str) -> str:
    mark = text[0]
    letters = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "Z": "\x1a"}
    return re.sub(
        r"\\(.)|" + mark * 2,
        lambda match: letters.get(match[1], match[1]) if match[1] else mark,
        text[1:-1],
        flags=re.DOTALL,
    )


def _folded(function: Callable[..., pa.BooleanArray], parts: list[Condition]) -> Condition:
    def holds(values: Values) -> pa.BooleanArray:
        return reduce(function, (part(values) for part in parts))

    return holds


def _inverted(condition: Condition) -> Condition:
    return lambda values: pc.invert(condition(values))


def _compared(name: str, sign: str, literal: Literal) -> Condition:
    def holds(values: Values) -> pa.BooleanArray:
        array, digits = values(name)
        if literal is None:
            return pc.is_null(array) if sign == "<=>" else pa.nulls(len(array), pa.bool_())
        is_moment = digits is not None and isinstance(literal, str)
        wanted = _moment(str(literal), digits or 0) if is_moment else literal
        result = getattr(pc, _COMPARE[sign])(*_matched(name, array, wanted))
        return pc.fill_null(result, False) if sign == "<=>" else result

    return holds


def _like(name: str, literal: Literal) -> Condition:
    def holds(values: Values) -> pa.BooleanArray:
        array, _ = values(name)
        if not isinstance(literal, str) or not pa.types.is_string(array.type):
            raise UsageError(f"LIKE requires text, but column {name} has {array.type}")
        return pc.match_like(array, literal)

    return holds


def _matched(name: str, array: pa.Array, literal: Decimal | str | bytes) -> tuple[pa.Array, pa.Scalar]:
    """Values and literal, converted to comparable types."""
    kind = array.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _matched_numbers(array, _number(name, literal))
    if pa.types.is_duration(kind) and isinstance(literal, str) and (clock := _CLOCK.fullmatch(literal)):
        sign, hours, minutes, seconds, fraction = clock.groups(default="0")
        length = timedelta(hours=int(hours), minutes=int(minutes), seconds=int(seconds))
        length += timedelta(microseconds=int(fraction.ljust(6, "0")))
        return array, pa.scalar(-length if sign == "-" else length, kind)
    if pa.types.is_string(kind) and isinstance(literal, str):
        return array, pa.scalar(literal, kind)
    if pa.types.is_binary(kind) and not isinstance(literal, Decimal):
        return array, pa.scalar(literal.encode() if isinstance(literal, str) else literal, kind)
    hint = "; quote it" if isinstance(literal, Decimal) and pa.types.is_string(kind) else ""
    raise UsageError(f"column {name} has {kind}, which cannot be compared with {literal!s}{hint}")


def _number(name: str, literal: Decimal | str | bytes) -> Decimal:
    if isinstance(literal, bytes):
        return Decimal(int.from_bytes(literal, "big"))
    try:
        return Decimal(literal)
    except InvalidOperation:
        raise UsageError(f"column {name} is numeric, but {literal!r} is not a number") from None


def _matched_numbers(array: pa.Array, number: Decimal) -> tuple[pa.Array, pa.Scalar]:
    kind = array.type
    if pa.types.is_integer(kind) and number == number.to_integral_value():
        try:
            return array, pa.scalar(int(number), kind)
        except (pa.ArrowInvalid, OverflowError):
            pass
    elif pa.types.is_decimal(kind):
        try:
            return array, pa.scalar(number)
        except pa.ArrowInvalid:
            pass
    if pa.types.is_floating(kind):
        return array, pa.scalar(float(number), kind)
    return array.cast(pa.float64()), pa.scalar(float(number))


def _moment(text: str, digits: int) -> str:
    """A time in the format of a column with this many fractional digits."""
    if _DATE.fullmatch(text):
        text += " 00:00:00"
    head, _, fraction = text.partition(".")
    return f"{head}.{fraction[:digits].ljust(digits, '0')}" if digits else head
