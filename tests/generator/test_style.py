"""How the .ksy files are written."""

from __future__ import annotations

import keyword
import re
from pathlib import PurePosixPath

from tools.generate.__main__ import ROOT
from tools.generate.field_types import is_primitive
from tools.generate.grammar import Grammar, Node, Type

KEYS = ["meta", "doc", "doc-ref", "params", "seq", "instances", "types", "enums"]
META = ["id", "title", "application", "license", "ks-version", "bit-endian", "encoding", "endian", "imports"]

# The compiler does not mind Python's keywords; the stubs need `property`.
TAKEN = {*keyword.kwlist, "property"}


def is_in_order(node: Node, order: list[str]) -> bool:
    # `-webide-representation` stands with the docs, before or behind them.
    keys = [key for key in node if key != "-webide-representation"]
    return keys == [key for key in order if key in node]


def test_keys_stand_in_the_order_of_the_style_guide(grammar: Grammar) -> None:
    assert [t.path for t in grammar if not is_in_order(t.node, KEYS)] == []
    assert [t.spec for t in grammar.tops() if not is_in_order(t.node["meta"], META)] == []


def test_a_file_says_what_it_is(grammar: Grammar) -> None:
    for top in grammar.tops():
        meta = top.node["meta"]
        assert meta["id"] == PurePosixPath(top.spec).name, top.spec
        assert meta["license"] == "MIT", top.spec
        assert meta["title"], top.spec
        assert top.node["doc"], top.spec


def test_imports_between_folders_are_absolute_and_exist(grammar: Grammar) -> None:
    for spec in grammar.specs:
        assert grammar.imports(spec) is not None
        for name in grammar.specs[spec]["meta"].get("imports") or ():
            assert name.startswith("/") or "/" not in spec, f"{spec} imports {name}"


def test_nobody_imports_what_it_does_not_use(grammar: Grammar) -> None:
    for spec in grammar.specs:
        text = (ROOT / "formats" / f"{spec}.ksy").read_text(encoding="utf-8")
        for imported in grammar.imports(spec):
            name = grammar.specs[imported]["meta"]["id"]
            uses = [line for line in text.splitlines() if name in line and not line.endswith(f"/{name}")]
            assert uses, f"{spec} imports {imported}"


def is_structure(field: Node) -> bool:
    """Whether a field only says which type stands there."""
    return isinstance(field.get("type"), dict) or ("type" in field and not is_primitive(field["type"]))


def seq_fields(grammar: Grammar) -> list[tuple[Type, Node]]:
    return [(type_, field) for type_ in grammar for field in type_.seq]


def is_explained_by_its_type(type_: Type, field: Node) -> bool:
    """The type's doc says it all of its only field, and of fields that stand for one another by an `if`."""
    return "doc" in type_.node and (len(type_.seq) == 1 or "if" in field)


def test_every_field_is_explained(grammar: Grammar) -> None:
    unexplained = [
        f"{'.'.join(type_.path)}.{field['id']}"
        for type_, field in seq_fields(grammar)
        if "doc" not in field and not is_structure(field) and not field["id"].startswith("unknown")
        if not is_explained_by_its_type(type_, field)
    ]
    assert unexplained == []


def test_every_field_of_an_event_has_the_servers_name(grammar: Grammar) -> None:
    """But those that no server names: what is unknown, and the parts of a number read in parts."""
    parts = ("_low", "_middle", "_high", "_terminator", "_end")
    nameless = [
        f"{'.'.join(type_.path)}.{field['id']}"
        for type_, field in seq_fields(grammar)
        if type_.spec.startswith("events/") and len(type_.path) == 1
        if "-orig-id" not in field and not is_structure(field)
        if not field["id"].startswith("unknown") and not field["id"].endswith(parts)
    ]
    assert nameless == []


def test_a_number_of_repetitions_binds_tightly(grammar: Grammar) -> None:
    """JavaScript, Java and C++ get `i < count`: with `a & b` for the count, that means another thing."""
    counts = {f"{type_.spec}: {field.get('repeat-expr', '')}" for type_, field in seq_fields(grammar)}
    assert [count for count in counts if re.search(r"[&|^<>=]", count)] == []


def test_names_are_free_in_python(grammar: Grammar) -> None:
    for type_ in grammar:
        names = {*type_.instances, *(field["id"] for field in [*type_.seq, *type_.params])}
        assert not names & TAKEN, ".".join(type_.path)
