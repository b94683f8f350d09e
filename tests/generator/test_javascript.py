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
    """The compiled classes, in a folder, and a process that reads logs with them."""

    def __init__(self, grammar: Grammar, folder: Path) -> None:
        self.schema: Schema = schema(grammar)
        self._classes = folder / "classes"
        self._schema_file = folder / "schema.json"
        (files,) = compile_grammar(grammar.specs, Target("javascript"))
        write_target(files, self._classes)
        self._schema_file.write_text(json.dumps(self.schema))

        script = Path(__file__).with_name("tree.mjs")
        command = [*node_command(), *map(str, (script, self._classes, self._schema_file))]
        environment = {**os.environ, "NODE_PATH": str(node_modules() / "node_modules")}
        self._node = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def trees(self, log: Path) -> list[Any]:
        """The tree of the file without its entries, then that of each entry."""
        assert self._node.stdin is not None
        assert self._node.stdout is not None
        print(log, file=self._node.stdin, flush=True)
        # At the end of a log, and only there, is a tree that is nothing.
        return list(map(json.loads, iter(self._node.stdout.readline, "null\n")))

    def close(self) -> None:
        self._node.communicate()


@pytest.fixture(scope="session")
def javascript(grammar: Grammar, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaScript]:
    """One Node reads all logs: to start it takes longer than to read one."""
    running = JavaScript(grammar, tmp_path_factory.mktemp("javascript"))
    yield running
    running.close()


@pytest.mark.parametrize(
    "log", [log for log in logs() if log.path.stat().st_size <= LIMIT], ids=lambda log: log.id
)
def test_same_tree(javascript: JavaScript, log: LogFile) -> None:
    parsed = MysqlBinlog.from_bytes(log.path.read_bytes())
    whole, *entries = javascript.trees(log.path)
    assert difference(tree(parsed, javascript.schema, skip="entries"), whole) is None
    for number, (ours, theirs) in enumerate(zip(parsed.entries, entries, strict=True)):
        assert difference(tree(ours, javascript.schema), theirs, f"entries[{number}]") is None


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
