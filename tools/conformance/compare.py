"""Finds differences between the trees of two languages."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

EXACT = 2**53  # JavaScript rounds larger numbers
ERROR = {"error": True}
_UNREADABLE = re.compile("\N{REPLACEMENT CHARACTER}+")


@dataclass(frozen=True)
class Leniency:
    """Limitations of a language's runtime, with the reasons in `docs/languages.md`.

    Attributes
    ----------
    absent_is_zero
        An absent field has the zero value of its type.
    absent_enum_is_zero
        Only an absent enum has its zero value.
    unknown_enum_is_null
        A number that is not a member of its enum is lost.
    numbers_are_rounded
        Integers above some size are floating-point numbers.
    unreadable_text_is_lost
        Text that is invalid UTF-8 is an empty string.
    unreadable_text_is_anything
        Text that is invalid UTF-8 is an error, or some other text.
    """

    absent_is_zero: bool = False
    absent_enum_is_zero: bool = False
    unknown_enum_is_null: bool = False
    numbers_are_rounded: bool = False
    unreadable_text_is_lost: bool = False
    unreadable_text_is_anything: bool = False


STRICT = Leniency()
_ZEROS: tuple[Any, ...] = (None, 0, "", False, [], {"hex": ""})


class Comparison:
    """Compares the lines of one language; `zero_names` are the enum members with the number 0."""

    def __init__(self, leniency: Leniency = STRICT, zero_names: frozenset[str] = frozenset()) -> None:
        self._leniency = leniency
        self._zeros = (*_ZEROS, *zero_names)
        self._enum_zeros = (None, 0, *zero_names)

    def difference(self, expected: str, actual: str) -> str | None:
        """The first difference between two lines of JSON, or None."""
        if expected == actual:
            return None
        return self.of(json.loads(expected), json.loads(actual), "")

    def of(self, expected: Any, actual: Any, path: str) -> str | None:
        if isinstance(expected, dict) and isinstance(actual, dict):
            return self._records(expected, actual, path)
        if isinstance(expected, list) and isinstance(actual, list):
            if len(expected) != len(actual):
                return f"{path}: {len(expected)} items expected, not {len(actual)}"
            pairs = enumerate(zip(expected, actual, strict=True))
            return next((d for i, (e, f) in pairs if (d := self.of(e, f, f"{path}[{i}]"))), None)
        return None if self._is_same(expected, actual) else f"{path}: {expected!r} expected, not {actual!r}"

    def _records(self, expected: dict[str, Any], actual: dict[str, Any], path: str) -> str | None:
        for name in [*expected, *(actual.keys() - expected.keys())]:
            if name not in expected or name not in actual:
                return f"{path}.{name}: only {'one' if name in actual else 'Python'} has it"
            if inside := self.of(expected[name], actual[name], f"{path}.{name}"):
                return inside
        return None

    def _is_same(self, expected: Any, actual: Any) -> bool:
        if expected is None and self._leniency.absent_is_zero:
            return any(actual == zero for zero in self._zeros)
        if expected is None and self._leniency.absent_enum_is_zero and not isinstance(actual, bool):
            return actual in self._enum_zeros
        if isinstance(expected, bool) or isinstance(actual, bool):
            return expected is actual
        if isinstance(expected, int) and actual is None:
            return self._leniency.unknown_enum_is_null
        if self._leniency.unreadable_text_is_anything and isinstance(expected, str) and "\ufffd" in expected:
            return actual == ERROR or isinstance(actual, str)
        if isinstance(expected, str) and isinstance(actual, str):
            is_lost = self._leniency.unreadable_text_is_lost and actual == "" and "\ufffd" in expected
            return is_lost or _text(expected) == _text(actual)
        if (
            self._leniency.numbers_are_rounded
            and isinstance(expected, int)
            and isinstance(actual, int | float)
        ):
            return _is_rounded(expected, actual)
        return bool(expected == actual)


def _text(text: str) -> str:
    """Text as all decoders return it: they differ in byte order marks and in the number of U+FFFD."""
    return _UNREADABLE.sub("\N{REPLACEMENT CHARACTER}", text).removeprefix("\ufeff")


def _is_rounded(expected: int, actual: float) -> bool:
    # JavaScript's runtime decodes a negative `s8` whose lower half is below 2^31 as 2^32 too large
    # (kaitai_struct_javascript_runtime, pull request 16).
    is_misread = expected < 0 and expected & 0xFFFF_FFFF < 0x8000_0000
    values = [expected, expected + 2**64 * (expected < 0), expected + 2**32 * is_misread]
    return any(float(actual) == float(value) if abs(value) > EXACT else actual == value for value in values)
