"""Reduces mutations and events for the same finding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tools.fuzz.draft import Draft
from tools.fuzz.mutants import Mutant, drafted, mutant

#: Maximum number of logs to try per finding.
_TRIES = 40


def shrunk(found: Mutant, is_same: Callable[[Mutant], bool]) -> Mutant:
    """A smaller mutant with the same finding.

    Parameters
    ----------
    found
        The original mutant.
    is_same
        Whether a mutant has the same finding.
    """
    best, left = found, _TRIES
    kept = list(range(len(found.done)))
    for number in reversed(kept if len(kept) > 1 else []):
        fewer = [one for one in kept if one != number]
        tried, left = mutant(found.name, fewer), left - 1
        if is_same(tried):
            best, kept = tried, fewer
    _, draft, _ = drafted(found.name, kept)
    if draft.edits or draft.log() != best.data:
        return best
    at = len(draft.items) - 1
    while at >= 0 and left > 0:
        tried, left = _without(best, draft, at), left - 1
        if is_same(tried):
            del draft.items[at]
            best = tried
        at -= 1
    return best


def _without(found: Mutant, draft: Draft, at: int) -> Mutant:
    items = [*draft.items[:at], *draft.items[at + 1 :]]
    return replace(found, items=tuple(items), data=replace(draft, items=items).log())
