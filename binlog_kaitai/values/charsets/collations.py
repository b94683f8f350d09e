"""Names of collations by their numbers, as the servers' clients know them."""

from __future__ import annotations

from functools import cache
from typing import Any

from binlog_kaitai.values.charsets.tables import loaded


def collation_name(collation_id: int, *, is_mariadb: bool = False) -> str | None:
    """The name of a collation, such as ``"utf8mb4_general_ci"``; None for an unknown number.

    The two makes of server use a few numbers for different collations.
    """
    key = str(collation_id)
    if not is_mariadb and key in _data()["mysql"]:
        return str(_data()["mysql"][key])
    name = _data()["names"].get(key)
    return None if name is None else str(name)


def max_bytes_of(charset: str) -> int:
    """Most bytes that a character of a character set takes; 1 for one that is not known."""
    return int(_data()["max_bytes"].get(charset, 1))


@cache
def _data() -> dict[str, Any]:
    return loaded("collations.json")
