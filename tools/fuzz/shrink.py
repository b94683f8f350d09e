"""Reduces mutations and events for the same finding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tools.fuzz.draft import Draft
from tools.fuzz.mutants import Mutant, drafted, mutant

#: Maximum number of logs to try per finding.
_TRIES = 40


def shrunk(mutated: Mutant, is_same: Callable[[Mutant], bool]) -> Mutant:
    """A smaller mutant with the same finding.

    Parameters
    ----------
    found
        The original mutant.
    is_same
        Whether a mutant has the same finding.
    """
    best, left = mutated, _TRIES
    kept = list(range(len(mutated.done)))
    for number in reversed(kept if len(kept) > 1 else []):
        fewer = [other for other in kept if other != number]
        tried, left = mutant(mutated.name, fewer), left - 1
        if is_same(tried):
            best, kept = tried, fewer
    _, draft, _ = drafted(mutated.name, kept)
    if draft.edits or draft.log() != best.data:
        return best
    index = len(draft.items) - 1
    while index >= 0 and left > 0:
        tried, left = _without(best, draft, index), left - 1
        if is_same(tried):
            del draft.items[index]
            best = tried
        index -= 1
    return best


def _without(mutated: Mutant, draft: Draft, index: int) -> Mutant:
    items = [*draft.items[:index], *draft.items[index + 1 :]]
    return replace(mutated, items=tuple(items), data=replace(draft, items=items).log())
