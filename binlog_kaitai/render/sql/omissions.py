"""Reports what a script omits, as comments in the script and as warnings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from binlog_kaitai.log.block import Block

#: Maximum length of text that is quoted in a warning.
_MOST = 200


@dataclass
class _Reason:
    count: int
    first: str


class Report:
    """Collects what is omitted.

    Parameters
    ----------
    say
        Receives warnings: the first one of each kind immediately, and their counts at the end.
    """

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self._reasons: dict[str, _Reason] = {}

    @property
    def is_complete(self) -> bool:
        """Whether the script contains everything selected."""
        return not self._reasons

    def incomplete(self, reason: str, where: str, count: int = 1) -> None:
        """Report a selected change that the script omits."""
        known = self._reasons.get(reason)
        if known is not None:
            known.count += count
            return
        self._reasons[reason] = _Reason(count, where)
        self._say(f"{where}: {reason}")

    def warn(self, text: str) -> None:
        """Warn about something that does not make the script incomplete."""
        self._say(text)

    def finish(self) -> None:
        """Report how often each reason occurred."""
        for reason, found in self._reasons.items():
            if found.count > 1:
                self._say(f"{reason}: {found.count} times, first at {found.first}")


def place(block: Block, row: int) -> str:
    """Description of an event's position."""
    return f"{plain(block.file)}:{int(block.positions[row])}"


def plain(text: str) -> str:
    """Text as one line of printable ASCII, for a comment that no client can misparse."""
    escaped = text.encode("ascii", "backslashreplace").decode("ascii")
    return "".join(one if one.isprintable() else f"\\x{ord(one):02x}" for one in escaped)


def shortened(text: str) -> str:
    """The beginning of a long text, in one line."""
    found = " ".join(text[: 2 * _MOST].split())
    return found if len(found) <= _MOST else found[:_MOST] + " …"


def comment(text: str) -> bytes:
    """Text as comment lines."""
    lines = text.replace("\r", "\n").split("\n")
    return b"".join(b"-- " + plain(line).encode() + b"\n" for line in lines)
