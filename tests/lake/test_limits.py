"""Readers find each row by each of its values, and merges find it by its key: no table has wrong limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from deltalake import DeltaTable, QueryBuilder

from binlog_kaitai.lake import delta
from binlog_kaitai.lake.changes import TableChanges
from binlog_kaitai.lake.upkeep import compact
from tests.lake.lakes import fold, opened, rows, table
from tests.lake.table_log import TableLog
from tests.lake.test_keys import dicts, state
from tests.lake.test_state import run
from tests.lake.typed_keys import LOGS, TABLES, lakes, misses


def by_dataset(handle: DeltaTable, column: str, value: Any, kind: pa.DataType) -> int:
    field = ds.field(column)
    where = field.is_null() if value is None else field == pa.scalar(value, kind)
    return int(handle.to_pyarrow_dataset().to_table(filter=where).num_rows)


def by_filters(handle: DeltaTable, column: str, value: Any, kind: pa.DataType) -> int:
    if value is None:
        return by_dataset(handle, column, value, kind)
    return int(handle.to_pyarrow_table(filters=[(column, "=", value)]).num_rows)


def by_datafusion(handle: DeltaTable, column: str, value: Any, kind: pa.DataType) -> int:
    query = QueryBuilder().register("t", handle)
    if value is None:
        where = f"{column} IS NULL"
    elif pa.types.is_binary(kind):
        where = f"encode({column}, 'hex') = '{value.hex()}'"
    else:
        text = format(value, "f") if pa.types.is_decimal(kind) else str(value)
        where = f"{column} = arrow_cast('{text}', '{_name(kind)}')"
    return pa.table(query.execute(f"SELECT {column} FROM t WHERE {where}").read_all()).num_rows


def _name(kind: pa.DataType) -> str:
    """A type as DataFusion calls it."""
    if pa.types.is_decimal(kind):
        return f"Decimal128({kind.precision}, {kind.scale})"
    if pa.types.is_timestamp(kind):
        return 'Timestamp(Microsecond, Some("UTC"))' if kind.tz else "Timestamp(Microsecond, None)"
    return {"string": "Utf8", "double": "Float64", "float": "Float32", "date32[day]": "Date32"}.get(
        str(kind), str(kind).title()
    )


def test_states_are_right_and_readers_find_all_rows_by_keys_of_all_types(tmp_path: Path) -> None:
    for lake in lakes(tmp_path):
        loaded = opened(lake)
        for name in TABLES:
            kept = table(loaded, f"state/k.{name}")
            wanted = pa.Table.from_pylist(fold(TableChanges(loaded), ("k", name)), kept.schema)
            assert rows(kept) == rows(wanted), name
            for folder in (f"changes/k.{name}", f"state/k.{name}"):
                for reader in (by_dataset, by_filters, by_datafusion):
                    assert not misses(lake, folder, reader), reader


def test_the_metadata_of_a_lake_of_an_earlier_version_is_ignored_from_the_next_batch_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(delta, "_NO_LIMITS", {})
        earlier.setattr(delta, "_limits_of", lambda *_: {})
        run(tmp_path, LOGS[:1], 1 << 20)
    assert misses(tmp_path, "state/k.ubigint", by_dataset)
    run(tmp_path, LOGS, 1 << 20)
    for name in ("k.ubigint", "k.dec38"):
        assert not misses(tmp_path, f"changes/{name}", by_dataset)
        assert not misses(tmp_path, f"state/{name}", by_dataset)
        kept = table(opened(tmp_path), f"state/{name}")
        assert kept["k"].combine_chunks().unique().to_pylist() == kept["k"].to_pylist()


def test_a_key_that_is_replaced_has_no_limits_any_more(tmp_path: Path) -> None:
    log = TableLog("ab", "a")
    log.insert(1, 7)
    log.insert(2, 8)
    assert state(log, tmp_path, 3) == dicts("ab", (1, 7), (2, 8))
    assert DeltaTable(tmp_path / "lake/state/s.t").get_add_actions()["min"].to_pylist()
    log.alter("DROP PRIMARY KEY, ADD PRIMARY KEY (b), MODIFY a TINYINT NULL", "ab", "b")
    for key in 7, 8:
        log.update((key - 6, key), (None, key))
    assert state(log, tmp_path, 3) == dicts("ab", (None, 7), (None, 8))
    assert not misses(tmp_path / "lake", "state/s.t", by_dataset)


def test_rows_that_others_delete_from_changes_are_no_longer_in_them(tmp_path: Path) -> None:
    """deltalake writes texts as `string_view`, with which PyArrow cannot compare limits."""
    log = TableLog("ab", "a")
    for key in range(1, 5):
        log.insert(key, 7)
    assert len(state(log, tmp_path, 3)) == 4
    DeltaTable(tmp_path / "lake/changes/s.t").delete("a = 1")
    list(compact(str(tmp_path / "lake"), target_size=1 << 30))
    DeltaTable(tmp_path / "lake/changes/s.t").delete("a = 2")
    log.update((3, 7), (3, 8))
    assert state(log, tmp_path, 3) == dicts("ab", (1, 7), (2, 7), (3, 8), (4, 7))
    log.run("ALTER TABLE s.t RENAME COLUMN b TO c")
    log.alter("", "ac", "a")
    log.insert(5, 7)
    assert state(log, tmp_path, 3) == dicts("ac", (3, 8), (4, 7), (5, 7))
