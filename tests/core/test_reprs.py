"""Representations of events, bodies, rows and readers in an interactive session: their fields."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.spans import Span
from binlog_kaitai.render.explanation import Explained
from binlog_kaitai.text.notebook import html_table
from tests.corpus_files import case

LOG = case("mysql-9.7", "mixed").logs[0]


def first(kind: str) -> bk.Event:
    return next(event for event in bk.open(LOG) if event.type == kind)


def test_bodies_and_headers_show_their_fields() -> None:
    event = first("QUERY_EVENT")
    assert repr(event.body).startswith("<QueryEvent thread_id=13, execution_time=0, len_schema_name=1,")
    assert "status_vars=<QueryStatusVars>, schema_name='t'," in repr(event.body)
    assert repr(event.body).endswith("query=b'CREATE DATABASE `t` CHARACTER SET utf8mb4'>")
    assert "server_id=97, len_event=123, next_position=358, flags=8>" in repr(event.header)
    assert "optional_metadata=[2 x <TableMapMetadata>]" in repr(first("TABLE_MAP_EVENT").body)


def test_long_fields_are_shortened() -> None:
    log = case("mysql-9.7", "payloads").logs[0]
    body = next(event.body for event in bk.open(log) if event.type == "TRANSACTION_PAYLOAD_EVENT")
    assert len(repr(body)) < 1_000


def test_rows_show_their_values() -> None:
    event = first("WRITE_ROWS_EVENT")
    values = "after={'id': 11, 'v': '0.8364498501983004', 'd': 0.40613597483014313}"
    assert repr(next(event.rows())) == f"<Row insert t.s, row 0, {values}>"
    place = f"at 2583 of {LOG}, GTID a40b4242-e518-11f1-9090-02fc00000001:7, row 0"
    assert repr(next(bk.read_rows(LOG))) == f"<LoggedRow insert t.s {place}, {values}>"
    assert repr(event.schema) == "<Schema t.s (id bigint, v varchar(200), d double), names from definition>"
    assert "name='v'" in repr(event.schema and event.schema.columns[1])
    assert "None" not in repr(event.schema and event.schema.columns[1])


def test_readers_show_their_logs() -> None:
    log = bk.open(LOG)
    assert repr(log) == f"<LogReader of {LOG}; 0 of 1 read to the end>"
    assert [*log]
    assert repr(log) == f"<LogReader of {LOG}; 1 of 1 read to the end>"


def test_reports_are_there_as_often_as_they_are_asked_for() -> None:
    logs = case("mysql-9.7", "rotate").logs[:3]
    reports = bk.verify(logs)
    first, names = next(reports), [str(log) for log in logs]
    assert first.file == names[0]
    assert reports.is_ok
    assert [report.file for report in reports] == [report.file for report in reports] == names[1:]
    assert [report.file for report in bk.verify(logs)] == names
    assert [next(reports).file for _ in names[1:]] == names[1:]
    assert next(reports, None) is None
    assert reports.is_ok
    shown = cells(bk.verify(logs)._repr_html_())
    assert [shown[place] for place in (0, 5, 6, 11)] == ["log", "state", names[0], "ok"]


def test_reports_say_what_is_wrong() -> None:
    logs = [bytearray(log.read_bytes()) for log in case("mysql-9.7", "rotate").logs[:2]]
    logs[0][300] ^= 1
    reports = bk.verify([*logs, b"no log"])
    assert not reports.is_ok
    states = cells(reports._repr_html_())[11::6]
    assert states[:2] == ["damage: 1", "ok"]
    assert "not a binary log" in states[2]


def test_statistics_show_numbers() -> None:
    stats = bk.stats(LOG)
    assert repr(stats) == (
        "<Stats of 1 log: 50,597 bytes, 210 events, 49 transactions, 714 rows inserted, 3 rows updated, "
        "0 rows deleted>"
    )
    columns = "schema, table, operation, rows, events, bytes, transactions"
    assert repr(stats.parts["tables"]) == f"<StatsTable tables: 4 rows of {columns}>"
    assert "definitions" not in repr(Span(formats=(b"x",), definitions="{}"))


def test_notebooks_show_tables() -> None:
    row, event, stats = next(bk.read_rows(LOG)), first("QUERY_EVENT"), bk.stats(LOG)
    assert cells(row._repr_html_())[:6] == ["column", "after", "id", "11", "v", "'0.8364498501983004'"]
    assert "body.query" in cells(event._repr_html_())
    assert "b'CREATE DATABASE `t` CHARACTER SET utf8mb4'" in cells(event._repr_html_())
    assert cells(stats.parts["tables"]._repr_html_())[7:11] == ["t", "s", "insert", "704"]
    assert stats.parts["tables"]._repr_html_() in stats._repr_html_()
    assert "header.server_id" in cells(Explained.of(event)._repr_html_())


def test_notebooks_show_the_first_events_of_a_reader() -> None:
    log = bk.open(LOG)
    events = iter(log)
    assert next(events).type == "FORMAT_DESCRIPTION_EVENT"
    shown = cells(log._repr_html_())
    assert shown[5:10] == ["4", "2026-11-20 19:31:47", "FORMAT_DESCRIPTION_EVENT", "", "123"]
    assert len(shown) == 5 + 5 * 20
    assert next(events).type == "PREVIOUS_GTIDS_LOG_EVENT"


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch) -> Callable[[object], str | None]:
    """What IPython would show of an object: by what was registered for its type."""
    shown_by: dict[type, Callable[[object], str | None]] = {}
    formatter = SimpleNamespace(for_type=shown_by.__setitem__)
    display = SimpleNamespace(formatters={"text/html": formatter})
    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(display_formatter=display))
    monkeypatch.setitem(sys.modules, "IPython", shell)
    return lambda shown: shown_by[type(shown)](shown)


_READERS: list[tuple[Callable[..., pa.RecordBatchReader], dict[str, Any]]] = [
    (bk.read_changes, {"table": "t.s", "columns": ["id", "v"]}),
    (bk.read_changes, {}),
    (bk.read_events, {"event_type": "xid"}),
    (bk.read_transactions, {}),
    (bk.read_ddl, {}),
]


@pytest.mark.parametrize(("read", "options"), _READERS)
@pytest.mark.parametrize("source", [LOG, [str(LOG)], LOG.read_bytes()], ids=["path", "list", "bytes"])
def test_notebooks_show_the_first_rows_of_a_reader(
    read: Callable[..., pa.RecordBatchReader], options: dict[str, Any], source: Any, show: Any
) -> None:
    """Also after some were read; the reader loses none, and its progress does not count them."""
    seen = list[int]()
    expected = read(source, **options).read_all()
    progress = {} if read is bk.read_ddl else {"progress": lambda log, position: seen.append(position)}
    reader = read(source, **options, **progress)
    first = reader.read_next_batch()
    before = seen.copy()
    names, table = expected.schema.names, cells(show(reader))
    assert seen == before
    rows = [str(value)[:200] for row in expected.slice(0, 20).to_pylist() for value in row.values()]
    assert table[: len(names)] == names
    assert [cell.removesuffix("…") for cell in table[len(names) :]] == rows
    assert pa.Table.from_batches([first, *reader]).equals(expected)


def test_notebooks_show_the_columns_of_a_reader_that_is_read_once(show: Any) -> None:
    with LOG.open("rb") as file:
        reader = bk.read_changes(file, table="t.s", columns=["id", "v"])
        assert cells(show(reader)) == ["column", "type", "id", "int64", "v", "string"]
        assert reader.read_all().num_rows == bk.read_changes(LOG, table="t.s").read_all().num_rows
    assert show(pa.RecordBatchReader.from_batches(pa.schema([]), [])) is None


def test_notebooks_show_where_a_reader_of_batches_finds_damage(show: Any) -> None:
    damaged = bytearray(LOG.read_bytes())
    damaged[-10] ^= 1
    reader = bk.read_events(bytes(damaged), event_type="rotate")
    assert "then: &lt;bytes&gt;, position" in show(reader)


def test_notebooks_show_where_a_log_is_damaged(tmp_path: Path) -> None:
    damaged = bytearray(LOG.read_bytes())
    damaged[130] ^= 1
    log = tmp_path / "binlog.000001"
    log.write_bytes(damaged)
    assert "checksum" in cells(bk.open(log)._repr_html_())[12]
    assert cells(bk.open(bytes(damaged))._repr_html_())[5:] == []  # bytes may be a stream, read only once


def test_notebooks_show_hostile_text_and_damaged_events() -> None:
    shown = html_table("<b>", ["\udcff"], [["<script>", "x" * 1000]])
    shown.encode()
    assert "<script>" not in shown
    assert len(shown) < 600
    event = first("XID_EVENT")
    event.raw = event.raw[:25]
    assert "error" in cells(event._repr_html_())


def cells(table: str) -> list[str]:
    return [unescape(cell) for cell in re.findall(r"<t[hd](?: [^>]*)?>(.*?)</t[hd]>", table)]


def test_rows_as_dictionaries() -> None:
    row = next(bk.read_rows(LOG))
    assert row.asdict() == {
        "file": str(LOG), "position": 2583, "timestamp": row.timestamp, "server_id": 97,
        "gtid": "a40b4242-e518-11f1-9090-02fc00000001:7", "thread_id": 13, "statement": row.statement,
        "index": 0, "schema": "t", "table": "s", "change": "insert", "before": None,
        "after": {"id": 11, "v": "0.8364498501983004", "d": 0.40613597483014313}, "diffs": {},
    }  # fmt: skip
    inner = next(first("WRITE_ROWS_EVENT").rows()).asdict()
    assert inner == {name: row.asdict()[name] for name in inner}
    assert isinstance(row.statement, str)


@pytest.mark.parametrize("read", [bk.stats, lambda *log, **table: list(bk.read_rows(*log, **table))])
def test_warnings_are_at_the_line_of_the_caller(read: Callable[..., object]) -> None:
    with pytest.warns(bk.FilterWarning) as caught:
        read(LOG, table="no.such")
    assert [warning.filename for warning in caught] == [__file__]
