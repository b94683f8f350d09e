"""Statistics agree with the other readers."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.log.event_rows import has_rows
from binlog_kaitai.statistics import counting
from tests.corpus_files import LogFile, case, logs
from tests.extent import sample

MIXED = case("mysql-9.7", "mixed").logs[0]
PAYLOADS = case("mysql-9.7", "payloads").logs[0]


def rows_by_table(path: Any) -> dict[tuple[str, str], Counter[str]]:
    """Rows by table and kind of change, as `read_changes` has them."""
    found: dict[tuple[str, str], Counter[str]] = {}
    for batch in bk.read_changes(path):
        for row in batch.select(["schema", "table", "change"]).to_pylist():
            found.setdefault((row["schema"], row["table"]), Counter())[row["change"]] += 1
    return found


@pytest.mark.parametrize("log", sample(logs(), 14), ids=lambda log: log.id)
def test_totals_and_tables_are_those_of_the_readers(log: LogFile) -> None:
    stats = bk.stats(log.path)
    assert stats.error is None
    events = list(bk.open(log.path))
    assert stats.totals["events"] == len(events)
    outer = [event for event in events if event.payload_index is None]
    assert stats.totals["bytes"] == sum(len(event.raw) for event in outer)
    assert stats.totals["inner_events"] == len(events) - len(outer)
    types = Counter(event.type for event in events)
    assert {row["type"]: row["events"] for row in stats.parts["event_types"].objects()} == types
    transactions = bk.read_transactions(log.path).read_all()
    assert stats.totals["transactions"] == len(transactions)
    assert stats.totals["transaction_bytes"] == sum(transactions["bytes"].to_pylist())
    sums = [sum(filter(None, transactions[f"rows_{name}"].to_pylist())) for name in ("inserted", "updated")]
    assert [stats.totals["rows_inserted"], stats.totals["rows_updated"]] == sums


@pytest.mark.parametrize("name", ["mixed", "payloads", "types_full", "ddl"])
def test_tables_have_the_rows_that_the_changes_view_has(name: str) -> None:
    path = case("mysql-9.7", name).logs[0]
    found: dict[tuple[str, str], Counter[str]] = {}
    for row in bk.stats(path).parts["tables"].objects():
        found.setdefault((row["schema"], row["table"]), Counter())[row["operation"]] = row["rows"]
    assert found == rows_by_table(path)


def comparable(path: Any, **filters: Any) -> dict[str, Any]:
    return bk.stats(path, **filters).to_object()


@pytest.mark.parametrize("path", [MIXED, PAYLOADS, case("mariadb-11.8", "mixed").logs[0]], ids=str)
def test_where_blocks_end_changes_nothing(path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = comparable(path)
    monkeypatch.setattr(counting, "_BLOCK_SIZE", 512)
    assert comparable(path) == whole


def test_a_transaction_counts_once_for_each_table_and_operation() -> None:
    for row in bk.stats(PAYLOADS).parts["tables"].objects():
        batches = bk.read_transactions(PAYLOADS, table=f"{row['schema']}.{row['table']}").read_all()
        counts = batches[f"rows_{row['operation'].rstrip('e')}ed"].to_pylist()
        assert row["transactions"] == sum(count > 0 for count in counts)


def test_rankings_and_gaps_are_in_order_and_name_real_transactions() -> None:
    stats = bk.stats(MIXED, top=5)
    transactions = {row["position"]: row for row in bk.read_transactions(MIXED).read_all().to_pylist()}
    sizes = sorted((row["bytes"] for row in transactions.values()), reverse=True)
    biggest = stats.parts["biggest"].objects()
    assert [row["bytes"] for row in biggest] == sizes[:5]
    assert all(transactions[row["position"]]["gtid"] == row["gtid"] for row in biggest)
    commits = [row["immediate_commit_timestamp"] for row in transactions.values()]
    gaps = sorted(((later - earlier).total_seconds() for earlier, later in pairwise(commits)), reverse=True)
    assert [row["gap"] for row in stats.parts["gaps"].objects()] == gaps[:5]


def test_definitions_are_listed_with_their_text() -> None:
    found = bk.stats(MIXED).parts["definitions"].objects()
    expected = [
        row for row in bk.read_transactions(MIXED).read_all().to_pylist() if row["statement"] is not None
    ]
    assert [(row["position"], row["statement"]) for row in found] == [
        (row["position"], row["statement"]) for row in expected
    ]


def test_filters_choose_events_and_transactions() -> None:
    one = bk.read_transactions(MIXED, table="t.s").read_all().to_pylist()
    stats = bk.stats(MIXED, table="t.s")
    assert stats.totals["transactions"] == len(one)
    assert {(row["schema"], row["table"]) for row in stats.parts["tables"].objects()} == {("t", "s")}
    gtid = one[0]["gtid"]
    by_gtid = bk.stats(MIXED, include_gtids=gtid)
    assert by_gtid.totals["transactions"] == 1
    assert by_gtid.totals["events"] == one[0]["events"]
    assert [row["set"] for row in by_gtid.parts["gtid_sources"].objects()] == [gtid.rpartition(":")[2]]
    assert bk.stats(MIXED, stop_datetime="2001-01-01").totals["transactions"] == 0


def test_damage_ends_the_counting_and_keeps_what_lies_before() -> None:
    data = bytearray(MIXED.read_bytes())
    transactions = bk.read_transactions(MIXED).read_all().to_pylist()
    data[transactions[10]["position"] + 30] ^= 0xFF
    stats = bk.stats(bytes(data))
    assert stats.error is not None
    assert stats.error.position == transactions[10]["position"]
    assert stats.totals["transactions"] == 10
    assert stats.totals["events"] == 2 + sum(row["events"] for row in transactions[:10])


def test_compressed_logs_report_their_ratio() -> None:
    totals = bk.stats(PAYLOADS).totals
    inner = [event for event in bk.open(PAYLOADS) if event.payload_index is not None]
    assert totals["unpacked_bytes"] == sum(len(event.raw) for event in inner)
    assert totals["compression_ratio"] > 10
    mariadb = bk.stats(case("mariadb-11.8", "types_compressed").logs[0]).totals
    assert mariadb["packed_bytes"] > 0
    assert mariadb["unpacked_bytes"] > mariadb["packed_bytes"]
    assert bk.stats(MIXED).totals["compression_ratio"] is None


@pytest.mark.parametrize("log", sample(logs(), 14), ids=lambda log: log.id)
def test_transactions_are_counted_alike_as_arrays_and_as_rows_of_their_view(log: LogFile) -> None:
    assert bk.stats(log.path, start_position=4).to_object() == bk.stats(log.path).to_object()


def bytes_by_table(path: Any) -> dict[int, Counter[str]]:
    """By position of each transaction, the bytes of its rows events by table."""
    found: dict[int, Counter[str]] = {}
    transactions = bk.read_transactions(path).read_all().to_pylist()
    for event in bk.open(path):
        if event.table_map is not None and has_rows(event):
            owner = [one for one in transactions if one["position"] <= event.position][-1]["position"]
            name = f"{event.table_map.schema_name}.{event.table_map.table_name}"
            found.setdefault(owner, Counter())[name] += len(event.raw)
    return found


@pytest.mark.parametrize("path", [MIXED, PAYLOADS, case("mysql-9.7", "types_full").logs[0]])
@pytest.mark.parametrize("block_size", [1 << 25, 512])
@pytest.mark.parametrize("filters", [{}, {"server_id": 97}])
def test_bytes_of_each_table_of_a_transaction(
    path: Any, block_size: int, filters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "_BLOCK_SIZE", block_size)
    parts = bk.stats(path, **filters).parts
    expected = bytes_by_table(path)
    for row in parts["biggest"].objects():
        found = dict(zip(row["tables"], row["table_bytes"], strict=True))
        assert found == dict(expected.get(row["position"], {}))
    of_table: dict[str, list[int]] = {}
    for sums in expected.values():
        for name, count in sums.items():
            of_table.setdefault(name, []).append(count)
    ranked: dict[str, list[int]] = {}
    for row in parts["by_table"].objects():
        ranked.setdefault(row["table"], []).append(row["table_bytes"])
        assert expected[row["position"]][row["table"]] == row["table_bytes"]
    assert ranked == {name: sorted(counts)[::-1][:5] for name, counts in of_table.items()}


def test_tables_without_a_primary_key_are_those_that_are_known_to_have_none() -> None:
    found = bk.stats(case("mysql-9.7", "types_full").logs[0]).parts["no_primary_key"].objects()
    assert [row["table"] for row in found] == ["nokey", "ukey"]
    assert [found[0][f"rows_{name}"] for name in ("inserted", "updated", "deleted")] == [4, 2, 4]
    # Its log names no keys, and the tables were made before it.
    later = case("mysql-5.6", "types_v1_rows").logs[-1]
    assert all(row["table"] in ("nokey", "ukey") for row in bk.stats(later).parts["no_primary_key"].objects())


@pytest.mark.parametrize("log", [MIXED, case("mariadb-11.8", "mixed").logs[0], PAYLOADS])
def test_connections_have_the_transactions_of_the_view(log: Any) -> None:
    view = bk.read_transactions(log).read_all().to_pylist()
    found = {row["thread_id"]: row for row in bk.stats(log).parts["threads"].objects()}
    assert {thread: row["transactions"] for thread, row in found.items()} == Counter(
        row["thread_id"] for row in view
    )
    for thread, row in found.items():
        assert row["bytes"] == sum(one["bytes"] for one in view if one["thread_id"] == thread)
