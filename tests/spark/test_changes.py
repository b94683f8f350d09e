"""The views `transactions` and `changes`, and typed tables: equal to those without Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

import binlog_kaitai as bk
from binlog_kaitai.spark.data_source import BinlogDataSource
from binlog_kaitai.spark.schemas import plain_type
from binlog_kaitai.spark.state import latest
from tests.corpus_files import CORPUS, Case, case, cases
from tests.extent import sample
from tests.log_maker import LogMaker, events_of
from tests.views.test_taken_names import NAMES, log_with

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::binlog_kaitai.DefinitionWarning")]


def load(spark: SparkSession, path: object, **options: object) -> DataFrame:
    texts = {name: str(value) for name, value in options.items()}
    return spark.read.format("binlog").options(**texts).load(str(path))


def rows(table: pa.Table) -> list[Any]:
    """The rows in Spark's types, in the order of the log."""
    wide = {field.name for field in table.schema if pa.types.is_decimal256(field.type)}
    fields = [one if one.name in wide else one.with_type(plain_type(one.type)) for one in table.schema]
    found = table.cast(pa.schema(fields)).to_pylist()
    for row in found:
        row.update({name: f"{row[name]:f}" for name in wide if row[name] is not None})
    offsets = ("file", "_file", "position", "_position", "_row")
    order = [name for name in offsets if name in table.column_names]
    return sorted(found, key=lambda row: [*(row[name] for name in order), str(row)])


def paths(one: Case) -> list[str]:
    return [str(path) for path in one.logs]


SCENARIOS = [case for case in cases() if case.folder.name in ("types_minimal", "ddl", "payloads", "domains")]


@pytest.mark.parametrize("one", sample(SCENARIOS, 2), ids=lambda one: one.id)
def test_changes_are_those_of_read_changes(spark: SparkSession, one: Case) -> None:
    size = max(max(path.stat().st_size for path in one.logs) // 3, 1000)
    frame = spark.read.format("binlog").option("view", "changes").option("splitSize", size).load(paths(one))
    assert rows(frame.toArrow()) == rows(bk.read_changes(paths(one)).read_all())


def test_transactions_are_those_of_read_transactions(spark: SparkSession) -> None:
    one = case("mysql-9.7", "mixed")
    frame = load(spark, one.folder / "binlog.0*", view="transactions", splitSize="1500")
    assert frame.rdd.getNumPartitions() > len(one.logs)
    assert rows(frame.toArrow()) == rows(bk.read_transactions(paths(one)).read_all())


@pytest.mark.parametrize("name", sample(["types_full", "types_metadata"], 1))
def test_a_table_has_its_types(spark: SparkSession, name: str) -> None:
    one = case("mysql-9.7", name)
    logged = bk.read_changes(paths(one)).read_all()
    tables = sorted({f"{row['schema']}.{row['table']}" for row in logged.to_pylist()})
    for table in sample(tables[::6], 1):
        frame = load(spark, one.folder / "binlog.0*", table=table, splitSize="64k")
        assert rows(frame.toArrow()) == rows(bk.read_changes(paths(one), table=table).read_all())


@pytest.mark.thorough
def test_before_and_after_are_ready_for_parse_json(spark: SparkSession) -> None:
    one = case("mysql-9.7", "rotate")
    frame = load(spark, one.folder, view="changes")
    ids = frame.selectExpr("variant_get(parse_json(after), '$.id', 'int') AS id").collect()
    expected = [json.loads(row["after"])["id"] for row in bk.read_changes(paths(one)).read_all().to_pylist()]
    assert sorted(row.id for row in ids) == sorted(expected)


@pytest.mark.thorough
def test_a_schema_of_ones_own(spark: SparkSession) -> None:
    """Fewer columns, wider types, and one that the table does not have."""
    one = case("mysql-9.7", "rotate")
    schema = "id decimal(20,0), missing string, _change_type string"
    frame = spark.read.format("binlog").schema(schema).option("table", "t.a").load(str(one.folder))
    assert frame.columns == ["id", "missing", "_change_type"]
    expected = [row["id"] for row in bk.read_changes(paths(one), table="t.a").read_all().to_pylist()]
    assert sorted(int(row.id) for row in frame.collect() if row.missing is None) == sorted(expected)


@pytest.mark.thorough
def test_names_by_ddl_alone(spark: SparkSession, tmp_path: Path) -> None:
    one = case("mysql-9.7", "rotate")
    log = one.logs[-1]
    dump = tmp_path / "schema.sql"
    dump.write_text("USE t;\nCREATE TABLE a (number INT PRIMARY KEY, text VARCHAR(200));\n")
    by_file = load(spark, log, table="t.a", ddl=dump, scanDdl="false")
    by_text = load(spark, log, table="t.a", ddl=f"USE t; {dump.read_text()}")
    assert by_file.columns[-2:] == by_text.columns[-2:] == ["number", "text"]
    assert [row.number for row in by_file.collect()] == [50]
    nameless = load(spark, log, table="t.a")
    assert nameless.columns[-2:] == ["c1", "c2"]


@pytest.mark.thorough
def test_offsets_choose_a_part_of_the_series(spark: SparkSession) -> None:
    one = case("mysql-9.7", "rotate")
    second, third = one.logs[1:3]
    starting = json.dumps({"file": second.name, "position": 200})
    ending = json.dumps({"file": third.name, "position": 400})
    frame = load(spark, one.folder, startingOffsets=starting, endingOffsets=ending, splitSize="300")
    expected = bk.read_events([str(second), str(third)], start_position=200, stop_position=400)
    assert rows(frame.toArrow()) == rows(expected.read_all())


@pytest.mark.thorough
def test_an_unnamed_table_of_a_large_log_asks_for_help(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "binlog.000001"
    log.write_bytes(case("mysql-9.7", "rotate").logs[-1].read_bytes())
    log.open("ab").close()
    import os

    os.truncate(log, 2 << 20)  # a file in use that was given room ahead; sizes alone make it large
    with pytest.raises(PySparkException, match=r"(?s)t\.a.*inferSchema"):
        load(spark, log, table="t.a").collect()


@pytest.fixture
def unnamed(tmp_path: Path) -> Path:
    """A log of more than a megabyte, of a server with its default metadata: a CREATE, and rows of t.a."""
    one = case("mysql-9.7", "rotate")
    layout, (head, *transactions) = events_of(one.logs[0])
    log = LogMaker(layout)
    log.add_all(head)
    log.add_all(raw for transaction in transactions for raw in transaction)
    _, (_, *inserts) = events_of(one.logs[-1])
    while len(log.data) < 1 << 21:
        log.add_all(raw for transaction in inserts[:1] for raw in transaction)
    return log.write(tmp_path / "binlog.000001")


def test_a_table_of_a_default_server_has_the_names_that_its_statements_gave(
    spark: SparkSession, unnamed: Path
) -> None:
    """The first example of the README."""
    frame = spark.read.format("binlog").option("table", "t.a").load(str(unnamed))
    expected = bk.read_changes(unnamed, table="t.a").read_all()
    assert frame.columns[-2:] == expected.schema.names[-2:] == ["id", "v"]
    assert frame.where("id = 50 AND v = 'after the stop'").count() > 1000
    assert frame.count() == expected.num_rows


def test_a_table_without_any_definition_has_numbered_columns(unnamed: Path) -> None:
    source = BinlogDataSource({"path": str(unnamed), "table": "t.a", "scanDdl": "false"})
    with pytest.warns(bk.DefinitionWarning, match=r"t\.a: neither the log .*option\('ddl'"):
        assert source.schema().names[-2:] == ["c1", "c2"]


@pytest.mark.thorough
def test_a_schema_needs_names_in_the_log_or_by_ddl(spark: SparkSession) -> None:
    log = case("mysql-9.7", "rotate").logs[-1]
    reader = spark.read.format("binlog").option("table", "t.a").schema("id int, v string")
    with pytest.raises(PySparkException, match=r"(?s)position \d+.*t\.a: unknown columns id, v"):
        reader.load(str(log)).collect()
    ddl = "CREATE TABLE t.a (id INT PRIMARY KEY, v VARCHAR(200))"
    assert reader.option("ddl", ddl).load(str(log)).collect() == [(50, "after the stop")]


@pytest.mark.thorough
def test_a_schema_has_one_of_the_table_s_columns(spark: SparkSession) -> None:
    folder = case("mysql-9.7", "rotate").folder
    reader = spark.read.format("binlog").option("table", "t.a")
    with pytest.raises(PySparkException, match=r"(?s)unknown columns nothing.*the table has id, v"):
        reader.schema("_file string, nothing int").load(str(folder)).collect()
    expected = bk.read_changes([str(path) for path in sorted(folder.glob("*.0*"))], table="t.a").read_all()
    assert reader.schema("_file string").load(str(folder)).count() == expected.num_rows


def test_each_query_of_a_frame_has_its_own_rows(spark: SparkSession) -> None:
    """Spark keeps what a source answers with the frame: no filter may become part of that."""
    frame = spark.read.format("binlog").load(str(case("mysql-9.7", "rotate").folder))
    commits = frame.where("type = 'XID_EVENT'")
    count = commits.count()
    assert frame.count() == frame.where("length(type) > 0").count() > count
    assert frame.unionAll(commits).count() == frame.count() + count
    commits.createOrReplaceTempView("commits")
    frame.createOrReplaceTempView("all_events")
    both = "SELECT count(*) AS n FROM commits UNION ALL SELECT count(*) FROM all_events"
    assert sorted(row.n for row in spark.sql(both).collect()) == [count, frame.count()]


@pytest.mark.thorough
def test_widest_columns_by_looking_through_the_logs(spark: SparkSession) -> None:
    one = case("mysql-9.7", "ddl")
    logged = bk.read_changes(paths(one)).read_all().to_pylist()
    table = f"{logged[0]['schema']}.{logged[0]['table']}"
    frame = load(spark, one.folder / "binlog.0*", table=table, inferSchema="true")
    assert frame.columns == bk.read_changes(paths(one), table=table).schema.names


@pytest.mark.thorough
def test_a_glob_over_folders(spark: SparkSession) -> None:
    pattern = CORPUS / "mysql-9.7" / "rot*" / "binlog.00000[12]"
    frame = load(spark, pattern, view="changes")
    assert frame.count() == bk.read_changes(paths(case("mysql-9.7", "rotate"))[:2]).read_all().num_rows


@pytest.mark.thorough
def test_columns_of_a_table_that_are_called_as_others_here(spark: SparkSession, tmp_path: Path) -> None:
    log = log_with(list(NAMES), tmp_path)
    frame = load(spark, log, table="s.t")
    assert rows(frame.toArrow()) == rows(bk.read_changes(log, table="s.t").read_all())
    assert frame.select("_file", "_FILE__", "`_position_`").count() == 1
    for state in (latest(frame), latest(frame, ["_key0"])):
        assert [list(row.asDict().values()) for row in state.collect()] == [list(range(len(NAMES)))]


@pytest.mark.thorough
def test_a_column_called_as_that_of_damage(spark: SparkSession, tmp_path: Path) -> None:
    log = log_with(["a", "_Corrupt_Record"], tmp_path)
    with pytest.raises(PySparkException, match="columnNameOfCorruptRecord"):
        load(spark, log, table="s.t", mode="PERMISSIVE")
    frame = load(spark, log, table="s.t", mode="PERMISSIVE", columnNameOfCorruptRecord="_damage")
    assert frame.select("_Corrupt_Record", "_damage").collect() == [(1, None)]


def test_bits_as_booleans(spark: SparkSession) -> None:
    (log,) = case("mysql-9.7", "types_full").logs[:1]
    found = load(spark, log, table="t.misc", bit1AsBoolean=True).select("_position", "_row", "b1").collect()
    expected = bk.read_changes(log, table="t.misc", bit1_as_boolean=True).read_all()
    assert sorted((tuple(row) for row in found), key=repr) == sorted(
        zip(*(expected[name].to_pylist() for name in ("_position", "_row", "b1")), strict=True), key=repr
    )
    assert {True, False} <= {row.b1 for row in found}
