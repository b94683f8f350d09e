"""All documents and the reference as a static site that opens from disk, without a server or the network."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from html import escape, unescape
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
_HEADING = re.compile(r"<h(\d)>(.*?)</h\1>")
_SECTION = re.compile(r'<h\d id="([^"]*)">(.*?)</h\d>')
_LINK = re.compile(r'<a href="(?P<path>[^"#]*)(?P<fragment>#[^"]*)?">(?P<text>.*?)</a>', re.DOTALL)

_ROOT = Path(__file__).parents[2]
#: The documents beside docs/.
_TOP = ("README", "CHANGELOG", "CONTRIBUTING")


def write(grammar: Grammar, examples: dict[str, Sample], folder: Path) -> None:
    """Write the whole site to `folder`, which is recreated."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("site.css", "site.js"):
        shutil.copy(_ASSETS / name, folder / name)
    shutil.copytree(_ROOT / "docs/images", folder / "images")
    documents = {_page_of(path): path.read_text("utf-8") for path in _documents()}
    documents["grammar"] = pages.index(grammar, folder="")
    titles = {name: _title(text) for name, text in documents.items()}
    reference = {top.id: pages.page(grammar, top, examples, show=as_html) for top in grammar.tops()}
    bodies = {name: _html(text) for name, text in (documents | reference).items()}
    entries = [
        *_entries(grammar),
        *(entry for name, title in titles.items() for entry in _sections(name, title, bodies[name])),
    ]
    (folder / "search.js").write_text(f"const ENTRIES = {json.dumps(entries)};\n", "utf-8")
    template = Template((_ASSETS / "page.html").read_text("utf-8"))
    for name, body in bodies.items():
        navigation = _navigation(grammar, titles, current=name)
        html = template.substitute(title=escape(titles.get(name, name)), body=body, navigation=navigation)
        (folder / f"{name}.html").write_text(html, "utf-8")


def _documents() -> list[Path]:
    """The documents, the README first; `docs/grammar` is written anew, with hex views."""
    return [*(_ROOT / f"{name}.md" for name in _TOP), *sorted((_ROOT / "docs").glob("*.md"))]


def _page_of(path: Path) -> str:
    return "index" if path.stem == "README" else path.stem.lower()


def _title(text: str) -> str:
    match = re.search(r"^# (.*)$", text, re.MULTILINE)
    return match[1] if match else ""


def _html(markdown: str) -> str:
    html = str(MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown))
    html = _LINK.sub(_link, html.replace('src="docs/images/', 'src="images/'))
    html = _HEADING.sub(lambda m: f'<h{m[1]} id="{anchor(unescape(_plain(m[2])))}">{m[2]}</h{m[1]}>', html)
    html = html.replace("<pre><code", '<pre class="code" tabindex="0"><code')
    html = html.replace("<th></th>", "<td></td>")
    table = '<div class="wide" role="group" aria-label="Table" tabindex="0"><table>'
    html = html.replace("<table>", table).replace("</table>", "</table></div>")
    return "".join(_with_breaks(part) for part in _TEXTS.split(html))


def _link(match: re.Match[str]) -> str:
    """A link to a page of the site, or to the web; the text alone of a link to another file."""
    path, fragment, text = match["path"], match["fragment"] or "", match["text"]
    if re.match(r"[a-z]+:", path):
        return match[0]
    if path and not path.endswith(".md"):
        return text
    page = f"{_page_of(Path(path))}.html" if path else ""
    return f'<a href="{page}{fragment}">{text}</a>'


def _plain(html: str) -> str:
    return re.sub(r"<[^>]*>", "", html)


def _with_breaks(html: str) -> str:
    """Text whose names may be broken after an underscore, a dot or a colon; tags as they are."""
    return html if html.startswith("<") else _BREAKS.sub(r"\g<0><wbr>", html)


def _navigation(grammar: Grammar, titles: dict[str, str], current: str) -> str:
    groups = [("Documents", titles)]
    groups += [(title, {top.id: top.id for top in tops}) for title, tops in pages.sections(grammar)]
    parts = []
    for title, names in groups:
        quotes = {current: " aria-current=page"}
        links = (
            f'<li><a href="{name}.html"{quotes.get(name, "")}>{_with_breaks(escape(text))}</a></li>'
            for name, text in names.items()
        )
        parts.append(f"<h2>{title}</h2><ul>{''.join(links)}</ul>")
    return "".join(parts)


def _sections(name: str, title_of_page: str, html: str) -> Iterator[list[str]]:
    """Entries of the search: the headings of a document, the text below each, address and document."""
    parts = _SECTION.split(html)
    for fragment, title, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        words = unescape(_plain(re.sub(r"</(?:td|th|li|p|pre)>", " ", f"{title} — {text}"))).split()
        heading_, _, text = " ".join(words).partition(" — ")
        yield [heading_, text, f"{name}.html#{fragment}", title_of_page]


def _entries(grammar: Grammar) -> Iterator[list[str]]:
    """Entries of the search for the grammar: name, server's name and meaning, and address."""
    for type_ in grammar:
        address = f"{type_.id}.html#{anchor(heading(type_))}"
        yield [heading(type_), pages.title_of(type_) or _unmarked(type_.node.get("doc")), address]
        fields = StructureFields(grammar, type_)
        for field in (*fields.stored(), *fields.derived()):
            about = " ".join(filter(None, [field.server_name.strip("`"), _unmarked(field.meaning)]))
            yield [f"{heading(type_)}.{field.name.strip('`')}", about, address]
        yield from _members(type_, address)


def _members(type_: Type, address: str) -> Iterator[list[str]]:
    for enum, members in type_.enums.items():
        for number, member in members.items():
            server_name = member.get("-orig-id", "") if isinstance(member, dict) else ""
            yield [f"{enum} {number} {enum_member_name(member)}", server_name, address]


def _unmarked(doc: object) -> str:
    return " ".join(re.sub(r"[*`]", "", str(doc or "")).split())
