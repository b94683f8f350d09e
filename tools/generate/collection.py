"""What a pull request to kaitai_struct_formats, Kaitai's collection, needs: one file, samples, a description.

The collection compiles every file for every language, with its root as the base of imports; 82 files of ours
would fill a folder with types of a single format. The file must follow the `style guide`_ of the collection.

.. _style guide: https://doc.kaitai.io/ksy_style_guide.html
"""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from tools.generate.grammar import Grammar, GrammarError, Node
from tools.generate.unique import with_unique_names
from tools.generate.webide import as_yaml, fold

#: The file within the collection, and the samples within kaitai_struct_samples.
FILE, SAMPLES = "database/mysql_binlog.ksy", "database/mysql_binlog"

#: The order of keys: of a type, of `meta` in a file, and of fields and instances.
TYPE_KEYS = ["meta", "doc", "doc-ref", "to-string", "params", "seq", "instances", "types", "enums"]
DEFAULTS = ["encoding", "endian", "bit-endian"]
META_KEYS = [
    *("id", "title", "application", "file-extension", "xref", "tags", "license", "ks-version", "imports"),
    *DEFAULTS,
]
FIELD_KEYS = [
    *("id", "-orig-id", "io", "pos", "value", "size", "size-eos", "type", "enum", "terminator", "include"),
    *("consume", "eos-error", "pad-right", "encoding", "process", "valid", "contents"),
    *("repeat", "repeat-expr", "repeat-until", "if", "doc", "doc-ref"),
]

#: The columns that documentation may have.
_WIDTH = 80
_ENCODINGS = {"ASCII", "UTF-8"}
_ONE_LINE, _FIRST_OF_MANY = re.compile(r"\s*(- )?doc: [^|]"), re.compile(r"(\s*)(- )?doc: \|")

#: What the servers' makers publish about the format, in their newest versions.
_DOCUMENTATION = (
    "https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_replication.html",
    "https://mariadb.com/docs/server/reference/clientserver-protocol/replication-protocol",
)

#: Small logs of both servers, below tests/corpus/.
_LOGS = ("mysql-9.7/orders/binlog.000001", "mariadb-11.8/types_metadata/binlog.000001")

_DESCRIPTION = f"""\
Adds `{FILE}`: binary logs and relay logs of MySQL (3.23 to 9.7) and MariaDB (up to 11.8), with all event
types and the values of row images.

The first events of a log decide how the others are read, so entries look back at those before them.
`-orig-id` has the name in the server's source, `doc-ref` the place there.

To test it: `{SAMPLES}/` in kaitai_struct_samples has a log of each server. binlog-kaitai, from whose grammar
the file is generated, compares what it parses with the servers' own clients and between languages.
"""


def write(grammar: Grammar, entry: str, corpus: Path, folder: Path) -> None:
    """Write the file, the samples and a description below a folder, which is emptied first.

    Raises `GrammarError`: the file does not follow the style guide.
    """
    shutil.rmtree(folder, ignore_errors=True)
    file, samples = folder / "kaitai_struct_formats" / FILE, folder / "kaitai_struct_samples" / SAMPLES
    file.parent.mkdir(parents=True)
    top = grammar.specs[entry]
    top = {**top, "doc-ref": [top["doc-ref"], *_DOCUMENTATION]}
    text = as_yaml(_wrapped(fold(with_unique_names(Grammar({**grammar.specs, entry: top})), entry)))
    if problems := list(check(text)):
        raise GrammarError("\n".join(problems))
    file.write_text(text, encoding="utf-8")
    (folder / "pull_request.md").write_text(_DESCRIPTION, encoding="utf-8")
    samples.mkdir(parents=True)
    for log in _LOGS:
        server, _, name = log.split("/")
        shutil.copyfile(corpus / log, samples / f"{server}.{name.rpartition('.')[2]}")


def check(text: str) -> Iterator[str]:
    """What the style guide does not allow in a file."""
    if "\t" in text or "\r" in text or not text.endswith("\n") or text.startswith(("---", "%")):
        yield "tabs, line endings or directives"
    yield from (f"line {line}: documentation beyond column {_WIDTH}" for line in _long_lines(text))
    file = yaml.safe_load(text)
    meta = file["meta"]
    if not is_in_order(meta, META_KEYS) or set(meta) - set(META_KEYS):
        yield f"the keys of meta are {', '.join(meta)}"
    if meta["id"] != PurePosixPath(FILE).stem or not {"title", "license"} <= set(meta) or "doc" not in file:
        yield "id, title, license or doc"
    extensions, tags = meta.get("file-extension", ""), meta.get("tags", [])
    if (isinstance(extensions, list) and len(extensions) == 1) or tags != sorted(tags):
        yield "a list of one file extension, or tags that are not sorted"
    yield from _check_type(file, meta["id"])


def _check_type(node: Node, name: str) -> Iterator[str]:
    if not is_in_order(node, TYPE_KEYS):
        yield f"{name}: its keys are {', '.join(node)}"
    fields = {f"{name}.{field['id']}": field for field in [*node.get("params", ()), *node.get("seq", ())]}
    fields |= {f"{name}.{key}": field for key, field in node.get("instances", {}).items()}
    for path, field in fields.items():
        if not is_in_order(field, FIELD_KEYS) or field.get("encoding", "UTF-8") not in _ENCODINGS:
            yield f"{path}: its keys are {', '.join(field)}"
    for key, type_ in node.get("types", {}).items():
        own = type_.get("meta", {})
        if not is_in_order(own, DEFAULTS) or set(own) - set(DEFAULTS):
            yield f"{name}.{key}: the keys of meta are {', '.join(own)}"
        yield from _check_type(type_, f"{name}.{key}")


def is_in_order(node: Node, order: list[str]) -> bool:
    """Whether the keys of a node have an order; keys of our own stand with the documentation."""
    keys = [key for key in node if key in order]
    return keys == [key for key in order if key in node]


def _long_lines(text: str) -> Iterator[int]:
    """Numbers of the lines of documentation that are too long."""
    indent = -1
    for number, line in enumerate(text.splitlines(), 1):
        if match := _FIRST_OF_MANY.match(line):
            indent = len(match[1]) + len(match[2] or "")
        elif line.strip() and len(line) - len(line.lstrip()) <= indent:
            indent = -1
        if (indent >= 0 or _ONE_LINE.match(line)) and len(line) > _WIDTH:
            yield number


def _wrapped(node: Any, indent: int = 0, key: str = "") -> Any:
    """A node with documentation in lines; `indent`: the columns before its keys in the file."""
    if key == "doc" and isinstance(node, str):
        text = " ".join(node.split())
        if len(text) + len("doc: ''") + indent <= _WIDTH and "\n\n" not in node:
            return text
        paragraphs = (" ".join(text.split()) for text in node.split("\n\n"))
        options: Any = {"break_long_words": False, "break_on_hyphens": False}
        return "\n\n".join(textwrap.fill(text, _WIDTH - indent - 2, **options) for text in paragraphs) + "\n"
    if isinstance(node, dict):
        inside = indent + 2
        return {
            name: _wrapped(one, indent if name == "doc" else inside, str(name)) for name, one in node.items()
        }
    if isinstance(node, list):
        return [_wrapped(item, indent + 2) for item in node]
    return node
