"""The grammar as data: files are parsed strictly, names resolved like in the compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.generate.grammar import Grammar, GrammarError, camel_case, load_yaml


def test_types_and_their_class_names(small: Grammar) -> None:
    paths = [type_.class_path for type_ in small]
    assert paths == ["EventBody", "EventHeader", "MysqlBinlog", "MysqlBinlog.Unused", "Name"]
    assert small.top("name").spec == "parts/name"


def test_a_name_resolves_outward_and_then_among_files(small: Grammar) -> None:
    entry = small.top("mysql_binlog")
    unused = small.resolve(entry, "unused")
    assert unused.path == ("mysql_binlog", "unused")
    assert small.resolve(unused, "unused") == unused
    assert small.resolve(unused, "name").path == ("name",)
    assert small.resolve(small.top("name"), "mysql_binlog::unused") == unused
    with pytest.raises(GrammarError, match="no type 'unused'"):
        small.resolve(small.top("name"), "unused")


def test_enums_resolve_by_scope_or_by_owner(small: Grammar) -> None:
    entry = small.top("mysql_binlog")
    assert small.enum(entry, "flag").members == {1: "sized", 2: "other"}
    assert small.enum(small.resolve(entry, "unused"), "flag").owner == entry
    assert small.enum(small.top("name"), "mysql_binlog::flag").class_path == "MysqlBinlog.Flag"


def test_imports_are_relative_to_the_file_or_absolute(small: Grammar) -> None:
    assert small.imports("mysql_binlog") == ["parts/name"]
    small.specs["parts/name"]["meta"]["imports"] = ["/mysql_binlog", "missing"]
    with pytest.raises(GrammarError, match=r"parts/name: no file parts/missing\.ksy"):
        small.imports("parts/name")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("meta: {id: a}\nenums: {e: {0: off}}", "quotes around 'off'"),
        ("meta: {id: a}\nmeta: {id: b}", "'meta' is a duplicate key"),
        ("doc: nothing", "no meta/id"),
        ("meta: [", "a.ksy"),
    ],
)
def test_yaml_that_parsers_read_differently_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "a.ksy"
    path.write_text(text)
    with pytest.raises(GrammarError, match=complaint):
        load_yaml(path)


def test_two_files_may_not_have_the_same_id() -> None:
    with pytest.raises(GrammarError, match="also that of x/a"):
        Grammar({"x/a": {"meta": {"id": "a"}}, "y/a": {"meta": {"id": "a"}}})


def test_names_of_classes() -> None:
    assert camel_case("start_event_v3") == "StartEventV3"
