"""Collation names by number."""

from __future__ import annotations

from functools import cache
from typing import Any

from binlog_kaitai.values.charsets.tables import loaded


def collation_name(collation_id: int, *, is_mariadb: bool = False) -> str | None:
    """The name of a collation, such as ``"utf8mb4_general_ci"``; None for an unknown number.

    MySQL and MariaDB use a few numbers for different collations.
    """
    key = str(collation_id)
    if not is_mariadb and key in _data()["mysql"]:
        return str(_data()["mysql"][key])
    name = _data()["names"].get(key)
    return None if name is None else str(name)


def max_bytes_of(charset: str) -> int:
    """Maximum bytes per character of a character set; 1 if it is unknown."""
    return int(_data()["max_bytes"].get(charset, 1))


@cache
def _data() -> dict[str, Any]:
    return loaded("collations.json")
