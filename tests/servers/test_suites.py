"""What the runner of the servers' suites reads from a server."""

from __future__ import annotations

import pytest

from tests.servers.conftest import StartServer
from tests.servers.replay import run
from tools.suites.evidence import Witness

pytestmark = pytest.mark.server


def test_text_that_a_server_sends_though_it_is_not_utf8(start_server: StartServer) -> None:
    server = start_server("mariadb-11.8")
    server.execute("DROP DATABASE IF EXISTS r")
    table = "CREATE TABLE r.t (v VARCHAR(5) CHARACTER SET ucs2)"
    run(server, ["CREATE DATABASE r", table, "INSERT INTO r.t VALUES (X'D800')"])
    found = Witness(server).tables("= 'r'")["r", "t"]
    assert found.rows == [["\udced\udca0\udc80"]]
    assert found.counted()
