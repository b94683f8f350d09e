"""An event explained: offset, bytes, field, value and meaning of each of its parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from binlog_kaitai.adapter import utc
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.info import plain
from binlog_kaitai.reader import Event
from binlog_kaitai.render.json_text import to_json
from binlog_kaitai.render.leaves import Dissection, Leaf, dissect

_BYTES_A_LINE = 16
_HEX_WIDTH = 3 * _BYTES_A_LINE - 1

#: A longer field is shown by its beginning, in bytes; its value by no more characters.
_LONG, _LONG_VALUE = 4 << 10, 60


def explain_json(event: Event) -> tuple[str, GrammarError | None]:
    """The leaves as one line of JSON, a list of ``{offset, size, path, value}``; offsets in the file.

    Fields of bits that share bytes are one object, whose value is an object of these fields.
    Of an event inside a transaction payload, offsets count from the event's own first byte.
    """
    dissection = dissect(event)
    start = _start_of(event)
    objects = [
        {"offset": start + leaf.offset, "size": leaf.size, "path": leaf.path, "value": _plain(leaf.value)}
        for leaf in dissection.leaves
    ]
    return to_json(objects), dissection.error


def explain_text(
    event: Event, width: int | None = None, *, in_full: bool = False
) -> tuple[Iterator[str], GrammarError | None]:
    """The lines that explain an event to a person; `width` is the terminal's, None for lines in full.

    Of a field of more than 4 KiB the first bytes are shown, and how many follow, unless `in_full`.
    """
    dissection = dissect(event)
    return _lines(event, dissection, width, in_full=in_full), dissection.error


def _start_of(event: Event) -> int:
    return event.position if event.payload_index is None else 0


def _lines(event: Event, dissection: Dissection, width: int | None, *, in_full: bool) -> Iterator[str]:
    yield "  ".join(_headline(event))
    start = _start_of(event)
    field_width = max(len(one.path) for leaf in dissection.leaves for one in (leaf, *leaf.parts))
    for leaf in dissection.leaves:
        shown = leaf.end if in_full or leaf.size <= _LONG else leaf.offset + _LONG
        data = event.raw[leaf.offset : shown]
        head = f"{start + leaf.offset:>10}  {data[:_BYTES_A_LINE].hex(' '):<{_HEX_WIDTH}}  "
        yield _cut(head + _about(leaf, field_width), width)
        for at in range(_BYTES_A_LINE, len(data), _BYTES_A_LINE):
            yield f"{start + leaf.offset + at:>10}  {data[at : at + _BYTES_A_LINE].hex(' ')}"
        if shown < leaf.end:
            yield f"{'…':>10}  {leaf.end - shown} more bytes; --full shows them"
        for part in leaf.parts:
            yield _cut(f"{'bits':>10}  {'':<{_HEX_WIDTH}}  {_about(part, field_width)}", width)
    for leaf in dissection.derived:
        yield _cut(f"{'=':>10}  {'':<{_HEX_WIDTH}}  {_about(leaf, field_width)}", width)
    yield ""


def _about(leaf: Leaf, field_width: int) -> str:
    return f"{leaf.path:<{field_width}}  {shown_value(leaf):<24}  {leaf.meaning}".rstrip()


def _headline(event: Event) -> Iterator[str]:
    inside = event.payload_index is not None
    yield f"  inside, number {event.payload_index}" if inside else f"at {event.position}"
    yield event.type
    yield f"{len(event.raw)} bytes"
    if event.fixed_header.timestamp:
        yield f"{utc(event.fixed_header.timestamp):%Y-%m-%d %H:%M:%S} UTC"
    yield f"checksum {event.checksum_status}"
    if event.gtid:
        yield f"of {event.gtid}"


def _cut(line: str, width: int | None) -> str:
    return line if width is None or len(line) <= width else line[: width - 1] + "…"


def shown_value(leaf: Leaf) -> str:
    """The value as a person reads it, in one line; empty where that is for the leaf's parts to say."""
    value = leaf.value
    if leaf.parts:
        return ""
    if isinstance(value, bytes):
        text = value[:_LONG].decode("utf-8", "replace")
        is_text = text.isprintable() and "\ufffd" not in text
        shown = repr(text) if is_text else f"{len(value)} bytes"
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
