"""Literals in the order of a column's values, and that of text in the collations of the servers.

Of most collations, only the weights of printable ASCII are known here. How text with other characters
compares is unknown where these decide: `José` and `Jose` compare with `Bob`, but not with each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.kernels.arrays import Bytes
from binlog_kaitai.values.charsets import UTF8, collation_name
from binlog_kaitai.values.schema import Column

#: Compares an Arrow array of values; null where a value is, or where the outcome is unknown.
Compare = Callable[["pa.Array"], "pa.BooleanArray"]


class UnsupportedError(Exception):
    """A literal has no meaning for a column, or not the same for all servers; with the reason, if any."""


class Point(NamedTuple):
    """Which values of a column are at least a literal, above it, and equal to it."""

    at_least: Compare
    above: Compare
    equal: Compare

    def except_where(self, is_unknown: Compare) -> Point:
        """The point if its relation to some values is unknown."""
        return Point(*(_except(compare, is_unknown) for compare in self))


def point_of(key: str | bytes | float) -> Point:
    """The point of a literal that has the type of the values."""

    def compare(test: str) -> Compare:
        return lambda values: getattr(pc, test)(values, pa.scalar(key, values.type))

    return Point(compare("greater_equal"), compare("greater"), compare("equal"))


def point_between(at_least: Compare, above: Compare) -> Point:
    """A point by its order alone."""
    return Point(at_least, above, lambda values: pc.and_(at_least(values), pc.invert(above(values))))


def _except(compare: Compare, is_unknown: Compare) -> Compare:
    return lambda values: pc.if_else(is_unknown(values), None, compare(values))


class Collation(NamedTuple):
    """How text compares.

    `folds`: without regard to the case of letters.
    `pads`: without regard to trailing blanks (PAD SPACE).
    `order`: printable ASCII characters in their order, "" if it is unknown; None: all, by their codes.
    """

    folds: bool = False
    pads: bool = False
    order: str | None = None


#: Byte by byte; and any collation of no particular language.
CODES, UNKNOWN = Collation(), Collation(folds=True, pads=True, order="")

#: Maximum length of a pattern of LIKE, in characters.
_MOST_PATTERN = 1000
#: Characters that are not printable ASCII, and those that sort before the blanks with which PAD SPACE pads.
_OTHER, _CONTROL = "[^ -~]", "[\\x00-\\x1f]"
#: Letters that no collation of `_ORDERS` takes for ASCII, or ignores.
_LETTERS_OF_OTHERS = (
    "\u4e00-\u9fff\u3041-\u3096\u30a1-\u30fa\uac00-\ud7a3"  # Chinese, Japanese, Korean
    "\u0410-\u044f\u0401\u0451\u0391-\u03a1\u03a3-\u03a9\u03b1-\u03c9"  # Cyrillic, Greek
    "\u05d0-\u05ea\u0621-\u063a\u0641-\u064a"  # Hebrew, Arabic
)

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_UNICODE = r"(utf8mb[34]|ucs2|utf16|utf32)_"
_SIMPLE = r"(utf8mb[34]|ucs2|utf16|utf32|ascii|latin[12]|cp125[0167]|cp85[02]|koi8r|greek|hebrew)_general"
_NEW = _UNICODE + r"(0900|uca1400)(_nopad)?_a[is]_c"
#: Orders of collations of no particular language, by patterns of their names.
_ORDERS = {
    _SIMPLE + r"(_nopad)?_ci|latin1_swedish(_nopad)?_ci": "".join(map(chr, range(0x20, 0x61))) + "{|}~",
    _UNICODE + r"unicode(_520)?(_nopad)?_ci": " `^_-,;:!?.'\"()[]{}@*/\\&#%+<=>|~$0123456789" + _LETTERS,
    _NEW + "i": " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789" + _LETTERS,
    _NEW + "s": "",
}


def collation_of(column: Column) -> Collation:
    """How the text of a column compares.

    Raises `UnsupportedError`: it is not known here.
    """
    name = column.collation if column.collation_id is None else collation_name(column.collation_id)
    if name is None:
        return UNKNOWN
    pads = "nopad" not in name and "0900" not in name
    if name.endswith("_bin"):
        return Collation(pads=pads)
    for pattern, order in _ORDERS.items():
        if re.fullmatch(pattern, name):
            return Collation(name.endswith("_ci"), pads, order)
    raise UnsupportedError(f"how {name} compares is not known here")


def text_point(text: str, collation: Collation, column: Column, *, is_ordered: bool) -> Point:
    """The point of a text; only its equality unless order matters.

    Raises `UnsupportedError`: how it compares is not known here.
    """
    order, pads = collation.order, collation.pads
    if order is not None or (is_ordered and pads):
        _require_ascii(text)
    if order == "" and is_ordered:
        raise UnsupportedError("the order of its collation is not known here")

    def normal(values: pa.Array) -> pa.Array:
        values = pc.utf8_rtrim(values, characters=" ") if pads else values
        return pc.ascii_upper(values) if collation.folds else values

    key = str(normal(pa.array([text]))[0])
    if order is None:
        point = point_of(key)
    elif is_ordered:
        point = _by_weights(key, order)
    else:
        equal = _folded(key)
        point = Point(equal, equal, equal)
    point = Point(*(_on(normal, compare) for compare in point))
    if collation is UNKNOWN:
        return point.except_where(
            lambda values: pc.and_(pc.equal(normal(values), key), pc.not_equal(values, text))
        )
    if order is None and is_ordered and (pads or column.charset not in UTF8):
        other = _CONTROL if column.charset in UTF8 else _OTHER
        return point.except_where(lambda values: pc.match_substring_regex(values, other))
    return point


def _require_ascii(text: str) -> None:
    if re.search(_OTHER, text):
        raise UnsupportedError("of its collation, only printable ASCII is known here")


def _on(normal: Callable[[pa.Array], pa.Array], compare: Compare) -> Compare:
    return lambda values: compare(normal(values))


def _by_weights(key: str, order: str) -> Point:
    """Compare with the lowest and the highest weight for other characters; unknown if these differ."""
    weights = np.zeros((2, 256), dtype=np.uint8)
    weights[1] = 255
    for weight, character in enumerate(order, 2):
        weights[:, ord(character)] = weight

    def from_weights(wanted: bytes) -> Compare:
        def compare(values: pa.Array) -> pa.BooleanArray:
            low, high = (pc.greater_equal(_mapped(values, table), wanted) for table in weights)
            return pc.if_else(pc.xor(low, high), None, low)

        return compare

    wanted = weights[0][list(key.encode())].tobytes()
    return point_between(from_weights(wanted), from_weights(wanted + b"\1"))


def _mapped(values: pa.Array, table: Bytes) -> pa.BinaryArray:
    """The bytes of each text, mapped by a table."""
    valid, ends, data = values.buffers()
    mapped = table[np.frombuffer(data or b"", dtype=np.uint8)]
    return pa.Array.from_buffers(
        pa.binary(), len(values), [valid, ends, pa.py_buffer(mapped)], offset=values.offset
    )


def _folded(key: str) -> Compare:
    def equal(values: pa.Array) -> pa.BooleanArray:
        is_other = pc.match_substring_regex(values, _OTHER)
        is_distinct = pc.match_substring_regex(values, f"[{_LETTERS_OF_OTHERS}]")
        unknown = np.array(pc.fill_null(pc.and_not(is_other, is_distinct), False))
        rows = np.flatnonzero(unknown)
        unknown[rows] = [_may_equal(key, value) for value in values.take(pa.array(rows)).to_pylist()]
        return pc.if_else(pa.array(unknown), None, pc.equal(values, key))

    return equal


def _may_equal(key: str, value: str) -> bool:
    """Whether a text may equal a value, whose characters of unknown weight may stand for any others."""
    start, *_, end = re.split(f"{_OTHER}+", value)
    return key.startswith(start) and key.endswith(end) and len(start) + len(end) <= len(key)


def like(pattern: str, collation: Collation) -> Compare:
    """Match LIKE's pattern, with its escapes.

    Raises `UnsupportedError`: how it matches is not known here.
    """
    tokens = re.findall(r"(?s)\\.|.", pattern)
    if len(pattern) > _MOST_PATTERN or tokens[-1:] == ["\\"]:
        raise UnsupportedError("the pattern is too long" if tokens[-1] != "\\" else "it ends with an escape")
    if collation.order is None:
        known = _regex(tokens)
        return lambda values: pc.match_substring_regex(values, known)
    _require_ascii(pattern)
    sure = _regex(tokens, folds=collation.folds and collation is not UNKNOWN)
    possible = _regex(tokens, f"[^ -~{_LETTERS_OF_OTHERS}]", folds=collation.folds)

    def matches(values: pa.Array) -> pa.BooleanArray:
        is_sure, may_be = (pc.match_substring_regex(values, regex) for regex in (sure, possible))
        return pc.if_else(pc.xor(is_sure, may_be), None, is_sure)

    return matches


def _regex(tokens: list[str], other: str = "", *, folds: bool = False) -> str:
    """LIKE's pattern for Arrow; `other` are characters that may equal any, or nothing."""

    def of(token: str) -> str:
        if token in ("%", "_"):
            return ".*" if token == "%" else "."
        character = token[-1]
        is_letter = folds and character.upper() in _LETTERS
        pattern = f"[{character.lower()}{character.upper()}]" if is_letter else re.escape(character)
        return f"(?:{pattern}|{other})" if other else pattern

    gap = f"{other}*" if other else ""
    return rf"(?s)\A{gap}{gap.join(map(of, tokens))}{gap}\z"
