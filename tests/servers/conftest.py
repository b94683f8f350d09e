"""Real servers for tests: each is started on first use, and stopped at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tools.servers import Server

StartServer = Callable[[str], Server]


@pytest.fixture(scope="session")
def start_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartServer]:
    """A function that returns the running server with a name such as `mysql-9.7`."""
    running: dict[str, Server] = {}

    def start(name: str) -> Server:
        if name not in running:
            server = running[name] = Server(name, folder=tmp_path_factory.mktemp(name))
            server.start()
        return running[name]

    yield start
    for server in running.values():
        server.stop()
