"""The result of an entry point, and the problems found in it."""

from __future__ import annotations

import re
import traceback
from pathlib import Path
from typing import Any, NamedTuple

from binlog_kaitai.errors import BinlogError, DamagedError, EncryptedError, NotABinlogError

_PACKAGE = str(Path(__file__).parents[2] / "binlog_kaitai")

#: Parts of messages that are specific to one log: numbers, bytes in hex, quoted names.
_PARTICULAR = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\b0x[0-9a-f]+|\b[0-9a-f]{8,}\b|-?\d[\d.]*(e[+-]\d+)?")


class Outcome(NamedTuple):
    """The result of an entry point: its output up to an error of this package, if there was one."""

    value: Any
    error: BinlogError | None = None

    @property
    def refusal(self) -> BinlogError | None:
        """The error, if it means that the log cannot be read, rather than that an option does not apply."""
        return self.error if isinstance(self.error, (DamagedError, NotABinlogError, EncryptedError)) else None


class Problem(NamedTuple):
    """A violated invariant.

    Attributes
    ----------
    kind : str
        The invariant, and the entry point.
    sign : str
        Distinguishes it from others of the same kind, without details of the log.
    text : str
        The complete description.
    """

    kind: str
    sign: str
    text: str


def general(text: object) -> str:
    """A text without details of the log."""
    return _PARTICULAR.sub("N", str(text))[:200]


def of_exception(kind: str, error: BaseException) -> Problem:
    """A foreign exception: its type, message and innermost function in the package."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename.startswith(_PACKAGE)] or frames
    place = f"{Path(own[-1].filename).name}:{own[-1].name}"
    sign = f"{type(error).__name__} in {place}: {general(error)}"
    return Problem(f"exc-{kind}", sign, "".join(traceback.format_exception(error)))


def error_text(error: BinlogError | None) -> str:
    """An error in comparable form: its content and position, without the file name."""
    if error is None:
        return "no error"
    return f"{type(error).__name__} at {error.position}, {error.event_type}, {error.field}: {error.reason}"
