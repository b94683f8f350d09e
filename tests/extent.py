"""How much a run tests: samples, or with `--whole-corpus` all there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

_T = TypeVar("_T")

_is_whole = False


def cover_everything() -> None:
    """Called for `--whole-corpus`, before the first test module is imported."""
    global _is_whole
    _is_whole = True


def sample(values: Sequence[_T], count: int) -> Sequence[_T]:
    """So many of the values, evenly spread and with the first and last; all in a whole run."""
    if _is_whole or len(values) <= count:
        return values
    return [values[number * (len(values) - 1) // max(count - 1, 1)] for number in range(count)]


def rounds(whole: int, sampled: int) -> int:
    """How often a test repeats something random: in a whole run, and in any other."""
    return whole if _is_whole else sampled
