"""Flag masks as constants, so that handwritten code need not repeat them."""

from __future__ import annotations

import io
from typing import Any

from kaitaistruct import KaitaiStream

from binlog_kaitai.core.grammar import EventHeader, masks, parsed
from tools.generate.grammar import Grammar
from tools.generate.masks import flags_of


def of(value: str) -> list[tuple[str, str, str]]:
    instances: dict[str, Any] = {"is_it": {"value": value}}
    node = {"meta": {"id": "some"}, "instances": instances}
    return list(flags_of(Grammar({"some": node}).top("some")))


def test_a_flag_is_a_mask_of_a_field() -> None:
    assert of("(flags & 0x04) != 0") == [("is_it", "flags", "0x04")]


def test_a_flag_may_hold_under_conditions() -> None:
    assert of("has_extra and (extra & 0x10) != 0") == [("is_it", "extra", "0x10")]


def test_what_is_not_a_flag_alone_has_no_mask() -> None:
    assert of("other or (flags & 0x04) != 0") == []
    assert of("(flags & 0x04) == 0") == []
    assert of("flags & 0x04") == []


def test_each_constant_is_the_bit_that_its_instance_tests() -> None:
    for bit in range(16):
        raw = bytes(17) + (1 << bit).to_bytes(2, "little")
        header = parsed(EventHeader(4, len(raw), KaitaiStream(io.BytesIO(raw))))
        for name, mask in vars(masks.EventHeader).items():
            if name.startswith("IS_"):
                assert getattr(header, name.lower()) == (mask == 1 << bit), name


def test_nested_types_are_nested_classes() -> None:
    assert masks.SqlMode.IS_ANSI_QUOTES == 4
