"""A small grammar in its own folder, for tests that change it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tools.generate.__main__ import main
from tools.generate.grammar import Grammar

ENTRY = """\
meta:
  id: mysql_binlog
  title: A small grammar
  license: MIT
  endian: le
  imports:
    - parts/name
doc: A file.
seq:
  - id: flags
    -orig-id: flag_bits
    type: u1
    enum: flag
    doc: What follows.
  - id: size
    type: u4
    if: flags == flag::sized
    doc: A size, with "quotes".
  - id: names
    type: name(2)
    repeat: expr
    repeat-expr: 2
  - id: value
    type:
      switch-on: flags
      cases:
        'flag::sized': u2
        'flag::other': name(1)
instances:
  first:
    value: names[0].text
    doc: The first name.
  size_or_zero:
    value: 'flags == flag::sized ? size : 0'
types:
  unused:
    seq:
      - id: bytes
        size-eos: true
enums:
  flag:
    1: sized
    2:
      id: other
      doc: No size.
"""

NAME = """\
meta:
  id: name
  title: A name
  license: MIT
doc: Text of a given length.
params:
  - id: len
    type: u1
seq:
  - id: text
    type: str
    size: len
    encoding: UTF-8
    doc: The text.
"""

# The record layouts start from these two.
HEADER = """\
meta: {id: event_header, endian: le}
seq:
  - {id: type_code, type: u1}
"""

BODY = """\
meta: {id: event_body, endian: le, imports: [parts/name]}
params:
  - {id: type_code, type: u1, enum: kind}
seq:
  - id: content
    type:
      switch-on: type_code
      cases:
        'kind::named': name(2)
        _: name(0)
enums:
  kind: {1: named}
"""


@pytest.fixture
def small_root(tmp_path: Path) -> Path:
    """A root with the small grammar in formats/."""
    return write_grammar(tmp_path)


def write_grammar(root: Path) -> Path:
    (root / "formats" / "parts").mkdir(parents=True)
    (root / "formats" / "mysql_binlog.ksy").write_text(ENTRY)
    (root / "formats" / "parts" / "name.ksy").write_text(NAME)
    (root / "formats" / "event_header.ksy").write_text(HEADER)
    (root / "formats" / "event_body.ksy").write_text(BODY)
    return root


@pytest.fixture(scope="session")
def generated_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with the small grammar and what is generated from it, which no test changes."""
    root = write_grammar(tmp_path_factory.mktemp("generated"))
    assert main(["--root", str(root)]) == 0
    return root


@pytest.fixture
def written(generated_root: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(generated_root, tmp_path / "written"))


@pytest.fixture
def small(small_root: Path) -> Grammar:
    return Grammar.load(small_root / "formats")
