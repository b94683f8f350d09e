"""Errors for invalid options and for damaged data."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException

from tests.corpus_files import CORPUS, case
from tests.extent import sample

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

LOG = CORPUS / "mysql-9.7" / "rotate" / "binlog.000001"


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A log with one bit of its second event flipped."""
    data = bytearray(LOG.read_bytes())
    second = 4 + int.from_bytes(data[4 + 9 : 4 + 13], "little")
    data[second + 19] ^= 1
    path = tmp_path / "binlog.000001"
    path.write_bytes(data)
    return path


def test_damage_names_file_and_position(spark: SparkSession, damaged: Path) -> None:
    second = 4 + int.from_bytes(LOG.read_bytes()[4 + 9 : 4 + 13], "little")
    frame = spark.read.format("binlog").load(str(damaged))
    with pytest.raises(PySparkException, match=re.escape(f"{damaged}, position {second}")):
        frame.collect()


@pytest.mark.thorough
def test_a_cut_log_names_where_its_last_whole_event_ends(spark: SparkSession) -> None:
    cut = case("damaged", "mysql-9.7-cut_in_body")
    frame = spark.read.format("binlog").load(str(cut.folder / "binlog.*"))
    with pytest.raises(PySparkException, match=f"TruncatedError: .*position {cut.info['whole_until']}"):
        frame.collect()


@pytest.mark.thorough
def test_a_log_in_use_ends_with_its_last_whole_event(spark: SparkSession) -> None:
    cut = case("damaged", "mysql-9.7-in_use_cut_in_body")
    frame = spark.read.format("binlog").load(str(cut.folder / "binlog.*"))
    assert max(row.end_position for row in frame.collect()) == cut.info["whole_until"]


def test_no_such_file(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(PySparkException, match="no such file"):
        spark.read.format("binlog").load(str(tmp_path / "missing.000001")).collect()


@pytest.mark.parametrize(
    ("options", "message"),
    sample(
        [
            ({"view": "rows"}, "view 'rows'.*events"),
            ({"mode": "LENIENT"}, "mode 'LENIENT'.*FAILFAST"),
            ({"splitSize": "many"}, "splitSize: 'many'"),
            ({"startingOffsets": "7"}, "startingOffsets.*JSON"),
            ({"startingOffsets": '{"file": "gone.000001"}'}, "gone.000001 is not among the 1 files"),
            ({"scanDdl": "maybe"}, "scanDdl.*true or false"),
            ({"table": "t.a,t.b"}, "several tables"),
            ({"table": "t.nothing"}, "no change of t.nothing"),
            ({"startPostion": "4"}, "startPostion.*startPosition"),
            ({"startPosition": "four"}, "startPosition"),
        ],
        2,
    ),
)
def test_a_wrong_option_names_the_right_ones(
    spark: SparkSession, options: dict[str, str], message: str
) -> None:
    with pytest.raises(PySparkException, match=f"(?is){message}"):
        spark.read.format("binlog").options(**options).load(str(LOG)).collect()


def test_no_path(spark: SparkSession) -> None:
    with pytest.raises(PySparkException, match="path"):
        spark.read.format("binlog").load().collect()


def test_a_column_that_is_not_there(spark: SparkSession) -> None:
    with pytest.raises(PySparkException, match="has unknown columns price"):
        spark.read.format("binlog").schema("price int").load(str(LOG)).collect()
