"""`dump` on real servers: compared with their clients' current output, and replayed on a server."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from binlog_kaitai.dump.dump_logs import dump
from binlog_kaitai.dump.dump_options import Base64Output, DumpOptions
from tests import corpus_files
from tests.dump.client_options import REFUSED, SHORT, TAKEN, WITHOUT_EFFECT, listed
from tests.dump.dump_cases import CASES, DumpCase, ask, normalised
from tests.dump.old_gtids import AFTER_GTIDS, log_of
from tests.servers.conftest import StartServer
from tests.servers.random_tables import changes
from tests.servers.replay import NAMES, checksums, contents, last_log, play, run
from tools.corpus.recorder import reset_statement
from tools.servers import SERVERS, Server
from tools.servers.catalog import Spec, find
from tools.servers.programs import program

pytestmark = pytest.mark.server

MODES = {
    "plain": ((), DumpOptions()),
    "v": (("-v",), DumpOptions(verbose=1)),
    "vv": (("-vv",), DumpOptions(verbose=2)),
    "short": (("-s",), DumpOptions(short_form=True)),
    "hexdump": (
        ("-H", "-v", "--base64-output=decode-rows"),
        DumpOptions(hexdump=True, verbose=1, base64_output=Base64Output.DECODE_ROWS),
    ),
    "metadata": (
        ("--print-table-metadata", "--base64-output=decode-rows"),
        DumpOptions(print_table_metadata=True, base64_output=Base64Output.DECODE_ROWS),
    ),
}
#: Logs whose client stops: see docs/supported.md.
_CLIENT_STOPS = ("types_v1_rows", "types_old_temporal")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("server", SERVERS)
def test_logs_read_as_the_client_prints_them(
    server: str, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    arguments, options = MODES[mode]
    for log in corpus_files.logs():
        if log.case.folder.parent.name != server or log.case.folder.name in _CLIENT_STOPS:
            continue
        pieces: list[bytes] = []
        dump(str(log.path), pieces.append, DumpOptions(**{**vars(options), "local_load": str(tmp_path)}))
        assert normalised(b"".join(pieces)) == normalised(ask(server, [str(log.path)], arguments)), log.id


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_is_kept_is_what_the_clients_print(case: DumpCase) -> None:
    assert normalised(ask(case.server, case.paths, case.arguments)) == case.expected


@pytest.mark.parametrize("name", NAMES)
def test_the_text_makes_the_same_tables(name: str, start_server: StartServer) -> None:
    server = start_server(name)
    server.execute("DROP DATABASE IF EXISTS r")
    server.execute(reset_statement(server))
    setup, after = changes(name, 2)
    run(server, ["CREATE DATABASE r", *setup])
    first = last_log(server)
    run(server, after)
    second = last_log(server)
    text = _dumped("-v", first, second)
    before = (contents(server), checksums(server), _gtids(server))

    server.execute("DROP DATABASE r")
    server.execute(reset_statement(server))
    play(server, text)
    assert (contents(server), checksums(server), _gtids(server)) == before


def _dumped(*arguments: str | Path) -> bytes:
    command = [sys.executable, "-m", "binlog_kaitai", "dump", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=True, env={**os.environ, "TZ": "UTC"}).stdout


def _gtids(server: Server) -> str:
    """What the server has executed, by its own account."""
    name = "gtid_executed" if server.spec.flavour == "mysql" else "gtid_binlog_pos"
    return str(server.execute(f"SELECT @@GLOBAL.{name}")[0][0])


def test_flashback_gives_back_the_state_before(start_server: StartServer) -> None:
    server = start_server("mariadb-10.11")
    server.execute("DROP DATABASE IF EXISTS r")
    server.execute(reset_statement(server))
    setup, after = changes("mariadb-10.11", 5)
    run(server, ["CREATE DATABASE r", *setup])
    last_log(server)
    before = (contents(server), checksums(server))
    run(server, after)
    log = last_log(server)
    assert (contents(server), checksums(server)) != before
    play(server, _dumped("--flashback", log))
    assert (contents(server), checksums(server)) == before


@pytest.mark.parametrize("version", AFTER_GTIDS)
def test_transactions_of_old_servers_read_as_the_client_prints_them(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    for case in ("crash", "invisible_key"):
        log = log_of(version, case, tmp_path)
        for arguments in (("-v",), ("-vv", "--base64-output=decode-rows")):
            ours = _dumped(*arguments, log)
            assert normalised(ours) == normalised(ask("mysql-9.7", [str(log)], arguments)), case


@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-10.5", "mariadb-10.11", "mariadb-11.8"])
def test_all_options_of_the_clients_are_known(server: str) -> None:
    spec = find(server)
    options = listed(run_program(spec, "--help"))
    assert len(options) > 50
    known = {*TAKEN, *WITHOUT_EFFECT, *REFUSED}
    assert {name for name in options if name not in known} == set()
    assert {short: name for name, short in options.items() if short}.items() <= SHORT.items()


def run_program(spec: Spec, *arguments: str) -> str:
    """What the dump client of a server prints."""
    line = [str(program(spec, spec.dump_client)), *arguments]
    return subprocess.run(line, capture_output=True, check=True).stdout.decode("utf-8", "replace")
