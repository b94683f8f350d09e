"""docs/incidents.md: each of its commands runs in a shell, on the logs of a server to which that happened."""

from __future__ import annotations

import base64
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from tests.servers.conftest import StartServer
from tests.servers.replay import client_of
from tools.servers import Server

pytestmark = pytest.mark.server

PAGE = (Path(__file__).parents[2] / "docs/incidents.md").read_text()
#: What the page has in place of what is found on the spot.
FROM, TO, GTID = "1234", "5678", "3e11fa47-71ca-11e1-9e33-c80aa9429562:5"


def commands(title: str) -> list[str]:
    """The commands of a part of the page."""
    (part,) = re.findall(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
    matches = re.findall(r"^\$ (.*)$", part, re.M)
    assert matches
    return matches


class Night:
    """A server with a table, its logs from the number 24 on, and a shell in a folder with copies of them."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server, self.folder = server, folder
        server.execute("DROP DATABASE IF EXISTS shop")
        server.execute("RESET BINARY LOGS AND GTIDS TO 24")
        server.execute("CREATE DATABASE shop")
        server.execute(
            "CREATE TABLE shop.orders (id INT PRIMARY KEY, status VARCHAR(20), total DECIMAL(9,2))"
        )
        for number in range(1, 51):
            server.execute(f"INSERT INTO shop.orders VALUES ({number}, 'new', {number}.50)")
        (folder / "bin").mkdir()
        for name, command in {
            "binlog-kaitai": [sys.executable, "-m", "binlog_kaitai"],
            "mysql": client_of(server),
        }.items():
            script = folder / "bin" / name
            script.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, command))} "$@"\n')
            script.chmod(0o755)

    def rows(self, table: str = "shop.orders") -> Any:
        return self.server.execute(f"SELECT * FROM {table} ORDER BY id")

    def position(self) -> int:
        return int(self.server.execute("SHOW BINARY LOG STATUS")[0][1])

    def copy(self, folder: str = "") -> list[Path]:
        """Copies of the logs, in a folder, without the one that is begun for this."""
        self.server.execute("FLUSH BINARY LOGS")
        names = [str(row[0]) for row in self.server.execute("SHOW BINARY LOGS")][:-1]
        (self.folder / folder).mkdir(exist_ok=True)
        copies = [self.folder / folder / name for name in names]
        for name, copy in zip(names, copies, strict=True):
            shutil.copy(self.server.data / name, copy)
        return copies

    def shell(self, command: str, *, code: int = 0, **replaced: object) -> str:
        """What a command prints, with what was found in place of the page's examples."""
        for text, value in replaced.items():
            command = command.replace({"start": FROM, "stop": TO, "gtid": GTID}[text], str(value))
        root = str(Path(__file__).parents[2])
        environment = os.environ | {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join((root, f"{root}/generated")),
        }
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=self.folder, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == code, (command, done.stdout, done.stderr)
        return done.stdout + done.stderr


@pytest.fixture
def night(start_server: StartServer, tmp_path: Path) -> Night:
    return Night(start_server("mysql-9.7"), tmp_path)


def dropped_at(printed: str) -> int:
    """The position that the list of schema changes has for a DROP."""
    (line,) = (line for line in printed.splitlines() if "DROP TABLE" in line)
    return int(line.split()[1])


def test_which_logs_and_what_is_missing(night: Night) -> None:
    night.copy()
    for number in range(3):
        night.server.execute(f"UPDATE shop.orders SET total = {number}")
        logs = night.copy()
    (command,) = commands("Which logs are these?")
    assert [line.split()[0] for line in night.shell(command).splitlines()[1:]] == [log.name for log in logs]
    logs[1].unlink()
    assert f"{logs[1].name} is missing" in night.shell(command, code=3)


def test_a_table_that_was_dropped_comes_back(night: Night) -> None:
    backup = "".join(
        f"{statement};\n"
        for statement in (
            "DROP DATABASE IF EXISTS shop",
            "CREATE DATABASE shop",
            night.server.execute("SHOW CREATE TABLE shop.orders")[0][1].replace("`orders`", "shop.orders", 1),
            *(f"INSERT INTO shop.orders VALUES {row[0], row[1], str(row[2])}" for row in night.rows()),
        )
    )
    (night.folder / "backup.sql").write_text(backup)
    begin = night.position()
    night.server.execute("UPDATE shop.orders SET status = 'paid' WHERE id < 20")
    night.server.execute("FLUSH BINARY LOGS")
    night.server.execute("ALTER TABLE shop.orders ADD note TEXT")
    night.server.execute("INSERT INTO shop.orders VALUES (60, 'late', 1, 'x')")
    wanted = night.rows()
    night.server.execute("DROP TABLE shop.orders")
    night.server.execute("CREATE TABLE shop.other (id INT)")
    *_, log = night.copy()
    find, show = commands("When was the table dropped, and by whom?")
    position = dropped_at(night.shell(find))
    shown = night.shell(show.replace("000024", log.suffix[1:]), start=position)
    assert "DROP TABLE" in shown
    for command in commands("Restore a table up to just before it was dropped"):
        night.shell(command, start=begin, stop=position)
    assert night.rows() == wanted


def test_an_update_without_where_is_reverted(night: Night) -> None:
    before = night.rows()
    night.server.execute("UPDATE shop.orders SET status = 'paid'")
    night.server.execute("INSERT INTO shop.orders VALUES (70, 'new', 1)")
    night.copy()
    find, undo, play = commands("Revert one UPDATE without a WHERE")
    (gtid,) = re.findall(r"([0-9a-f-]{36}:\d+) .* 50 ", night.shell(find))
    night.shell(undo, gtid=gtid)
    night.shell(play)
    assert [row for row in night.rows() if row[0] != 70] == list(before)


def test_who_changed_a_row(night: Night) -> None:
    connection = night.server.connect()
    cursor = connection.cursor()
    cursor.execute("SET binlog_rows_query_log_events = ON")
    cursor.execute("DELETE FROM shop.orders WHERE total > 40")
    cursor.execute("SELECT CONNECTION_ID()")
    thread = str(cursor.fetchone()[0])
    connection.close()
    night.copy()
    history, deleted = commands("Who changed this row?")
    *_, last = night.shell(history).splitlines()
    assert "DELETE FROM shop.orders WHERE total > 40" in last
    assert thread in last.split()
    assert "delete" in night.shell(deleted)


def test_a_corrupt_log_is_repaired(night: Night) -> None:
    wanted = [row for row in night.rows() if row[0] != 25]
    (log,) = night.copy()
    (event, *_) = (one for one in bk.read_rows(log) if one.after and one.after["id"] == 25)
    data = bytearray(log.read_bytes())
    data[event.position + 25] ^= 1
    log.write_bytes(data)
    verify, repair, replay = commands("A log is corrupt")
    assert f"position {event.position}" in night.shell(verify, code=1)
    night.shell(repair)
    night.server.execute("DROP DATABASE shop")
    night.shell(replay)
    assert list(night.rows()) == wanted


def test_an_event_at_a_position_is_explained(night: Night) -> None:
    begin = night.position()
    night.server.execute("DELETE FROM shop.orders WHERE id = 3")
    night.copy()
    explain, transaction = commands("Replication stopped at a position")
    assert "GTID" in night.shell(explain, start=begin)
    assert " 1 " in night.shell(transaction, start=begin).splitlines()[-1]


def test_a_log_without_its_values(night: Night) -> None:
    night.server.execute("UPDATE shop.orders SET status = 'secret word' WHERE id < 9")
    (log,) = night.copy()
    assert b"secret word" in log.read_bytes()
    send, verify, page = commands("Send a log to support, without its values")
    night.shell(send)
    assert ": ok" in night.shell(verify)
    data = (night.folder / "support.000024").read_bytes()
    assert b"secret word" not in data
    assert b"INSERT" not in data
    night.shell(page)
    (part,) = re.findall(r'"base64": ?"([^"]+)"', (night.folder / "support.html").read_text())
    assert base64.b64decode(part) == data


def test_what_filled_the_disk(night: Night) -> None:
    night.server.execute("UPDATE shop.orders SET status = REPEAT('x', 20)")
    night.copy()
    by_table, largest = commands("What filled the disk?")
    assert "shop.orders" in night.shell(by_table)
    assert len(night.shell(largest).splitlines()) == 6
    assert " 50 " in night.shell(largest).splitlines()[1]


def test_transactions_that_only_one_server_has(night: Night) -> None:
    night.copy("source")
    night.server.execute("DELETE FROM shop.orders WHERE id = 1")
    night.copy("replica")
    there, here = commands("Do two servers have the same transactions?")
    assert night.shell(there.replace("/backup/", "")).strip() == ""
    assert re.fullmatch(r"[0-9a-f-]{36}:\d+", night.shell(here.replace("/backup/", "")).strip())


def test_a_time_a_gtid_and_a_position_are_found(night: Night) -> None:
    """The last one is within the rows of the last INSERT."""
    night.copy()
    begin = night.position()
    night.server.execute("DELETE FROM shop.orders WHERE id = 3")
    *_, log = night.copy()
    (gtid,) = bk.read_transactions(log).read_all()["gtid"].to_pylist()
    time, by_gtid, position = commands("Where in the logs is this time, GTID or position?")
    assert "CREATE DATABASE" in night.shell(time.replace("15:20", "-1h"))
    place = position.replace("000024", log.suffix[1:])
    for found in night.shell(by_gtid, gtid=gtid), night.shell(place, start=begin + 100):
        *_, last = found.splitlines()
        assert last.split()[:2] == [log.name, str(begin)]
        assert gtid in last


def test_what_happened_between_two_times(night: Night) -> None:
    night.server.execute("UPDATE shop.orders SET status = 'paid' WHERE id < 4")
    night.copy()
    stats, listed = (
        command.replace("15:20", "-1h").replace("15:30", "2100-01-01")
        for command in commands("What happened between two times?")
    )
    assert "shop.orders" in night.shell(stats)
    assert len(night.shell(listed).splitlines()) == 1 + 3 + 50
    assert "no event before the stop time" in night.shell(listed.replace("2100-01-01", "-30m"))


def test_deleted_rows_come_back(night: Night) -> None:
    before = night.rows()
    night.server.execute("DELETE FROM shop.orders WHERE id < 30 OR id > 40")
    night.server.execute("INSERT INTO shop.orders VALUES (70, 'new', 1)")
    night.copy()
    for command in commands("Bring back the rows of a DELETE"):
        night.shell(command)
    found = {row[0] for row in night.rows()}
    assert found == {*range(30, 41), 70, *(row[0] for row in before if row[2] > 40)}


def test_transactions_of_a_row(night: Night) -> None:
    night.server.execute("CREATE TABLE shop.others (id INT PRIMARY KEY)")
    connection = night.server.connect()
    for statement in (
        "BEGIN",
        "UPDATE shop.orders SET status = 'paid' WHERE id = 42",
        "INSERT INTO shop.others VALUES (7)",
        "COMMIT",
        "DELETE FROM shop.orders WHERE id = 41",
    ):
        connection.cursor().execute(statement)
    connection.close()
    night.copy()
    keep, show = commands("All that happened together with a change of this row")
    night.shell(keep)
    assert re.findall(r" (shop\.\w+) +(insert|update|delete) ", night.shell(show)) == [
        ("shop.orders", "insert"), ("shop.orders", "update"), ("shop.others", "insert"),
    ]  # fmt: skip


def test_a_long_transaction(night: Night) -> None:
    connection = night.server.connect()
    for statement in ("BEGIN", "DELETE FROM shop.orders WHERE id = 5", "SELECT SLEEP(3)", "COMMIT"):
        connection.cursor().execute(statement)
    connection.close()
    night.copy()
    longest, rows = commands("Which transaction took so long?")
    first = night.shell(longest).splitlines()[1]
    (gtid,) = re.findall(r"[0-9a-f-]{36}:\d+", first)
    assert re.search(r" ([2-9]|1\d) s ", first)
    assert re.search(r"delete +id=5 ", night.shell(rows, gtid=gtid))


def test_columns_have_the_names_of_the_server(night: Night) -> None:
    night.copy()
    night.server.execute("UPDATE shop.orders SET status = 'paid' WHERE id = 5")
    night.copy()
    (command,) = commands("Columns have no names")
    there = f"127.0.0.1:{night.server.port}"
    assert "status=new" in night.shell(command.replace("127.0.0.1", there)).replace("'", "")
    assert "c2=new" in night.shell(re.sub("--ddl [^ ]+", "", command)).replace("'", "")


def test_a_table_is_watched(night: Night) -> None:
    (command,) = commands("Watch a table")
    command = command.replace("127.0.0.1", f"127.0.0.1:{night.server.port}")
    is_over = threading.Event()

    def write() -> None:
        while not is_over.wait(1):
            night.server.execute("UPDATE shop.orders SET total = total + 1 WHERE id = 1")

    writing = threading.Thread(target=write)
    writing.start()
    try:
        found = night.shell(f"timeout --preserve-status --signal INT 12 {command}")
    finally:
        is_over.set()
        writing.join()
    assert re.search(r"shop\.orders +update +id=1 status=new total=\d+\.50→\d+\.50$", found, re.MULTILINE)


def test_rows_for_a_spreadsheet(night: Night) -> None:
    night.copy()
    (command,) = commands("Rows for a spreadsheet")
    night.shell(command)
    heading, *rows = (night.folder / "orders.csv").read_text().splitlines()
    assert heading.endswith("id,status,total")
    assert [row.split(",")[-3] for row in rows] == [str(number) for number in range(1, 51)]


def test_an_archive_is_whole(night: Night) -> None:
    for _ in range(3):
        night.server.execute("UPDATE shop.orders SET total = total + 1")
        logs = night.copy("source")
    verify, lacking = (
        command.replace("/backup/", "").replace("127.0.0.1", f"127.0.0.1:{night.server.port}")
        for command in commands("Is the archive of the logs whole?")
    )
    assert night.shell(verify).count(": ok") == 3
    assert re.findall(r"^[0-9a-f-]{36}.*", night.shell(lacking), re.MULTILINE) == []
    night.server.execute("DELETE FROM shop.orders")
    assert re.findall(r"^[0-9a-f-]{36}:\d+$", night.shell(lacking), re.MULTILINE)
    logs[1].unlink()
    night.shell(verify, code=3)
