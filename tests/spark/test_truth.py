"""The content of all tables that the servers were asked for, from their changes."""

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

from binlog_kaitai.columns.lake import folder_name
from binlog_kaitai.errors import UsageError
from tests.corpus_files import cases
from tests.rows.truth import OracleTable
from tests.spark.lakes import make_lake
from tests.spark.oracle import server_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

#: Cases whose logs do not have all changes: the server was killed, or says that some are lost.
LOST = ("crash", "incident")

#: Tables that are refused, by what the error says.
REFUSED = {
    "types_minimal/t.ints": "changed the key",
    "types_full_nodup/t.ints": "changed the key",
    "types_minimal/t.ukey": "no primary key",
    "types_full_nodup/t.ukey": "no primary key",
    "types_noblob/t.ukey": "no primary key",
    "json_partial/t.jminimal": "JSON documents",
    "system_versions/t.b": "SYSTEM VERSIONING",
    "ddl/t.p": "partitions",
    **dict.fromkeys(("statement/t.s", "statement/t2.x", "mixed/t.s", "domains/t.a"), "as text"),
    **dict.fromkeys(("system_versions/t.a", "system_versions/t.tr"), "as text"),
}

#: Tables that the changes tell wrongly, and why.
WRONG = {
    "ddl/t.c": "a column was added with a default",
    "ddl/t.fkc": "MariaDB does not log what a foreign key deletes",
    "payloads/t.a": "a statement inside of a compressed transaction is logged as text",
}

#: A hundred small plans in one: what makes large ones fast would take minutes for these.
PLAIN = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "1",
}

SERVERS = sorted({one.folder.parent.name for one in cases() if one.tables()})


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


@pytest.mark.parametrize("server", SERVERS)
def test_state_is_what_the_server_had(plain: SparkSession, server: str, tmp_path: Path) -> None:
    """All tables of all cases of a server, in one job."""
    from binlog_kaitai.spark.tables import LakeTables

    frames, oracles, refused = {}, {}, {}
    for one in cases():
        if one.folder.parent.name != server or not one.tables() or one.folder.name in LOST:
            continue
        tables = LakeTables(plain, make_lake(tmp_path / one.folder.name, list(one.logs), 1 << 18))
        names = tables.names()
        for oracle in map(OracleTable.of, one.tables()):
            name = f"{one.folder.name}/{folder_name(oracle.name)}"
            if folder_name(oracle.name) not in names:
                assert not oracle.rows or name in WRONG, name
                continue
            oracles[name] = oracle
            try:
                frames[name] = tables.current(folder_name(oracle.name))
            except UsageError as error:
                refused[name] = str(error)
    assert not {name: why for name, why in refused.items() if REFUSED.get(name, "-") not in why}
    assert not frames.keys() & REFUSED.keys()
    found = rows_of(frames)
    expected = {name: Counter(oracles[name].rows) for name in frames}
    texts = {name: texts_of(found[name], frames[name], oracles[name]) for name in frames}
    assert {name for name in frames if texts[name] != expected[name]} <= WRONG.keys()


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
