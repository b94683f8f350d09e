"""What other programs show of the metadata of a lake's tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.lake.lakes import fill
from tests.lake.table_log import TableLog
from tests.lake.test_described import CREATE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.lakes


def test_spark_describes_keys_and_comments(spark: SparkSession, tmp_path: Path) -> None:
    log = TableLog(["id", "x"], ["id"])
    log.run(CREATE)
    log.insert(1, 10)
    fill(tmp_path / "lake", [log.write(tmp_path)], keeps_state=True)
    for name in ("changes", "state"):
        rows = spark.sql(f"DESCRIBE TABLE EXTENDED delta.`{tmp_path}/lake/{name}/s.t`").collect()
        comments = {row.col_name: row.comment for row in rows}
        assert comments["id"] == "the number"
        table = spark.read.format("delta").load(f"{tmp_path}/lake/{name}/s.t")
        assert table.schema["id"].metadata["binlog-kaitai.primary-key"] == "1"
        assert table.count() == 1
