"""Parts of corpus logs: the start of a log, and a few of its transactions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random

from binlog_kaitai.core.context import Context
from binlog_kaitai.core.framing import Framer
from binlog_kaitai.core.grammar import EventType, Format, TableMapEvent, parse_event
from binlog_kaitai.core.transactions import BETWEEN, GTID_TYPES
from binlog_kaitai.errors import BinlogError
from tools.fuzz.draft import Draft, Item
from tools.fuzz.fields import leaves_of, with_number

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "corpus"

#: Maximum size of the transactions of a base, chosen at random; a single longer transaction up to the last
#: one.
_SIZES = (300, 500, 800, 1500, 3000)
_LONGEST = 6000

#: Event types that end a transaction without GTID.
_ENDS = frozenset((EventType.xid_event, EventType.xa_prepare_log_event))


@dataclass(frozen=True)
class Base:
    """A corpus log, divided into parts.

    Attributes
    ----------
    name : str
        Its path in the corpus.
    head : tuple of Item
        The events before the first transaction.
    groups : tuple of tuple of Item
        The transactions.
    """

    name: str
    binlog_version: int
    layout: Format
    head: tuple[Item, ...]
    groups: tuple[tuple[Item, ...], ...]


@cache
def cases() -> tuple[tuple[Path, ...], ...]:
    """The logs of the corpus by folder, in a reproducible order."""
    folders: dict[Path, list[Path]] = {}
    for path in sorted(CORPUS.glob("**/*.0*")):
        if path.suffix[1:].isdigit() and path.is_file():
            folders.setdefault(path.parent, []).append(path)
    return tuple(tuple(logs) for logs in folders.values())


@cache
def load(path: Path) -> Base | None:
    """A log divided into parts; None if no event can be read."""
    items: list[Item] = []
    try:
        with path.open("rb") as stream:
            framer = Framer.of_file(stream)
            context = Context(framer.binlog_version)
            for frame in framer:
                kind = frame.header.type_code
                has_checksum = context.layout.is_checksummed
                if kind == EventType.format_description_event:
                    parsed = context.observe(frame.raw, frame.header)
                    has_checksum = parsed is not None and parsed.checksum is not None
                items.append(Item(frame.raw, has_checksum, frame.header.next_position != 0))
    except BinlogError:
        pass
    if not items:
        return None
    head, groups = _divided(items)
    name = str(path.relative_to(CORPUS))
    return Base(name, framer.binlog_version, context.layout, head, groups)


def _divided(items: list[Item]) -> tuple[tuple[Item, ...], tuple[tuple[Item, ...], ...]]:
    head: list[Item] = []
    groups: list[list[Item]] = []
    has_gtids = any(item.type_code in GTID_TYPES for item in items)
    is_between = False
    for item in items:
        kind = item.type_code
        if not groups and kind in BETWEEN:
            head.append(item)
            continue
        begins = kind in GTID_TYPES if has_gtids else is_between
        if begins or not groups:
            groups.append([])
        groups[-1].append(item)
        is_between = kind in _ENDS or kind in BETWEEN or (kind == EventType.query_event and _is_alone(item))
    return tuple(head), tuple(map(tuple, groups))


def _is_alone(item: Item) -> bool:
    return item.raw[: item.body_end].endswith((b"COMMIT", b"ROLLBACK"))


def chosen(chance: Random) -> tuple[str, Draft]:
    """A random draft, and the log that it comes from."""
    while True:
        base = load(chance.choice(chance.choice(cases())))
        if base is not None:
            break
    items = list(base.head)
    if base.groups:
        items += _transactions(base, chance)
    draft = Draft(base.binlog_version, base.layout, items)
    if chance.random() < 0.25:
        _remove_checksums(draft)
    return base.name, draft


def _transactions(base: Base, chance: Random) -> list[Item]:
    most, items, size = chance.choice(_SIZES), list[Item](), 0
    for _ in range(8):
        index = chance.randrange(len(base.groups))
        if sum(len(item.raw) for item in base.groups[index]) <= _LONGEST:
            break
    else:
        # All are long: take a few events of one.
        group = base.groups[index]
        begin = chance.randrange(len(group))
        return [*group[:1], *_short(group[begin : begin + 4], base.layout)]
    if chance.random() < 0.3:
        items += _definition(base, index)
    for group in base.groups[index : index + 4]:
        size += sum(len(item.raw) for item in group)
        if items and size > most:
            break
        items += group
    return items


def _short(group: tuple[Item, ...], layout: Format) -> list[Item]:
    return [item for item in group if len(item.raw) <= 2 * _LONGEST]


def _definition(base: Base, index: int) -> list[Item]:
    """The preceding transaction that defines the table of a given one."""
    maps = [item for item in base.groups[index] if item.type_code == EventType.table_map_event]
    if not maps:
        return []
    try:
        body = parse_event(maps[0].raw, EventType.table_map_event, base.layout).body.content
    except BinlogError:
        return []
    assert isinstance(body, TableMapEvent)
    name = body.table_name.encode("utf-8", "surrogateescape")
    for group in reversed(base.groups[:index]):
        for item in group:
            if item.type_code == EventType.query_event and b"CREATE TABLE" in item.raw and name in item.raw:
                return list(group) if len(item.raw) < _LONGEST else []
    return []


def _remove_checksums(draft: Draft) -> None:
    """Remove the checksums of the log; the format description event keeps its own."""
    draft.layout = draft.layout.without_checksums()
    for index, item in enumerate(draft.items):
        if item.type_code == EventType.format_description_event:
            for leaf in leaves_of(draft, index):
                if leaf.path.endswith(".checksum_algorithm") and int(leaf.value) == 1:
                    draft.items[index] = item.with_raw(with_number(item.raw, leaf, 0))
        elif item.has_checksum:
            draft.items[index] = replace(item, raw=item.raw[: item.body_end], has_checksum=False)
