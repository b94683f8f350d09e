"""Explains an event: offset, bytes, field, value and meaning of each of its parts.

Every byte of an event is in exactly one leaf of the grammar's tree. The generated classes record the offset
of each field in the stream of its type; a leaf has the offset in the whole event. If a lazy instance reads
the bytes of a field again (the cells of row images), its leaves replace the field. Bit fields that share
bytes are one leaf, with the fields as its parts.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise, zip_longest
from typing import Any, NamedTuple

from kaitaistruct import KaitaiStruct

from binlog_kaitai.core.grammar import bit_fields, field_path, meanings, read_encryption_header, read_event
from binlog_kaitai.core.info import plain
from binlog_kaitai.core.tree import extents, instance_bounds
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.text.notebook import html_table
from binlog_kaitai.text.output_text import printable, shown_time, styled, to_json, zone_name

#: Types that are one number in parts: the meaning of the number is more useful than that of its parts.
_NUMBERS = frozenset(("PackedInteger", "VarlenInteger"))
_NUMBERS_IN = frozenset(("GtidTaggedEvent.Number.number",))


class Leaf(NamedTuple):
    """A field without subfields.

    `offset`: offset from the start of the event, in bytes.
    `size`: in bytes, at least 1.
    `path`: from the event on, such as ``"body.schema_name"``; for bit fields, the path of the structure that
    they form.
    `value`: as parsed by the grammar; for bit fields, a dictionary of the fields.
    `meaning`: the grammar's description of the field.
    `parts`: the bit fields, without offsets of their own; empty for a field of whole bytes.
    """

    offset: int
    size: int
    path: str
    value: Any
    meaning: str
    parts: tuple[Leaf, ...] = ()

    @property
    def end(self) -> int:
        return self.offset + self.size


class Dissection(NamedTuple):
    """The fields of an event.

    `leaves`: in order; bytes that no field covers are leaves named ``"unread"``.
    `derived`: values computed by the grammar's instances, without bytes of their own.
    `error`: why parsing stopped early; None if it did not.
    `root`: the event, as far as it could be read.
    """

    leaves: list[Leaf]
    derived: list[Leaf]
    error: GrammarError | None
    root: KaitaiStruct | None


def dissect(event: ParsedEvent) -> Dissection:
    """Dissect an event, as far as it follows the grammar."""
    root, error = read_event(event.raw, event.type_code, event.layout, event.table_map)
    body = getattr(getattr(root, "body", None), "content", None)
    parts = ((getattr(root, "header", None), "header"), (body, "body"))
    derived = [leaf for node, name in parts for leaf in _derived(node, name)]
    return Dissection(leaves_of(root, event.raw), derived, error, root)


def dissect_header(raw: bytes) -> Dissection:
    """Dissect the header of an encrypted log."""
    root, error = read_encryption_header(raw)
    return Dissection(leaves_of(root, raw), [], error, root)


def leaves_of(root: KaitaiStruct, raw: bytes) -> list[Leaf]:
    """The leaves of an object that was read from the bytes, at least in part."""
    leaves: list[Leaf] = []
    _walk(leaves, root, 0, "")
    return list(_without_gaps((leaf for leaf in leaves if leaf.size), raw))


def _without_gaps(leaves: Iterable[Leaf], raw: bytes) -> Iterator[Leaf]:
    end = 0
    for leaf in (*leaves, Leaf(len(raw), 0, "", None, "")):
        if leaf.offset > end:
            unread = raw[end : leaf.offset]
            yield Leaf(end, len(unread), "unread", unread, "Bytes that no field claims.")
        if leaf.path:
            yield leaf
        end = leaf.end


def _derived(node: KaitaiStruct | None, prefix: str) -> Iterator[Leaf]:
    """Values of instances that are shown: numbers, names, and flags that are set."""
    if node is None:
        return
    docs = meanings().get(type(node).__qualname__, {})
    for name in _instances(node):
        if name not in docs:
            continue
        try:
            value = getattr(node, name)
        except Exception:  # an instance of an event that could not be parsed in full
            continue
        if value is True or (isinstance(value, (int, float)) and not isinstance(value, bool)):
            yield Leaf(0, 0, f"{prefix}.{name}", value, docs[name])


def _walk(leaves: list[Leaf], node: KaitaiStruct, base: int, prefix: str, whole: str = "") -> None:
    """Append the leaves of a structure; `whole` is the meaning of the field that contains it."""
    name_of_type = type(node).__qualname__
    docs, widths = meanings().get(name_of_type, {}), bit_fields().get(name_of_type, {})
    fields = extents(node)
    overlays = _overlays(node, fields, base, prefix)
    group: list[Leaf] = []
    for name, (start, end, bounds) in fields.items():
        value = getattr(node, name, None)
        path, meaning = field_path(prefix + name), docs.get(name, "")
        if whole and (not meaning or name_of_type in _NUMBERS or f"{name_of_type}.{name}" in _NUMBERS_IN):
            meaning = whole
        if isinstance(value, KaitaiStruct):
            _walk_child(leaves, node, value, base, start, f"{path}.", meaning)
        elif isinstance(value, list) and value and isinstance(value[0], KaitaiStruct):
            for index, (item, item_start) in enumerate(zip(value, bounds, strict=False)):
                _walk_child(leaves, node, item, base, item_start, f"{path}[{index}].", meaning)
        elif end is None:
            continue
        elif name in widths:
            group.append(Leaf(base + start, end - start, path, value, meaning))
            if sum(widths[leaf.path.removeprefix(prefix)] for leaf in group) % 8 == 0:
                leaves.append(_joined(group, prefix, whole))
                group = []
        elif isinstance(value, bytes) and (over := overlays.get((base + start, end - start))):
            leaves += over
        else:
            leaves.append(Leaf(base + start, end - start, path, value, meaning))


def _joined(group: list[Leaf], prefix: str, whole: str) -> Leaf:
    """Combine bit fields that share bytes."""
    values = {leaf.path.removeprefix(prefix): leaf.value for leaf in group}
    size = sum(leaf.size for leaf in group)
    parts = tuple(leaf._replace(size=0) for leaf in group)
    return Leaf(group[0].offset, size, prefix.removesuffix("."), values, whole, parts)


def _walk_child(
    leaves: list[Leaf],
    node: KaitaiStruct,
    child: KaitaiStruct,
    base: int,
    start: int,
    prefix: str,
    whole: str = "",
) -> None:
    # A sized substructure has its own stream, which begins at the field's offset.
    _walk(leaves, child, base if child._io is node._io else base + start, prefix, whole)


def _overlays(
    node: KaitaiStruct, fields: Iterable[str], base: int, prefix: str
) -> dict[tuple[int, int], list[Leaf]]:
    """Leaves of lazy instances that cover all bytes of a field again, by its offset and size."""
    overlays: dict[tuple[int, int], list[Leaf]] = {}
    names = _instances(node)
    if not names or not any(isinstance(getattr(node, name, None), bytes) for name in fields):
        return overlays
    for name in names:
        try:
            value = getattr(node, name)
        except Exception:  # hostile cells may raise any exception; the field's raw bytes are shown instead
            continue
        bounds = instance_bounds(node, name)
        items = value if isinstance(value, list) else [value]
        if not bounds or not items or not all(isinstance(item, KaitaiStruct) for item in items):
            continue
        leaves: list[Leaf] = []
        for index, (item, start) in enumerate(zip(items, bounds, strict=False)):
            label = f"{prefix}{name}[{index}]." if isinstance(value, list) else f"{prefix}{name}."
            _walk_child(leaves, node, item, base, start, label)
        if leaves and all(left.end == right.offset for left, right in pairwise(leaves)):
            start, end = leaves[0].offset, leaves[-1].end
            overlays[start, end - start] = leaves
    return overlays


#: Instances with a cell for each column of each row, and how many cells of an event are read.
_OF_ROWS, _MOST_CELLS = frozenset(("rows", "inflated_rows")), 1 << 20


@cache
def _properties(kind: type) -> list[str]:
    return [name for name, value in vars(kind).items() if isinstance(value, property)]


def _instances(node: KaitaiStruct) -> list[str]:
    """The names of the node's instances, without rows that may have too many cells."""
    kind: Any = type(node)
    names = _properties(kind)
    if _OF_ROWS.isdisjoint(names):
        return names
    try:
        data, columns = getattr(node, "images", None), node.columns
        size = node.compressed_images.len_uncompressed if data is None else len(data)
        count = size // max((columns.num_present + 7) // 8, 1)  # each image begins with its NULL bits
    except Exception:  # of an event that could not be parsed in full
        return names
    is_small = count * columns.num_columns <= _MOST_CELLS
    return [name for name in names if is_small or name not in _OF_ROWS]


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

    `headline`: description of the bytes.
    `raw`: the bytes.
    `start`: offset of the bytes in the file.
    `dissection`: their fields.
    """

    headline: tuple[str, ...]
    raw: bytes
    start: int
    dissection: Dissection

    @classmethod
    def of(cls, event: ParsedEvent, header_size: int = 0) -> Explained:
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

    def _repr_html_(self) -> str:
        start, raw = self.start, self.raw
        rows = (
            (start + row.offset, raw[row.offset : row.end].hex(" "), row.path, shown_value(row), row.meaning)
            for row in self.dissection.leaves
        )
        return html_table("  ".join(self.headline), ("offset", "bytes", "field", "value", "meaning"), rows)

    def json(self) -> str:
        """The leaves as one line of JSON, a list of ``{offset, size, path, value}``; offsets in the file.

        Bit fields that share bytes are one object, whose value is an object of these fields.
        """
        return to_json(
            [
                {
                    "offset": self.start + leaf.offset,
                    "size": leaf.size,
                    "path": leaf.path,
                    "value": _plain(leaf.value),
                }
                for leaf in self.dissection.leaves
            ]
        )

    def lines(
        self, width: int | None = None, *, in_full: bool = False, has_colors: bool = False
    ) -> Iterator[str]:
        """The lines as printable text; `width` is the terminal's, None for no limit.

        Unless `in_full`, only the first bytes of fields longer than 4 KiB are shown, and the number of the
        rest.
        """
        raw, start, dissection = self.raw, self.start, self.dissection
        text = printable("  ".join(self.headline))
        for line in [text] if width is None else textwrap.wrap(text, max(width, _NARROWEST)):
            yield styled(line, "1") if has_colors else line
        leaves = [part for leaf in (*dissection.leaves, *dissection.derived) for part in (leaf, *leaf.parts)]
        columns = _Columns.fitted(
            width, start + len(raw), max(len(leaf.path) for leaf in leaves), max(leaf.size for leaf in leaves)
        )._replace(has_colors=has_colors)
        for leaf in dissection.leaves:
            shown = leaf.end if in_full or leaf.size <= _LONG else leaf.offset + _LONG
            data, step = raw[leaf.offset : shown], columns.bytes_a_line
            rows = [
                (str(start + leaf.offset + begin), data[begin : begin + step].hex(" "))
                for begin in range(0, len(data), step)
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
    has_colors: bool = False

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
        place = f"{offset:>{self.offset}}  {bytes_:<{_hex_width(self.bytes_a_line)}}"
        field = printable(f"{field:<{self.field}}")
        if self.has_colors:
            place, field = styled(place, "2"), styled(field, "36")
        return f"{place}  {field}  {printable(rest)}".rstrip()

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
        for piece in (name[start : start + width] for start in range(0, len(name), width)):
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


def _headline(event: ParsedEvent, header_size: int) -> Iterator[str]:
    inside = event.payload_index is not None
    yield f"  inside, number {event.payload_index}" if inside else f"at {event.position}"
    if header_size and not inside:
        yield f"offset {event.position + header_size} in the file"
    yield event.type
    yield f"{len(event.raw)} bytes"
    if event.fixed_header.timestamp:
        yield f"{shown_time(event.fixed_header.timestamp)} {zone_name()}"
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
        shown = f"{value} = {shown_time(value // 1_000_000)}.{value % 1_000_000:06}"
    elif leaf.path.endswith("timestamp") and value:
        shown = f"{value} = {shown_time(value)}"
    elif leaf.path == "checksum" or (leaf.path.endswith("flags") and leaf.size):
        shown = f"0x{value:0{2 * leaf.size}x}"
    else:
        shown = str(_plain(value))
    return shown if len(shown) <= _LONG_VALUE else shown[: _LONG_VALUE - 1] + "…"


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else plain(value)
