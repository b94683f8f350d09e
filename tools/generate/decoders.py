"""Decoders: small functions over bytes that give the parts of one value, generated from formats/.

A value of a row image does not say what it is, so that neither a record layout nor a walk reaches it. A
decoder is for one type of the grammar: given the bytes, where the value begins, and the type's parameters, it
gives the fields and instances that are asked for. Only what they need is read and computed. It checks no
bounds: the caller knows how long the value is, by the lengths of values that are generated beside it.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tools.generate.decoder_source import Decoder
from tools.generate.grammar import Grammar, Type

_READS = Path(__file__).with_name("decoder_reads.py")


class Wanted(NamedTuple):
    """A decoder that readers of many values use.

    Attributes
    ----------
    name : str
        Of the function.
    type : str
        Of the grammar.
    parts : tuple of str
        Fields and instances; with `@` in front, where a field begins; `@end`, where the value ends.
    given : tuple of str
        What the caller gives beside bytes and place: parameters, instances, and places of bytes (`@` in
        front). Without, the parameters of the type.
    within : tuple of str
        The types around it, if it speaks of these: the parent, its parent, and so on.
    fixed : tuple of (str, int)
        Parameters that are always the same.
    """

    name: str
    type: str
    parts: tuple[str, ...]
    given: tuple[str, ...] | None = None
    within: tuple[str, ...] = ()
    fixed: tuple[tuple[str, int], ...] = ()


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
)


def render(grammar: Grammar) -> dict[str, str]:
    """Source of the module `decoders`."""
    parts = [_READS.read_text(encoding="utf-8").rstrip()]
    types = {"::".join(type_.path): type_ for type_ in grammar}
    parts += [_function(grammar, types, wanted) for wanted in WANTED if wanted.type in types]
    return {"decoders.py": "\n\n\n".join(parts) + "\n"}


def _function(grammar: Grammar, types: dict[str, Type], wanted: Wanted) -> str:
    type_, around = types[wanted.type], [types[name] for name in wanted.within]
    fixed, given = dict(wanted.fixed), wanted.given
    if given is None:
        given = tuple(one["id"] for one in type_.params if one["id"] not in fixed)
    return Decoder(grammar, type_, around, given, fixed).function(wanted.name, wanted.parts)
