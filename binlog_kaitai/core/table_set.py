"""Tables chosen by names, globs and regular expressions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from binlog_kaitai.errors import UsageError

_GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class TableSet:
    """A set of tables, by their names as ``schema.table``.

    An item is such a name, a glob (``shop.*``), or a regular expression between slashes that matches the
    whole name (``/shop\\.orders_[0-9]+/``). Items with a ``!`` in front take tables out again. Without any
    other items, all other tables are in the set. A name is always in the set that has it as an item, even
    if it contains characters of globs.

    Its truth value is whether it has any items; iterating gives these.
    """

    included: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    _known: dict[str, bool] = field(default_factory=dict, repr=False, compare=False, hash=False)

    @classmethod
    def of(cls, items: Iterable[str]) -> TableSet:
        """The set of some items.

        Raises
        ------
        UsageError
            One is not a qualified name, or its regular expression is invalid.
        """
        included, excluded = list[str](), list[str]()
        for item in items:
            text = item.removeprefix("!")
            _check(item, text)
            (included if text == item else excluded).append(text)
        return cls(tuple(sorted({*included})), tuple(sorted({*excluded})))

    def __bool__(self) -> bool:
        return bool(self.included or self.excluded)

    def __iter__(self) -> Iterator[str]:
        return iter((*self.included, *(f"!{item}" for item in self.excluded)))

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        if (known := self._known.get(name)) is None:
            is_in = not self.included or any(matches(item, name) for item in self.included)
            known = is_in and not any(matches(item, name) for item in self.excluded)
            self._known[name] = known
        return known

    def may_be_in(self, schema: str) -> bool:
        """Whether a table of a schema may be in the set."""
        patterns = not self.included or any(map(is_pattern, self.included))
        return patterns or any(item.startswith(f"{schema}.") for item in self.included)


#: Of no items.
NO_TABLES = TableSet()


def is_pattern(item: str) -> bool:
    """Whether an item may stand for several tables."""
    return item.startswith(("/", "!")) or _GLOB.search(item) is not None


def matches(item: str, name: str) -> bool:
    """Whether an item, with or without `!`, stands for a table."""
    item = item.removeprefix("!")
    if item.startswith("/"):
        return re.fullmatch(item[1:-1], name) is not None
    return item == name or fnmatchcase(name, item)


def _check(item: str, text: str) -> None:
    if text.startswith("/"):
        try:
            if len(text) < 3 or not text.endswith("/"):
                raise UsageError(f"{item!r} is not a regular expression; put it between slashes")
            re.compile(text[1:-1])
        except re.error as error:
            raise UsageError(f"{item!r} is not a valid regular expression: {error}") from None
        return
    schema, dot, table = text.partition(".")
    if not (schema and dot and table):
        raise UsageError(f"{item!r} is not a qualified table name; use schema.table")
