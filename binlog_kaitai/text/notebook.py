"""Tables in HTML, which notebooks show instead of a `repr`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

#: Longer values are shortened, in characters.
_MOST_SHOWN = 200


def html_table(caption: str, names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table with a caption and the names of its columns; values are shown as their `str`."""
    head = "".join(f"<th>{_text(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    top = f'<caption style="text-align: left; white-space: nowrap">{_text(caption)}</caption>'
    return f"<table>{top}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    return f'<td style="text-align: left">{_text(value)}</td>'


def _text(value: object) -> str:
    from html import escape  # not needed outside of notebooks

    text = str(value)
    shown = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
    # Names that are not valid UTF-8 have surrogates, which notebooks cannot send.
    return escape(shown.encode("utf-8", "backslashreplace").decode())
