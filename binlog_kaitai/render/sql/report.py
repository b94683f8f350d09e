"""What a script leaves out, as comments in the script and as warnings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from binlog_kaitai.columns.blocks.block import Block

#: As much of a text is repeated in a warning.
_MOST = 200


@dataclass
class _Reason:
    count: int
    first: str


class Report:
    """Gathers what is left out.

    Parameters
    ----------
    say
        Takes a warning; the first one of each kind at once, how many there were in the end.
    """

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self._reasons: dict[str, _Reason] = {}

    @property
    def is_complete(self) -> bool:
        """Whether all that was chosen is in the script."""
        return not self._reasons

    def incomplete(self, reason: str, where: str, count: int = 1) -> None:
        """Something that was chosen is not in the script."""
        known = self._reasons.get(reason)
        if known is not None:
            known.count += count
            return
        self._reasons[reason] = _Reason(count, where)
        self._say(f"{where}: {reason}")

    def warn(self, text: str) -> None:
        """Something to know of a script that nevertheless has all that was chosen."""
        self._say(text)

    def finish(self) -> None:
        """Say how often each reason was met."""
        for reason, found in self._reasons.items():
            if found.count > 1:
                self._say(f"{reason}: {found.count} times, first at {found.first}")


def place(block: Block, row: int) -> str:
    """Where an event is, in words."""
    return f"{plain(block.file)}:{int(block.positions[row])}"


def plain(text: str) -> str:
    """Text as printable ASCII in one line, for a comment that no client misreads."""
    escaped = text.encode("ascii", "backslashreplace").decode("ascii")
    return "".join(one if one.isprintable() else f"\\x{ord(one):02x}" for one in escaped)


def shortened(text: str) -> str:
    """The beginning of a long text, in one line."""
    found = " ".join(text[: 2 * _MOST].split())
    return found if len(found) <= _MOST else found[:_MOST] + " …"


def comment(text: str) -> bytes:
    """Text as lines of comment."""
    lines = text.replace("\r", "\n").split("\n")
    return b"".join(b"-- " + plain(line).encode() + b"\n" for line in lines)
