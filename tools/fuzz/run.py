"""The outcomes of the entry points on a log, and violated invariants."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

from binlog_kaitai.check.verify_report import Report
from binlog_kaitai.errors import BinlogError, DamagedError
from binlog_kaitai.sources.source import Source
from tools.fuzz.outcome import Outcome, Problem, error_text, general


class Run:
    """The outcomes of the entry points on a log.

    Attributes
    ----------
    data : bytes
        The log.
    chance : Random
        Random source for the options of the current entry point.
    outcomes : dict
        By entry point.
    problems : list of Problem
    thorough : Report or None
        The result of `verify --thorough`.
    sure_rows : int or None
        Number of rows before an unreadable statement, after which columns may have other names.
    """

    def __init__(self, name: str, data: bytes, folder: Path) -> None:
        self.name, self.data, self.folder = name, data, folder
        self.chance = Random(name)
        self.outcomes: dict[str, Outcome] = {}
        self.problems: list[Problem] = []
        self.thorough: Report | None = None
        self.sure_rows: int | None = None
        self._path: Path | None = None

    @property
    def source(self) -> Source:
        return Source.of_bytes(self.data)

    @property
    def path(self) -> Path:
        """The log as a file with a unique name, because caches use it as key."""
        if self._path is None:
            self._path = self.folder / f"{self.name.replace('/', '-')}.000001"
            self._path.write_bytes(self.data)
        return self._path

    def is_of_log(self, error: BinlogError) -> bool:
        """Whether an error is about the log itself, not about something made from it."""
        return error.file in (self.source.name, str(self._path))

    def close(self) -> None:
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def note(self, kind: str, sign: object, text: object) -> None:
        self.problems.append(Problem(kind, general(sign), str(text)))

    def attempt(self, name: str, make: Callable[[], Any]) -> Outcome:
        """Run a function to its end or to an error of this package, which must have a position."""
        try:
            outcome = Outcome(make())
        except BinlogError as error:
            outcome = Outcome(None, error)
        return self.keep(name, outcome)

    def gather(self, name: str, make: Callable[[], Iterable[Any]]) -> Outcome:
        """Like `attempt`, for iterators: the items before an error count."""
        items: list[Any] = []
        try:
            items.extend(make())
        except BinlogError as error:
            return self.keep(name, Outcome(items, error))
        return self.keep(name, Outcome(items))

    def keep(self, name: str, outcome: Outcome) -> Outcome:
        self.outcomes[name] = outcome
        error = outcome.error
        if isinstance(error, DamagedError) and (error.file is None or error.position is None):
            self.note(f"noplace-{name}", error.reason, error)
        return outcome

    def differ(self, kind: str, one: Outcome, other: Outcome) -> None:
        """Report that two outcomes differ."""
        if one.value != other.value:
            self.note(kind, f"content {_difference(one.value, other.value)}", _shown(one.value, other.value))
        elif error_text(one.error) != error_text(other.error):
            text = f"{error_text(one.error)}\n{error_text(other.error)}"
            self.note(kind, f"errors {text}", text)


def _difference(one: Any, other: Any) -> str:
    """The first difference between two lists, without details of the log."""
    for left, right in zip(one, other, strict=False):
        if left == right:
            continue
        left, right = _as_object(left), _as_object(right)
        if isinstance(left, dict) and isinstance(right, dict):
            return ", ".join(name for name in left if left[name] != right.get(name))
        return f"{general(left)[:30]} / {general(right)[:30]}"
    return "more" if len(one) > len(other) else "fewer"


def _as_object(value: Any) -> Any:
    """A line of JSON as an object."""
    if isinstance(value, bytes) and value.startswith(b"{"):
        with suppress(ValueError):
            return json.loads(value)
    return value


def _shown(one: Any, other: Any) -> str:
    if isinstance(one, list) and isinstance(other, list):
        for place, (left, right) in enumerate(zip(one, other, strict=False)):
            if left != right:
                return f"at {place}:\n{left!r}\n{right!r}"[:4000]
        return f"{len(one)} and {len(other)} in all\n{(one + other)[min(len(one), len(other)) :][:1]!r}"[
            :4000
        ]
    return f"{one!r}\n{other!r}"[:4000]
