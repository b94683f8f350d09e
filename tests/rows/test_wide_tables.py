"""Tables with many columns: what they cost depends on what is in the log, and values do not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import binlog_kaitai as bk
from binlog_kaitai.cli import main
from binlog_kaitai.core import context
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.rows import image_walk
from binlog_kaitai.rows.change_schemas import ABSENT_FIELD, exported_schema
from binlog_kaitai.rows.log_pages import RowsPages
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.views.change_batches import table_batches_of
from tests.corpus_files import CORPUS
from tools.costly.making import Log, bits

WIDEST = 512

LOGS = ("mysql-9.7/json_partial", "mariadb-11.8/types_minimal")

COMMANDS = (
    ("rows", "--format", "json"),
    ("rows",),
    ("rows", "--format", "csv"),
    ("rows", "--format", "debezium"),
    ("dump", "-vv"),
    ("dump", "--flashback", "-v"),
    ("sql", "--allow-unnamed"),
    ("sql", "--undo", "--allow-unnamed"),
)


def with_absent(table: Table) -> pa.Schema:
    return exported_schema(table).append(ABSENT_FIELD)


def results(path: str, capfdbinary: Any) -> Iterator[Any]:
    for words in COMMANDS:
        with pytest.raises(SystemExit) as ended:
            main([*words, path])
        yield words, ended.value.code, capfdbinary.readouterr().out
    yield [row.asdict() for row in bk.read_rows(path)]
    with bk.open(path) as events:
        yield [row.asdict() for event in events for row in event.rows()]
    yield [row for batch in bk.read_changes(path) for row in batch.to_pylist()]
    for page in RowsPages(path, Filters()):
        for table, batch in table_batches_of(page, with_absent, "null"):
            yield from ((table.key, row) for row in batch.to_pylist())


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("very_wide", [0, 1 << 20], ids=["divided", "whole"])
def test_values_do_not_depend_on_how_offsets_are_kept(
    log: str, very_wide: int, monkeypatch: pytest.MonkeyPatch, capfdbinary: Any
) -> None:
    path = str(Path(CORPUS, log, "binlog.000001"))
    usual = list(results(path, capfdbinary))
    for name, value in (("_WIDE", 0), ("_SPARSE", 2), ("_VERY_WIDE", very_wide)):
        monkeypatch.setattr(image_walk, name, value)
    assert list(results(path, capfdbinary)) == usual


@pytest.mark.parametrize("log", ["mariadb-10.11/types_old_temporal", "mysql-9.7/json_partial"])
def test_values_do_not_depend_on_which_table_maps_are_kept(
    log: str, monkeypatch: pytest.MonkeyPatch, capfdbinary: Any
) -> None:
    path = str(Path(CORPUS, log, "binlog.000001"))
    usual = list(results(path, capfdbinary))
    monkeypatch.setattr(context, "MAX_PARSED_COLUMNS", 0)
    assert list(results(path, capfdbinary)) == usual


def test_bodies_of_table_maps_are_kept_up_to_a_number_of_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "MAX_PARSED_COLUMNS", 2 * WIDEST)
    log = Log()
    log.query(b"BEGIN")
    for number in range(1, 21):
        log.map(number, b"\x03" * WIDEST, name=b"t%d" % number)
    log.insert(1, WIDEST, bits(WIDEST, 7), b"\0\5\0\0\0")
    log.xid()
    with bk.open(bytes(log.data)) as events:
        assert [row.after for event in events for row in event.rows()] == [{"c8": 5}]
    assert [row.after for row in bk.read_rows(bytes(log.data))] == [{"c8": 5}]
    kept = [body.num_columns.value for body in context.StoredTableMap._bodies.values()]
    assert sum(kept) == context.StoredTableMap._columns <= 2 * WIDEST


def test_equal_table_maps_share_a_body() -> None:
    context.StoredTableMap._bodies.clear()
    context.StoredTableMap._columns = 0
    data = wide((bits(WIDEST, 7), b"\0\5\0\0\0"))
    for _ in range(3):
        assert [row.after for row in bk.read_rows(data)] == [{"c8": 5}]
    assert len(context.StoredTableMap._bodies) == 1


def wide(*images: tuple[bytes, bytes]) -> bytes:
    log = Log()
    log.query(b"BEGIN")
    log.map(1, b"\x03" * WIDEST, name=b"t")
    for present, rows in images:
        log.insert(1, WIDEST, present, rows)
    log.xid()
    return bytes(log.data)


def test_a_batch_has_as_many_rows_as_the_columns_in_the_images_allow() -> None:
    (batch,) = bk.read_changes(wide(*[(bits(WIDEST, 7), b"\1" * 2000)] * 5), table="d.t")
    assert (len(batch), batch["c8"].null_count, batch["c512"].null_count) == (10_000,) * 3


@pytest.mark.parametrize("where", [None, pc.field("c8") == 5])
def test_columns_that_no_image_has_are_null(where: pc.Expression | None) -> None:
    log = wide((bits(WIDEST, 7), b"\0\5\0\0\0\1"), (bits(WIDEST, 7, 511), b"\0\5\0\0\0\6\0\0\0"))
    (batch,) = bk.read_changes(log, table="d.t", **({} if where is None else {"where": where}))
    batch.validate(full=True)
    images = [(row["c1"], row["c8"], row["c512"]) for row in batch.to_pylist()]
    assert images == [(None, 5, None), *[(None, None, None)] * (where is None), (None, 5, 6)]
    assert batch.schema.names[-WIDEST:] == [f"c{number + 1}" for number in range(WIDEST)]
