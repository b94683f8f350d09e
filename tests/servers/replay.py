"""Helpers for tests of replay: run statements, run scripts in a client, compare tables."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from binlog_kaitai.values.sql_text import identifier
from tools.corpus.snapshot import snapshot
from tools.servers import SERVERS, Server

#: All servers but MariaDB 10.5, which is much like 10.11.
NAMES = [name for name in SERVERS if name != "mariadb-10.5"]


def run(server: Server, lines: list[str]) -> None:
    connection = server.connect()
    cursor = connection.cursor()
    cursor.execute("SET SESSION sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+00:00'")
    for line in lines:
        cursor.execute(line)
    connection.close()


def last_log(server: Server) -> Path:
    """The log that is being written, before a new one is begun."""
    path = server.data / str(server.execute("SHOW BINARY LOGS")[-1][0])
    server.execute("FLUSH LOGS")
    return path


def play(server: Server, text: bytes) -> None:
    """Run a script in the server's client, as a person would."""
    done = played(server, text)
    assert done.returncode == 0, done.stderr.decode()


def played(server: Server, text: bytes) -> subprocess.CompletedProcess[bytes]:
    """What the client says to a script."""
    return subprocess.run([*client_of(server), "--binary-mode"], input=text, capture_output=True)


#: How a script is run: by a client that stops at an error, by one that does not, and by its user.
WAYS = ("plain", "force", "source")


def run_script(client: list[str], text: bytes, way: str, folder: Path) -> str:
    """Run a script in a client, in a folder; returns what the client says."""
    if way != "source":
        command = [*client, *(["--force"] if way == "force" else [])]
        done = subprocess.run(command, input=text, capture_output=True, cwd=folder)
        return (done.stdout + done.stderr).decode(errors="replace")
    path = folder.parent / "script.sql"
    path.write_bytes(text)
    terminal, end = pty.openpty()
    with subprocess.Popen([*client, "--pager=cat"], stdin=end, stdout=end, stderr=end, cwd=folder) as process:
        os.close(end)
        os.write(terminal, f"source {path}\nexit\n".encode())
        said = b""
        try:
            while piece := os.read(terminal, 1 << 16):
                said += piece
        except OSError:  # Linux: the other end is closed
            pass
        process.wait(60)
    os.close(terminal)
    return said.decode(errors="replace")


def client_of(server: Server) -> list[str]:
    """The server's client, ready to log in."""
    # The client of MySQL 9.7 cannot log in to 5.6 and 5.7.
    is_mysql = server.spec.name in ("mysql-8.0", "mysql-9.7")
    client = server.client("mysql") if is_mysql else Server("mariadb-10.11").client("mariadb")
    return [*client, "--no-defaults", "-h127.0.0.1", f"-P{server.port}", "-uroot"]


def contents(server: Server) -> dict[str, Counter[str]]:
    return rows_of([json.loads(line) for line in snapshot(server, ["r"]).splitlines()])


def checksums(server: Server) -> dict[str, int]:
    """CHECKSUM TABLE of each table, which does not depend on the order of rows.

    MySQL 5.7 includes addresses in memory where a table has documents; those tables are left out.
    """
    query = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'r'"
    if server.spec.name == "mysql-5.7":
        documents = "SELECT table_name FROM information_schema.columns WHERE data_type = 'json'"
        query += f" AND table_name NOT IN ({documents})"
    names = [f"r.{identifier(row[0])}" for row in server.execute(query)]
    return dict(server.execute(f"CHECKSUM TABLE {', '.join(names)}"))


def rows_of(tables: list[dict[str, Any]]) -> dict[str, Counter[str]]:
    """The rows of each table, with their numbers of occurrences."""
    return {f"{table['db']}.{table['table']}": Counter(map(json.dumps, table["rows"])) for table in tables}
