"""The commands for a cluster in docs/spark.md, and the expected results of their jobs."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa

from binlog_kaitai.spark.schemas import plain_type

ROOT = Path(__file__).parents[2]

#: The master's address in the document.
HOST = "spark://host:7077"

#: The table of the log that jobs read.
TABLE = "t.s"

_ORDER = ("_file", "_position", "_row", "_change_type")


def block(kind: str, words: str) -> str:
    """The one block of code in the document that has some words."""
    blocks = re.findall(rf"```{kind}\n(.*?)```", (ROOT / "docs/spark.md").read_text(), re.DOTALL)
    (found,) = (block for block in blocks if words in block)
    return str(found)


def commands(words: str) -> list[str]:
    """The commands of the console block that has some words."""
    text = block("console", words).replace("\\\n", " ")
    return [line.removeprefix("$ ") for line in text.splitlines()]


def replaced(text: str, names: dict[str, str]) -> str:
    """A part of the document with the names of the cluster of these tests."""
    for written, here in names.items():
        assert written in text
        text = text.replace(written, here)
    return text


def same(found: pa.Table, expected: pa.Table) -> None:
    """The same rows, whatever their order; Spark's types are wider than those of the log."""
    assert found.num_rows == expected.num_rows
    found = found.select(expected.column_names)
    plain = pa.schema([field.with_type(plain_type(field.type)) for field in found.schema])
    order = [(name, "ascending") for name in _ORDER]
    assert found.cast(plain).sort_by(order).equals(expected.cast(plain).sort_by(order))
