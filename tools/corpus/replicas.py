"""Relay logs: the copy of the source's log that a replica writes before it applies it.

A relay log begins with the replica's own format description event, followed by a ROTATE event and the
source's format description, which applies to the rest. In some pairs, source and replica differ in vendor or
version, so that the two formats differ.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from tools.corpus.case import CORPUS
from tools.corpus.recorder import Recorder, facts, reset_statement, writer_for
from tools.corpus.scenario import SCENARIOS, load
from tools.servers import Server, ServerError

WAIT_SECONDS = 30


class Pair(NamedTuple):
    """A source and its replica, with their options."""

    source: str
    replica: str
    source_options: tuple[str, ...] = ()
    client: str = ""


PAIRS = (
    Pair("mysql-9.7", "mysql-9.7"),
    Pair("mysql-9.7", "mysql-9.7", ("--binlog-checksum=NONE",)),
    Pair("mariadb-10.5", "mariadb-11.8"),
    Pair("mysql-5.6", "mariadb-10.11", ("--gtid-mode=OFF", "--skip-enforce-gtid-consistency")),
    Pair("mysql-5.6", "mysql-5.6"),
)


def record_relay(pair: Pair) -> list[str]:
    """Create the case of one pair; returns what looks wrong."""
    source, replica = Server(pair.source, "corpus"), Server(pair.replica, "replica")
    plain = "-no_checksum" if "--binlog-checksum=NONE" in pair.source_options else ""
    writer = writer_for(replica, CORPUS / pair.replica / f"relay-of-{pair.source}{plain}", pair.client)
    source.start()
    replica.start("--relay-log=relay", "--server-id=4711", "--skip-slave-start", fresh=True)
    try:
        recorder = Recorder(source, writer)
        recorder.prepare(*pair.source_options)
        _point(replica, source)
        recorder.run(load(SCENARIOS / "replicated.sql"))
        _wait_for(replica, recorder)
        names = sorted(path.name for path in replica.data.glob("relay.[0-9]*"))
        for name in names:
            writer.add_log(replica.data / name)
        writer.text("scenario.sql", recorder.text)
        known = facts(replica, pair.client)
        known["provenance"] = (
            f"relay logs of {known['version']}, replica of {facts(source)['version']}; {known['date']}"
        )
        writer.info(case=writer.folder.name, **known, source=facts(source))
        return writer.oracle() + recorder.wrong
    finally:
        recorder.close()
        replica.stop()
        source.stop()


def _point(replica: Server, source: Server) -> None:
    replica.execute(reset_statement(replica))
    place = f"HOST='127.0.0.1', {{0}}_PORT={source.port}, {{0}}_USER='root', {{0}}_PASSWORD=''"
    if replica.spec.name == "mysql-9.7":
        options = place.format("SOURCE") + ", SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1"
        statements = [f"CHANGE REPLICATION SOURCE TO SOURCE_{options}", "START REPLICA IO_THREAD"]
    else:
        start = ", MASTER_LOG_FILE='binlog.000001', MASTER_LOG_POS=4, MASTER_SSL_VERIFY_SERVER_CERT=0"
        statements = [f"CHANGE MASTER TO MASTER_{place.format('MASTER')}{start}", "START SLAVE IO_THREAD"]
    for statement in statements:
        replica.execute(statement)


def _wait_for(replica: Server, recorder: Recorder) -> None:
    """Wait for the last rows of the scenario, and therefore for the complete log."""
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        logs = sorted(replica.data.glob("relay.[0-9]*"))
        if logs and b"the end of it" in b"".join(log.read_bytes() for log in logs):
            time.sleep(0.5)
            return
        time.sleep(0.1)
    raise ServerError(
        f"{replica.spec.name} does not receive from {recorder.server.spec.name}; see {replica.error_log}"
    )
