"""Serializes conditions on rows as text, as Spark's options require. No text can name code to run."""

from __future__ import annotations

import base64
import binascii
import json

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.errors import UsageError
from binlog_kaitai.views.row_conditions import Where


def as_text(where: Where) -> str:
    """A condition as serialized by Arrow, with the columns that it needs."""
    # Arrow's support for pickle; its public form, Substrait, does not support dictionaries.
    _, (expression,) = where.expression.__reduce__()
    parts = {"expression": expression, "needed": where.needed.serialize()}
    return json.dumps({name: base64.b64encode(part).decode() for name, part in parts.items()})


def of_text(text: str) -> Where:
    """The condition serialized by :func:`as_text`.

    Raises `UsageError`: the text is invalid.
    """
    try:
        parts = {name: base64.b64decode(part) for name, part in json.loads(text).items()}
        expression = pc.Expression._deserialize(pa.py_buffer(parts["expression"]))
        return Where(expression, pa.ipc.read_schema(pa.py_buffer(parts["needed"])))
    except (ValueError, TypeError, KeyError, AttributeError, binascii.Error, pa.ArrowException) as error:
        reason = "conditions are given to binlog_kaitai.spark.read, or to DataFrame.where"
        raise UsageError(f"option where: {reason}") from error
