"""Changes for single languages are made during generation; the grammar files stay unchanged."""

from __future__ import annotations

import re

import pytest
import yaml

from tools.generate.compiler import LANGUAGES, Target, compile_grammar
from tools.generate.expressions import parse, write
from tools.generate.grammar import Grammar
from tools.generate.targets import compile_for, prepare


@pytest.mark.thorough
def test_every_language_compiles(grammar: Grammar) -> None:
    for language in LANGUAGES:
        assert len(compile_for(grammar, language)) >= len(grammar.specs), language


@pytest.mark.thorough
def test_python_takes_the_grammar_as_it_is(grammar: Grammar) -> None:
    plain, prepared = (
        compile_grammar(specs, Target("python"))[0] for specs in (grammar.specs, prepare(grammar, "python"))
    )
    assert _without_order(plain) == _without_order(prepared)


def _without_order(files: dict[str, str]) -> dict[str, list[str]]:
    """The compiler writes imports in an order of its own."""
    return {name: sorted(text.splitlines()) for name, text in files.items()}


@pytest.mark.parametrize(
    "text",
    [
        "a.b + 1 > 2",
        "not (a and b) or c",
        "(a ? b : c) + 1",
        "a[i - 1].last.as<x::y>.to_s('UTF-8')",
        "-(a - b) - (c - d)",
        "[0x00, 1].as<bytes>",
    ],
)
def test_an_expression_survives(text: str) -> None:
    assert parse(write(parse(text))) == parse(text)


def small(value: str, **fields: str) -> Grammar:
    seq = [{"id": name, "size": 4} if t == "bytes" else {"id": name, "type": t} for name, t in fields.items()]
    spec = {"meta": {"id": "one", "endian": "le"}, "seq": seq, "instances": {"value": {"value": value}}}
    return Grammar({"one": spec})


def value_of(grammar: Grammar, language: str) -> str:
    return str(prepare(grammar, language)["one"]["instances"]["value"]["value"])


@pytest.mark.parametrize(
    ("value", "in_go"),
    [
        ("a + b", "(a.as<s8> + b.as<s8>).as<s8>"),
        ("a == 1", "a.as<s8> == 1.as<s8>"),
        ("c * 2", "(c * 2.as<u8>).as<u8>"),
        ("c - 2", "(c.as<s8> - 2.as<s8>).as<s8>"),
        ("a == 1 ? a : b", "((a.as<s8> == 1.as<s8>) ? a.as<s8> : b.as<s8>).as<s8>"),
        ("a == 1 and b == 1", "(a.as<s8> == 1.as<s8>) ? (b.as<s8> == 1.as<s8>) : false"),
    ],
)
def test_go_computes_in_one_width(value: str, in_go: str) -> None:
    assert value_of(small(value, a="u1", b="u4", c="u8"), "go") == in_go


@pytest.mark.parametrize(
    ("value", "in_csharp"),
    [
        ("a >> 2", "(a.as<s8> >> 2).as<s8>"),
        ("a << b", "(a.as<s8> << b.as<s4>).as<s8>"),
        ("d[b]", "d[b.as<s4>]"),
        ("'text'.substring(b, b + 1)", "'text'.substring(b.as<s4>, (b.as<s8> + 1.as<s8>).as<s8>.as<s4>)"),
        ("e ? 1 : 2", "((e == true) ? 1.as<s8> : 2.as<s8>).as<s8>"),
    ],
)
def test_csharp_has_no_long_index_and_no_nullable_condition(value: str, in_csharp: str) -> None:
    assert value_of(small(value, a="u1", b="u4", d="bytes", e="b1"), "csharp") == in_csharp


def compiled(language: str, **specs: str) -> str:
    """All that a language gets of a small grammar."""
    start = "meta: {id: %s, endian: le, imports: [%s]}\n"
    nodes = {
        name: yaml.safe_load(start % (name, ",".join(specs.keys() - {name})) + text)
        for name, text in specs.items()
    }
    return "\n".join(compile_for(Grammar(nodes), language).values())


def test_csharp_names_enums_in_full() -> None:
    text = compiled(
        "csharp", one="seq: [{id: kind, type: u1, enum: 'two::kind_of'}]", two="enums: {kind_of: {1: first}}"
    )
    assert "global::Kaitai.Two.KindOf" in text
    assert not re.search(r"(?<![\w.])Two\.KindOf\b", text)


def test_java_compares_numbers_by_value() -> None:
    grammar = small("c == d", c="u8", d="u8")
    assert value_of(grammar, "java") == "c.as<u8> == d"
    assert value_of(small("c == 1", c="u8"), "java") == "c == 1"


def test_a_nested_type_of_another_file_is_named_in_full(grammar: Grammar) -> None:
    cell = prepare(grammar, "java")["values/row_image"]["types"]["cell"]
    assert cell["instances"]["column"]["value"].endswith(".as<table_map_event::column>")


def test_cpp_sets_what_an_exception_would_look_at() -> None:
    cases = "{switch-on: kind, cases: {1: a, 2: b}}"
    fields = f"{{id: kind, type: u1}}, {{id: value, type: {cases}, size: 4, if: kind > 0}}"
    types = "{a: {seq: [{id: x, type: u1}]}, b: {seq: [{id: x, type: u1}]}}"
    header = compiled("cpp_stl", one=f"seq: [{fields}]\ntypes: {types}")
    assert "kaitai::kstruct* m_value = nullptr;" in header
    assert "bool n_value = true;" in header


def test_go_has_a_package_and_counts_from_0() -> None:
    text = compiled("go", one="seq: [{id: x, type: u1, repeat: until, repeat-until: _index == 3}]")
    assert text.startswith("package mysql_binlog\n")
    assert "for i := 0;" in text
    assert "for i := 1;" not in text


def test_rust_says_that_a_name_is_none_of_its_keywords() -> None:
    text = compiled("rust", one="seq: [{id: type, type: u1}]")
    assert "r#type: RefCell<" in text
    assert "fn r#type(&self)" in text
    assert "self_rc.r#type.borrow_mut()" in text


NIM = """
seq:
  - {id: magic, contents: [0xfe, 'b']}
  - {id: kind, type: u1, enum: kind, valid: {any-of: ['kind::enum', 'kind::bool']}}
  - {id: size, type: u1, if: kind == kind::enum, valid: {min: 2, max: 9}}
  - {id: value, type: {switch-on: kind, cases: {'kind::enum': u1, 'kind::bool': u2}}}
  - {id: packed, size: 9, process: zlib}
instances:
  items: {pos: 0, type: 'item(_index == 0 ? 0 : items[_index - 1].after)', repeat: expr, repeat-expr: 3}
types:
  item:
    params: [{id: before, type: u1}]
    instances: {after: {value: before + 1}}
enums: {kind: {1: enum, 2: bool}}
"""


def test_nim_has_members_that_are_no_keywords_and_checks_fields() -> None:
    text = compiled("nim", one=NIM)
    assert "    kind_enum = 1\n    kind_bool = 2\n" in text
    assert "if this.kind == one.kind_enum:" in text
    for name in ("Magic", "Kind", "Size"):
        assert f"proc valid{name}*(this: One): bool" in text
        assert f"if not this.valid{name}: raise newException(KaitaiError, " in text
    lines = text.splitlines()
    assigned = next(i for i, line in enumerate(lines) if line.strip() == "this.size = sizeExpr")
    check = lines[assigned + 1]
    assert check.startswith("    if not this.validSize")  # within the field's condition
    assert "one.size: invalid value" in check


def test_nim_begins_a_list_once_and_has_zlib() -> None:
    text = compiled("nim", one=NIM)
    assert "    return this.itemsInst\n  this.itemsInstFlag = true\n" in text
    assert "import kaitai_zlib" in text
    assert "proc processZlib*" in text


def test_nim_imports_what_its_imports_import() -> None:
    nodes = {
        name: yaml.safe_load(
            f"meta: {{id: {name}, endian: le, imports: [{imports}]}}\nseq: [{{id: x, type: {kind}}}]"
        )
        for name, imports, kind in (("one", "two", "two"), ("two", "three", "three"), ("three", "", "u1"))
    }
    text = compile_for(Grammar(nodes), "nim")["one.nim"]
    assert "import two\n" in text
    assert "import three\n" in text
