"""A single .ksy file: the entry file, with the files that it imports as nested types.

Types keep their names, so references resolve as before: outward through the enclosing types, finally among
the entry's own types, which now include the files. References with another meaning there are rejected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

from tools.generate.grammar import Grammar, GrammarError, Node
from tools.generate.unique import with_unique_names

# What a nested type may declare about reading; the rest of `meta` applies only to files.
_NAMED = re.compile(r"\{([\w.]+)")
_INHERITED = ("endian", "bit-endian", "encoding")


def fold(grammar: Grammar, entry: str) -> Node:
    """The file `entry` with all its imports, direct and indirect, as a file without imports."""
    main = grammar.specs[entry]
    meta = {key: value for key, value in main["meta"].items() if key != "imports"}
    types = dict(main.get("types") or {})
    for spec in grammar.all_imports(entry):
        id_ = grammar.specs[spec]["meta"]["id"]
        if id_ in types:
            raise GrammarError(f"{entry}: the type {id_!r} hides the file {spec}.ksy")
        types[id_] = _as_type(spec, grammar.specs[spec])
    folded = _eager({**main, "meta": meta, "types": types})
    return {key: folded[key] for key in _ordered(folded)}


def render(grammar: Grammar, entry: str) -> str:
    """The combined file as YAML."""
    return as_yaml(fold(with_unique_names(grammar), entry))


def as_yaml(file: Node) -> str:
    """The text of a combined file."""
    text = yaml.dump(file, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)
    return "# Generated from the files of formats/ of binlog-kaitai.\n" + text


def _as_type(spec: str, node: Node) -> Node:
    # `_root` is the file's own top-level type; combined, it would be the entry's.
    if re.search(r"\b_root\b", yaml.safe_dump({key: node[key] for key in node if "doc" not in key})):
        raise GrammarError(f"{spec}: uses _root, which refers to another type in the combined file")
    meta = {key: node["meta"][key] for key in _INHERITED if key in node["meta"]}
    rest = {key: value for key, value in node.items() if key != "meta"}
    return {"meta": meta, **rest} if meta else rest


def _eager(node: Node) -> Node:
    """Make the Web IDE read the instances in a representation immediately; it shows no others."""
    done = dict(node)
    named = {path.split(".")[0] for path in _NAMED.findall(str(node.get("-webide-representation", "")))}
    if "instances" in node:
        done["instances"] = {
            name: {**child, "-webide-parse-mode": "eager"} if name in named else child
            for name, child in node["instances"].items()
        }
    if "types" in node:
        done["types"] = {name: _eager(child) for name, child in node["types"].items()}
    return done


def _ordered(node: Node) -> Iterator[str]:
    """The keys, with `types` before `enums`, as in the style guide."""
    yield from (key for key in node if key not in ("types", "enums"))
    yield from (key for key in ("types", "enums") if key in node)


class _Dumper(yaml.SafeDumper):
    """Multi-line text in block style, indented lists, and no anchors."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)
