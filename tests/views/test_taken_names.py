"""Table columns with the names of metadata columns."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.rows.change_schemas import ABSENT_FIELD, META_FIELDS
from binlog_kaitai.rows.log_pages import RowsPages
from binlog_kaitai.views.parquet_folder import write_changes
from tests.corpus_files import case
from tests.grammar.row_bytes import field, table_map_bytes
from tests.log_maker import LogMaker, events_of
from tests.rows.test_rows_hostile import row_event

#: Names of columns, and what they are called here.
NAMES = {
    **{name: name + "_" for name in (*(field.name for field in META_FIELDS), ABSENT_FIELD.name)},
    "_FILE_": "_FILE__",
    "_position_": "_position__",
    "file": "file",
    "__file": "__file",
    "log_date": "log_date",
    "_Metadata": "_Metadata",
    **{name: name for name in ("_key0", "_before", "_batch", "_is_there", "_copies")},
}

#: The number of the list of names, and of the primary key, in a table map.
_COLUMN_NAME, _PRIMARY_KEY = 4, 8


def log_with(names: list[str], path: Path) -> Path:
    """A log with one row of `s.t`, whose columns have these names and the values 0, 1, 2 ..."""
    layout, groups = events_of(case("mysql-9.7", "no_checksum").logs[0])
    maker = LogMaker(layout)
    maker.add_all(groups[0])
    listed = b"".join(bytes([len(name)]) + name.encode() for name in names)
    optional = field(_COLUMN_NAME, listed) + field(_PRIMARY_KEY, bytes(range(len(names))))
    types, presence = [1] * len(names), b"\xff" * ((len(names) + 7) // 8)
    maker.add(row_event(EventType.table_map_event, table_map_bytes(types, optional=optional)))
    head = bytes.fromhex("070000000000 0100 0200") + bytes([len(names)]) + presence
    row = bytes(len(presence)) + bytes(range(len(names)))
    maker.add(row_event(EventType.write_rows_event, head + row))
    return maker.write(path / "binlog.000001")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return log_with(list(NAMES), tmp_path)


def test_ours_stay_and_those_of_the_table_get_out_of_the_way(log: Path) -> None:
    table = bk.read_changes(log, table="s.t").read_all()
    ours = [field.name for field in META_FIELDS]
    assert table.column_names == [*ours, *NAMES.values()]
    (row,) = table.to_pylist()
    assert [row[name] for name in NAMES.values()] == list(range(len(NAMES)))
    assert (row["_change_type"], row["_file"], row["_row"]) == ("insert", str(log), 0)
    assert len({name.lower() for name in table.column_names}) == len(table.column_names)


def test_json_images_have_the_names_of_the_table(log: Path) -> None:
    (after,) = bk.read_changes(log).read_all()["after"].to_pylist()
    assert all(f'"{name}":' in after.replace('": ', '":') for name in NAMES)


def test_exported_files_have_each_name_once(log: Path, tmp_path: Path) -> None:
    write_changes(RowsPages(log, Filters()), tmp_path / "changes")
    (row,) = pq.read_table(tmp_path / "changes/s.t").to_pylist()
    assert [row[name] for name in NAMES.values()] == list(range(len(NAMES)))


def test_names_that_differ_only_by_case_are_distinguished(tmp_path: Path) -> None:
    log = log_with(["a", "A", "b", "A_", "_gtid", "_GTID"], tmp_path)
    names = ["a", "A_", "b", "A__", "_gtid_", "_GTID__"]
    table = bk.read_changes(log, table="s.t").read_all()
    assert table.column_names[len(META_FIELDS) :] == names
    assert [table[name][0].as_py() for name in names] == list(range(len(names)))
    write_changes(RowsPages(log, Filters()), tmp_path / "changes")
    (row,) = pq.read_table(tmp_path / "changes/s.t").to_pylist()
    assert [row[name] for name in names] == list(range(len(names)))


@pytest.mark.parametrize("is_stream", [False, True])
def test_a_column_that_is_renamed_to_other_case_stays_one(tmp_path: Path, is_stream: bool) -> None:
    """To a server both names are the same."""
    (one, other) = (tmp_path / "one", tmp_path / "other")
    one.mkdir()
    other.mkdir()
    logs = [log_with(["id", "Name"], one), log_with(["name", "ID"], other)]
    sources = [BytesIO(log.read_bytes()) for log in logs] if is_stream else [str(log) for log in logs]
    table = bk.read_changes(sources, table="s.t").read_all()
    assert table.column_names[len(META_FIELDS) :] == ["id", "Name"]
    assert [table[name].to_pylist() for name in ("id", "Name")] == [[0, 1], [1, 0]]
