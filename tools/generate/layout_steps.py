"""Record layouts of the event header and of every event type, generated from formats/.

A layout is a list of fields, to be taken in order with a running position. `Number` and `Run` read at that
position and move it; `Value` computes; `Inner` and its kin lie in a structure that a walk goes over.
Expressions are functions of `n` (operations that work on arrays and plain numbers: both, either, negate,
where) and `v` (`v[path]` a number read before, `v.length(path)` the length of a run, `v.pos` and `v.size` the
position in the body and the length of the body).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Expression = Callable[[Any, Any], Any]


class Number(NamedTuple):
    """A number of fixed width. `dtype` is NumPy's, with widths 3 and 6 besides."""

    path: str
    dtype: str
    condition: Expression | None = None
    valid: Expression | None = None
    enum: str | None = None


class Run(NamedTuple):
    """A run of bytes. Without `size` it goes to the end of the body.

    `is_structure`: the bytes have fields of their own, which the layout does not look at; `walk` names the
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

    @property
    def dtype(self) -> None:
        """None: it is no number that lies in the bytes."""
        return None


class Value(NamedTuple):
    """A number or truth value that follows from fields before it."""

    path: str
    expression: Expression
    condition: Expression | None = None
    is_unsigned: bool = False

    @property
    def dtype(self) -> None:
        """None: it is no number that lies in the bytes."""
        return None


class Text(NamedTuple):
    """The bytes of the run `source`, as text."""

    path: str
    source: str
    encoding: str
    condition: Expression | None = None

    @property
    def dtype(self) -> None:
        """None: it is no number that lies in the bytes."""
        return None


class Inner(NamedTuple):
    """A number that the walk over the run `source` notes in a slot; 0 where it is not there."""

    path: str
    source: str
    slot: int
    condition: Expression | None = None

    @property
    def dtype(self) -> None:
        """None: its place is not told."""
        return None


class InnerRun(NamedTuple):
    """A run of bytes inside the run `source`; its walk notes place and length in two slots from `slot` on."""

    path: str
    source: str
    slot: int
    encoding: str | None = None
    condition: Expression | None = None

    @property
    def dtype(self) -> None:
        """None: it is no number that lies in the bytes."""
        return None


class InnerList(NamedTuple):
    """So many numbers inside the run `source`, whose walk notes them in slots from `slot` on."""

    path: str
    source: str
    slot: int
    items: int
    condition: Expression | None = None

    @property
    def dtype(self) -> None:
        """None: their places are not told."""
        return None


class Layout(NamedTuple):
    """The fields of one type; `complete` when they reach the last byte."""

    id: str
    fields: tuple[Number | Run | Value | Text | Inner | InnerRun | InnerList, ...]
    complete: bool


def walk_over(name: str) -> tuple[Callable[..., None], int]:
    """A function of the module `walks`, and the number of its slots."""
    from binlog_grammar import walks

    function: Callable[..., None] = getattr(walks, name)
    return function, walks.SLOTS[name]
