"""Sizes and constant bytes of records that are read without objects."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from binlog_kaitai.core.grammar import sizes
from tools.generate.grammar import Grammar
from tools.generate.sizes import constants


def of(*seq: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The constants of a type with some fields."""
    node = {"meta": {"id": "some", "endian": "le"}, "seq": seq, **more}
    grammar = Grammar({"some": node})
    found: dict[str, Any] = {}
    exec("\n".join(line.replace(": Final", "") for line in constants(grammar, grammar.top("some"))), found)
    return {name: value for name, value in found.items() if name.isupper()}


def test_fields_of_fixed_size() -> None:
    found = of({"id": "code", "type": "u1"}, {"id": "length", "type": "u4be"}, {"id": "data", "size": 3})
    fields = {"CODE_SIZE": 1, "CODE_AT": 0, "LENGTH_SIZE": 4, "LENGTH_AT": 1, "DATA_SIZE": 3, "DATA_AT": 5}
    assert found == fields | {"HEAD_SIZE": 8, "SIZE": 8}


def test_a_field_that_may_be_absent_is_the_last_of_the_header() -> None:
    found = of(
        {"id": "code", "type": "u1"},
        {"id": "size", "type": "u2", "if": "code > 0"},
        {"id": "end", "type": "u1"},
    )
    assert found["HEAD_FORMAT"] == "<BH"
    assert found["HEAD_SIZE"] == 3
    assert found["END_SIZE"] == 1
    assert not {"END_AT", "SIZE"} & found.keys()


def test_what_follows_a_field_of_other_sizes_has_no_offset() -> None:
    found = of({"id": "data", "size": "5 + some"}, {"id": "checksum", "type": "u4"})
    assert found == {"CHECKSUM_SIZE": 4}


def test_constant_bytes_and_instances() -> None:
    instances = {"length": {"value": 512}, "double": {"value": "length * 2"}}
    found = of({"id": "magic", "contents": [0xFD, "bin"]}, instances=instances)
    assert found == {"MAGIC": b"\xfdbin", "HEAD_SIZE": 4, "SIZE": 4, "LENGTH": 512}


@pytest.mark.parametrize(("size", "expected"), [("508 - 64", 444), ("2 * 3 + 0x10", 22), ("4 * n", None)])
def test_sums_of_literals_are_sizes(size: str, expected: int | None) -> None:
    assert of({"id": "data", "size": size}).get("DATA_SIZE") == expected


def test_formats_have_no_padding() -> None:
    chunk = sizes.InnodbLog.Chunk
    assert struct.calcsize(chunk.HEAD_FORMAT) == chunk.HEAD_SIZE == 3
