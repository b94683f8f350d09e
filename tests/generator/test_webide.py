"""The single file for the Web IDE: no imports, and it parses like the separate files."""

from __future__ import annotations

import json
import types
from pathlib import Path
from typing import Any

import pytest

from tests.corpus_files import LogFile, case, logs
from tools.conformance.reference import lines
from tools.conformance.schema import enums, schema
from tools.generate import classes
from tools.generate.__main__ import ENTRY, WEBIDE, main
from tools.generate.compiler import Target, compile_grammar
from tools.generate.grammar import Grammar, GrammarError, camel_case, load_yaml
from tools.generate.unique import with_unique_names
from tools.generate.webide import fold

# Small logs of every server, a few of each.
SAMPLE = [log for log in logs() if log.path.stat().st_size <= 16 * 1024][::5]


@pytest.fixture(scope="module")
def folded(grammar: Grammar) -> Grammar:
    return Grammar({ENTRY: fold(grammar, ENTRY)})


@pytest.fixture(scope="module")
def folded_module(folded: Grammar) -> types.ModuleType:
    """The Python module of the folded grammar."""
    (files,) = compile_grammar(folded.specs, Target("python", debug=True))
    module = types.ModuleType("folded")
    module.__package__ = "binlog_grammar"  # which has the base of its classes
    exec(classes.render(folded, files)[f"{ENTRY}.py"], module.__dict__)
    return module


@pytest.mark.thorough
@pytest.mark.parametrize("log", SAMPLE, ids=lambda log: log.id)
def test_it_parses_the_same(
    grammar: Grammar, folded: Grammar, folded_module: types.ModuleType, log: LogFile
) -> None:
    data = log.path.read_bytes()
    *ours, _ = lines(data, schema(grammar), enums(grammar))
    *theirs, _ = lines(data, schema(folded), enums(folded), folded_module.MysqlBinlog.from_bytes)
    assert len(ours) > 1
    assert [with_types_of_files(json.loads(line), grammar) for line in theirs] == list(map(json.loads, ours))


@pytest.mark.thorough
def test_every_type_has_a_name_of_its_own(grammar: Grammar) -> None:
    unique = with_unique_names(grammar)
    names = [camel_case(type_.name) for type_ in unique]
    assert len(set(names)) == len(names) == len(list(grammar))
    assert "StringValuesText" in names
    (files,) = compile_grammar({ENTRY: fold(unique, ENTRY)}, Target("javascript"))
    assert list(files) == ["MysqlBinlog.js"]


@pytest.mark.thorough
def test_the_names_do_not_change_what_is_parsed(grammar: Grammar) -> None:
    folded = Grammar({ENTRY: fold(with_unique_names(grammar), ENTRY)})
    (files,) = compile_grammar(folded.specs, Target("python", debug=True))
    module = types.ModuleType("folded")
    module.__package__ = "binlog_grammar"  # which has the base of its classes
    exec(classes.render(folded, files)[f"{ENTRY}.py"], module.__dict__)
    log = case("mysql-9.7", "json_partial").logs[0]
    data = log.read_bytes()
    *ours, _ = lines(data, schema(grammar), enums(grammar))
    *theirs, _ = lines(data, schema(folded), enums(folded), module.MysqlBinlog.from_bytes)
    assert [without_types(json.loads(line)) for line in theirs] == [
        without_types(json.loads(line)) for line in ours
    ]


def without_types(node: Any) -> Any:
    if isinstance(node, list):
        return [without_types(item) for item in node]
    if isinstance(node, dict):
        return {name: without_types(value) for name, value in node.items() if name != "_type"}
    return node


@pytest.mark.thorough
def test_it_compiles_to_what_the_web_ide_runs(folded: Grammar) -> None:
    (files,) = compile_grammar(folded.specs, Target("javascript"))
    assert list(files) == ["MysqlBinlog.js"]


def with_types_of_files(node: Any, grammar: Grammar) -> Any:
    """The tree with `MysqlBinlog.EventHeader`, as the folded file has it, named `EventHeader` again."""
    tops = {top.class_path for top in grammar.tops()}
    if isinstance(node, list):
        return [with_types_of_files(item, grammar) for item in node]
    if isinstance(node, dict):
        named = {key: with_types_of_files(value, grammar) for key, value in node.items()}
        if "_type" in named:
            outer, _, rest = named["_type"].partition(".")
            named["_type"] = rest if rest.partition(".")[0] in tops else outer + "." * bool(rest) + rest
        return named
    return node


def test_what_a_representation_shows_is_read_at_once(folded: Grammar) -> None:
    types = folded.specs[ENTRY]["types"]
    cell = types["row_image"]["types"]["cell"]
    assert cell["-webide-representation"] == "{name} = {value}{diffs}"
    assert cell["instances"]["name"]["-webide-parse-mode"] == "eager"
    assert "-webide-parse-mode" not in cell["instances"]["is_null"]
    assert types["gtid_event"]["-webide-representation"] == "{uuid:uuid}:{gno:dec}"


def test_it_is_written_as_one_file_that_says_all(small_root: Path) -> None:
    assert main(["--webide", "--root", str(small_root)]) == 0
    node = load_yaml(small_root / WEBIDE)
    assert node["meta"]["id"] == "mysql_binlog"
    assert "imports" not in node["meta"]
    assert list(node["types"]) == ["unused", "name"]
    assert node["types"]["name"]["doc"] == "Text of a given length."
    (files,) = compile_grammar({"mysql_binlog": node}, Target("python", debug=True))
    assert list(files) == ["mysql_binlog.py"]


def test_what_would_change_its_meaning_is_refused(small: Grammar) -> None:
    small.specs["parts/name"]["instances"] = {"top": {"value": "_root.len"}}
    with pytest.raises(GrammarError, match="parts/name: uses _root"):
        fold(small, "mysql_binlog")
    del small.specs["parts/name"]["instances"]
    small.specs["mysql_binlog"]["types"]["name"] = {"seq": []}
    with pytest.raises(GrammarError, match="'name' hides the file"):
        fold(small, "mysql_binlog")
