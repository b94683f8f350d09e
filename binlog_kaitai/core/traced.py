"""The grammar's traced classes, which record the position of every field; used through `core.grammar`."""

from __future__ import annotations

import io
from typing import Any

from kaitaistruct import KaitaiStream

from binlog_kaitai.core.tree import reason_of, unfinished_field
from binlog_kaitai.errors import GrammarError


def meanings() -> dict[str, dict[str, str]]:
    """The documentation of each field in the grammar, by class name, then by field name."""
    from binlog_grammar_traced.meanings import MEANINGS

    return MEANINGS


def bit_fields() -> dict[str, dict[str, int]]:
    """The widths in bits of fields that do not fill whole bytes, by class name and field name."""
    from binlog_grammar_traced.meanings import BITS

    return BITS


def trace(raw: bytes, parameters: tuple[Any, ...]) -> tuple[Any, GrammarError | None]:
    """The traced object of one event, as far as it could be parsed, and the exception that stopped parsing,
    if any.

    Parameters
    ----------
    parameters
        Parameters of the grammar's `binlog_event`, besides the stream.
    """
    from binlog_grammar_traced.binlog_event import BinlogEvent as TracedEvent

    # A table map of the plain classes works for the traced ones as well.
    traced: Any = TracedEvent
    return _read(traced(*parameters, KaitaiStream(io.BytesIO(raw))))


def trace_encryption_header(raw: bytes) -> tuple[Any, GrammarError | None]:
    """The same of the header of an encrypted log."""
    from binlog_grammar_traced.encryption_header import EncryptionHeader as TracedHeader

    return _read(TracedHeader(KaitaiStream(io.BytesIO(raw))))


def _read(traced: Any) -> tuple[Any, GrammarError | None]:
    try:
        traced._read()
    except Exception as error:  # generated code on hostile bytes: any exception means "not the grammar"
        return traced, GrammarError(reason_of(error), field=unfinished_field(traced, error))
    return traced, None
