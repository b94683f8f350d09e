"""The traced classes of the grammar, which know the place of every field. Asked through `core.grammar`."""

from __future__ import annotations

import io
from typing import Any

from kaitaistruct import KaitaiStream

from binlog_kaitai.core.tree import reason_of, unfinished_field
from binlog_kaitai.errors import GrammarError


def meanings() -> dict[str, dict[str, str]]:
    """What the grammar says of each field: by name of the class, then by name of the field."""
    from binlog_grammar_traced.meanings import MEANINGS

    return MEANINGS


def bit_fields() -> dict[str, dict[str, int]]:
    """How many bits the fields have that do not fill bytes: by names of the class and the field."""
    from binlog_grammar_traced.meanings import BITS

    return BITS


def trace(raw: bytes, parameters: tuple[Any, ...]) -> tuple[Any, GrammarError | None]:
    """One event as far as it could be read, and what stopped the reading, if anything.

    Parameters
    ----------
    parameters
        What the grammar's `binlog_event` takes besides the stream.
    """
    from binlog_grammar_traced.binlog_event import BinlogEvent as TracedEvent

    # A table map of the plain classes serves the traced ones as well.
    traced: Any = TracedEvent
    event = traced(*parameters, KaitaiStream(io.BytesIO(raw)))
    try:
        event._read()
    except Exception as error:  # generated code on hostile bytes: any exception means "not the grammar"
        return event, GrammarError(reason_of(error), field=unfinished_field(event, error))
    return event, None
