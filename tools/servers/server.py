"""A server with its own data directory: initialize, start, stop, kill, connect.

It listens on 127.0.0.1 at a free port and runs as the current user (the servers require `--user` if that is
root). `root` has no password. Only processes started here are ended.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from tools.servers.catalog import ServerError, cache, find
from tools.servers.packages import install
from tools.servers.programs import program

START_SECONDS = 120
STOP_SECONDS = 60
#: How often to start a server that ends at once: another program may have taken its port.
_STARTS = 3

_GRANTS = {
    "mysql": (
        "SET sql_log_bin=0;\n"
        "CREATE USER IF NOT EXISTS 'root'@'127.0.0.1';\n"
        "GRANT ALL ON *.* TO 'root'@'127.0.0.1' WITH GRANT OPTION;\n"
    ),
    "mariadb": "SET sql_log_bin=0;\nGRANT ALL ON *.* TO 'root'@'127.0.0.1' WITH GRANT OPTION;\n",
}
# The SQL files that mariadb-install-db passes to the server, by their names over time.
_MARIADB_TABLES = ("system_tables", "performance_tables", "system_tables_data")


class ServerEndedError(ServerError):
    """A server ended before it was ready."""


class Server:
    """A running (or stopped) server.

    `label` distinguishes data directories of the same server; `folder` is one for it alone.
    """

    def __init__(self, name: str, label: str = "", folder: Path | None = None) -> None:
        self.spec = find(name)
        self.folder = folder or cache() / "run" / (f"{name}-{label}" if label else name)
        self.data = self.folder / "data"
        self.error_log = self.folder / "error.log"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def port(self) -> int:
        """The port of the last start."""
        return int((self.folder / "port").read_text())

    @property
    def pid(self) -> int | None:
        """The id of the running process, or None."""
        try:
            pid = int((self.folder / "pid").read_text())
            # The id may belong to another process by now.
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (OSError, ValueError):
            return None
        return pid if str(self.data).encode() in command else None

    def client(self, name: str = "") -> list[str]:
        """The command that runs this server's log client, or another of its programs."""
        return [str(program(self.spec, name or self.spec.dump_client))]

    def start(self, *options: str, fresh: bool = False) -> None:
        """Start the server; `options` apply to this run only. `fresh` deletes the old data."""
        if self.pid is not None:
            return
        if fresh:
            shutil.rmtree(self.data, ignore_errors=True)
        install(self.spec)
        (self.folder / "tmp").mkdir(parents=True, exist_ok=True)
        if not (self.data / "mysql").is_dir():
            self._initialise()
        (self.folder / "init.sql").write_text(self._first_statements())
        for attempt in range(_STARTS):
            try:
                self._launch(options)
                return
            except ServerEndedError:
                if attempt == _STARTS - 1:
                    raise

    def _launch(self, options: tuple[str, ...]) -> None:
        (self.folder / "port").write_text(str(free_port()))
        arguments = [
            *self._paths(),
            *self.spec.options,
            f"--server-id={self.spec.server_id}",
            f"--port={self.port}",
            "--socket=mysqld.sock",
            f"--pid-file={self.folder / 'server.pid'}",
            f"--log-error={self.error_log}",
            f"--log-bin={self.data / 'binlog'}",
            f"--init-file={self.folder / 'init.sql'}",
            *options,
        ]
        self.error_log.unlink(missing_ok=True)
        with (self.folder / "output.log").open("wb") as output:
            self._process = subprocess.Popen(
                [*self.client(self.spec.daemon), *arguments],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
            )  # fmt: skip
        (self.folder / "pid").write_text(str(self._process.pid))
        self._wait_until_ready()

    def stop(self) -> None:
        """Shut the server down; not an error if it is not running."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End the server at once, like a crash: its log remains flagged as in use."""
        self._end(signal.SIGKILL)

    def restart(self, *options: str) -> None:
        """Stop the server and start it with other options."""
        self.stop()
        self.start(*options)

    def connect(self, **options: Any) -> Any:
        """A PyMySQL connection of user root, with autocommit."""
        try:
            import pymysql
        except ImportError:
            raise ServerError("talking to a server needs PyMySQL: pip install PyMySQL") from None
        options = {"charset": "utf8mb4", "local_infile": True, "max_allowed_packet": 1 << 29, **options}
        return pymysql.connect(host="127.0.0.1", port=self.port, user="root", autocommit=True, **options)

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        """Run one statement on a new connection and return its rows."""
        connection = self.connect()
        try:
            cursor = connection.cursor()
            cursor.execute(statement)
            return list(cursor.fetchall())
        finally:
            connection.close()

    def _paths(self) -> list[str]:
        root = install(self.spec)
        if self.spec.npm:
            base, share, plugins = root, root / "share", root / "lib" / "plugin"
        else:
            base, plugins = root / "usr", root / "usr" / "lib" / "mysql" / "plugin"
            share = next(
                folder
                for folder in (base / "share" / "mariadb", base / "share" / "mysql", base / "share")
                if (folder / "english" / "errmsg.sys").exists()
                or (folder / "charsets" / "Index.xml").exists()
            )
        return [
            "--no-defaults",
            f"--user={_user_name()}",
            f"--basedir={base}",
            f"--datadir={self.data}",
            f"--plugin-dir={plugins}",
            f"--lc-messages-dir={share}",
            f"--character-sets-dir={share / 'charsets'}",
            f"--tmpdir={self.folder / 'tmp'}",
        ]

    def _initialise(self) -> None:
        shutil.rmtree(self.data, ignore_errors=True)
        root = install(self.spec)
        if self.spec.npm:
            # The package contains a data directory that is ready for use.
            shutil.copytree(root / "data" / "mysql", self.data)
            (self.data / "auto.cnf").unlink(missing_ok=True)
            return
        self.data.mkdir(parents=True)
        command = [*self.client(self.spec.daemon), *self._paths()]
        statements = b""
        if self.spec.flavour == "mysql":
            command.append("--initialize-insecure")
        else:
            (self.data / "mysql").mkdir()
            command += ["--bootstrap", "--enforce-storage-engine=", "--max-allowed-packet=8M"]
            statements = _mariadb_system_tables(root)
        done = subprocess.run(command, input=statements, capture_output=True, timeout=START_SECONDS)
        if done.returncode:
            shutil.rmtree(self.data)
            reason = (done.stderr or done.stdout).decode(errors="replace")[-1500:]
            raise ServerError(f"{self.spec.name} cannot make its system tables:\n{reason}")

    def _first_statements(self) -> str:
        grants = _GRANTS[self.spec.flavour]
        # 5.6 has no CREATE USER IF NOT EXISTS; there, GRANT creates the user.
        return grants if not self.spec.npm else _GRANTS["mariadb"]

    def _wait_until_ready(self) -> None:
        process = self._process
        assert process is not None
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise ServerEndedError(f"{self.spec.name} ended while it started:\n{self._last_errors()}")
            if _listens(self.port) and "ready for connections" in self._errors():
                return
            time.sleep(0.05)
        self.kill()
        raise ServerError(f"{self.spec.name} is not ready after {START_SECONDS} s:\n{self._last_errors()}")

    def _end(self, number: signal.Signals) -> None:
        pid = self.pid
        if pid is not None:
            os.kill(pid, number)
        deadline = time.monotonic() + STOP_SECONDS
        while self.pid is not None and time.monotonic() < deadline:
            if self._process is not None:
                self._process.poll()  # avoids a zombie process
            time.sleep(0.02)
        if self.pid is not None:
            os.kill(pid or 0, signal.SIGKILL)
        if self._process is not None:
            self._process.wait()
            self._process = None
        (self.folder / "pid").unlink(missing_ok=True)

    def _errors(self) -> str:
        return self.error_log.read_text(errors="replace") if self.error_log.exists() else ""

    def _last_errors(self) -> str:
        output = (self.folder / "output.log").read_text(errors="replace")
        return (self._errors() or output)[-2000:]


def _mariadb_system_tables(root: Path) -> bytes:
    text = b"CREATE DATABASE IF NOT EXISTS mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n"
    for part in _MARIADB_TABLES:
        names = (
            f"usr/share/{folder}/{prefix}_{part}.sql"
            for folder in ("mariadb", "mysql", "")
            for prefix in ("mariadb", "mysql")
        )
        text += next((root / name).read_bytes() for name in names if (root / name).exists())
    return text


def _user_name() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def free_port() -> int:
    """An unused port of 127.0.0.1."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
