"""The parts that are kept while a log of any length is counted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from binlog_kaitai.statistics.event_counts import kind_of
from binlog_kaitai.statistics.stats_model import MAX_STEPS, StatsKind, Timeline, width_for
from binlog_kaitai.statistics.stats_text import shown
from binlog_kaitai.statistics.transaction_counts import Ranking


@given(st.lists(st.lists(st.integers(0, 2**32 - 1), max_size=50), max_size=20))
def test_a_timeline_keeps_every_value(blocks: list[list[int]]) -> None:
    timeline = Timeline(2)
    for times in blocks:
        values = np.array(times, dtype=np.int64)
        timeline.add(values, {0: np.ones(len(values)), 1: values % 1000})
    timed = [time for times in blocks for time in times if time]
    assert timeline.sums[:, 0].sum() == len(timed)
    assert timeline.sums[:, 1].sum() == sum(time % 1000 for time in timed)
    assert (np.diff(timeline.starts) > 0).all()
    wider = timeline.wider(3600)
    assert set(wider.starts.tolist()) == {time // wider.width * wider.width for time in timed}


def test_a_timeline_grows_no_longer_than_its_limit() -> None:
    timeline = Timeline(1)
    rng = np.random.default_rng(1)
    for _ in range(20):
        times = rng.integers(1, 2**32, 5000)
        timeline.add(times, {0: np.ones(len(times))})
        assert len(timeline.starts) <= MAX_STEPS
    assert timeline.sums.sum() == 100_000
    assert width_for(timeline, 72) >= 72 * 7 * 86400 / 72


@given(st.lists(st.lists(st.integers(0, 100), max_size=30), max_size=8), st.integers(0, 6))
def test_a_ranking_is_the_start_of_the_sorted_list(batches: list[list[int]], most: int) -> None:
    ranking = Ranking[int](most)
    for batch in batches:
        ranking.add(np.array(batch), batch.__getitem__)
    everything = sorted((value for batch in batches for value in batch if value), reverse=True)
    assert list(ranking) == everything[:most]


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        (b"insert into t values (1)", "INSERT"),
        (b"/* app */ UPDATE t SET a = 1", "UPDATE"),
        (b"-- hello\nDELETE FROM t", "DELETE"),
        (b"CREATE TABLE a (b INT)", "CREATE TABLE"),
        (b"CREATE OR REPLACE TABLE a (b INT)", "CREATE TABLE"),
        (b"CREATE TEMPORARY TABLE a (b INT)", "CREATE TABLE"),
        (b"CREATE DEFINER=`root`@`localhost` TRIGGER x BEFORE INSERT ON t", "CREATE TRIGGER"),
        (b"DROP SCHEMA s", "DROP DATABASE"),
        (b"ALTER TABLE t ADD c INT", "ALTER TABLE"),
        (b"XA COMMIT 'x'", "XA COMMIT"),
        (b"ROLLBACK TO `sp`", "ROLLBACK TO"),
        (b"COMMIT", "COMMIT"),
        (b"", "(other)"),
        (b"(SELECT 1)", "(other)"),
    ],
)
def test_the_kind_of_a_statement(statement: bytes, kind: str) -> None:
    assert kind_of(statement) == kind


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (1234567, StatsKind.NUMBER, "1,234,567"),
        (999, StatsKind.BYTES, "999 B"),
        (1 << 20, StatsKind.BYTES, "1 MiB"),
        (0, StatsKind.SECONDS, "0 s"),
        (0.00123, StatsKind.SECONDS, "1.23 ms"),
        (75, StatsKind.SECONDS, "1 min 15 s"),
        (90000, StatsKind.SECONDS, "1 d 1 h"),
        (0, StatsKind.TIME, "1970-01-01 00:00:00"),
        (None, StatsKind.BYTES, ""),
    ],
)
def test_amounts_for_people(value: float | None, kind: StatsKind, text: str) -> None:
    assert shown(value, kind) == text
