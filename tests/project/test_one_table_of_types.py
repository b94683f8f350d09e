"""Only `values/column_kinds.py` distinguishes column types; other code asks it for the kinds of values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from binlog_kaitai.core.grammar import ColumnType

PACKAGE = Path(__file__).parents[2] / "binlog_kaitai"

_TABLE = "values/column_kinds.py"

#: Modules that use the grammar's name of a type for something else.
_OTHER_MEANING = {"values/decoders.py": "names of generated decoders"}

#: Names of types that are not words with other meanings.
_TELLING = {
    "blob_compressed",
    "datetime2",
    "int24",
    "long_blob",
    "longlong",
    "medium_blob",
    "newdate",
    "newdecimal",
    "time2",
    "timestamp2",
    "tiny_blob",
    "typed_array",
    "var_string",
    "varchar_compressed",
}


def mentioned(source: str) -> Iterator[str]:
    """The column types that a module mentions: members of the enumeration, and telling names anywhere."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(value=ast.Name("ColumnType"), attr=name):
                yield name
            case ast.Name(name) | ast.Attribute(attr=name) | ast.Constant(str() as name):
                yield from _TELLING & set(name.split())


def test_no_other_module_mentions_a_column_type() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix(): names
        for path in PACKAGE.rglob("*.py")
        if (names := set(mentioned(path.read_text(encoding="utf-8"))))
    }
    assert found.pop(_TABLE) >= _TELLING
    assert found.keys() == _OTHER_MEANING.keys()


def test_the_telling_names_are_types_of_the_grammar() -> None:
    assert set(ColumnType.__members__) > _TELLING


@pytest.mark.parametrize(
    "source",
    ["if column.type == ColumnType.year: pass", "stored = 'time time2'", "x = decoders.datetime2(data)"],
)
def test_a_mention_is_found(source: str) -> None:
    assert list(mentioned(source))


@pytest.mark.parametrize(
    "source", ["x: ColumnType = column.type", "from datetime import time", "x = Kind.YEAR"]
)
def test_other_names_are_no_mention(source: str) -> None:
    assert not list(mentioned(source))
