"""The mutant of a number: its base and its mutations, random but reproducible."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from random import Random

from binlog_kaitai.core.grammar import EventType
from tools.fuzz import bases, documents, mixtures, mutations, nested, statements
from tools.fuzz.draft import Draft, Item
from tools.fuzz.mutations import Mutation

#: Mutations that also apply inside compressed transactions.
_INSIDE: tuple[tuple[Mutation, int], ...] = (
    (mutations.number, 8),
    (mutations.member, 2),
    (mutations.content, 5),
    (mutations.length, 5),
    (mutations.copied, 1),
    (mutations.body_bytes, 3),
    (mutations.end, 1),
    (mutations.kind, 1),
    (mutations.left_out, 1),
    (mutations.twice, 1),
    (mutations.order, 1),
    (mutations.header, 1),
    (statements.text, 1),
    (statements.another, 1),
    (statements.recombined, 1),
    (mixtures.table_map, 2),
    (mixtures.charset, 1),
    (documents.opaque, 1),
)

_ALL: tuple[tuple[Mutation, int], ...] = (
    *_INSIDE,
    (mixtures.stranger, 1),
    (mixtures.spliced, 2),
    (mixtures.description, 2),
    (mutations.unsealed, 1),
    (mutations.file_bytes, 1),
    (mutations.cut, 1),
    (statements.text, 1),
    (statements.another, 1),
    (statements.recombined, 1),
    (nested.pieces, 1),
)

_EVERY = tuple(mutation for mutation, weight in _ALL for _ in range(weight))

#: Types of events with compressed content.
_PACKED = frozenset(
    kind.value
    for kind in EventType
    if "compressed" in kind.name or kind is EventType.transaction_payload_event
)

#: If there is compressed content, every other mutation is one of these.
_OF_PACKED = (
    *[nested.payload(tuple(mutation for mutation, weight in _INSIDE for _ in range(weight)))] * 6,
    nested.packed_frame,
    nested.payload_in_payload,
    nested.payload_field,
    *[nested.deflated] * 4,
)

#: Number of mutations.
_COUNTS = (1, 1, 1, 1, 2, 2, 3)

_TRIES = 10


@dataclass(frozen=True)
class Mutant:
    """A log to test.

    Attributes
    ----------
    name : str
        The random seed: the run's seed and the mutant's number.
    base : str
        The corpus log that it is derived from.
    done : tuple of str
        The mutations, in order.
    items : tuple of Item
        Its events.
    data : bytes
        The log.
    """

    name: str
    base: str
    done: tuple[str, ...]
    items: tuple[Item, ...]
    data: bytes


def drafted(name: str, kept: Collection[int] | None = None) -> tuple[str, Draft, tuple[str, ...]]:
    """The draft of a mutant, its base, and its mutations; `kept` selects the mutations to apply."""
    chance = Random(name)
    base, draft = bases.chosen(chance)
    has_packed = any(item.type_code in _PACKED for item in draft.items)
    done = []
    for number in range(chance.choice(_COUNTS)):
        if kept is not None and number not in kept:
            continue
        own = Random(f"{name}/{number}")
        for _ in range(_TRIES):
            choices = _OF_PACKED if has_packed and own.random() < 0.5 else _EVERY
            what = own.choice(choices)(own, draft)
            if what is not None:
                done.append(what)
                break
    return base, draft, tuple(done)


def mutant(name: str, kept: Collection[int] | None = None) -> Mutant:
    """The mutant with a given name."""
    base, draft, done = drafted(name, kept)
    return Mutant(name, base, done, tuple(draft.items), draft.log())
