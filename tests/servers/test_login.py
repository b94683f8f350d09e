"""Authentication methods that PyMySQL does not have."""

from __future__ import annotations

from urllib.parse import quote

import pytest

import binlog_kaitai as bk
from binlog_kaitai.errors import ServerError
from tests.servers.conftest import StartServer

pytestmark = pytest.mark.server

PASSWORD = "sécret @ 7"


def test_parsec(start_server: StartServer) -> None:
    server = start_server("mariadb-11.8")
    server.execute("INSTALL PLUGIN IF NOT EXISTS parsec SONAME 'auth_parsec'")
    server.execute("DROP USER IF EXISTS parsec@'127.0.0.1'")
    server.execute(f"CREATE USER parsec@'127.0.0.1' IDENTIFIED VIA parsec USING PASSWORD('{PASSWORD}')")
    server.execute("GRANT REPLICATION SLAVE, BINLOG MONITOR ON *.* TO parsec@'127.0.0.1'")

    def first_event(password: str) -> str:
        with bk.open(f"mysql://parsec:{quote(password)}@127.0.0.1:{server.port}/") as log:
            return next(iter(log)).type

    try:
        assert first_event(PASSWORD) == "FORMAT_DESCRIPTION_EVENT"
        with pytest.raises(ServerError, match=r"rejected the login.*1045") as refused:
            first_event("another")
    finally:
        server.execute("DROP USER parsec@'127.0.0.1'")
    assert refused.value.file == f"mysql://parsec@127.0.0.1:{server.port}/"
