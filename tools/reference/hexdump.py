"""The bytes of an example with their fields: as text for Markdown, and as HTML with linked highlighting."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from binlog_kaitai.render.explanation import Leaf, shown_value
from tools.reference.samples import Sample

_BYTES_A_LINE = 16
#: Of a longer field, the first bytes are shown, and the number of the others.
_SHOWN = 64


def as_text(sample: Sample) -> str:
    """A code block: offset, bytes, field and value."""
    return "\n".join(["```text", *_lines(sample), "```"])


def _lines(sample: Sample) -> Iterator[str]:
    width = 3 * min(_BYTES_A_LINE, max(leaf.size for leaf in sample.leaves)) - 1
    names = max(len(part.path) for leaf in sample.leaves for part in (leaf, *leaf.parts))
    for leaf in sample.leaves:
        data = sample.data[leaf.offset : leaf.end][:_SHOWN]
        first, *rest = (data[at : at + _BYTES_A_LINE].hex(" ") for at in range(0, len(data), _BYTES_A_LINE))
        yield f"{leaf.offset:4}  {first:<{width}}  {leaf.path:<{names}}  {shown_value(leaf)}".rstrip()
        yield from (f"{'':4}  {line}" for line in rest)
        if leaf.size > _SHOWN:
            yield f"{'':4}  … {leaf.size - _SHOWN} more bytes"
        for part in leaf.parts:
            yield f"{'':4}  {'':<{width}}  {part.path:<{names}}  {shown_value(part)}"


def as_html(sample: Sample) -> str:
    """Bytes beside a table of fields; `data-field` links them."""
    cells = []
    for number, leaf in enumerate(sample.leaves):
        for byte in sample.data[leaf.offset : leaf.end]:
            cells.append(f'<span data-field="{number}">{byte:02x}</span>')
    lines = [
        f'<span class="offset">{start:04x}</span>' + "".join(cells[start : start + _BYTES_A_LINE])
        for start in range(0, len(cells), _BYTES_A_LINE)
    ]
    rows = "".join(_html_row(number, leaf) for number, leaf in enumerate(sample.leaves))
    return (
        '<div class="sample"><pre class="hex" role="group" aria-label="bytes" tabindex="0">'
        + "\n".join(lines)
        + '</pre><table class="decoded"><thead><tr><th>offset</th><th>field</th><th>value</th></tr></thead>'
        + f"<tbody>{rows}</tbody></table></div>"
    )


def _html_row(number: int, leaf: Leaf) -> str:
    values = [f"{part.path}: {shown_value(part)}" for part in leaf.parts] or [shown_value(leaf)]
    shown = "<br>".join(escape(value) for value in values)
    return (
        f'<tr data-field="{number}" tabindex="0"><td>{leaf.offset}</td>'
        f"<td><code>{escape(leaf.path)}</code></td><td>{shown}</td></tr>"
    )
