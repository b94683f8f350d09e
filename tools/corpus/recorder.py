"""Runs scenarios on a server, and stores the logs with the server's own descriptions of them."""

from __future__ import annotations

import contextlib
import datetime
import time
from pathlib import Path
from typing import Any

import pymysql

from tools.corpus.case import CaseWriter
from tools.corpus.scenario import Scenario, Step
from tools.corpus.snapshot import snapshot
from tools.servers import Server
from tools.servers.catalog import find

DATABASE = "t"
_SHOW_COLUMNS = ("Log_name", "Pos", "Event_type", "Server_id", "End_log_pos", "Info")
_VARIABLES = {
    "binlog_annotate_row_events",
    "binlog_checksum",
    "binlog_format",
    "binlog_row_metadata",
    "encrypt_binlog",
    "gtid_mode",
    "log_bin_compress",
    "mysql56_temporal_format",
    "server_id",
    "server_uuid",
}
_START = (
    Step("SET sql_mode='NO_ENGINE_SUBSTITUTION'"),
    Step(f"CREATE DATABASE `{DATABASE}` CHARACTER SET utf8mb4"),
    Step(f"USE `{DATABASE}`"),
)


class Recorder:
    """One scenario on one server, which is left running with its default options."""

    def __init__(self, server: Server, writer: CaseWriter) -> None:
        self.server = server
        self.writer = writer
        self.wrong: list[str] = []
        self._done: list[str] = []
        self._sessions: dict[str, Any] = {}

    def record(self, scenario: Scenario) -> list[str]:
        """Run the scenario and write the case; returns what looks wrong."""
        self.prepare(*scenario.options)
        self.run(scenario)
        self.collect(scenario)
        missing = self.writer.oracle()
        if scenario.options:
            self.server.restart()
        return missing + self.wrong

    def prepare(self, *options: str) -> None:
        """Reset the server to no databases and one new log."""
        if options:
            self.server.restart(*options)
        self.server.start()
        for database in (DATABASE, DATABASE + "2"):
            self.server.execute(f"DROP DATABASE IF EXISTS `{database}`")
        self.server.execute(reset_statement(self.server))
        self._load_files()

    def run(self, scenario: Scenario) -> None:
        """Run the steps of a scenario that apply to this server, in a new database."""
        for step in (*_START, *scenario.steps):
            if step.runs_on(self.server.spec.name):
                self.step(step)

    def step(self, step: Step) -> None:
        """Run one statement or directive; unexpected errors are recorded."""
        self._done.append(str(step))
        if not step.directive:
            self._execute(step)
        elif step.directive == "snapshot":
            self.writer.text(f"tables.{step.text}.jsonl.gz", snapshot(self.server, self.databases))
        elif step.directive == "restart":
            self.close()
            self.server.restart(*step.text.split())
        elif step.directive == "kill":
            self._sessions.clear()
            self.server.kill()
            self.server.start()
        elif step.directive == "close":
            self._sessions.pop(step.text).close()
        elif step.directive == "sleep":
            time.sleep(float(step.text))
        else:
            raise ValueError(f"no directive {step.directive}")

    @property
    def text(self) -> str:
        """All executed steps, as a scenario."""
        return "".join(f"{step}\n" for step in self._done)

    @property
    def databases(self) -> tuple[str, ...]:
        return (DATABASE, DATABASE + "2")

    def collect(self, scenario: Scenario) -> None:
        """Copy the logs and query the server about them, except for the open log."""
        self.close()
        self.writer.text("tables.jsonl.gz", snapshot(self.server, self.databases))
        self.server.execute("FLUSH BINARY LOGS")
        names = [str(row[0]) for row in self.server.execute("SHOW BINARY LOGS")][:-1]
        shown = [row for log in names for row in self.server.execute(f"SHOW BINLOG EVENTS IN '{log}'")]
        self.writer.table("show.tsv.gz", _SHOW_COLUMNS, shown)
        for log in names:
            self.writer.add_log(self.server.data / log)
        self.writer.text("scenario.sql", self.text)
        self.writer.info(case=scenario.name, **facts(self.server, scenario.client))

    def _execute(self, step: Step) -> None:
        session = self._sessions.get(step.session)
        if session is None:
            session = self._sessions[step.session] = self.server.connect()
            if step.session != "A":
                session.cursor().execute("SET sql_mode='NO_ENGINE_SUBSTITUTION'")
                session.cursor().execute(f"USE `{DATABASE}`")
        try:
            # LOAD DATA LOCAL names its file relative to this folder.
            with contextlib.chdir(self.server.data), session.cursor() as cursor:
                cursor.execute(step.text)
                while cursor.nextset():
                    pass
        except pymysql.Error as error:
            if not step.refused:
                self.wrong.append(f"{step.text[:200]} -> {error}")
        else:
            if step.refused:
                self.wrong.append(f"{step.text[:200]} -> was not rejected")

    def close(self) -> None:
        """Close all sessions."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()

    def _load_files(self) -> None:
        """The files that scenarios load: a small one, and one of several blocks."""
        (self.server.data / "small.csv").write_text('1;"a";0.5\n2;"b";1.5\n')
        lines = (
            f"{1000 + n}\trow {n * 7919 % 10007:05d} {'abcdefghij'[n % 10] * 20}\t{n / 8}\n"
            for n in range(700)
        )
        (self.server.data / "load.tsv").write_text("".join(lines))


def facts(server: Server, client: str = "") -> dict[str, Any]:
    """The information on server and date in info.json."""
    reader = find(client or server.spec.clients_of or server.spec.name)
    version = str(server.execute("SELECT VERSION()")[0][0])
    today = datetime.date.today().isoformat()
    variables = {str(key): value for key, value in server.execute("SHOW GLOBAL VARIABLES")}
    return {
        "server": server.spec.name,
        "version": version,
        "date": today,
        "provenance": f"created by running scenario.sql on server {server.spec.name} ({version}) on {today}",
        "oracle": f"{reader.dump_client} of {reader.name}",
        "variables": {name: value for name, value in variables.items() if name in _VARIABLES},
    }


def reset_statement(server: Server) -> str:
    """The statement that deletes all logs."""
    return "RESET BINARY LOGS AND GTIDS" if server.spec.name == "mysql-9.7" else "RESET MASTER"


def writer_for(server: Server, folder: Path, client: str = "") -> CaseWriter:
    """A writer whose oracle is the client of that server, or of the server named `client`."""
    reader = Server(client) if client else server
    # mariadb-binlog -v fails on rows with temporal columns in the old format.
    options = ["-vv"] if reader.spec.flavour == "mysql" else []
    return CaseWriter(folder, reader.client(), options)
