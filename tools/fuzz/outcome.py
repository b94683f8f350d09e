"""What an entry gives, and what went wrong with it."""

from __future__ import annotations

import re
import traceback
from pathlib import Path
from typing import Any, NamedTuple

from binlog_kaitai.errors import BinlogError, DamagedError, EncryptedError, NotABinlogError

_PACKAGE = str(Path(__file__).parents[2] / "binlog_kaitai")

#: What is of one log alone: numbers, bytes in hex, names in quotes.
_PARTICULAR = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\b0x[0-9a-f]+|\b[0-9a-f]{8,}\b|-?\d[\d.]*(e[+-]\d+)?")


class Outcome(NamedTuple):
    """What an entry gave: a result up to an error of this package, if there was one."""

    value: Any
    error: BinlogError | None = None

    @property
    def refusal(self) -> BinlogError | None:
        """The error, if it says that the log cannot be read, and not that an option makes no sense for it."""
        return self.error if isinstance(self.error, (DamagedError, NotABinlogError, EncryptedError)) else None


class Problem(NamedTuple):
    """Something that should not be.

    Attributes
    ----------
    kind : str
        Which invariant does not hold, and of what entry.
    sign : str
        What tells it from others of this kind, without what is particular to one log.
    text : str
        All about it.
    """

    kind: str
    sign: str
    text: str


def general(text: object) -> str:
    """A text without what is particular to one log."""
    return _PARTICULAR.sub("N", str(text))[:200]


def of_exception(kind: str, error: BaseException) -> Problem:
    """An exception that is not of this package: its type, message and innermost place in the package."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename.startswith(_PACKAGE)] or frames
    place = f"{Path(own[-1].filename).name}:{own[-1].name}"
    sign = f"{type(error).__name__} in {place}: {general(error)}"
    return Problem(f"exc-{kind}", sign, "".join(traceback.format_exception(error)))


def error_text(error: BinlogError | None) -> str:
    """An error for comparing: what it is and where, without the name of the file."""
    if error is None:
        return "no error"
    return f"{type(error).__name__} at {error.position}, {error.event_type}, {error.field}: {error.reason}"
