"""Debezium's messages through a broker of Kafka."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.corpus_files import CORPUS
from tests.lakes.kafka_broker import serving
from tests.lakes.test_guide import programs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.lakes

LOGS = CORPUS / "mysql-9.7/workload"

#: Messages of each key, in their order.
Messages = dict[str, list[Any]]


def written(table: str, path: Path) -> Messages:
    """Write the messages of a table to a file; what is to arrive."""
    command = [sys.executable, "-m", "binlog_kaitai", "rows", "--format", "debezium", "--table", table]
    lines = subprocess.run([*command, str(LOGS)], check=True, capture_output=True).stdout
    path.write_bytes(lines)
    found: Messages = defaultdict(list)
    for line in map(json.loads, lines.splitlines()):
        found[json.dumps(line["key"])].append(line["value"])
    return found


def arrived(spark: SparkSession, broker: str, topic: str) -> Messages:
    """What a topic has."""
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", broker)
    rows = reader.option("subscribe", topic).load().orderBy("partition", "offset").collect()
    found: Messages = defaultdict(list)
    for row in rows:
        value = None if row.value is None else json.loads(row.value)
        found[json.dumps(json.loads(row.key))].append(value)
    return found


def test_messages_arrive_in_the_order_of_the_log(spark: SparkSession, tmp_path: Path) -> None:
    spark.conf.set("spark.sql.files.maxPartitionBytes", "50000")  # several tasks
    try:
        with serving(tmp_path) as broker:
            for table in ("t.orders", "t.items"):
                lines = tmp_path / f"{table}.jsonl"
                sent = written(table, lines)
                assert any(None in values for values in sent.values())
                names = {"/mnt/orders.jsonl": str(lines), "localhost:9092": broker}
                exec(programs("Into Kafka", names), {"spark": spark})
                assert arrived(spark, broker, table) == sent
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
