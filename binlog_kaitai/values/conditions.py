"""Conditions on values, as in `sql --where`: ``id = 42 AND (status = 'new' OR note IS NULL)``.

It is that of SQL: ``= <=> != <> < <= > >=``, ``[NOT] IN (…)``, ``[NOT] BETWEEN … AND …``, ``[NOT] LIKE``,
``IS [NOT] NULL``, ``NOT``, ``AND``, ``OR``, parentheses; names plain or in backquotes; numbers, strings,
``BINARY`` before a string, and ``0x…``. A comparison with NULL is neither true nor false. What a literal
means is the matter of `values.comparisons`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from typing import NamedTuple

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.core.filters import shortened
from binlog_kaitai.errors import UsageError
from binlog_kaitai.values.comparisons import ColumnComparison, Comparison, Constant

#: Evaluates a comparison for each row: an Arrow array, null for neither true nor false.
Evaluate = Callable[[Comparison], "pa.BooleanArray"]

#: Evaluates the condition for each row.
Condition = Callable[[Evaluate], "pa.BooleanArray"]

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<name>`(?:[^`]|``)+`|[^\W\d][\w$]*)
      | (?P<hex>0[xX](?:[0-9a-fA-F]{2})+)
      | (?P<number>-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)
      | (?P<string>'(?:[^'\\]|''|\\.)*'|"(?:[^"\\]|""|\\.)*")
      | (?P<sign><=>|<=|>=|<>|!=|[=<>(),])
    )""",
    re.VERBOSE | re.DOTALL,
)
_SIGNS = ("=", "<=>", "!=", "<>", "<", "<=", ">", ">=")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "0": "\0", "Z": "\x1a", "%": "\\%", "_": "\\_"}
#: Maximum depth of parentheses and NOTs.
_MOST_DEPTH = 100
_NULL = Constant("NULL")


class _Token(NamedTuple):
    kind: str
    text: str


class WhereCondition(NamedTuple):
    """A condition, and the columns that it refers to."""

    holds: Condition
    columns: frozenset[str]

    def matches(
        self, values: Mapping[str, pa.Array], count: int, compare: Callable[[Comparison], ColumnComparison]
    ) -> pa.BooleanArray:
        """Which of some rows match; null for neither true nor false.

        `values`: of the columns, with dates and times as text; a comparison with a missing one is neither.
        Raises `UsageError`: whether a value matches is not known.
        """
        doubts = list[tuple[Comparison, pa.BooleanArray]]()

        def evaluate(comparison: Comparison) -> pa.BooleanArray:
            if comparison.name not in values:
                return pa.nulls(count, pa.bool_())
            holds, unknown = compare(comparison).outcome(values[comparison.name])
            if unknown is not None:
                doubts.append((comparison, unknown))
            return holds

        holds = self.holds(evaluate)
        for comparison, unknown in doubts:
            rows = pc.indices_nonzero(pc.and_(unknown, pc.is_null(holds)))
            if len(rows):
                raise compare(comparison).unknown_error(values[comparison.name][rows[0].as_py()].as_py())
        return holds


def parse_where(text: str) -> WhereCondition:
    """Parse a condition.

    Raises `UsageError`: it cannot be parsed.
    """
    return _ConditionParser(text).read()


class _ConditionParser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._position = self._depth = 0
        self._columns: set[str] = set()

    def read(self) -> WhereCondition:
        condition = self._either()
        if self._position < len(self._tokens):
            raise self._error("an end")
        return WhereCondition(condition, frozenset(self._columns))

    def _error(self, wanted: str) -> UsageError:
        is_end = self._position == len(self._tokens)
        if is_end:
            return UsageError(f"the condition {shortened(self._text)} ends where {wanted} is expected")
        hint = "; put text in quotes" if wanted == "a value" else ""
        actual = self._tokens[self._position].text
        text = shortened(actual)
        return UsageError(f"the condition {shortened(self._text)}: expected {wanted}, found {text}{hint}")

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
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise UsageError(f"the condition is nested more than {_MOST_DEPTH} deep")
        if self._word("NOT"):
            condition = _inverted(self._factor())
        elif self._word("("):
            condition = self._either()
            self._need(")")
        else:
            condition = self._comparison(self._name())
        self._depth -= 1
        return condition

    def _name(self) -> str:
        if self._position == len(self._tokens) or self._tokens[self._position].kind != "name":
            raise self._error("the name of a column")
        text = self._tokens[self._position].text
        self._position += 1
        name = text[1:-1].replace("``", "`") if text.startswith("`") else text
        self._columns.add(name)
        return name

    def _comparison(self, name: str) -> Condition:
        if sign := self._word(*_SIGNS):
            constant = self._constant()
            if sign == "<=>" and constant is _NULL:
                return _compared(name, "IS NULL")
            return _compared(name, "!=" if sign == "<>" else sign, constant)
        if self._word("IS"):
            is_not = self._word("NOT")
            self._need("NULL")
            condition = _compared(name, "IS NULL")
            return _inverted(condition) if is_not else condition
        is_not = self._word("NOT")
        operator = self._word("IN", "BETWEEN", "LIKE")
        if operator is None:
            raise self._error("a comparison")
        if operator == "IN":
            self._need("(")
        constants = [self._constant()]
        if operator == "BETWEEN":
            self._need("AND")
            constants.append(self._constant())
        elif operator == "IN":
            while self._word(","):
                constants.append(self._constant())
            self._need(")")
        condition = _compared(name, operator, *constants)
        return _inverted(condition) if is_not else condition

    def _constant(self) -> Constant:
        if word := self._word("NULL", "TRUE", "FALSE"):
            return _NULL if word == "NULL" else Constant("number", str(int(word == "TRUE")))
        is_binary = self._word("BINARY") is not None
        token = self._tokens[self._position] if self._position < len(self._tokens) else _Token("", "")
        if is_binary and token.kind != "string":
            raise self._error("text in quotes")
        self._position += 1
        match token.kind:
            case "number" | "hex":
                return Constant(token.kind, token.text)
            case "string":
                return Constant("binary" if is_binary else "string", _unquoted(token.text))
        self._position -= 1
        raise self._error("a value")


def _tokens(text: str) -> Iterator[_Token]:
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise UsageError(f"the condition {shortened(text)} is not valid UTF-8")
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            rest = shortened(text[position:].strip())
            raise UsageError(f"the condition {shortened(text)} is not valid at {rest}")
        yield _Token(match.lastgroup or "", match[match.lastgroup or 0])
        position = match.end()


def _unquoted(text: str) -> str:
    """The text of a string; `\\%` and `\\_` are two characters each, for LIKE."""
    mark = text[0]
    return re.sub(
        r"\\(.)|" + mark * 2,
        lambda match: _ESCAPES.get(match[1], match[1]) if match[1] else mark,
        text[1:-1],
        flags=re.DOTALL,
    )


def _compared(name: str, operator: str, *constants: Constant) -> Condition:
    comparison = Comparison(name, operator, constants)
    return lambda evaluate: evaluate(comparison)


def _folded(function: Callable[..., pa.BooleanArray], parts: list[Condition]) -> Condition:
    return lambda evaluate: reduce(function, (part(evaluate) for part in parts))


def _inverted(condition: Condition) -> Condition:
    return lambda evaluate: pc.invert(condition(evaluate))
