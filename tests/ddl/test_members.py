"""Given these literals, these are the members of an ENUM or SET."""

from __future__ import annotations

import pytest

from tests.ddl.test_definitions import column, table


@pytest.mark.parametrize(
    ("sql", "members"),
    [
        ("x ENUM(0x61, X'62', b'01100011', 0b01100100, 'e')", ("a", "b", "c", "d", "e")),
        ("x SET('a', 0x6162, '0x61', 'x''61''')", ("a", "ab", "0x61", "x'61'")),
        ("x ENUM(0xE9, 0xC3A9) CHARSET latin1", ("é", "Ã©")),
        ("x ENUM(0xC3A9, 'b') COLLATE utf8mb4_bin", ("é", "b")),
        ("x ENUM(0x0061, 0x4E2D) CHARSET ucs2", ("a", "中")),
        ("x ENUM(0xE9, 'b')", None),
        ("x ENUM(0xFF, 'b') CHARSET utf8mb4", None),
        ("x ENUM(_latin1'a', 'b')", None),
        ("x ENUM(N'a', 'b')", None),
        ("x ENUM('a' 'b', 'c')", None),
        ("x ENUM('a', b)", None),
    ],
)
def test_members_are_never_shifted(sql: str, members: tuple[str, ...] | None) -> None:
    """Servers accept strings and digits. What else there might be makes the members unknown."""
    assert column(sql).members == members


@pytest.mark.parametrize(
    ("charset", "members"),
    [
        ("CHARSET utf8mb4", ("a", "b\t", "c")),
        ("COLLATE utf8mb4_0900_ai_ci", ("a", "b\t", "c")),
        ("CHARACTER SET binary", ("a  ", "b\t ", "c ")),
        ("", None),
    ],
)
def test_only_binary_members_keep_trailing_blanks(charset: str, members: tuple[str, ...] | None) -> None:
    assert column(f"x ENUM('a  ', 'b\t ', 0x6320) {charset}").members == members
    found = table(f"CREATE TABLE a (x ENUM('a  ', 'b\t ', 0x6320)) {charset}")
    assert found.columns[0].members == members
