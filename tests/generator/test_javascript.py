"""The grammar compiled to JavaScript reads the same out of a log as the Python classes do."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from binlog_grammar.mysql_binlog import MysqlBinlog

from tests.corpus_files import LogFile, logs
from tests.generator.tree import Schema, difference, schema, tree
from tools.generate.compiler import Target, compile_grammar, node_command, node_modules, write_target
from tools.generate.grammar import Grammar

LIMIT = 384 * 1024  # bytes of a log; whole trees of larger ones take long


class JavaScript:
    """The compiled classes, in a folder."""

    def __init__(self, grammar: Grammar, folder: Path) -> None:
        self.schema: Schema = schema(grammar)
        self._classes = folder / "classes"
        self._schema_file = folder / "schema.json"
        (files,) = compile_grammar(grammar.specs, Target("javascript"))
        write_target(files, self._classes)
        self._schema_file.write_text(json.dumps(self.schema))

    def trees(self, log: Path) -> Iterator[Any]:
        """The tree of the file without its entries, then that of each entry."""
        script = Path(__file__).with_name("tree.mjs")
        command = [*node_command(), *map(str, (script, self._classes, self._schema_file, log))]
        environment = {**os.environ, "NODE_PATH": str(node_modules() / "node_modules")}
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            yield from map(json.loads, process.stdout)
            assert process.wait() == 0, process.stderr.read()


@pytest.fixture(scope="session")
def javascript(grammar: Grammar, tmp_path_factory: pytest.TempPathFactory) -> JavaScript:
    return JavaScript(grammar, tmp_path_factory.mktemp("javascript"))


@pytest.mark.parametrize(
    "log", [log for log in logs() if log.path.stat().st_size <= LIMIT], ids=lambda log: log.id
)
def test_same_tree(javascript: JavaScript, log: LogFile) -> None:
    parsed = MysqlBinlog.from_bytes(log.path.read_bytes())
    theirs = javascript.trees(log.path)
    assert difference(tree(parsed, javascript.schema, skip="entries"), next(theirs)) is None
    for number, entry in enumerate(parsed.entries):
        assert difference(tree(entry, javascript.schema), next(theirs), f"entries[{number}]") is None
    assert next(theirs, None) is None


def test_a_difference_is_seen() -> None:
    assert difference({"a": [1, {"b": "x"}]}, {"a": [1, {"b": "y"}]}) == ".a[1].b: 'x' is not 'y'"
    assert difference({"a": 1}, {"a": 1, "b": None}) == ".b: only one has it"
    assert difference([1], [1, 2], "a") == "a: [1] is not [1, 2]"
    assert difference(True, 1, "a") == "a: True is not 1"
    assert difference(None, 0, "a") == "a: None is not 0"
    assert difference(2**64 - 1, 18446744073709552000) is None
    assert difference(2**53, 2**53 + 2, "a") is not None
    assert difference(-(2**33), -(2**33) + 2**32) is None
    assert difference(-(2**33) - 1, -(2**33) - 1 + 2**32, "a") is not None
