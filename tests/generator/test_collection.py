"""The grammar for Kaitai's collection of formats: what its build and its rules require."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import binlog_kaitai as bk
from tools.generate.__main__ import ENTRY, ROOT
from tools.generate.collection import FILE, SAMPLES, write
from tools.generate.compiler import LANGUAGES, Target, compile_grammar
from tools.generate.grammar import Grammar


@pytest.mark.thorough
def test_the_file_compiles_alone_in_every_language(grammar: Grammar, tmp_path: Path) -> None:
    """The collection's build runs the compiler with `-t all`."""
    write(grammar, ENTRY, ROOT / "tests/corpus", tmp_path)
    spec = yaml.safe_load((tmp_path / "kaitai_struct_formats" / FILE).read_text(encoding="utf-8"))
    assert "imports" not in spec["meta"]
    assert all(compile_grammar({ENTRY: spec}, *map(Target, LANGUAGES)))


def test_it_has_what_the_collection_asks_for(grammar: Grammar, tmp_path: Path) -> None:
    write(grammar, ENTRY, ROOT / "tests/corpus", tmp_path)
    text = (tmp_path / "kaitai_struct_formats" / FILE).read_text(encoding="utf-8")
    spec = yaml.safe_load(text)
    assert {"id", "title", "application", "file-extension", "license"} <= set(spec["meta"])
    assert Path(FILE).stem == spec["meta"]["id"]
    assert spec["doc"]
    source, *documentation = spec["doc-ref"]
    assert source.startswith("https://github.com/mysql/mysql-server/blob/mysql-9")
    assert [link.split("/")[2] for link in documentation] == ["dev.mysql.com", "mariadb.com"]
    assert "\n  - id: entries\n    type: |" in text
    samples = sorted((tmp_path / "kaitai_struct_samples" / SAMPLES).iterdir())
    assert [path.name for path in samples] == ["mariadb-11.8.000001", "mysql-9.7.000001"]
    assert all(report.is_ok for report in bk.verify(samples))
