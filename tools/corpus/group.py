"""Logs of a group of two servers (Group Replication): the binary logs of both, and the relay logs of one.

Changes of one member reach the other through the group's own channel, whose relay log differs from that of
other replicas.
"""

from __future__ import annotations

import time

from tools.corpus.case import CORPUS
from tools.corpus.recorder import Recorder, facts, reset_statement, writer_for
from tools.corpus.scenario import SCENARIOS, load
from tools.servers import Server, ServerError
from tools.servers.server import free_port

SERVERS = ("mysql-9.7",)
GROUP = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
WAIT_SECONDS = 60


def record_group(name: str) -> list[str]:
    """Create the case of one server; returns what looks wrong."""
    members = [Server(name, "group1"), Server(name, "group2")]
    ports = [free_port() for _ in members]
    writer = writer_for(members[0], CORPUS / name / "group_replication")
    try:
        for number, member in enumerate(members):
            member.start(*_options(ports, number), fresh=True)
            member.execute(reset_statement(member))
        recorder = Recorder(members[0], writer)
        members[0].execute("SET GLOBAL group_replication_bootstrap_group=ON")
        _join(members[0])
        members[0].execute("SET GLOBAL group_replication_bootstrap_group=OFF")
        _join(members[1])
        _wait_for_members(members[0], len(members))
        recorder.run(load(SCENARIOS / "grouped.sql"))
        time.sleep(1)
        recorder.close()
        for number, member in enumerate(members, 1):
            member.execute("FLUSH BINARY LOGS")
            # The newest log is still open and therefore skipped.
            for log in sorted(member.data.glob("binlog.[0-9]*"))[:-1]:
                writer.add_log(log, f"member{number}-{log.name}")
        for log in sorted(members[1].data.glob("relay-*.[0-9]*")):
            writer.add_log(log)
        writer.text("scenario.sql", recorder.text)
        writer.info(case="group_replication", **facts(members[0]))
        return writer.oracle() + recorder.wrong
    finally:
        for member in reversed(members):
            member.stop()


def _options(ports: list[int], number: int) -> list[str]:
    return [
        f"--server-id={97 + number}",
        "--relay-log=relay",
        "--report-host=127.0.0.1",
        "--plugin-load-add=group_replication.so",
        "--group-replication-start-on-boot=OFF",
        f"--group-replication-group-name={GROUP}",
        f"--group-replication-local-address=127.0.0.1:{ports[number]}",
        f"--group-replication-group-seeds={','.join(f'127.0.0.1:{port}' for port in ports)}",
        "--group-replication-recovery-get-public-key=ON",
    ]


def _join(member: Server) -> None:
    member.execute(
        "CHANGE REPLICATION SOURCE TO SOURCE_USER='root', SOURCE_PASSWORD='' "
        "FOR CHANNEL 'group_replication_recovery'"
    )
    member.execute("START GROUP_REPLICATION")


def _wait_for_members(member: Server, count: int) -> None:
    online = "SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE member_state='ONLINE'"
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        if member.execute(online)[0][0] == count:
            return
        time.sleep(0.2)
    raise ServerError(f"the group does not get {count} members; see {member.error_log}")
