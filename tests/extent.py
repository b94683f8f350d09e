"""How much a run tests: samples, or with `--whole-corpus` all there is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from tests.corpus_files import CORPUS, SPECIAL, Case, LogFile, is_special, representative

_T = TypeVar("_T")

_is_whole = False


def cover_everything() -> None:
    """Called for `--whole-corpus`, before the first test module is imported."""
    global _is_whole
    _is_whole = True


def covers_everything() -> bool:
    """Whether this is a whole run."""
    return _is_whole


def is_of_the_corpus(parameter: object) -> bool:
    """Whether a parameter is a log or a case of the corpus."""
    return isinstance(parameter, LogFile | Case) or (
        isinstance(parameter, Path) and CORPUS in parameter.parents
    )


def is_left_out(parameter: object) -> bool:
    """Whether a parameter is a log or a case of the corpus that only a whole run reads."""
    if _is_whole:
        return False
    match parameter:
        case LogFile() | Case():
            return not is_special(parameter) and parameter.id not in representative()
        case Path() if CORPUS in parameter.parents:
            server, *rest = parameter.relative_to(CORPUS).parts
            return server not in SPECIAL and "/".join((server, *rest)) not in representative()
    return False


def sample(values: Sequence[_T], count: int, whole: int | None = None) -> Sequence[_T]:
    """So many of the values, evenly spread and with the first and last.

    In a whole run: all, or `whole` of them where a test takes seconds with each.
    """
    kept = [value for value in values if not is_left_out(value)]
    if _is_whole:
        count = len(kept) if whole is None else whole
    if len(kept) <= count:
        return kept
    return [kept[number * (len(kept) - 1) // max(count - 1, 1)] for number in range(count)]


def rounds(whole: int, sampled: int) -> int:
    """How often a test repeats something random: in a whole run, and in any other."""
    return whole if _is_whole else sampled
