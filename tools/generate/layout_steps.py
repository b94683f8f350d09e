"""The record layouts of the event header and of every event type, generated from formats/.

A layout is a list of fields, processed in order with a running offset. `Number` and `Run` read at that offset
and advance it; `Value` computes; `Inner` and its variants are inside a structure that a walk decodes.
Expressions are functions of `n` (operations that work on arrays and plain numbers: both, either, negate,
where) and `v` (`v[path]` is a number read before, `v.length(path)` the length of a run, `v.pos` and `v.size`
the offset in the body and the length of the body).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Expression = Callable[[Any, Any], Any]


class Number(NamedTuple):
    """A number of fixed width. `dtype` is NumPy's, extended by widths 3 and 6."""

    path: str
    dtype: str
    condition: Expression | None = None
    valid: Expression | None = None
    enum: str | None = None


class Run(NamedTuple):
    """A range of bytes. Without `size`, it extends to the end of the body.

    `is_structure`: the bytes have fields of their own, which the layout does not decode; `walk` names the
    function of the module `walks` that does.
    """

    path: str
    size: Expression | None
    condition: Expression | None = None
    encoding: str | None = None
    ends_at_zero: bool = False
    item: str | None = None
    is_structure: bool = False
    walk: str | None = None


class Value(NamedTuple):
    """A number or truth value derived from preceding fields."""

    path: str
    expression: Expression
    condition: Expression | None = None
    is_unsigned: bool = False


class Text(NamedTuple):
    """The bytes of the run `source`, as text."""

    path: str
    source: str
    encoding: str
    condition: Expression | None = None


class Inner(NamedTuple):
    """A number that the walk over the run `source` records in a slot; 0 if it is absent."""

    path: str
    source: str
    slot: int
    condition: Expression | None = None


class InnerRun(NamedTuple):
    """A byte range inside the run `source`; its walk records offset and length in two slots from `slot`."""

    path: str
    source: str
    slot: int
    encoding: str | None = None
    condition: Expression | None = None


class InnerList(NamedTuple):
    """A list of numbers inside the run `source`; its walk records them in slots from `slot` on."""

    path: str
    source: str
    slot: int
    items: int
    condition: Expression | None = None


class Layout(NamedTuple):
    """The fields of a type; `complete` if they include the last byte."""

    id: str
    fields: tuple[Number | Run | Value | Text | Inner | InnerRun | InnerList, ...]
    complete: bool


def walk_over(name: str) -> tuple[Callable[..., None], int]:
    """A function of the module `walks`, and the number of its slots."""
    from binlog_grammar import walks

    function: Callable[..., None] = getattr(walks, name)
    return function, walks.SLOTS[name]
