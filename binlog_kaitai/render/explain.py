"""Explains an event: offset, bytes, field, value and meaning of each of its parts."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, NamedTuple

from binlog_kaitai.core.adapter import utc
from binlog_kaitai.core.info import plain
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.log.event_reader import Event
from binlog_kaitai.render.json_text import to_json
from binlog_kaitai.render.leaves import Dissection, Leaf, dissect, dissect_header
from binlog_kaitai.render.terminal import printable

_BYTES_A_LINE = 16

#: Narrower terminals show half as many; widths below 80 columns count as 80.
_ROOM_FOR_ALL_BYTES, _NARROWEST = 140, 80

#: With this much room, value and meaning share a line, and the meaning is truncated.
_WIDE = 60

#: Values are padded to this width, so that meanings are aligned.
_VALUE_WIDTH = 24

#: Maximum number of bytes shown of a field, and of characters of its value.
_LONG, _LONG_VALUE = 4 << 10, 60


class Explained(NamedTuple):
    """Bytes of a log and what they mean.

    Attributes
    ----------
    headline : tuple of str
        Description of the bytes.
    raw : bytes
        The bytes.
    start : int
        Offset of the bytes in the file.
    dissection : Dissection
        Their fields.
    """

    headline: tuple[str, ...]
    raw: bytes
    start: int
    dissection: Dissection

    @classmethod
    def of(cls, event: Event, header_size: int = 0) -> Explained:
        """An event, of a log that begins after a file header of some length.

        The offsets of an event inside a transaction payload count from the event's own first byte.
        """
        start = event.position + header_size if event.payload_index is None else 0
        return cls(tuple(_headline(event, header_size)), event.raw, start, dissect(event))

    @classmethod
    def of_header(cls, raw: bytes) -> Explained:
        """The header of an encrypted log."""
        headline = ("at 0 of the file", "header of an encrypted log", f"{len(raw)} bytes")
        return cls(headline, raw, 0, dissect_header(raw))

    @property
    def error(self) -> GrammarError | None:
        """Why the bytes cannot be parsed in full; None if they can."""
        return self.dissection.error

    def json(self) -> str:
        """The leaves as one line of JSON, a list of ``{offset, size, path, value}``; offsets in the file.

        Bit fields that share bytes are one object, whose value is an object of these fields.
        """
        leaves = self.dissection.leaves
        return to_json(
            [
                {
                    "offset": self.start + one.offset,
                    "size": one.size,
                    "path": one.path,
                    "value": _plain(one.value),
                }
                for one in leaves
            ]
        )

    def lines(self, width: int | None = None, *, in_full: bool = False) -> Iterator[str]:
        """The lines as text; `width` is the terminal's, None for no limit.

        Unless `in_full`, only the first bytes of fields longer than 4 KiB are shown, and the number of the
        rest.
        """
        return _lines(self, width, in_full=in_full)


def _lines(explained: Explained, width: int | None, *, in_full: bool) -> Iterator[str]:
    headline, raw, start, dissection = explained
    text = "  ".join(headline)
    yield from [text] if width is None else textwrap.wrap(text, max(width, _NARROWEST))
    leaves = [one for leaf in (*dissection.leaves, *dissection.derived) for one in (leaf, *leaf.parts)]
    columns = _Columns.fitted(
        width, start + len(raw), max(len(one.path) for one in leaves), max(one.size for one in leaves)
    )
    for leaf in dissection.leaves:
        shown = leaf.end if in_full or leaf.size <= _LONG else leaf.offset + _LONG
        data, step = raw[leaf.offset : shown], columns.bytes_a_line
        rows = [
            (str(start + leaf.offset + at), data[at : at + step].hex(" ")) for at in range(0, len(data), step)
        ]
        yield from columns.lines(rows, leaf)
        if shown < leaf.end:
            yield columns.line("…", f"{leaf.end - shown} more bytes; --full shows them")
        for part in leaf.parts:
            yield from columns.lines([("bits", "")], part)
    for leaf in dissection.derived:
        yield from columns.lines([("=", "")], leaf)
    yield ""


class _Columns(NamedTuple):
    """Widths of the columns; longer text continues on the next line."""

    offset: int
    bytes_a_line: int
    field: int
    rest: int | None  # value and meaning; None for no limit

    @classmethod
    def fitted(cls, width: int | None, last_offset: int, longest_path: int, most_bytes: int) -> _Columns:
        """Widths for a terminal; a narrow one is treated as one of 80 columns."""
        if width is None:
            return cls(10, _BYTES_A_LINE, longest_path, None)
        width = max(width, _NARROWEST)
        offset = max(len(str(last_offset)), len("bits"))
        step = _BYTES_A_LINE if width >= _ROOM_FOR_ALL_BYTES else _BYTES_A_LINE // 2
        step = max(1, min(step, most_bytes))
        room = width - offset - 2 - _hex_width(step) - 2
        field = min(longest_path, max(room // 2 - 2, _NARROWEST // 4))
        return cls(offset, step, field, room - field - 2)

    def line(self, offset: str, bytes_: str, field: str = "", rest: str = "") -> str:
        """One line, without spaces at its end."""
        hexes = f"{bytes_:<{_hex_width(self.bytes_a_line)}}"
        return f"{offset:>{self.offset}}  {hexes}  {field:<{self.field}}  {rest}".rstrip()

    def lines(self, rows: list[tuple[str, str]], leaf: Leaf) -> Iterator[str]:
        """A leaf beside its bytes: `rows` has the offset and the bytes of each line."""
        value = printable(shown_value(leaf))
        if self.rest is None:
            fields, descriptions = [leaf.path], [f"{value:<{_VALUE_WIDTH}}  {leaf.meaning}"]
        else:
            fields, descriptions = (
                _wrapped(leaf.path, self.field),
                _value_lines(value, leaf.meaning, self.rest),
            )
        for row, field, rest in zip_longest(rows, fields, descriptions):
            offset, bytes_ = row or ("", "")
            yield self.line(offset, bytes_, field or "", rest or "")


def _hex_width(count: int) -> int:
    return 3 * count - 1


def _wrapped(text: str, width: int) -> list[str]:
    """A path in lines, broken after dots and underscores if possible."""
    lines = [""]
    for name in re.findall(r"[^._]*[._]?", text):
        for piece in (name[at : at + width] for at in range(0, len(name), width)):
            if len(lines[-1]) + len(piece) > width:
                lines.append("")
            lines[-1] += piece
    return lines


def _value_lines(value: str, meaning: str, width: int) -> list[str]:
    """The whole value, and as much of its meaning as fits into two lines, or into the rest of a wide one."""
    line = f"{value:<{_VALUE_WIDTH}}  {meaning}".rstrip()
    if len(line) <= width:
        return [line]
    if width >= _WIDE and len(value) <= width // 2:
        return [line[: width - 1] + "…"]
    lines = textwrap.wrap(value, width) or [""]
    more = textwrap.wrap(meaning, width, max_lines=2, placeholder="…")
    if not value:
        return more or [""]
    if len(more) == 1 and len(lines[-1]) + 2 + len(more[0]) <= width:
        return [*lines[:-1], f"{lines[-1]}  {more[0]}"]
    return [*lines, *more]


def _headline(event: Event, header_size: int) -> Iterator[str]:
    inside = event.payload_index is not None
    yield f"  inside, number {event.payload_index}" if inside else f"at {event.position}"
    if header_size and not inside:
        yield f"offset {event.position + header_size} in the file"
    yield event.type
    yield f"{len(event.raw)} bytes"
    if event.fixed_header.timestamp:
        yield f"{utc(event.fixed_header.timestamp):%Y-%m-%d %H:%M:%S} UTC"
    yield f"checksum {event.checksum_status}"
    if event.gtid:
        yield f"of {event.gtid}"


def shown_value(leaf: Leaf) -> str:
    """The value as text in one line; empty if the leaf's parts are shown instead."""
    value = leaf.value
    if leaf.parts:
        return ""
    if isinstance(value, bytes):
        text = value[:_LONG].decode("utf-8", "replace")
        is_text = text.isprintable() and "\ufffd" not in text
        shown = repr(text) if is_text else f"{len(value)} byte{'s' * (len(value) != 1)}"
    elif isinstance(value, str):
        shown = repr(value if len(value) <= _LONG else value[:_LONG])
    elif leaf.path.endswith("commit_timestamp") and value:
        shown = f"{value} = {utc(value // 1_000_000):%Y-%m-%d %H:%M:%S}.{value % 1_000_000:06}"
    elif leaf.path.endswith("timestamp") and value:
        shown = f"{value} = {utc(value):%Y-%m-%d %H:%M:%S}"
    elif leaf.path == "checksum" or (leaf.path.endswith("flags") and leaf.size):
        shown = f"0x{value:0{2 * leaf.size}x}"
    else:
        shown = str(_plain(value))
    return shown if len(shown) <= _LONG_VALUE else shown[: _LONG_VALUE - 1] + "…"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list) else plain(value)
