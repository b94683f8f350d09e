"""Snapshots of running servers, and lakes that begin with one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from binlog_kaitai.core.filters import TableSet
from binlog_kaitai.errors import ServerError
from binlog_kaitai.lake.changes import TableChanges
from binlog_kaitai.lake.files import TableFiles
from binlog_kaitai.lake.place import WORK
from binlog_kaitai.lake.rules import Rules
from binlog_kaitai.lake.storage import Storage, table_name
from binlog_kaitai.lake.write import write_lake
from binlog_kaitai.live.server_session import ServerSession
from binlog_kaitai.live.server_tables import quoted
from binlog_kaitai.rows.change_schemas import META_FIELDS
from binlog_kaitai.rows.row_masks import Masks
from binlog_kaitai.snapshot import server_snapshot as snapshots
from binlog_kaitai.snapshot import snapshot_chunks
from binlog_kaitai.snapshot.server_snapshot import take_snapshot
from binlog_kaitai.snapshot.snapshot_files import Snapshot
from binlog_kaitai.sources.source import Source
from tests.lake.lakes import complete, fold, kill, opened
from tests.lake.test_rules import texts_of
from tests.servers.conftest import StartServer
from tests.servers.fetching import PASSWORD, USER, logs_in, prepare, roll_back_prepared, wait_for
from tests.servers.fetching import url as fetching_url
from tests.servers.random_tables import changes
from tests.servers.replay import NAMES
from tests.servers.test_exactly_once import (
    TABLES,
    check_tables,
    run_to_end,
    start,
    words,
    writing,
)
from tools.corpus.recorder import reset_statement
from tools.servers import Server

pytestmark = pytest.mark.server

META = {field.name for field in META_FIELDS} | {"log_date"}


def url(server: Server) -> str:
    return f"mysql://root:@127.0.0.1:{server.port}/?ssl-mode=DISABLED"


def run(server: Server, lines: list[str]) -> None:
    connection = server.connect()
    cursor = connection.cursor()
    cursor.execute(
        "SET SESSION sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+05:30', binlog_format = 'ROW'"
    )
    for line in lines:
        cursor.execute(line)
    connection.close()


def empty(server: Server, *databases: str) -> None:
    """A server without the databases of other tests, and with these."""
    roll_back_prepared(server)
    own = "'mysql', 'sys', 'information_schema', 'performance_schema'"
    query = f"SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT IN ({own})"
    for (name,) in server.execute(query):
        server.execute(f"DROP DATABASE {quoted(name)}")
    server.execute(reset_statement(server))
    for name in databases:
        server.execute(f"CREATE DATABASE {name}")


#: Types and values that random tables do not have.
SPECIAL = [
    "CREATE TABLE r.plain (id INT UNSIGNED ZEROFILL PRIMARY KEY, v VARCHAR(9)) ENGINE=MyISAM",
    "INSERT INTO r.plain VALUES (1, 'x'), (20, NULL), (300, '')",
    "CREATE TABLE r.odd (`a``b` BIGINT UNSIGNED ZEROFILL, `_row` DOUBLE, `Ü` FLOAT, d DECIMAL(65,30), "
    "b VARCHAR(20) CHARACTER SET ascii, z DATE, t TIMESTAMP(6) NULL)",
    "INSERT INTO r.odd VALUES (18446744073709551615, -0e0, 16777217, 1e-30, 'a  ', '0000-00-00', NULL), "
    "(0, 1e308, 3.4028234e38, -99999, '\\0', '2020-02-31', '1970-01-01 05:30:01.000001'), "
    "(7, 0.1, 0.1, NULL, 'é', NULL, '2038-01-19 03:14:07.999999')",
    "CREATE TABLE r.nothing (id INT PRIMARY KEY)",
    "CREATE TABLE r.`dotted.name` (id INT, e ENUM('', 'a', 'ß') CHARACTER SET latin1, PRIMARY KEY (id))",
    "INSERT IGNORE INTO r.`dotted.name` VALUES (1, ''), (2, 'ß'), (3, 'none such')",
]


def without_documents(name: str) -> str:
    """The server whose types to use: MySQL 5.7 does not show documents as the log has them."""
    return "mysql-5.6" if name == "mysql-5.7" else name


def rows_in(folder: Path) -> tuple[dict[str, Any], Counter[str]]:
    """The columns of a table's own in the files of a folder, and its rows."""
    kinds: dict[str, Any] = {}
    rows: Counter[str] = Counter()
    for path in folder.rglob("*.parquet"):
        table = pq.ParquetFile(path).read()
        own = table.select([name for at, name in enumerate(table.schema.names) if at > 8])
        kinds.update({field.name: field.type for field in own.schema})
        rows.update(repr(list(row.items())) for row in own.to_pylist())
    return kinds, rows


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("zero_dates", ["null", "text"])
def test_values_are_those_of_the_log(
    name: str, zero_dates: str, start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables of all types, as a snapshot has them and as the log has their rows."""
    server = start_server(name)
    empty(server, "r")
    monkeypatch.setattr(snapshots, "BATCH_ROWS", 5)
    run(server, [*changes(without_documents(name), 7, 16)[0], *SPECIAL])
    snapshot = take_snapshot(url(server), tmp_path / "a", tables=TableSet.of([]), zero_dates=zero_dates)
    assert snapshot == Snapshot.load(tmp_path / "a")
    log = server.data / logs_in(server.data)[-1]
    assert (snapshot.log, snapshot.position) == (log.name, log.stat().st_size)
    files = TableFiles(Storage(str(tmp_path / "b")))
    write_lake(Source.of_path(str(log)), files, views=["changes"], zero_dates=zero_dates)
    files.close()
    tables = sorted(path.name for path in (tmp_path / "b" / "changes").iterdir())
    assert sorted(path.name for path in (tmp_path / "a" / "changes").iterdir()) == tables
    assert len(tables) == 19
    for table in tables:
        mine, theirs = (rows_in(tmp_path / one / "changes" / table) for one in "ab")
        assert mine[0] == theirs[0], table
        assert mine[1] == theirs[1], table
    assert sum(snapshot.files.values()) == sum(
        sum(rows_in(tmp_path / "b" / "changes" / table)[1].values()) for table in tables
    )


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_large_tables_are_read_in_ranges(
    name: str, start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = start_server(name)
    empty(server, "r")
    server.execute("CREATE TABLE r.a (id BIGINT PRIMARY KEY, v INT)")
    keys = [-(2**63), -5, 0, 1, 2, 3, 500, 2**40, 2**63 - 1, *range(10_000, 10_100)]
    server.execute(f"INSERT INTO r.a VALUES {', '.join(f'({key}, 1)' for key in keys)}")
    server.execute("ANALYZE TABLE r.a")
    monkeypatch.setattr(snapshot_chunks, "_RANGE_ROWS", 20)
    queries: list[str] = []
    stream = ServerSession.stream

    def counted(session: ServerSession, query: str, *rest: Any) -> Any:
        queries.append(query)
        return stream(session, query, *rest)

    monkeypatch.setattr(ServerSession, "stream", counted)
    snapshot = take_snapshot(url(server), tmp_path, tables=TableSet.of(["r.*"]), readers=3)
    table = pq.read_table(tmp_path / "changes" / "r.a")
    assert len(queries) == 5
    assert sorted(table["id"].to_pylist()) == sorted(keys)
    assert sorted(table["_row"].to_pylist()) == list(range(len(keys)))
    assert len(set(table["_sequence"].to_pylist())) == len(keys)
    assert set(table["_change_type"].to_pylist()) == {"snapshot"}
    assert [(*name, facts["key"]) for *name, facts in snapshot.keys] == [("r", "a", ["id"])]


def test_refusals(start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = start_server("mysql-9.7")
    empty(server, "r")
    server.execute("CREATE TABLE r.a (id INT PRIMARY KEY)")
    server.execute("INSERT INTO r.a VALUES (1), (2)")
    server.execute("CREATE USER IF NOT EXISTS nobody@'127.0.0.1' IDENTIFIED BY ''")

    def refused(source: str, words: str) -> None:
        with pytest.raises(ServerError, match=words):
            take_snapshot(source, tmp_path / "a", tables=TableSet.of([]))
        assert Snapshot.load(tmp_path / "a") is None

    refused(url(server).replace("root", "nobody"), r"a snapshot \(RELOAD\) requires a privilege")
    run(server, ["XA START 'x'", "INSERT INTO r.a VALUES (3)", "XA END 'x'", "XA PREPARE 'x'"])
    refused(url(server), "1 XA transactions are prepared")
    server.execute("XA COMMIT 'x'")
    read = snapshots._Taking._read_in_parallel

    def altered_before(*given: Any) -> None:
        server.execute("ALTER TABLE r.a ADD COLUMN n INT")
        read(*given)

    monkeypatch.setattr(snapshots._Taking, "_read_in_parallel", altered_before)
    refused(url(server), "definition has changed")
    monkeypatch.setattr(snapshots._Taking, "_read_in_parallel", read)
    snapshot = take_snapshot(url(server), tmp_path / "a", tables=TableSet.of([]))
    assert sum(snapshot.files.values()) == 3


@pytest.mark.parametrize("name", ["mysql-5.7", "mysql-9.7", "mariadb-11.8"])
def test_a_user_that_may_not_flush_tables(
    name: str, start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on RDS: the tables are locked one by one, and none is missing."""
    server = start_server(name)
    prepare(server)
    empty(server, "r")
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    server.execute(f"GRANT SELECT, LOCK TABLES, REPLICATION CLIENT ON *.* TO {USER}@'127.0.0.1'")
    run(server, [one for one in SPECIAL if "CREATE" in one or "plain" in one])
    lock, lines, statements = snapshots._Taking._lock_tables, list[str](), ["CREATE TABLE r.b (id INT)"]

    def locked_before(*given: Any) -> Any:
        chosen = lock(*given)
        for statement in statements:
            server.execute(statement)
        statements.clear()
        return chosen

    monkeypatch.setattr(snapshots._Taking, "_lock_tables", locked_before)
    source, tables = fetching_url(server.port), TableSet.of(["r.*"])
    with pytest.raises(ServerError, match="a table was created or dropped in the meantime"):
        take_snapshot(source, tmp_path / "a", tables=tables)
    snapshot = take_snapshot(source, tmp_path / "a", tables=tables, report=lines.append)
    assert len(snapshot.tables) == 5
    assert sum(snapshot.files.values()) == 3
    assert any("each table is locked" in line for line in lines)


@pytest.mark.parametrize("name", ["mysql-5.7", "mysql-9.7", "mariadb-10.2", "mariadb-11.8"])
def test_members_that_servers_do_not_show(name: str, start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(name)
    empty(server, "r")
    server.execute("CREATE TABLE r.a (id INT PRIMARY KEY, e ENUM('中', '😀') CHARACTER SET utf8mb4)")
    server.execute("INSERT INTO r.a VALUES (1, 2)")
    with pytest.raises(ServerError, match=r"r\.a, column e: the server shows a member as '\?'"):
        take_snapshot(url(server), tmp_path / "a", tables=TableSet.of([]))
    rules = Rules(Masks.of(exclude=["r.a.e"]))
    taken = take_snapshot(url(server), tmp_path / "a", tables=TableSet.of([]), rules=rules)
    assert sum(taken.files.values()) == 1


def test_documents_of_5_7(start_server: StartServer, tmp_path: Path) -> None:
    """Its text of a document does not show whether 2 is a double: rows without a key could not be matched."""
    server = start_server("mysql-5.7")
    empty(server, "r")
    server.execute("CREATE TABLE r.keyed (id INT PRIMARY KEY, j JSON)")
    server.execute("INSERT INTO r.keyed VALUES (1, '[2.0]')")
    lines: list[str] = []
    taken = take_snapshot(url(server), tmp_path / "a", tables=TableSet.of([]), report=lines.append)
    assert sum(taken.files.values()) == 1
    assert any(line.endswith("those of the log: r.keyed") for line in lines)
    server.execute("CREATE TABLE r.keyless (id INT, j JSON)")
    with pytest.raises(ServerError, match=r"r\.keyless, column j: MySQL 5\.7 shows some doubles"):
        take_snapshot(url(server), tmp_path / "b", tables=TableSet.of([]))


def privileged(server: Server) -> str:
    """The URL of a user with the privileges that a snapshot needs."""
    prepare(server)
    server.execute(f"GRANT SELECT, RELOAD, REPLICATION CLIENT ON *.* TO {USER}@'127.0.0.1'")
    if server.spec.name in ("mysql-8.0", "mysql-9.7"):
        server.execute(f"GRANT XA_RECOVER_ADMIN ON *.* TO {USER}@'127.0.0.1'")
    return fetching_url(server.port)


def states(lake: Path) -> dict[str, Counter[str]]:
    """The contents of the tables after all changes in a lake, by their folders."""
    there = opened(lake)
    tables = TableChanges(there)
    assert there.plan is not None
    name_of = there.plan.rules.name_of
    return {table_name(name_of(key)): rows_of(*fold(tables, key)) for key in tables.lineage.tables()}


def contents(folder: Path) -> Counter[str]:
    """The rows of a table in the files of a snapshot."""
    rows = [row for path in folder.rglob("*.parquet") for row in pq.ParquetFile(path).read().to_pylist()]
    return rows_of(*({name: one for name, one in row.items() if name not in META} for row in rows))


@pytest.mark.spark
@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_lake_that_begins_with_a_snapshot(
    name: str, start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a server writes: killed during the snapshot, after it, and later, the lake has its tables."""
    server = start_server(name)
    source = privileged(server)
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    empty(server, "r", "k")
    before, after = changes(name, 8, 16)
    run(server, [*before, *SPECIAL])
    for table, columns in TABLES.items():
        server.execute(f"CREATE TABLE k.{table} ({columns})")
    server.execute("FLUSH BINARY LOGS")
    ((newest_log,),) = [row[:1] for row in server.execute("SHOW BINARY LOGS")][-1:]
    server.execute(f"PURGE BINARY LOGS TO '{newest_log}'")
    lake = tmp_path / "lake"
    record = lake / WORK / "snapshot" / "snapshot.json"
    with writing(server):
        moments: list[Callable[[], bool]] = [
            lambda: record.parent.exists(),
            lambda: len([*record.parent.glob("chunks/*.json")]) >= 3,
            lambda: len([*record.parent.glob("chunks/*.json")]) >= 9,
            lambda: record.exists(),
            lambda: complete(lake) >= 1,
        ]
        for is_reached in moments:
            process = start(source, lake, "3")
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
            try:
                wait_for(lambda: is_reached() or process.poll() is not None, "the pipeline", 300)  # noqa: B023
                assert process.poll() is None, words(lake).read_text()[-3000:]
            finally:
                kill(process)
            run(server, after[: len(after) // 5])
            del after[: len(after) // 5]
        run(server, after)
    run_to_end(source, lake, "--snapshot")
    check_tables(server, lake)
    now = take_snapshot(url(server), tmp_path / "now", tables=TableSet.of([]))
    found = states(lake)
    assert len(found) >= 19
    for path in (tmp_path / "now" / "changes").iterdir():
        assert found.pop(path.name, Counter()) == contents(path), path.name
    assert not any(found.values())
    assert now.position > 4


@pytest.mark.spark
@pytest.mark.parametrize("name", [one for one in NAMES if one not in ("mysql-9.7", "mariadb-11.8")])
def test_lake_of_every_other_server(
    name: str, start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = start_server(name)
    source, lake = privileged(server), tmp_path / "lake"
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    empty(server, "r")
    before, after = changes(without_documents(name), 8, 8)
    run(server, [*before, *SPECIAL])
    run_to_end(source, lake, "--snapshot")
    run(server, after)
    run_to_end(source, lake)
    now = take_snapshot(url(server), tmp_path / "now", tables=TableSet.of([]))
    found = states(lake)
    assert len(found) >= 8
    for path in (tmp_path / "now" / "changes").iterdir():
        assert found.pop(path.name, Counter()) == contents(path), path.name
    assert not any(found.values())
    assert now.position > 4


@pytest.mark.spark
def test_snapshot_of_an_idle_server(
    start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first batch has the snapshot, though the logs have nothing after it; later runs go on.

    A masked value is the same in both, and in no file of the lake as it is.
    """
    server = start_server("mariadb-11.8")
    source, lake = privileged(server), tmp_path / "lake"
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "spools"))
    empty(server, "r")
    table = "(id INT PRIMARY KEY, v TEXT)"
    lines = [f"CREATE TABLE r.a {table}", "INSERT INTO r.a VALUES (1, 'one'), (2, 'two')"]
    lines += [f"CREATE TABLE r.b {table}", "INSERT INTO r.b VALUES (1, 'first secret'), (2, 'other secret')"]
    run(server, lines)
    options = ["--mask", "r.b.id|v=sha256"]
    first, other, one, two = (
        sha256(value.encode()).hexdigest() for value in ("first secret", "other secret", "1", "2")
    )
    run_to_end(source, lake, "--snapshot", *options)
    assert states(lake) == {
        "r.a": rows_of({"id": 1, "v": "one"}, {"id": 2, "v": "two"}),
        "r.b": rows_of({"id": one, "v": first}, {"id": two, "v": other}),
    }
    run(server, ["UPDATE r.a SET v = 'new' WHERE id = 2", "DELETE FROM r.a WHERE id = 1"])
    run(server, ["UPDATE r.b SET v = 'first secret' WHERE id = 2", "DELETE FROM r.b WHERE id = 1"])
    run_to_end(source, lake, *options)
    left = {"r.a": rows_of({"id": 2, "v": "new"}), "r.b": rows_of({"id": two, "v": first})}
    assert states(lake) == left
    run_to_end(source, lake, "--snapshot", *options)
    assert states(lake) == left
    assert " secret" not in texts_of(lake)
    for path in lake.rglob("*"):
        assert not path.is_file() or path.suffix == ".parquet" or b" secret" not in path.read_bytes(), path


def rows_of(*rows: dict[str, Any]) -> Counter[str]:
    """Rows without what is missing; -0 is 0."""
    plain = (
        {name: one + 0.0 if isinstance(one, float) else one for name, one in row.items()} for row in rows
    )
    return Counter(repr(sorted((name, one) for name, one in row.items() if one is not None)) for row in plain)
