"""All cases of the corpus in Spark, in splits of any size: equal to the rows without Spark.

A query has the logs of many cases as if they were one server's, and so has what it is held against: to plan
and to start a query for each case takes minutes. Each case by itself, and tables with their columns, are held
against the whole without Spark, in tests/views.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.views.splits import plan
from tests.corpus_files import cases
from tests.spark.test_changes import paths, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::binlog_kaitai.DefinitionWarning")]

READ: dict[str, Callable[..., Any]] = {
    "events": bk.read_events,
    "transactions": bk.read_transactions,
    "changes": bk.read_changes,
}

#: Which cases, by their number; each is there with its changes, and most logs are smaller than any size. For
#: the names of columns each split takes the statements of all logs before it: few logs in a query cost less.
QUERIES = [
    ("changes", slice(0, None, 6), 64 << 10),
    ("changes", slice(1, None, 6), random.Random(1).randrange(1 << 14, 1 << 16)),
    ("changes", slice(2, None, 6), 64 << 10),
    ("changes", slice(3, None, 6), random.Random(4).randrange(1 << 14, 1 << 16)),
    ("changes", slice(4, None, 6), 64 << 10),
    ("changes", slice(5, None, 6), random.Random(5).randrange(1 << 14, 1 << 16)),
    ("transactions", slice(2, None, 4), random.Random(2).randrange(1 << 14, 1 << 16)),
    ("events", slice(3, None, 4), random.Random(3).randrange(1 << 14, 1 << 16)),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("view", "chosen", "size"), QUERIES, ids=lambda one: str(one))
def test_any_size_gives_the_rows_of_the_whole(
    spark: SparkSession, view: str, chosen: slice, size: int
) -> None:
    logs = [path for one in cases()[chosen] for path in paths(one)]
    frame = spark.read.format("binlog").option("view", view).option("splitSize", size).load(logs)
    assert len(plan(logs, size)) > len(logs)
    assert rows(frame.toArrow()) == rows(READ[view](logs).read_all())
