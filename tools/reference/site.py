"""The reference as a static site that opens from disk, without a server and without external resources."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path
from string import Template

from markdown_it import MarkdownIt

from tools.generate.grammar import Grammar, Type, enum_member_name
from tools.reference import pages
from tools.reference.fields import StructureFields, anchor, heading
from tools.reference.hexdump import as_html
from tools.reference.samples import Sample

_ASSETS = Path(__file__).with_name("assets")
#: Tags, and preformatted text as a whole; what is between them is text.
_TEXTS = re.compile(r"(<pre.*?</pre>|<[^>]*>)", re.DOTALL)
_BREAKS = re.compile(r"(?<=\w)_(?=\w)|(?<=[a-z])(?:\.|::)(?=[a-z])")
_HEADING = re.compile(r"<h(\d)>([^<]*)</h\1>")


def write(grammar: Grammar, examples: dict[str, Sample], folder: Path) -> None:
    """Write the whole site to `folder`, which is recreated."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("site.css", "site.js"):
        shutil.copy(_ASSETS / name, folder / name)
    (folder / "search.js").write_text(f"const ENTRIES = {json.dumps(list(_entries(grammar)))};\n", "utf-8")
    template = Template((_ASSETS / "page.html").read_text("utf-8"))
    texts = {"index": ("The format, field by field", pages.index(grammar, folder=""))}
    for top in grammar.tops():
        texts[top.id] = top.id, pages.page(grammar, top, examples, show=as_html)
    for name, (title, text) in texts.items():
        html = template.substitute(
            title=escape(title), body=_html(text), navigation=_navigation(grammar, current=name)
        )
        (folder / f"{name}.html").write_text(html, "utf-8")


def _html(markdown: str) -> str:
    html = str(MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown))
    html = re.sub(r'href="([\w]*)\.md', r'href="\1.html', html)
    html = html.replace('href="../formats"', 'href="index.html"')
    html = _HEADING.sub(lambda m: f'<h{m[1]} id="{anchor(m[2])}">{m[2]}</h{m[1]}>', html)
    table = '<div class="wide" role="group" aria-label="Table" tabindex="0"><table>'
    html = html.replace("<table>", table).replace("</table>", "</table></div>")
    return "".join(_with_breaks(part) for part in _TEXTS.split(html))


def _with_breaks(html: str) -> str:
    """Text whose names may be broken after an underscore, a dot or a colon; tags as they are."""
    return html if html.startswith("<") else _BREAKS.sub(r"\g<0><wbr>", html)


def _navigation(grammar: Grammar, current: str) -> str:
    parts = []
    for title, tops in pages.sections(grammar):
        quotes = {current: " aria-current=page"}
        links = (
            f'<li><a href="{top.id}.html"{quotes.get(top.id, "")}>{_with_breaks(top.id)}</a></li>'
            for top in tops
        )
        parts.append(f"<h2>{title}</h2><ul>{''.join(links)}</ul>")
    return "".join(parts)


def _entries(grammar: Grammar) -> Iterator[list[str]]:
    """Entries of the search: name, server's name or meaning, and address."""
    for type_ in grammar:
        address = f"{type_.id}.html#{anchor(heading(type_))}"
        yield [heading(type_), pages.title_of(type_) or _short(type_.node.get("doc")), address]
        fields = StructureFields(grammar, type_)
        for field in (*fields.stored(), *fields.derived()):
            about = " ".join(filter(None, [field.server_name.strip("`"), _short(field.meaning)]))
            yield [f"{heading(type_)}.{field.name.strip('`')}", about, address]
        yield from _members(type_, address)


def _members(type_: Type, address: str) -> Iterator[list[str]]:
    for enum, members in type_.enums.items():
        for number, member in members.items():
            server_name = member.get("-orig-id", "") if isinstance(member, dict) else ""
            yield [f"{enum} {number} {enum_member_name(member)}", server_name, address]


def _short(doc: object) -> str:
    return " ".join(re.sub(r"[*`]", "", str(doc or "")).split())[:100]
