"""Logs on an S3 server: what the driver lists, the tasks read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

import binlog_kaitai as bk
from tests.object_store import LOGS, serving_logs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.thorough
@pytest.mark.spark
def test_spark_reads_objects(spark: SparkSession) -> None:
    with serving_logs() as url:
        # The workers of a session that runs already do not get the settings that this process has now.
        address = os.environ["AWS_ENDPOINT_URL"].removeprefix("http://")
        path = f"{url}/binlog.000002?endpoint_override={address}&scheme=http&region=us-east-1"
        reader = spark.read.format("binlog").option("view", "changes").option("splitSize", "1000")
        rows = reader.load(path).collect()
    expected = bk.read_changes(str(LOGS[1])).read_all()["after"].to_pylist()
    assert sorted(row.after for row in rows) == sorted(expected)
    assert {row._file for row in rows} == {path}
