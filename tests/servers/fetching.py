"""Helpers for tests of `fetch`: a server that writes, a network that fails, archives to compare."""

from __future__ import annotations

import os
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import header_length, header_offset, read_header
from tools.corpus.recorder import reset_statement
from tools.servers import Server
from tools.servers.catalog import cache

USER, PASSWORD = "archivist", "se'cret ñ"


def roll_back_prepared(server: Server) -> None:
    """End XA transactions that were left where a server or a test was stopped: they hold locks."""
    for *_, xid in server.execute("XA RECOVER"):
        name = xid.decode() if isinstance(xid, bytes) else xid
        server.execute(f"XA ROLLBACK '{name}'")


def prepare(server: Server) -> None:
    """An empty log, a user with no more than the grant that is needed, and tables."""
    roll_back_prepared(server)
    server.execute("DROP DATABASE IF EXISTS f")
    with suppress(Exception):
        server.execute(f"DROP USER {USER}@'127.0.0.1'")
    quoted = PASSWORD.replace("'", "''")
    server.execute(f"CREATE USER {USER}@'127.0.0.1' IDENTIFIED BY '{quoted}'")
    server.execute(f"GRANT REPLICATION SLAVE ON *.* TO {USER}@'127.0.0.1'")
    server.execute(reset_statement(server))
    server.execute("CREATE DATABASE f")
    server.execute("CREATE TABLE f.a (id BIGINT PRIMARY KEY AUTO_INCREMENT, n BIGINT, v LONGTEXT)")
    server.execute("CREATE TABLE f.b (id INT PRIMARY KEY, v VARCHAR(200)) ENGINE=MyISAM")
    server.execute("CREATE TABLE f.long (v LONGTEXT) ENGINE=MyISAM")


def is_mysql_9(server: Server) -> bool:
    return server.spec.name == "mysql-9.7"


def run_workload(server: Server, seed: int, statements: int) -> None:
    """Transactions of all kinds, on one connection; new logs now and then."""
    connection = server.connect()
    try:
        cursor = connection.cursor()
        for statement in workload(server, seed, statements):
            cursor.execute(statement)
    finally:
        connection.close()


def workload(server: Server, seed: int, count: int = 1 << 30) -> Iterator[str]:
    choose = random.Random(seed)
    kinds: list[Callable[[random.Random], list[str]]] = [_rows, _rows, _rows, _statement, _ddl, _xa]
    if server.spec.flavour == "mariadb":
        kinds.append(_rollback)  # MySQL refuses to mix engines
    if is_mysql_9(server):
        kinds += [_tagged, _compressed]
    for _ in range(count):
        yield from choose.choice(kinds)(choose)
        if choose.random() < 0.02:
            yield "FLUSH BINARY LOGS"
        if choose.random() < 0.01:
            yield f"INSERT INTO f.a (n, v) VALUES (1, REPEAT('l', {choose.randrange(1 << 20)}))"


def _rows(choose: random.Random) -> list[str]:
    count = choose.choice((1, 1, 40))
    values = [(choose.randrange(1 << 40), "v" * choose.randrange(400)) for _ in range(count)]
    rows = ", ".join(f"({number}, '{text}')" for number, text in values)
    insert = f"INSERT INTO f.a (n, v) VALUES {rows}"
    return ["BEGIN", insert, "UPDATE f.a SET n = n + 1 WHERE id % 97 = 1", "COMMIT"]


def _statement(choose: random.Random) -> list[str]:
    text = "s" * choose.randrange(200)
    return [
        "SET SESSION binlog_format = STATEMENT",
        f"INSERT INTO f.a (n, v) VALUES (2, '{text}')",
        f"REPLACE INTO f.b VALUES ({choose.randrange(30)}, '{text}')",
        "SET SESSION binlog_format = ROW",
    ]


def _ddl(choose: random.Random) -> list[str]:
    return ["DROP TABLE IF EXISTS f.c", "CREATE TABLE f.c (id INT)", "INSERT INTO f.c VALUES (1), (2)"]


def _xa(choose: random.Random) -> list[str]:
    end = choose.choice(("COMMIT", "ROLLBACK"))
    number = choose.randrange(1 << 40)
    return [
        f"XA START 'x{number}'",
        f"INSERT INTO f.a (n, v) VALUES ({number}, 'xa')",
        f"XA END 'x{number}'",
        f"XA PREPARE 'x{number}'",
        f"XA {end} 'x{number}'",
    ]


def _rollback(choose: random.Random) -> list[str]:
    kept = f"REPLACE INTO f.b VALUES ({choose.randrange(9)}, 'r')"
    return ["BEGIN", "INSERT INTO f.a (n) VALUES (7)", kept, "ROLLBACK"]


def _tagged(choose: random.Random) -> list[str]:
    tag = choose.choice(("blue", "green"))
    return [f"SET gtid_next = 'AUTOMATIC:{tag}'", *_rows(choose), "SET gtid_next = 'AUTOMATIC'"]


def _compressed(choose: random.Random) -> list[str]:
    switch = "SET binlog_transaction_compression = {}".format
    return [switch("ON"), *_rows(choose), switch("OFF")]


class Writing:
    """A thread that has a server write, also after the server was killed and started again."""

    def __init__(self, server: Server, seed: int) -> None:
        self._server = server
        self._seed = seed
        self._is_over = threading.Event()
        self.count = 0
        self._thread = threading.Thread(target=self._write)
        self._thread.start()

    def stop(self) -> None:
        self._is_over.set()
        self._thread.join()

    def _write(self) -> None:
        seed = self._seed
        while not self._is_over.is_set():
            seed += 1
            with suppress(Exception):
                connection = self._server.connect()
                cursor = connection.cursor()
                for statement in workload(self._server, seed):
                    cursor.execute(statement)
                    self.count += 1
                    if self._is_over.wait(0.002):
                        break
                connection.close()
            time.sleep(0.05)


class Proxy:
    """Passes connections on to a server of this machine, and breaks them when asked to."""

    def __init__(self, target: Callable[[], int]) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._left: int | None = None  # bytes to the client before the connections break
        self.is_stalled = False
        self._until_stall: int | None = None  # bytes to the server
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Break all connections at once."""
        for pair in self._pairs:
            for one in pair:
                with suppress(OSError):
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    one.shutdown(socket.SHUT_RDWR)
                with suppress(OSError):
                    one.close()
        self._pairs.clear()

    def cut_after(self, count: int) -> None:
        """Break the connections when so many more bytes have gone to the client."""
        self._left = count

    def stall_after(self, count: int) -> None:
        """Pass nothing on once so many more bytes have come from clients."""
        self._until_stall = count

    def go_on(self) -> None:
        self._until_stall, self.is_stalled = None, False

    def close(self) -> None:
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self._target()), 5)
                server.settimeout(None)
            except (OSError, ValueError):
                client.close()
                continue
            self._pairs.append((client, server))
            threading.Thread(target=self._pump, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self._pump, args=(server, client, True), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, is_to_client: bool) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if not is_to_client and self._until_stall is not None:
                    self._until_stall -= len(data)
                    self.is_stalled = self._until_stall < 0
                while self.is_stalled:
                    time.sleep(0.05)
                if is_to_client and self._left is not None:
                    data, self._left = data[: self._left], self._left - len(data)
                    if self._left <= 0:
                        self._left = None
                        target.sendall(data)
                        self.cut()
                        return
                target.sendall(data)
        for one in (target, source):  # else a server that sends to a closed client waits for its timeout
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            with suppress(OSError):
                one.close()


def replicate(source: Server, replica: Server) -> None:
    """Have a server apply what another one logs."""
    password = PASSWORD.replace("'", "''")
    if source.spec.flavour == "mariadb":
        replica.execute(
            f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={source.port}, MASTER_USER='{USER}',"
            f" MASTER_PASSWORD='{password}', MASTER_USE_GTID=slave_pos, MASTER_SSL_VERIFY_SERVER_CERT=0"
        )
    else:
        replica.execute(
            f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={source.port},"
            f" SOURCE_USER='{USER}', SOURCE_PASSWORD='{password}',"
            " SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1"
        )
    replica.execute("START REPLICA")


def wait_until_replicated(source: Server, replica: Server) -> None:
    if source.spec.flavour == "mariadb":
        ((reached,),) = source.execute("SELECT @@global.gtid_binlog_pos")
        ((state,),) = replica.execute(f"SELECT MASTER_GTID_WAIT('{reached}', 60)")
    else:
        ((executed,),) = source.execute("SELECT @@global.gtid_executed")
        ((state,),) = replica.execute(f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', 60)")
    assert state == 0, replica.execute("SHOW REPLICA STATUS")


def start_fetch(port: int | Sequence[int], archive: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "binlog_kaitai", "fetch", url(port), "--to", str(archive), *options]
    log = archive.with_suffix(".log").open("a")
    return subprocess.Popen(command, env=environment(), stdout=log, stderr=log, text=True)


def run_fetch(port: int | Sequence[int], archive: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "binlog_kaitai", "fetch", url(port), "--to", str(archive), *options]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=300)


def url(port: int | Sequence[int], user: str = USER, scheme: str = "mysql") -> str:
    ports = [port] if isinstance(port, int) else port
    return f"{scheme}://{user}@{','.join(f'127.0.0.1:{one}' for one in ports)}/"


def environment() -> dict[str, str]:
    """A user without option files; servers stay in the cache of the tests."""
    own = {"MYSQL_PWD": PASSWORD, "HOME": "/nonexistent", "BINLOG_KAITAI_SERVERS": str(cache())}
    return {**os.environ, **own}


def kill(process: subprocess.Popen[Any], number: int = signal.SIGKILL) -> int:
    process.send_signal(number)
    return process.wait(60)


@contextmanager
def following(port: int | Sequence[int], archive: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A fetch that follows; it ends with the block."""
    process = start_fetch(port, archive, "--follow", *options)
    try:
        yield process
    finally:
        if process.poll() is None:
            kill(process)


def wait_for(is_true: Callable[[], bool], what: str, seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def settle(server: Server) -> None:
    """Wait until a server has written what it writes in the background.

    MariaDB writes BINLOG_CHECKPOINT_EVENT and clears flags of finished logs so.
    """
    before, now = None, _log_states(server)
    while now != before:
        time.sleep(1)
        before, now = now, _log_states(server)


def _log_states(server: Server) -> list[tuple[str, int, bytes]]:
    paths = [server.data / name for name in logs_in(server.data)]
    return [(path.name, path.stat().st_size, path.read_bytes()[:40]) for path in paths]


def logs_in(folder: Path) -> list[str]:
    """The names of the logs in a directory; MariaDB has an index of GTIDs beside each."""
    return sorted(path.name for path in folder.glob("binlog.*") if path.suffix[1:].isdigit())


def differences(archive: Path, server: Server, *, but_in_use: bool = False) -> list[str]:
    """How an archive differs from a server's directory.

    `but_in_use`: the in-use flag counts as equal; and what a killed server wrote of an event, which it does
    not send, is no difference.
    """
    mine, theirs = logs_in(archive), logs_in(server.data)
    found = [] if mine == theirs else [f"archive has {mine}, server has {theirs}"]
    listed = (archive / "binlog.index").read_text().split()
    if listed != [f"./{name}" for name in mine]:
        found.append(f"the index lists {listed}")
    for name in mine:
        ours, others = bytearray((archive / name).read_bytes()), bytearray((server.data / name).read_bytes())
        if but_in_use:
            for data in (ours, others):
                data[len(MAGIC) + header_offset("flags")] &= 0xFE
            if name != mine[-1]:
                del others[_whole_end(others, len(ours)) :]
        if ours != others:
            index = next((at for at, (a, b) in enumerate(zip(ours, others, strict=False)) if a != b), None)
            found.append(f"{name}: {len(ours)} and {len(others)} bytes, first difference at {index}")
    return found


def _whole_end(log: bytearray, position: int) -> int:
    """The position, if a log ends within the event there; else the end of the log."""
    rest = bytes(log[position : position + header_length(4)])
    is_torn = len(rest) < header_length(4) or position + read_header(rest, 4).len_event > len(log)
    return position if is_torn else len(log)


def last_differences(port: int, archive: Path, server: Server, *, but_in_use: bool) -> list[str]:
    """The differences that remain after fetching again.

    A server may log the rollback of a closed connection late.
    """
    for _ in range(5):
        settle(server)
        assert run_fetch(port, archive).returncode == 0
        if not (found := differences(archive, server, but_in_use=but_in_use)):
            break
    return found
