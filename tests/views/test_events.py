"""The events view agrees with the event reader."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.lines.event_lines import Infos
from binlog_kaitai.log import payloads
from binlog_kaitai.views import events_view as events
from binlog_kaitai.views.events_view import EVENTS_SCHEMA, read_events
from tests.corpus_files import CORPUS, case
from tests.extent import sample
from tests.support import all_files, by_columns, by_reader, use_plain_kernels
from tools.costly.making import Log

COMPRESSED = case("mysql-9.7", "types_payload").logs[0]


@pytest.mark.parametrize("path", all_files(), ids=lambda path: str(path.relative_to(CORPUS)))
def test_lines_and_errors_are_those_of_the_reader(path: Path) -> None:
    assert by_columns(path) == by_reader(path)


def test_of_many_damaged_events_only_the_first_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The errors of all would take hundreds of megabytes."""
    log, read = Log(), list[int]()
    log.query(b"BEGIN")
    for _ in range(100):
        log.add(EventType.user_var_event, b"\xff\xff\xff\xff")
    parsed = Infos._parsed

    def counted(self: Infos, row: int) -> Any:
        read.append(row)
        return parsed(self, row)

    monkeypatch.setattr(Infos, "_parsed", counted)
    assert by_columns(bytes(log.data)) == by_reader(bytes(log.data))
    assert len(read) <= 2  # and what is before it


@pytest.mark.parametrize("block_size", [256, 1000, 4096, 70_000])
@pytest.mark.parametrize("name", ["types_full", "gtid_tags", "payloads"])
def test_blocks_of_any_size_give_the_same(name: str, block_size: int) -> None:
    path = case("mysql-9.7", name).logs[0]
    assert by_columns(path, block_size=block_size) == by_columns(path)


@pytest.mark.parametrize("path", all_files()[::9], ids=lambda path: str(path.relative_to(CORPUS)))
def test_plain_kernels_give_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = by_columns(path)
    use_plain_kernels(monkeypatch)
    assert by_columns(path) == compiled


@pytest.mark.parametrize(("small", "room"), sample([(0, 0), (1 << 20, 1), (1 << 12, 1 << 30)], 2))
def test_payloads_of_any_size_give_the_same(small: int, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = by_reader(COMPRESSED)
    monkeypatch.setattr(payloads, "_SMALL", small)
    monkeypatch.setattr(payloads, "_EXPANDED_IN_PLACE", room)
    assert by_columns(COMPRESSED) == wanted


def test_checksums_may_be_left_unverified() -> None:
    path = case("damaged", "mysql-9.7-flipped_bit").logs[0]
    lines, error = by_columns(path, verify_checksums=False)
    assert (lines, error) == by_reader(path, verify_checksums=False)
    assert b'"checksum":"bad"' in b"".join(lines)


def test_several_files_in_order() -> None:
    folder = case("mysql-9.7", "rotate").folder
    assert by_columns(str(folder)) == by_reader(str(folder))


def test_batches_hold_what_the_lines_say() -> None:
    path = case("mysql-9.7", "statement").logs[0]
    with read_events(path) as reader:
        assert reader.schema == EVENTS_SCHEMA
        rows = reader.read_all().to_pylist()
    for row in rows:
        row["timestamp"] = int(row["timestamp"].timestamp())
        row["info"] = json.loads(row["info"])
    assert rows == [json.loads(line) for line in by_reader(path)[0]]


def test_batches_end_with_the_reader_s_error() -> None:
    path = case("damaged", "mysql-9.7-flipped_bit").logs[0]
    lines, message = by_reader(path)
    batches = iter(bk.read_events(path))
    assert sum(next(batches).num_rows for _ in range(2)) == len(lines)
    with pytest.raises(bk.ChecksumError) as caught:
        next(batches)
    assert str(caught.value) == message


def test_a_wrong_filter_is_an_error_at_once() -> None:
    with pytest.raises(bk.UsageError):
        bk.read_events(COMPRESSED, event_type="no such type")


def defines(statement: str, schema: str, table: str) -> bool:
    return re.match(rf"(CREATE|DROP) (DATABASE `?{schema}\b|TABLE `?{table}\b)", statement) is not None


def takes(row: dict[str, Any], **filters: Any) -> bool:
    """The filters once more, over the lines."""
    names = row["info"] or {}
    tests: dict[str, Callable[[Any], object]] = {
        "event_type": lambda value: row["type"] == value,
        "server_id": lambda value: row["server_id"] == value,
        "start_position": lambda value: row["position"] >= value,
        "stop_position": lambda value: row["position"] < value,
        "include_gtids": lambda value: row["gtid"] == value,
        "exclude_gtids": lambda value: row["gtid"] != value,
        "database": lambda value: names.get("schema_name") == value,
        "table": lambda value: (
            f"{names.get('schema_name')}.{names.get('table_name')}" == value
            or defines(names.get("query_text", ""), *value.split("."))
        ),
    }
    return all(tests[name](value) for name, value in filters.items())


def test_filters() -> None:
    path = case("mysql-9.7", "mixed").logs[0]
    rows = [json.loads(line) for line in by_reader(path)[0]]
    some = rows[len(rows) // 2]
    table = next(row["info"] for row in rows if row["type"] == "TABLE_MAP_EVENT")
    middle = next(row["gtid"] for row in rows[len(rows) // 3 :] if row["gtid"])
    for filters in (
        {"event_type": some["type"]},
        {"server_id": some["server_id"] + 1},
        {"start_position": some["position"], "stop_position": rows[-3]["position"]},
        {"include_gtids": middle},
        {"exclude_gtids": middle, "event_type": "QUERY_EVENT"},
        {"database": table["schema_name"]},
        {"table": f"{table['schema_name']}.{table['table_name']}"},
    ):
        wanted = [row for row in rows if takes(row, **filters)]
        found, error = by_columns(path, Filters.of(**filters))
        assert ([json.loads(line) for line in found], error) == (wanted, None), filters


def test_stop_datetime_ends_reading() -> None:
    path = case("mysql-9.7", "statement").logs[0]
    rows = [json.loads(line) for line in by_reader(path)[0]]
    stop = max(row["timestamp"] for row in rows)
    first = next(index for index, row in enumerate(rows) if row["timestamp"] >= stop)
    found, _ = by_columns(path, Filters(stop_timestamp=stop))
    assert [json.loads(line) for line in found] == rows[:first]


ALL_TYPES = case("mysql-9.7", "types_full").logs[0]


@pytest.mark.parametrize(
    "columns",
    [["size", "position"], ["gtid"], ["info", "type"], [], list(EVENTS_SCHEMA.names)],
    ids=lambda columns: "+".join(columns) or "none",
)
def test_columns_are_those_of_the_whole(columns: list[str]) -> None:
    """In the order asked for, whatever else is filtered; without columns there is the number of rows."""
    for filters in ({}, {"event_type": ["TABLE_MAP_EVENT"]}, {"table": ["t.json1"]}, {"server_id": [7]}):
        whole = read_events(ALL_TYPES, **filters).read_all()
        some = read_events(ALL_TYPES, columns=columns, **filters)
        assert some.schema == pa.schema([EVENTS_SCHEMA.field(name) for name in columns])
        assert [batch.num_rows for batch in some] == [batch.num_rows for batch in whole.to_batches()]
        some = read_events(ALL_TYPES, columns=columns, **filters)
        assert some.read_all() == whole.select(columns)


def test_columns_with_gtid_filters() -> None:
    gtids = read_events(ALL_TYPES, columns=["gtid"]).read_all()["gtid"].to_pylist()
    wanted = next(gtid for gtid in gtids if gtid)
    table = read_events(ALL_TYPES, columns=["position"], include_gtids=wanted).read_all()
    assert table.num_rows == gtids.count(wanted) > 0


def test_a_column_that_is_none() -> None:
    with pytest.raises(bk.UsageError, match=r"column .positoin. not found"):
        read_events(ALL_TYPES, columns=["positoin"])


def test_a_text_longer_than_arrow_has_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "_MAX_TEXT", 30)
    monkeypatch.setattr(events, "LONGEST", 60)
    with pytest.raises(bk.BinlogError, match=r"position 4, FORMAT_DESCRIPTION_EVENT: its main fields exceed"):
        read_events(ALL_TYPES).read_all()
    assert read_events(ALL_TYPES, columns=["type"]).read_all().num_rows > 0


def test_bodies_are_read_for_info_alone() -> None:
    """Damage in a body that no checksum vouches for is found by who reads it."""
    logs = case("mysql-9.7", "no_checksum").logs
    events = (event for log in logs for event in bk.open(log) if event.checksum_status == "none")
    query = next(event for event in events if event.type == "QUERY_EVENT")
    log = Path(query.file)
    data = bytearray(log.read_bytes())
    data[query.position + 19 + 8] = 0xFF
    with pytest.raises(bk.GrammarError):
        read_events(bytes(data)).read_all()
    assert read_events(bytes(data), columns=["type"]).read_all().num_rows > 0
