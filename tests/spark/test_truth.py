"""Table contents from their changes equal those reported by the servers."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from binlog_kaitai.errors import UsageError
from binlog_kaitai.views.parquet_folder import folder_name
from tests.corpus_files import CORPUS, Case
from tests.lake.reported import REFUSED, WRONG
from tests.rows.truth import OracleTable
from tests.spark.lakes import make_lake
from tests.spark.oracle import server_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

#: One case of each kind; the others are held against the servers' tables without Spark, in tests/lake.
CASES = (
    "mysql-9.7/types_full",
    "mysql-9.7/types_minimal",
    "mysql-9.7/json_partial",
    "mysql-9.7/xa",
    "mysql-5.6/mixed",
    "mariadb-10.11/types_noblob",
    "mariadb-11.8/ddl",
    "mariadb-11.8/system_versions",
)

#: A hundred small plans in one: what makes large ones fast would take minutes for these.
PLAIN = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "1",
}


@pytest.fixture
def plain(spark: SparkSession) -> Iterator[SparkSession]:
    before = {name: spark.conf.get(name, None) for name in PLAIN}
    for name, value in PLAIN.items():
        spark.conf.set(name, value)
    yield spark
    for name, known in before.items():
        if known is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, known)


@pytest.mark.thorough
def test_state_is_what_the_servers_had(plain: SparkSession, tmp_path: Path) -> None:
    """All tables, in one job."""
    from binlog_kaitai.spark.tables import LakeTables

    frames, oracles, refused = {}, {}, {}
    for id_ in CASES:
        one = Case(CORPUS / id_)
        tables = LakeTables(plain, make_lake(tmp_path / id_, list(one.logs), 1 << 18))
        names = tables.names()
        for oracle in map(OracleTable.of, one.tables()):
            name = folder_name(oracle.name)
            key = f"{one.folder.name}/{name}"
            if name not in names:
                assert not oracle.rows, key
                continue
            oracles[key] = oracle
            try:
                frames[key] = tables.current(name)
            except UsageError as error:
                refused[key] = str(error)
    assert not {key: why for key, why in refused.items() if REFUSED.get(key, "-") not in why}
    found = rows_of(frames)
    texts = {key: texts_of(found[key], frame, oracles[key]) for key, frame in frames.items()}
    wrong = {key for key in frames if texts[key] != Counter(oracles[key].rows)}
    assert wrong == WRONG.keys() & frames.keys()


def rows_of(frames: dict[str, DataFrame]) -> dict[str, list[dict[str, Any]]]:
    """The rows of many frames by one job."""
    from pyspark.sql import functions as f

    options = {"ignoreNullFields": "false"}
    parts = (
        frame.select(f.lit(name).alias("name"), f.to_json(f.struct("*"), options).alias("row"))
        for name, frame in frames.items()
    )
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in frames}
    for row in reduce(lambda one, other: one.unionAll(other), parts).collect():
        found[row["name"]].append(json.loads(row["row"], parse_float=Decimal))
    return found


def texts_of(
    rows: Iterable[dict[str, Any]], frame: DataFrame, table: OracleTable
) -> Counter[tuple[str | None, ...]]:
    from pyspark.sql.types import ArrayType, BinaryType, DataType, DoubleType, FloatType

    def value(found: Any, kind: DataType | None) -> Any:
        match kind:
            case _ if found is None:
                return None
            case BinaryType():
                return base64.b64decode(found)
            case DoubleType() | FloatType():
                return float(found)
            case ArrayType():
                return list(map(float, found))
        return found

    kinds = {field.name: field.dataType for field in frame.schema}
    return Counter(
        tuple(server_text(value(row.get(one.name), kinds.get(one.name)), one) for one in table.columns)
        for row in rows
    )
