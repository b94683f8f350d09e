"""How the .ksy files are written."""

from __future__ import annotations

import keyword
import re
from pathlib import PurePosixPath

from tools.generate.__main__ import ROOT
from tools.generate.collection import FIELD_KEYS, META_KEYS, TYPE_KEYS, is_in_order
from tools.generate.grammar import Grammar, Node, Type

# The compiler does not mind Python's keywords; the stubs need `property`.
TAKEN = {*keyword.kwlist, "property"}


def test_keys_stand_in_the_order_of_the_style_guide(grammar: Grammar) -> None:
    assert [t.path for t in grammar if not is_in_order(t.node, TYPE_KEYS)] == []
    assert [t.spec for t in grammar.tops() if not is_in_order(t.node["meta"], META_KEYS)] == []


def test_keys_of_fields_stand_in_the_order_of_the_style_guide(grammar: Grammar) -> None:
    fields = [field for type_ in grammar for field in [*type_.seq, *type_.instances.values()]]
    assert [field for field in fields if not is_in_order(field, FIELD_KEYS)] == []


def test_a_file_says_what_it_is(grammar: Grammar) -> None:
    for top in grammar.tops():
        meta = top.node["meta"]
        assert meta["id"] == PurePosixPath(top.spec).name, top.spec
        assert meta["license"] == "MIT", top.spec
        assert meta["title"], top.spec
        assert top.node["doc"], top.spec
        assert top.node["doc-ref"], top.spec


def test_every_reference_is_a_lasting_link(grammar: Grammar) -> None:
    found = [(t.spec, t.node["doc-ref"]) for t in grammar if "doc-ref" in t.node]
    links = [(spec, one) for spec, given in found for one in ([given] if isinstance(given, str) else given)]
    lasting = r"https://github\.com/[\w-]+/[\w-]+/blob/([a-z]+-[\d.]+|v[\d.]+|[0-9a-f]{40})/\S+( .+)?"
    assert [link for link in links if not re.fullmatch(lasting, link[1])] == []


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


def seq_fields(grammar: Grammar) -> list[tuple[Type, Node]]:
    return [(type_, field) for type_ in grammar for field in type_.seq]


def name_of(type_: Type, field: Node) -> str:
    return f"{'.'.join(type_.path)}.{field['id']}"


def test_every_field_is_explained(grammar: Grammar) -> None:
    fields = [(type_, field) for type_ in grammar for field in [*type_.params, *type_.seq]]
    assert [name_of(type_, field) for type_, field in fields if not field.get("doc")] == []


#: The fields that have no name in any server, and why.
NAMELESS = {
    r".*\bunknown[a-z_.]*": "bytes that no server known here writes",
    r"event_header\.extra_headers": "likewise",
    r"(packed|varlen|compressed)_integer\..*|length_prefix\..*": "parts of a number whose own length varies",
    r".*\.(member_)?refusal": "no bytes: what fields before them must not say",
    r"mysql_binlog\..*(entries|event)|binlog_event\.body|log_start\..*": "steps of this grammar",
    r"(encryption_header|keyring_file|zstd_seek_table)\..*": "formats that are described in words or by code",
    r"innodb_log\..*": "the specification of the format describes them in words",
    r"(load|create_file)_event\.target": "fields that several events share, cut out",
}


def test_every_field_has_the_servers_name(grammar: Grammar) -> None:
    """But the fields above, and those that only choose a type by a number before them."""
    nameless = [
        name_of(type_, field)
        for type_, field in seq_fields(grammar)
        if not field.get("-orig-id") and not isinstance(field.get("type"), dict)
    ]
    exempt = [name for name in nameless if any(re.fullmatch(pattern, name) for pattern in NAMELESS)]
    assert sorted(set(nameless) - set(exempt)) == []
    assert [pattern for pattern in NAMELESS if not any(re.fullmatch(pattern, name) for name in exempt)] == []


def test_a_number_of_repetitions_binds_tightly(grammar: Grammar) -> None:
    """JavaScript, Java and C++ get `i < count`: with `a & b` for the count, that means another thing."""
    counts = {f"{type_.spec}: {field.get('repeat-expr', '')}" for type_, field in seq_fields(grammar)}
    assert [count for count in counts if re.search(r"[&|^<>=]", count)] == []


def test_names_are_free_in_python(grammar: Grammar) -> None:
    for type_ in grammar:
        names = {*type_.instances, *(field["id"] for field in [*type_.seq, *type_.params])}
        assert not names & TAKEN, ".".join(type_.path)
