"""Comparing trees of two languages, and the output of drivers. `make test-languages` runs the drivers."""

from __future__ import annotations

import json
import shutil
import zlib
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai
from tests.corpus_files import case
from tools.conformance.__main__ import ROOT
from tools.conformance.compare import STRICT, Comparison, Leniency
from tools.conformance.examples import difference as program_difference
from tools.conformance.languages import LANGUAGES, MissingError
from tools.conformance.reference import lines
from tools.conformance.run import corpus, run_all
from tools.conformance.schema import enums, schema
from tools.generate.grammar import Grammar


def difference(expected: Any, found: Any, leniency: Leniency = STRICT) -> str | None:
    return Comparison(leniency, frozenset({"none"})).difference(json.dumps(expected), json.dumps(found))


def test_a_difference_is_seen() -> None:
    assert difference({"a": [1, {"b": "x"}]}, {"a": [1, {"b": "y"}]}) == ".a[1].b: 'x' expected, not 'y'"
    assert difference({"a": 1}, {"a": 1, "b": None}) == ".b: only one has it"
    assert difference({"a": 1, "b": None}, {"a": 1}) == ".b: only Python has it"
    assert difference([1], [1, 2]) == ": 1 items expected, not 2"
    assert difference(True, 1) is not None
    assert difference(None, 0) is not None
    assert difference(1, None) is not None
    assert difference(2**64 - 1, 18446744073709552000) is not None
    assert difference("a\ufffd\ufffdb", "a\ufffdb") is None


def test_what_a_runtime_cannot_say_is_let_through() -> None:
    rounded = Leniency(numbers_are_rounded=True)
    assert difference(2**64 - 1, 18446744073709552000, rounded) is None
    assert difference(-1, 18446744073709552000, rounded) is None
    assert difference(-(2**33), -(2**33) + 2**32, rounded) is None
    assert difference(-(2**33) - 1, -(2**33) - 1 + 2**32, rounded) is not None
    assert difference(2**53, 2**53 + 2, rounded) is not None
    absent = Leniency(absent_is_zero=True)
    zeros: list[object] = [0, "", False, [], {"hex": ""}, "none"]
    assert all(difference(None, zero, absent) is None for zero in zeros)
    assert difference(None, 1, absent) is not None
    assert difference(0, None, absent) is not None
    enum = Leniency(absent_enum_is_zero=True)
    assert difference(None, "none", enum) is None
    assert difference(None, 0, enum) is None
    assert difference(None, "xid_event", enum) is not None
    assert difference(None, False, enum) is not None
    lost = Leniency(unreadable_text_is_lost=True)
    assert difference("a\ufffd", "", lost) is None
    assert difference("a", "", lost) is not None
    anything = Leniency(unreadable_text_is_anything=True)
    assert difference("a\ufffd", {"error": True}, anything) is None
    assert difference("a\ufffd", "b", anything) is None
    assert difference("a\ufffd", None, anything) is not None
    assert difference("a", {"error": True}, anything) is not None
    assert difference(77, None, Leniency(unknown_enum_is_null=True)) is None


def test_the_fields_that_drivers_print(grammar: Grammar) -> None:
    fields = {path: [field.name for field in found] for path, found in schema(grammar).items()}
    assert "rows" in fields["RowsEvent"]
    assert "cells" in fields["RowImage"]
    assert "upcoming" not in fields["MysqlBinlog.LogEntry"]  # reads from where the stream happens to be
    assert "column" not in fields["RowImage.Cell"]  # stands in the table map's part of the tree
    assert [field.kind for field in schema(grammar)["VarlenInteger"] if field.name == "value"] == ["u"]


@pytest.mark.thorough
@pytest.mark.skipif(not shutil.which("javac") or not shutil.which("mvn"), reason="needs a JDK and Maven")
def test_java_reads_the_greatest_and_least_gno(grammar: Grammar, tmp_path: Path) -> None:
    greatest = 9223372036854775000
    made: list[Path] = []
    for gno in (greatest, -greatest):
        data = _log_with_gno(greatest, gno)
        assert f'"gno":{gno},' in list(lines(data, schema(grammar), enums(grammar)))[-2]
        made.append(tmp_path / f"binlog.{len(made):06}")
        made[-1].write_bytes(data)
    (java,) = (language for language in LANGUAGES if language.target == "java")
    (result,) = run_all(ROOT, [java], made)
    assert (result.logs, result.differences, result.problem) == (2, [], "")


def _log_with_gno(old: int, new: int) -> bytes:
    """A log of the corpus up to the tagged GTID event that has the number `old`, which becomes `new`."""
    for log in case("mysql-9.7", "gtid_tags").logs:
        with binlog_kaitai.open(log) as events:
            for event in events:
                if event.type == "GTID_TAGGED_LOG_EVENT" and event.body.gno == old:
                    assert event.raw.count(_signed(old)) == 1
                    raw = event.raw[:-4].replace(_signed(old), _signed(new))
                    before = log.read_bytes()[: event.position]
                    return before + raw + zlib.crc32(raw).to_bytes(4, "little")
    raise LookupError(f"no event has the GNO {old}")


def _signed(number: int) -> bytes:
    """A signed number in the 9 bytes of a variable-length integer, the sign in the lowest bit."""
    return b"\xff" + (2 * abs(number) - (number < 0)).to_bytes(8, "little")


def test_the_program_for_python_runs_and_a_wrong_one_is_seen(grammar: Grammar, tmp_path: Path) -> None:
    logs = [case(server, "ddl").logs[0] for server in ("mysql-9.7", "mariadb-11.8")]
    trees = [list(lines(log.read_bytes(), schema(grammar), enums(grammar))) for log in logs]
    assert program_difference("python", tmp_path, zip(logs, trees, strict=True)) is None
    for gtid in ("gtid_log_event", "gtid_event"):
        other = [[line.replace(f'"{gtid}"', '"xid_event"') for line in tree] for tree in trees]
        assert "prints" in (program_difference("python", tmp_path, zip(logs, other, strict=True)) or "")
    assert "failed" in (program_difference("python", tmp_path, [(tmp_path, [])]) or "")


@pytest.mark.thorough
def test_javascript_reads_small_logs_alike() -> None:
    (javascript,) = (language for language in LANGUAGES if language.target == "javascript")
    logs = [log for log in corpus(ROOT) if log.stat().st_size < 4096]
    (result,) = run_all(ROOT, [javascript], logs)
    assert result.logs == len(logs) > 20
    assert result.differences == []


def test_a_runtime_without_its_submodule_is_missing(
    grammar: Grammar, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kaitaistruct.lua").touch()
    (tmp_path / "zzlib").mkdir()  # as a clone without submodules has it
    monkeypatch.setenv("KAITAI_LUA_RUNTIME", str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda name: name)
    lua = next(one for one in LANGUAGES if one.target == "lua")
    with pytest.raises(MissingError, match=r"no zzlib/zzlib\.lua in"):
        lua.build(grammar, tmp_path)
