"""Representations of events, bodies, rows and readers in an interactive session: their fields."""

from __future__ import annotations

import binlog_kaitai as bk
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
