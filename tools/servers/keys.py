"""Encryption keys for servers; fixed, because the encrypted data is public anyway."""

from __future__ import annotations

import json
from pathlib import Path

from tools.servers.packages import install
from tools.servers.server import Server

# MariaDB's file_key_management: key number; 128 bits in hex. Logs use key 1.
_MARIADB_KEYS = "1;000102030405060708090a0b0c0d0e0f\n"


def encryption_options(server: Server) -> list[str]:
    """Options that make a server encrypt its logs; its data directory must exist.

    The key file is then `key_file(server)`.
    """
    if server.spec.flavour == "mariadb":
        key_file(server).write_text(_MARIADB_KEYS)
        return [
            "--plugin-load-add=file_key_management",
            f"--file-key-management-filename={key_file(server)}",
            "--encrypt-binlog=ON",
        ]
    root = install(server.spec)
    # The two files in the installed tree only refer to the data directory.
    _write(root / "usr" / "sbin" / "mysqld.my", {"read_local_manifest": True})
    _write(
        root / "usr" / "lib" / "mysql" / "plugin" / "component_keyring_file.cnf", {"read_local_config": True}
    )
    _write(server.data / "mysqld.my", {"components": "file://component_keyring_file"})
    _write(server.data / "component_keyring_file.cnf", {"path": str(key_file(server)), "read_only": False})
    key_file(server).touch()
    return ["--binlog-encryption=ON"]


def key_file(server: Server) -> Path:
    """The file with a server's keys."""
    return server.folder / ("keys.txt" if server.spec.flavour == "mariadb" else "keyring.json")


def _write(path: Path, content: dict[str, object]) -> None:
    path.write_text(json.dumps(content))
