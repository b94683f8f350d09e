"""Generated decoders return what the generated classes return, for any bytes."""

from __future__ import annotations

import io
import random
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from binlog_grammar import decoders, plain_decoders
from binlog_grammar.json_binary import JsonBinary
from binlog_grammar.json_opaque import JsonOpaque
from binlog_grammar.length_prefix import LengthPrefix
from binlog_grammar.numeric_values import NumericValues
from binlog_grammar.temporal_values import TemporalValues
from kaitaistruct import KaitaiStream

from binlog_kaitai.core.grammar import parsed as parse
from tools.generate.decoder_source import Decoder
from tools.generate.decoders import WANTED
from tools.generate.grammar import Grammar
from tools.generate.translation import UntranslatableError

CLASSES: dict[str, Any] = {
    "temporal_values": TemporalValues,
    "numeric_values": NumericValues,
    "json_binary": JsonBinary,
    "json_opaque": JsonOpaque,
    "length_prefix": LengthPrefix,
}
#: What parameters there are to try.
PARAMETERS = {
    "fractional_digits": range(7),
    "is_unsigned": (False, True),
    "is_large": (False, True),
    "num_bytes": (1, 2, 3, 4),
}
SIMPLE = [
    one
    for one in WANTED
    if one.type.split("::")[0] in CLASSES and not one.within and (one.given is None or one.fixed)
    if not one.type.endswith(("::decimal", "::container", "::opaque"))
]
TRIES = 40


@pytest.mark.parametrize("wanted", SIMPLE, ids=lambda one: one.name)
@pytest.mark.parametrize("module", [decoders, plain_decoders], ids=["arrays", "plain"])
def test_parts_are_those_of_the_class(wanted: Any, module: ModuleType) -> None:
    chance = random.Random(wanted.name)
    module_id, *nested = wanted.type.split("::")
    class_ = CLASSES[module_id]
    for name in nested:
        class_ = getattr(class_, "".join(part.title() for part in name.split("_")))
    (parameter,) = dict(wanted.fixed) or set(PARAMETERS) & set(_names(module, wanted.name)) or {""}
    values = [value for _, value in wanted.fixed] or PARAMETERS.get(parameter, [None])
    for value in [value for value in values for _ in range(TRIES)]:
        # Numbers of eight bytes are those of the same bits, so the highest is left out.
        data = chance.randbytes(10) + bytes([chance.randrange(128)]) + chance.randbytes(5)
        parsed = parse(class_(*([] if value is None else [value]), KaitaiStream(io.BytesIO(data[3:]))))
        given = [] if wanted.fixed or value is None else [value]
        source: Any = np.frombuffer(data, dtype=np.uint8) if module is decoders else data
        found = getattr(module, wanted.name)(source, 3, *given)
        found = found if isinstance(found, tuple) else (found,)
        parts = [part for part in zip(wanted.parts, found, strict=True) if not part[0].startswith("@")]
        for path, part in parts:
            expected = parsed
            for step in path.split("."):
                expected = getattr(expected, step, None)
            if expected is not None:  # else there is no such field
                assert int(part) == int(getattr(expected, "value", expected)), (path, value, data.hex())


def _names(module: ModuleType, name: str) -> tuple[str, ...]:
    code = getattr(module, name).__code__
    return tuple(code.co_varnames[: code.co_argcount])


@pytest.mark.parametrize(
    ("precision", "scale"), [(1, 0), (9, 9), (10, 2), (20, 6), (65, 30), (30, 0), (18, 9)]
)
def test_groups_of_digits_are_those_of_the_class(precision: int, scale: int) -> None:
    chance = random.Random(precision)
    data = chance.randbytes(40)
    parsed = parse(NumericValues.Decimal(precision, scale, KaitaiStream(io.BytesIO(data))))
    count, before = plain_decoders.decimal_groups(precision, scale)
    is_negative = plain_decoders.decimal_sign(data, 0, len(parsed.digits))
    assert (count, before, is_negative) == (parsed.num_groups, parsed.num_integer_groups, parsed.is_negative)
    end = 0
    for index, group in enumerate(parsed.groups):
        digits, size, offset = plain_decoders.digit_group(index, precision, scale)
        assert (digits, size, offset) == (group.num_digits, group.len_group, group.ofs_group)
        assert offset == end
        end += size
        assert plain_decoders.digits_value(data, 0, index, offset, size, is_negative) == group.value
    assert end == len(parsed.digits)


def decoder(seq: list[dict[str, Any]], part: str, **more: Any) -> str:
    grammar = Grammar({"one": {"meta": {"id": "one", "endian": "be"}, "seq": seq, **more}})
    return Decoder(grammar, grammar.top("one"), (), (), {}).function("one", (part,))


def test_bits_that_stand_together_are_read_together() -> None:
    source = decoder([{"id": "a", "type": "b4"}, {"id": "b", "type": "b12"}, {"id": "c", "type": "u2"}], "b")
    assert "bits = big_2(data, at)" in source
    assert "b = bits & 0xfff" in source
    assert "c" not in source.split(":", 2)[2].split("one")[-1]


def test_a_field_that_is_absent_has_no_length() -> None:
    seq = [{"id": "a", "type": "u1"}, {"id": "b", "type": "u2", "if": "a > 1"}, {"id": "c", "type": "u1"}]
    assert "at + (2 if (a > 1) else 0) + 1" in decoder(seq, "c")


def test_what_is_no_arithmetic_is_refused() -> None:
    with pytest.raises(UntranslatableError):
        decoder([{"id": "a", "type": "strz", "encoding": "UTF-8"}, {"id": "b", "type": "u1"}], "b")
