"""The grammar for Kaitai's collection of formats: what its build and its rules require."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import binlog_kaitai as bk
from tools.generate.__main__ import ENTRY, ROOT
from tools.generate.collection import FILE, SAMPLES, check, write
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
    assert f"`{FILE}`" in (tmp_path / "pull_request.md").read_text(encoding="utf-8")
    assert list(check(text)) == []


SMALL = """\
meta:
  id: mysql_binlog
  title: A log
  tags:
    - a
    - b
  license: MIT
doc: Short.
seq:
  - id: name
    type: str
    encoding: UTF-8
    doc: |
      The first line.

      The last one.
types:
  part:
    meta:
      endian: le
    doc: Short.
"""


@pytest.mark.parametrize(
    ("written", "instead", "problem"),
    [
        ("", "", ""),
        ("Short.", "Short." + " longer" * 12, "line 8: documentation beyond column 80"),
        ("The last one.", "The last one" + " of all" * 12, "line 16: documentation beyond column 80"),
        ("  title: A log\n  tags:", "  tags:", "id, title, license or doc"),
        (
            "    - a\n    - b\n",
            "    - b\n    - a\n",
            "a list of one file extension, or tags",
        ),
        ("  title: A log\n", "  license: MIT\n  title: A log\n", "the keys of meta are"),
        (
            "    type: str\n    encoding: UTF-8\n",
            "    encoding: UTF-8\n    type: str\n",
            "mysql_binlog.name: its",
        ),
        ("UTF-8", "utf-8", "mysql_binlog.name: its"),
        ("      endian: le\n", "      title: A part\n", "mysql_binlog.part: the keys of meta are title"),
        (
            "    meta:\n      endian: le\n    doc: Short.\n",
            "    doc: Short.\n    meta: {}\n",
            "mysql_binlog.part: its",
        ),
    ],
)
def test_what_the_style_guide_does_not_allow_is_found(written: str, instead: str, problem: str) -> None:
    problems = list(check(SMALL.replace(written, instead, 1) if written else SMALL))
    assert len(problems) == bool(problem)
    assert all(one.startswith(problem) for one in problems)
