"""A small grammar in its own folder, for tests that change it."""

from __future__ import annotations

from pathlib import Path

import pytest

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
    (tmp_path / "formats" / "parts").mkdir(parents=True)
    (tmp_path / "formats" / "mysql_binlog.ksy").write_text(ENTRY)
    (tmp_path / "formats" / "parts" / "name.ksy").write_text(NAME)
    (tmp_path / "formats" / "event_header.ksy").write_text(HEADER)
    (tmp_path / "formats" / "event_body.ksy").write_text(BODY)
    return tmp_path


@pytest.fixture
def small(small_root: Path) -> Grammar:
    return Grammar.load(small_root / "formats")
