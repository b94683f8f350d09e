"""Decoders: small functions over bytes that return the parts of a value, generated from formats/.

Row images do not contain the types of their values, so neither a record layout nor a walk can decode them. A
decoder is generated for one type of the grammar: given the bytes, the offset of the value, and the parameters
of the type, it returns the requested fields and instances, and reads and computes only what these depend on.
It checks no bounds: the caller knows the length of the value from the generated lengths.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tools.generate.decoder_source import Decoder
from tools.generate.expressions import parse_use, write
from tools.generate.grammar import Grammar, Type, type_name


class Wanted(NamedTuple):
    """A decoder used by column code or the event reader.

    Attributes
    ----------
    name : str
        Name of the function.
    type : str
        Type of the grammar.
    parts : tuple of str
        Fields and instances; with `@` as prefix, the offset of a field; with `#`, its length; with `!`,
        whether its value is valid; and `@end`, the end of the value.
    given : tuple of str
        Arguments besides bytes and offset: parameters, instances, and offsets of bytes (prefix `@`). By
        default, the parameters of the type.
    within : tuple of str
        The enclosing types to which it refers: the parent, its parent, and so on.
    fixed : tuple of (str, int)
        Constants of the same kinds.
    """

    name: str
    type: str
    parts: tuple[str, ...]
    given: tuple[str, ...] | None = None
    within: tuple[str, ...] = ()
    fixed: tuple[tuple[str, int | str], ...] = ()


_DATE, _CLOCK = ("year", "month", "day"), ("hour", "minute", "second")
_OLD = (("fractional_digits", 0),)

WANTED = (
    Wanted("year", "temporal_values::year", ("years", "value")),
    Wanted("date", "temporal_values::date", _DATE),
    Wanted("time", "temporal_values::time", ("is_negative", *_CLOCK), fixed=_OLD),
    Wanted("datetime", "temporal_values::datetime", (*_DATE, *_CLOCK), fixed=_OLD),
    Wanted("timestamp", "temporal_values::timestamp", ("seconds",), fixed=_OLD),
    Wanted("time2", "temporal_values::time2", ("has_spare_bit", "is_negative", *_CLOCK, "microsecond")),
    Wanted("datetime2", "temporal_values::datetime2", ("is_positive", *_DATE, *_CLOCK, "microsecond")),
    Wanted("timestamp2", "temporal_values::timestamp2", ("seconds", "microsecond")),
    Wanted("int_1", "numeric_values::int_1", ("value",)),
    Wanted("int_2", "numeric_values::int_2", ("value",)),
    Wanted("int_3", "numeric_values::int_3", ("value",)),
    Wanted("int_4", "numeric_values::int_4", ("value",)),
    Wanted("int_8", "numeric_values::int_8", ("value",), (), fixed=(("is_unsigned", False),)),
    Wanted("enum", "numeric_values::enum", ("value",)),
    Wanted("decimal_groups", "numeric_values::decimal", ("num_groups", "num_integer_groups")),
    Wanted("decimal_sign", "numeric_values::decimal", ("is_negative",), ("digits.length",)),
    Wanted(
        "digit_group",
        "numeric_values::digit_group",
        ("num_digits", "len_group", "ofs_group"),
        ("index", "_parent.precision", "_parent.scale"),
        within=("numeric_values::decimal",),
    ),
    Wanted(
        "digits_value",
        "numeric_values::digit_group",
        ("value",),
        ("index", "ofs_group", "len_group", "_parent.is_negative"),
        within=("numeric_values::decimal",),
    ),
    Wanted(
        "json_container",
        "json_binary::container",
        ("num_elements.value", "len_container.value", "len_table"),
        ("is_large", "is_object"),
    ),
    Wanted(
        "json_entries",
        "json_binary::container",
        ("@key_entries",),
        ("is_large",),
        fixed=(("is_object", True),),
    ),
    Wanted("len_json_entries", "json_binary::container", ("len_key_entry", "len_value_entry"), ("is_large",)),
    Wanted("json_key", "json_binary::key_entry", ("ofs_key.value", "len_key")),
    Wanted("json_value", "json_binary::value_entry", ("type", "is_inlined", "ofs_value.value", "@inlined")),
    Wanted("json_int16", "json_binary::int16_value", ("value",)),
    Wanted("json_uint16", "json_binary::uint16_value", ("value",)),
    Wanted("json_int32", "json_binary::int32_value", ("value",)),
    Wanted("json_uint32", "json_binary::uint32_value", ("value",)),
    Wanted("json_int64", "json_binary::int64_value", ("value",)),
    Wanted("json_uint64", "json_binary::uint64_value", ("value",)),
    Wanted("json_opaque", "json_binary::opaque", ("type", "@len_value")),
    Wanted("json_decimal_number", "json_opaque::decimal", ("@number",)),
    Wanted("json_decimal", "json_opaque::decimal", ("precision", "scale", "#number")),
    Wanted("json_datetime_end", "json_opaque::datetime", ("@unknown_tail",)),
    Wanted("json_datetime", "json_opaque::datetime", (*_DATE, *_CLOCK, "microsecond")),
    Wanted("json_time_end", "json_opaque::time", ("@unknown_tail",)),
    Wanted("json_time", "json_opaque::time", ("is_negative", *_CLOCK, "microsecond")),
    Wanted("packed_integer", "packed_integer", ("!first", "value", "@end")),
    Wanted("length_prefix", "length_prefix", ("value",)),
    Wanted("len_null_bits", "row_image", ("#null_bits",), ("columns.num_present",)),
    Wanted(
        "is_null",
        "row_image::cell",
        ("is_null",),
        ("ordinal",),
        within=("row_image",),
        fixed=(("is_present", True), ("_parent.@null_bits", "at")),
    ),
    Wanted("len_partial_bits", "row_image", ("#partial_bits",), ("table_map.num_json_columns",)),
    Wanted(
        "is_partial",
        "row_image::cell",
        ("is_partial",),
        ("column.json_ordinal",),
        within=("row_image",),
        fixed=(("_parent.has_partial_bits", True), ("column.is_json", True), ("_parent.@partial_bits", "at")),
    ),
    Wanted(
        "value_options",
        "row_image",
        ("!value_options.first", "value_options.is_null", "@partial_bits"),
        (),
        fixed=(("is_partial", True),),
    ),
    Wanted("has_partial_bits", "row_image", ("has_partial_bits",), (), fixed=(("is_partial", True),)),
)


def render(grammar: Grammar) -> dict[str, str]:
    """Source of the module `plain_decoders`, and of `decoders`, which has the same functions for kernels."""
    types = {"::".join(type_.path): type_ for type_ in grammar}
    functions = [_decoder(grammar, types, wanted) for wanted in WANTED if wanted.type in types]
    return {
        "decoders.py": _module("decoder_reads.py", []),
        "plain_decoders.py": _module("plain_decoder_reads.py", [*functions, *_widths(grammar, types)]),
    }


def _module(reads: str, parts: list[str]) -> str:
    head = Path(__file__).with_name(reads).read_text(encoding="utf-8").rstrip()
    return "\n\n\n".join([head, *parts]) + "\n"


def _widths(grammar: Grammar, types: dict[str, Type]) -> list[str]:
    """The lengths of values by column type: functions, and a table of them."""
    cell = types.get("row_image::cell")
    if cell is None:
        return []
    (value,) = (node for node in cell.seq if node["id"] == "value")
    functions: dict[str, str] = {}
    lines = []
    for key, use in value["type"]["cases"].items():
        code = None if key == "_" else grammar.constant(cell, key.split("::"))
        if use not in functions:
            type_ = grammar.resolve(cell, type_name(use))
            given = dict(zip([one["id"] for one in type_.params], map(write, parse_use(use)[1]), strict=True))
            functions[use] = Decoder(grammar, type_, (), (), given).width(f"_width_{len(functions)}")
        name = f"_width_{list(functions).index(use)}"
        lines.append(f"    {code}: {name},  # {use}\n")
    return [*functions.values(), _WIDTHS.format("".join(lines))]


_WIDTHS = """\
#: By column type (None: any other), the function that returns, for a column of the grammar's table map, the
#: length of its values and the size of their length prefix; one of the two is 0.
WIDTHS: dict[int | None, Any] = {{
{}}}"""


def _decoder(grammar: Grammar, types: dict[str, Type], wanted: Wanted) -> str:
    type_, around = types[wanted.type], [types[name] for name in wanted.within]
    fixed, given = dict(wanted.fixed), wanted.given
    if given is None:
        given = tuple(param["id"] for param in type_.params if param["id"] not in fixed)
    return Decoder(grammar, type_, around, given, fixed).function(wanted.name, wanted.parts)
