"""Other programs that read logs, measured on the same bytes: the servers' clients and a Python library.

A program that is not available here, or fails, has no line in the table.
"""

from __future__ import annotations

import subprocess
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import binlog_kaitai as bk
from tools.servers.catalog import ServerError, find
from tools.servers.programs import program

_DECODED = "--base64-output=decode-rows"

#: Server, program and options of each client.
CLIENTS = {
    "mysqlbinlog -vv": ("mysql-9.7", "mysqlbinlog", ("-vv", _DECODED)),
    "mariadb-binlog -vv": ("mariadb-10.11", "mariadb-binlog", ("-vv", _DECODED)),
    "mariadb-binlog -v": ("mariadb-10.11", "mariadb-binlog", ("-v", _DECODED)),
}

#: mysql-replication is so slow that only the start of a log is measured.
_LIBRARY_SIZE = 4_000_000


def clients(path: Path) -> dict[str, list[str]]:
    """The available clients, and their command lines for a log."""
    found = {}
    for name, (server, client, options) in CLIENTS.items():
        try:
            found[name] = [str(program(find(server), client)), *options, str(path)]
        except (ServerError, OSError, subprocess.SubprocessError):
            continue
    return found


def library_speed(path: Path) -> float | None:
    """Throughput of mysql-replication, in bytes per processor second; None if it is not installed.

    It reads only from servers, so its packet reader is given the events one at a time; the cost of a
    connection is not included.
    """
    if find_spec("pymysqlreplication") is None:
        return None
    from pymysql.protocol import MysqlPacket

    row_event: Any = import_module("pymysqlreplication.row_event")
    wrapper: Any = import_module("pymysqlreplication.packet").BinLogPacketWrapper
    kinds = "TableMapEvent", "WriteRowsEvent", "UpdateRowsEvent", "DeleteRowsEvent"
    wanted = frozenset(getattr(row_event, kind) for kind in kinds)
    packets, size = [], 0
    with bk.open(path) as log:
        for event in log:
            packets.append(b"\0" + event.raw)
            size += len(event.raw)
            if size > _LIBRARY_SIZE:
                break
    tables: dict[int, Any] = {}
    begun = time.process_time()
    for packet in packets:
        place = MysqlPacket(packet, "utf8"), tables, _NoConnection(), (8, 0, 0), True, wanted
        found = wrapper(*place, *[None] * 4, False, False, False, None, False).event
        if isinstance(found, row_event.TableMapEvent):
            tables[found.table_id] = found.get_table()
        elif found is not None:
            _ = found.rows
    return size / (time.process_time() - begun)


class _NoConnection:
    """The part of a connection to a server that the library uses."""

    charset = "utf8mb4"

    def _get_dbms(self) -> str:
        return "mysql"
