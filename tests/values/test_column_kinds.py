"""The table of column types is complete, and says what the values of each type are."""

from __future__ import annotations

import pytest

from binlog_kaitai.core.grammar import ColumnType
from binlog_kaitai.dump.block_rows import ParsedTableMaps
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.rows.table_links import MapsInForce
from binlog_kaitai.values.column_kinds import SQL_TYPES, ColumnKind, Kind, of_type
from binlog_kaitai.values.representations import representation_of
from tests.corpus_files import logs
from tests.values.cells import Cell

#: Types whose values never occur in row images.
_NEVER = {ColumnType.decimal, ColumnType.invalid, ColumnType.bool, ColumnType.var_string}


#: Types whose values may occur in row images, but which no server at hand writes into a table map.
_ABSENT = {
    ColumnType.null,
    ColumnType.newdate,
    ColumnType.tiny_blob,
    ColumnType.medium_blob,
    ColumnType.long_blob,
    ColumnType.typed_array,  # of multi-valued indexes, whose columns are not logged
}


def test_every_type_is_in_a_log_of_the_corpus() -> None:
    present: set[int] = set()
    for log in logs():
        maps = ParsedTableMaps()
        with log.path.open("rb") as stream:
            for block in BlockReader.of_file(stream, log.id):
                for table_map in filter(None, maps.read(block, MapsInForce()).stored):
                    present.update(column.real_type for column in table_map.body.columns or ())
    assert set(ColumnType) - present == _NEVER | _ABSENT


def test_every_type_of_the_grammar_has_a_kind() -> None:
    assert {number for number in ColumnType if of_type(number).kind is Kind.UNKNOWN} == _NEVER


def test_every_kind_is_that_of_a_type() -> None:
    assert {of_type(number).kind for number in ColumnType} == set(Kind)


@pytest.mark.parametrize(
    "kind", [kind for kind in Kind if kind is not Kind.UNKNOWN], ids=lambda kind: kind.name
)
def test_every_kind_has_a_representation(kind: Kind) -> None:
    column = Cell(ColumnType.tiny).column
    object.__setattr__(column, "length", 1)  # no server has a SET without bytes
    types = [number for number in ColumnType if of_type(number).kind is kind]
    for number in types:
        object.__setattr__(column, "type", number)
        assert representation_of(column).json in ("number", "text", "document", "list")


def test_an_unknown_type_is_refused() -> None:
    column = Cell(ColumnType.tiny).column
    object.__setattr__(column, "type", 200)
    assert column.kind is Kind.UNKNOWN
    with pytest.raises(GrammarError, match="unknown column type 200"):
        representation_of(column)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (ColumnType.int24, ColumnKind(Kind.INTEGER, 3)),
        (ColumnType.datetime2, ColumnKind(Kind.DATETIME)),
        (ColumnType.datetime, ColumnKind(Kind.OLD_DATETIME, document_type="DATETIME(6)")),
        (ColumnType.newdate, ColumnKind(Kind.DATE)),
        (ColumnType.string, ColumnKind(Kind.CHAR, has_collation=True, document_type="BINARY")),
    ],
)
def test_kinds_of_types(number: ColumnType, expected: ColumnKind) -> None:
    assert of_type(number) == expected


def test_every_sql_type_has_types_in_the_log() -> None:
    assert all(row.logged for row in SQL_TYPES.values())
    assert SQL_TYPES["datetime"].logged == (ColumnType.datetime2, ColumnType.datetime)
