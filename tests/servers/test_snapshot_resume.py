"""Snapshots that are interrupted while a server is written to, and continue."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from binlog_kaitai.core.filters import TableSet
from binlog_kaitai.lake.rules import Rules
from binlog_kaitai.live.server_session import ServerSession
from binlog_kaitai.rows.row_masks import Masks
from binlog_kaitai.snapshot import snapshot_chunks
from binlog_kaitai.snapshot.server_snapshot import take_snapshot
from binlog_kaitai.snapshot.snapshot_chunks import ChunkFiles
from binlog_kaitai.snapshot.snapshot_files import Snapshot
from tests.servers.conftest import StartServer
from tests.servers.fetching import wait_for
from tests.servers.test_snapshot import empty, rows_in, run, url
from tools.servers import Server

pytestmark = pytest.mark.server

#: Tables, with what is done to them between two attempts.
TABLES: dict[str, tuple[str, list[str]]] = {
    "large": (
        "id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(20)",
        [
            "UPDATE r.large SET v = 'new' WHERE id IN (5, 60, 90)",
            "UPDATE r.large SET id = 900 - {n} WHERE id = 7 + {n}",  # from the first range to the last one
            "UPDATE r.large SET id = -{n} WHERE id = 92 + {n}",
            "DELETE FROM r.large WHERE id IN (20 + {n}, 80 + {n})",
            "INSERT INTO r.large (v) VALUES ('more'), ('most')",
            "INSERT INTO r.large VALUES (-100 - {n}, 'less')",
        ],
    ),
    "unsigned": (
        "id BIGINT UNSIGNED PRIMARY KEY, v INT",
        ["UPDATE r.unsigned SET v = v + 1 WHERE id > 9223372036854775807"],
    ),
    "idle": ("id INT, v INT", []),
    "keyless": ("id INT, v INT", ["INSERT INTO r.keyless VALUES (1, 1)"]),
    "composite": ("id INT, v INT, PRIMARY KEY (id, v)", ["DELETE FROM r.composite WHERE id = {n}"]),
    "truncated": (
        "id INT PRIMARY KEY",
        ["TRUNCATE TABLE r.truncated", "INSERT INTO r.truncated VALUES (-{n})"],
    ),
    "altered": ("id INT PRIMARY KEY, v INT", ["ALTER TABLE r.altered ADD COLUMN n{n} INT DEFAULT {n}"]),
    "swapped": (
        "id INT PRIMARY KEY",
        ["RENAME TABLE r.swapped TO r.away, r.other TO r.swapped, r.away TO r.other"],
    ),
    "other": ("id INT PRIMARY KEY", []),
    "again": (
        "id INT PRIMARY KEY",
        [
            "DROP TABLE r.again",
            "CREATE TABLE r.again (id INT PRIMARY KEY)",
            "INSERT INTO r.again VALUES ({n})",
        ],
    ),
    "plain": ("id INT PRIMARY KEY) ENGINE=(MyISAM", ["INSERT INTO r.plain VALUES (200 + {n})"]),
    "parent": ("id INT PRIMARY KEY", ["DELETE FROM r.parent WHERE id = 3 + {n}"]),
    "child": (
        "id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES r.parent (id) ON DELETE CASCADE",
        [],
    ),
}


def fill(server: Server) -> None:
    for name, (columns, _) in TABLES.items():
        server.execute(f"CREATE TABLE r.{name} ({columns})".replace("=(MyISAM)", "=MyISAM"))
        values = {"unsigned": "", "other": ""}.get(name, "(%d, %d)" if " v " in f" {columns}" else "(%d)")
        if name == "child":
            values = "(%d, %d)"
        if values:
            rows = [values.replace("%d", str(index)) for index in range(1, 101)]
            server.execute(f"INSERT INTO r.{name} VALUES {', '.join(rows)}")
    server.execute("INSERT INTO r.other VALUES (12345)")
    server.execute(
        "INSERT INTO r.unsigned VALUES (0, 1), (1, 1), (18446744073709551615, 5), (9223372036854775808, 7)"
    )
    server.execute("ANALYZE TABLE r.large")


class InterruptedSnapshotError(Exception):
    """What stands for a kill, between two chunks."""


def take(server: Server, folder: Path, lines: list[str] | None = None, **options: Any) -> Snapshot:
    report = [].append if lines is None else lines.append
    chosen: dict[str, Any] = {"tables": TableSet.of([]), "readers": 1, "report": report}
    return take_snapshot(url(server), folder, **chosen, **options)


def interrupt(
    monkeypatch: pytest.MonkeyPatch,
    server: Server,
    folder: Path,
    reached: tuple[str, int],
    lines: list[str],
    **options: Any,
) -> None:
    """Take a snapshot up to a range of a table, which is written, but has no record."""
    end = ChunkFiles.end

    def limited(files: ChunkFiles, part: Any) -> None:
        if (part.table.key[1], part.number) == reached:
            raise InterruptedSnapshotError
        end(files, part)

    with monkeypatch.context() as patch:
        patch.setattr(ChunkFiles, "end", limited)
        patch.setattr(ChunkFiles, "close", lambda files: None)
        with pytest.raises(InterruptedSnapshotError):
            take(server, folder, lines, **options)
    assert Snapshot.load(folder) is None


def check_same(folder: Path, fresh: Path) -> None:
    names = sorted(path.name for path in (fresh / "changes").iterdir())
    for name in names:
        assert rows_in(folder / "changes" / name) == rows_in(fresh / "changes" / name), name
    others = {path.name for path in (folder / "changes").iterdir()} - {*names}
    assert all(not rows_in(folder / "changes" / name)[1] for name in others)


def check_meta(folder: Path, found: Snapshot) -> None:
    """All rows have the position of the last attempt, whenever they were read."""
    on_disk = {path.relative_to(folder).as_posix() for path in folder.rglob("*.parquet")}
    assert on_disk == set(found.files)
    sequences: Counter[str] = Counter()
    for name, count in found.files.items():
        table = pq.ParquetFile(folder / name).read()
        assert table.num_rows == count
        assert set(table["_position"].to_pylist()) == {found.position}
        assert set(table["_file"].to_pylist()) == {found.log}
        sequences.update(f"{Path(name).parts[1]} {value}" for value in table["_sequence"].to_pylist())
    assert max(sequences.values()) == 1


@pytest.mark.parametrize("image", ["FULL", "MINIMAL"])
@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_continues_after_interruptions(
    name: str, image: str, start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Finished ranges are kept, and what was changed in between is read again."""
    server = start_server(name)
    empty(server, "r")
    monkeypatch.setattr(snapshot_chunks, "_RANGE_ROWS", 20)
    fill(server)
    lines: list[str] = []
    for attempt, reached in enumerate((("large", 2), ("large", 3), ("parent", 0))):
        interrupt(monkeypatch, server, tmp_path / "a", reached, lines)
        changes = [one.format(n=attempt) for _, all_ in TABLES.values() for one in all_]
        run(server, [f"SET SESSION binlog_row_image = {image}", *changes, "FLUSH BINARY LOGS"])
        run(server, ["BEGIN", "UPDATE r.large SET v = 'never' WHERE id = 30", "ROLLBACK"])
    queries: list[str] = []
    stream = ServerSession.stream

    def counted(session: ServerSession, query: str, columns: int, what: str = "") -> Any:
        queries.append(query)
        return stream(session, query, columns, what)

    with monkeypatch.context() as patch:
        patch.setattr(ServerSession, "stream", counted)
        found = take(server, tmp_path / "a", lines)
    assert len(lines) == 3
    assert all("are kept" in line and " 0 of " not in line for line in lines), lines
    assert not any("`idle`" in query for query in queries)
    assert any("`large`" in query and " IN (" in query for query in queries)
    for one in ("keyless", "composite", "truncated", "altered", "swapped", "again", "plain", "child"):
        assert any(f"`{one}`" in query and " IN (" not in query for query in queries), one
    check_meta(tmp_path / "a", found)
    take(server, tmp_path / "b")
    check_same(tmp_path / "a", tmp_path / "b")


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_begins_again_if_the_logs_do_not_show_what_changed(
    name: str, start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = start_server(name)
    empty(server, "r")
    server.execute("CREATE TABLE r.a (id INT PRIMARY KEY, v INT)")
    server.execute("CREATE TABLE r.b (id INT PRIMARY KEY, v INT)")
    server.execute("INSERT INTO r.a VALUES (1, 1), (2, 2)")
    server.execute("INSERT INTO r.b VALUES (1, 1)")

    if name.startswith("mariadb"):
        server.execute("SET GLOBAL slave_connections_needed_for_purge = 0")

    def purged() -> bool:
        server.execute("FLUSH BINARY LOGS")
        log = server.execute("SHOW BINARY LOGS")[-1][0]
        server.execute(f"PURGE BINARY LOGS TO '{log}'")
        return server.execute("SHOW BINARY LOGS")[0][0] != "binlog.000001"

    def purge() -> None:
        wait_for(purged, "the server to purge its logs")

    def reset() -> None:
        empty_logs = "RESET MASTER" if name.startswith("mariadb") else "RESET BINARY LOGS AND GTIDS"
        server.execute(empty_logs)
        run(server, ["UPDATE r.a SET v = v + 1"] * 20)
        assert server.execute("SHOW BINARY LOGS")[0][1] > 1000

    def by_text() -> None:
        run(server, ["SET SESSION binlog_format = STATEMENT", "UPDATE r.a SET v = 10 * v"])

    cases = [(purge, "no longer has the log"), (reset, "no longer has the log"), (by_text, "logged as text")]
    if name.startswith("mariadb"):  # on MySQL, replicas log what they replicate

        def follow() -> None:
            server.execute("CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_USER = 'nobody'")

        cases.append((follow, "does not log what it replicates"))
    for at, (happens, reason) in enumerate(cases):
        folder, lines = tmp_path / f"{at}", list[str]()
        interrupt(monkeypatch, server, folder, ("b", 0), lines)
        happens()
        check_meta(folder, take(server, folder, lines))
        (line,) = lines
        assert line.startswith("snapshot: 0 of 1 ranges")
        assert reason in line
        take(server, tmp_path / f"{at} fresh")
        check_same(folder, tmp_path / f"{at} fresh")
    if name.startswith("mariadb"):
        server.execute("RESET SLAVE ALL")
    folder = tmp_path / "masked"
    interrupt(monkeypatch, server, folder, ("b", 0), [])
    rules = Rules.of(Masks.of(mask=["r.*.id|v=sha256"]), ())
    lines = []
    check_meta(folder, take(server, folder, lines, rules=rules))
    assert not lines  # of other masks: removed at once
    take(server, tmp_path / "masked fresh", rules=rules)
    check_same(folder, tmp_path / "masked fresh")


def test_masked_keys(start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changed rows cannot be found by a masked key, so their range is read again."""
    server = start_server("mysql-9.7")
    empty(server, "r")
    monkeypatch.setattr(snapshot_chunks, "_FEW_CHANGED", 1)
    for table in "abcde":
        server.execute(f"CREATE TABLE r.{table} (id INT PRIMARY KEY, v INT)")
        server.execute(f"INSERT INTO r.{table} VALUES (1, 1), (2, 2), (3, 3), (4, 4)")
    rules, lines = Rules.of(Masks.of(mask=["r.[ab].id=sha256"]), ()), list[str]()
    interrupt(monkeypatch, server, tmp_path / "a", ("e", 0), lines, rules=rules)
    server.execute("UPDATE r.a SET v = 10 WHERE id = 2")
    server.execute("UPDATE r.c SET v = 10 WHERE id = 2")
    server.execute("UPDATE r.d SET v = 10")  # most of its rows
    check_meta(tmp_path / "a", take(server, tmp_path / "a", lines, rules=rules))
    assert lines == [
        "snapshot: 2 of 4 ranges from before the interruption are kept, 1 of their rows are read again"
    ]
    take(server, tmp_path / "b", rules=rules)
    check_same(tmp_path / "a", tmp_path / "b")
