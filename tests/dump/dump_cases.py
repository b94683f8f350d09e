"""The clients' output for their options: `python -m tests.dump.dump_cases` runs them and stores it.

A case is a server, logs of the corpus, and options; its text lies in `dump/`.
"""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.corpus_files import CORPUS
from tools.servers.catalog import find
from tools.servers.programs import program

EXPECTED = Path(__file__).resolve().parent / "expected"
_DECODE = "--base64-output=decode-rows"
_NEVER = "--base64-output=never"
_NO_STATEMENTS = "--skip-annotate-row-events"
_ALTER = "mariadb-11.8/alter_two_phase/binlog.000001"
_TWO_LOGS = "mariadb-11.8/rotate/binlog.000004 mariadb-11.8/rotate/binlog.000005"
_TWICE = "mysql-9.7/crash/binlog.000001 mysql-9.7/crash/binlog.000001"
_DOMAINS = "mariadb-11.8/domains/binlog.000001"
_UUID = "a40b4242-e518-11f1-9090-02fc00000001"
_RELAYED = "1752b935-e51a-11f1-b3fe-02fc00000001"
#: The number that makes the name of a file of LOAD DATA new depends on what lies in the folder.
_LOAD_FILE = re.compile(rb"/\S*/SQL_LOAD_MB-([0-9a-f]+)-[0-9a-f]+")
#: Of logs from before 8.0: what 5.6 accepts only after the GTID, and `mysqlbinlog` prints before it.
_OF_NEWER_SERVERS = re.compile(
    rb"""
    ((?: /\*!800[01][14] [ ] SET [ ] @@session\.(?:original|immediate)_[a-z]+_[a-z]+=0\*/ [^\n]*\n ){3})
    (SET [ ] @@SESSION\.GTID_NEXT= [^\n]*\n)
    """,
    re.VERBOSE,
)


class DumpCase(NamedTuple):
    """Logs and options; `server` names the client."""

    server: str
    logs: tuple[str, ...]
    arguments: tuple[str, ...]

    @property
    def id(self) -> str:
        return re.sub(r"[^\w.=-]+", "_", " ".join((*self.logs, *self.arguments))).strip("_")

    @property
    def paths(self) -> list[str]:
        return [str(CORPUS / log) for log in self.logs]

    @property
    def expected(self) -> bytes:
        return normalised(gzip.decompress((EXPECTED / f"{self.id}.txt.gz").read_bytes()))


def _case(server: str, logs: str, *arguments: str) -> DumpCase:
    return DumpCase(server, tuple(logs.split()), arguments)


def _of(*cases: DumpCase) -> tuple[DumpCase, ...]:
    return cases


CASES = _of(
    _case("mysql-9.7", "mysql-9.7/payloads/binlog.000001", _DECODE, "-v", "--stop-position=8500"),
    _case("mysql-9.7", "mysql-9.7/group_replication/member1-binlog.000002", "-vv"),
    _case("mysql-9.7", "mysql-9.7/group_replication/member1-binlog.000002", "--hexdump", "--skip-gtids"),
    _case("mysql-9.7", "mysql-9.7/xa/binlog.000001"),
    _case("mysql-9.7", "mysql-9.7/xa/binlog.000001", "--short-form"),
    # For the client XA COMMIT ends no transaction, and XA PREPARE none that something was left out of.
    _case("mysql-9.7", "mysql-9.7/xa/binlog.000001", "--stop-position=1177"),
    _case("mysql-9.7", "mysql-9.7/xa/binlog.000001", "--database=other"),
    _case("mysql-9.7", "mysql-9.7/many_databases/binlog.000001", "--database=other", "--skip-gtids", "-v"),
    _case("mysql-9.7", "mysql-9.7/invisible_key/binlog.000001", _DECODE, "--print-table-metadata"),
    _case("mysql-9.7", "mysql-9.7/metadata/binlog.000001", _DECODE, "--print-table-metadata", "-v"),
    # Signs that the client assigns to the wrong columns.
    _case("mysql-9.7", "mysql-8.0/year_signedness/binlog.000001", _DECODE, "--print-table-metadata"),
    _case("mysql-9.7", "mysql-9.7/gtid_tags/binlog.000002", f"--include-gtids={_UUID}:tag1:1-8", "-v"),
    _case("mysql-9.7", "mysql-9.7/gtid_tags/binlog.000001", f"--exclude-gtids={_UUID}:tag1:1-3", "-v"),
    _case("mysql-9.7", "mysql-9.7/relay-of-mysql-9.7/relay.000004", f"--exclude-gtids={_RELAYED}:6", "-v"),
    _case("mysql-9.7", "mysql-9.7/xa/binlog.000001", "--short-form", "--skip-gtids"),
    _case("mysql-9.7", _TWICE, f"--include-gtids={_UUID}:1-2", _DECODE),
    _case("mysql-9.7", "mysql-9.7/crash/binlog.000001", "--idempotent", "--set-charset=latin1", "-D"),
    _case("mysql-9.7", "mysql-9.7/crash/binlog.000001", "--require-row-format", "--idempotent"),
    _case("mysql-9.7", "mysql-9.7/ddl/binlog.000001", "--require-row-format", _DECODE),
    _case("mysql-9.7", "mysql-9.7/crash/binlog.000001", "--rewrite-db=t->other", "-v"),
    _case("mysql-9.7", "mysql-9.7/many_databases/binlog.000001", "--database=t", _DECODE, "-v"),
    _case("mysql-9.7", "mysql-9.7/rotate/binlog.000004 mysql-9.7/rotate/binlog.000005", "-v"),
    _case("mysql-9.7", "mysql-9.7/crash/binlog.000001", "--start-position=676", "--stop-position=1000"),
    _case("mysql-9.7", "mysql-9.7/crash/binlog.000001", "--start-position=676", _DECODE, "--offset=2"),
    # Rows after a table map that was not printed.
    _case("mysql-9.7", "mysql-9.7/crash/binlog.000001", "--offset=10", "-v"),
    _case("mariadb-11.8", "mariadb-11.8/incident/binlog.000001", "--start-position=803", "-v"),
    _case("mariadb-11.8", "mariadb-11.8/incident/binlog.000001", "--offset=10"),
    # The first event after those that a log may begin with, and a position inside it.
    _case("mysql-9.7", "mysql-9.7/rotate/binlog.000002", "--start-position=198"),
    _case("mysql-9.7", "mysql-9.7/rotate/binlog.000002", "--start-position=200"),
    _case("mysql-9.7", "mysql-9.7/relay-of-mysql-9.7/relay.000001", "--start-position=9999"),
    _case("mysql-9.7", "mysql-9.7/xa/binlog.000001", "--server-id=1"),
    _case("mysql-9.7", "mysql-9.7/xa/binlog.000001", "--stop-datetime=2026-11-20 19:29:36", _DECODE),
    _case("mysql-9.7", "mysql-5.6/crash/binlog.000001", "-vv"),
    _case("mysql-9.7", "mysql-5.6/crash/binlog.000001", "--hexdump", "-vv", _DECODE),
    _case("mysql-9.7", "mysql-5.6/no_checksum/binlog.000001", "--hexdump"),
    _case(
        "mysql-9.7", "mysql-5.6/relay-of-mysql-5.6/relay.000002 mysql-5.6/relay-of-mysql-5.6/relay.000003"
    ),
    _case("mysql-9.7", "mysql-5.6/statement/binlog.000001", "--database=t2", "--stop-position=9000"),
    _case("mysql-9.7", "mysql-5.6/xa/binlog.000001", _NEVER, "--stop-position=300"),
    _case("mariadb-10.5", "mariadb-10.5/crash/binlog.000001", "--hexdump", "-vv"),
    _case("mariadb-10.5", "mariadb-10.5/metadata/binlog.000001", _DECODE, "--print-table-metadata"),
    _case("mariadb-10.5", "mariadb-10.5/domains/binlog.000002"),
    _case("mariadb-10.11", "mariadb-10.11/alter_two_phase/binlog.000001"),
    _case("mariadb-10.11", "mariadb-10.11/xa/binlog.000001", "-v"),
    _case("mariadb-10.11", "mariadb-10.11/crash/binlog.000001", "--short-form", "-v"),
    _case("mariadb-11.8", "mariadb-11.8/alter_two_phase/binlog.000001", "-vv"),
    _case("mariadb-10.11", "mariadb-10.11/xa/binlog.000001", "--flashback", "-v"),
    _case("mariadb-10.11", "mariadb-10.11/types_compressed/binlog.000001", "--flashback", "-vv"),
    _case("mariadb-10.11", "mariadb-10.11/mixed/binlog.000001", "--flashback"),
    _case("mariadb-11.8", _TWO_LOGS, "--flashback"),
    _case("mariadb-11.8", "mariadb-11.8/crash/binlog.000001", "--flashback", "--hexdump"),
    _case("mariadb-11.8", _ALTER, _DECODE, "--rewrite-db=t->other", "-v"),
    _case("mariadb-11.8", "mariadb-11.8/crash/binlog.000001", "--hexdump"),
    _case("mariadb-11.8", "mariadb-11.8/crash/binlog.000001", "--set-charset=latin1", "-D"),
    _case("mariadb-11.8", "mariadb-11.8/crash/binlog.000001", "--rewrite-db=t->other", "-v"),
    _case("mariadb-11.8", "mariadb-11.8/crash/binlog.000001", _NO_STATEMENTS, _NEVER),
    _case("mariadb-11.8", _TWO_LOGS, "-v"),
    _case("mariadb-11.8", "mariadb-11.8/domains/binlog.000001", "--server-id=777"),
    _case("mariadb-11.8", "mariadb-11.8/relay-of-mariadb-10.5/relay.000002", "-v"),
    # What is left out for its number has no say in which transactions are.
    _case("mysql-9.7", "mysql-9.7/crash/binlog.000001", "--offset=7", f"--exclude-gtids={_UUID}:1,{_UUID}:3"),
    _case("mysql-9.7", "mysql-9.7/crash/binlog.000001", "--base64-output=DECODE", "-v"),
    # Copies of encrypted logs as a server sends them.
    _case("mariadb-10.11", "encrypted/mariadb-10.11/plain/binlog.000001", "-v"),
    _case("mariadb-11.8", "encrypted/mariadb-11.8/plain/binlog.000001", "--hexdump"),
    _case("mariadb-11.8", "encrypted/mariadb-11.8/plain/binlog.000001", "--short-form"),
    _case("mariadb-11.8", _DOMAINS, "--do-domain-ids=5", "-v"),
    _case("mariadb-11.8", _DOMAINS, "--ignore-domain-ids=0", "--do-server-ids=777,118"),
    _case("mariadb-11.8", _DOMAINS, "--ignore-server-ids=777"),
    _case("mariadb-11.8", _DOMAINS, "--start-position=0-118-2,5-777-2"),
    _case("mariadb-11.8", _DOMAINS, "--stop-position=0-118-2,5-777-2"),
    _case("mariadb-11.8", _DOMAINS, "--skip-print-row-count", "--skip-print-row-event-positions", "-v"),
)  # fmt: skip


def normalised(text: bytes) -> bytes:
    """The text without what depends on the folder of the files of LOAD DATA, and with the GTID first."""
    return _OF_NEWER_SERVERS.sub(rb"\2\1", _LOAD_FILE.sub(rb"/SQL_LOAD_MB-\1", text))


def ask(server: str, paths: list[str], arguments: tuple[str, ...]) -> bytes:
    """What the client of a server prints, in UTC."""
    spec = find(server)
    client = str(program(spec, find(spec.clients_of or spec.name).dump_client))
    with tempfile.TemporaryDirectory() as folder:
        command = [client, "--no-defaults", f"--local-load={folder}", *arguments, *paths]
        done = subprocess.run(command, capture_output=True, env=os.environ | {"TZ": "UTC"}, check=False)
    return done.stdout


def record() -> None:
    """Ask the clients, and keep what they print."""
    EXPECTED.mkdir(exist_ok=True)
    for case in CASES:
        text = ask(case.server, case.paths, case.arguments)
        (EXPECTED / f"{case.id}.txt.gz").write_bytes(gzip.compress(text, 9, mtime=0))


if __name__ == "__main__":
    record()
