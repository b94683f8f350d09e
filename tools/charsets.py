"""Writes the tables of binlog_kaitai/values from real servers: `python -m tools.charsets`.

`collations.json` has the names of collations and the maximum length of their characters.

Every character of every character set is converted with CONVERT … USING. The file contains the characters
that Python's nearest codec decodes differently and, for single-byte sets, the bytes without a character.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from binlog_kaitai.values.charsets import NO_CHARACTER
from tools.servers import Server

TARGET = Path(__file__).resolve().parent.parent / "binlog_kaitai" / "values" / "charsets.json"
NAMES = TARGET.with_name("collations.json")
SERVERS = ("mysql-9.7", "mariadb-11.8")
#: A run of consecutive characters of at least this length is written as its two ends.
_LONG_RUN = 8
_AT_ONCE = 400

_DOUBLE = r"[\x81-\xfe].|."
_JAPANESE_EUC = r"\x8f..|[\x8e\xa1-\xfe].|."
_SHIFTED = r"[\x81-\x9f\xe0-\xfc].|."


class Base(NamedTuple):
    """The Python codec nearest to a character set, and the byte sequences that form one character."""

    codec: str
    pattern: str = ""
    leads: Iterable[bytes] = ()
    more: tuple[bytes, ...] = ()


_DOUBLE_LEADS = [bytes([lead]) for lead in range(0x81, 0xFF)]
_EUC_LEADS = [*(bytes([lead]) for lead in range(0x8E, 0xFF)), *(bytes([0x8F, x]) for x in range(0xA1, 0xFF))]

BASES = {
    "armscii8": Base("ascii"), "ascii": Base("ascii"), "big5": Base("big5", _DOUBLE, _DOUBLE_LEADS),
    "cp1250": Base("cp1250"), "cp1251": Base("cp1251"), "cp1256": Base("cp1256"), "cp1257": Base("cp1257"),
    "cp850": Base("cp850"), "cp852": Base("cp852"), "cp866": Base("cp866"),
    "cp932": Base("cp932", _SHIFTED, _DOUBLE_LEADS), "dec8": Base("ascii"),
    "eucjpms": Base("euc_jp", _JAPANESE_EUC, _EUC_LEADS), "euckr": Base("cp949", _DOUBLE, _DOUBLE_LEADS),
    # Python follows the 2005 standard, which moved two characters.
    "gb18030": Base("gb18030", r"[\x81-\xfe](?:[0-9]..|.)|.", _DOUBLE_LEADS, (b"\x81\x35\xf4\x37",)),
    "gb2312": Base("gb2312", _DOUBLE, _DOUBLE_LEADS), "gbk": Base("gbk", _DOUBLE, _DOUBLE_LEADS),
    "geostd8": Base("ascii"), "greek": Base("iso8859-7"), "hebrew": Base("iso8859-8"),
    "hp8": Base("hp-roman8"), "keybcs2": Base("ascii"), "koi8r": Base("koi8-r"), "koi8u": Base("koi8-u"),
    "latin1": Base("cp1252"), "latin2": Base("iso8859-2"), "latin5": Base("iso8859-9"),
    "latin7": Base("iso8859-13"), "macce": Base("mac-latin2"), "macroman": Base("mac-roman"),
    "sjis": Base("shift_jis", _SHIFTED, _DOUBLE_LEADS), "swe7": Base("ascii"), "tis620": Base("tis-620"),
    "ujis": Base("euc_jp", _JAPANESE_EUC, _EUC_LEADS),
}  # fmt: skip

#: Unicode encodings, whose codecs are identical.
UNICODE = {
    "ucs2": "utf-16-be", "utf16": "utf-16-be", "utf16le": "utf-16-le", "utf32": "utf-32-be",
    "utf8mb3": "utf-8", "utf8mb4": "utf-8",
}  # fmt: skip


def main() -> int:
    with ExitStack() as running:
        servers = [running.enter_context(Server(name, "charsets")) for name in SERVERS]
        TARGET.write_text(learn(servers))
        NAMES.write_text(names(servers))
    return 0


def names(servers: list[Server]) -> str:
    """The text of `collations.json`; names that differ or exist only in MySQL are under `mysql`."""
    sizes: dict[str, int] = {}
    by_flavour: dict[str, dict[str, str]] = {}
    for server in servers:
        is_mariadb = server.spec.flavour == "mariadb"
        table = "COLLATION_CHARACTER_SET_APPLICABILITY" if is_mariadb else "COLLATIONS"
        column = "full_collation_name" if is_mariadb else "collation_name"
        asked = server.execute(f"SELECT id, {column} FROM information_schema.{table} ORDER BY id")
        by_flavour[server.spec.flavour] = {str(number): name for number, name in asked if number}
        sizes |= dict(
            server.execute("SELECT character_set_name, maxlen FROM information_schema.CHARACTER_SETS")
        )
    plain = by_flavour["mariadb"]
    other = {number: name for number, name in by_flavour["mysql"].items() if plain.get(number) != name}
    tables = {"max_bytes": dict(sorted(sizes.items())), "mysql": other, "names": plain}
    return json.dumps(tables, indent=0, separators=(",", ":")) + "\n"


def learn(servers: list[Server]) -> str:
    """The text of the file, from running servers; the characters come from the first one."""
    collations: dict[str, set[int]] = {}
    for server in servers:
        for number, charset in _collations(server):
            collations.setdefault(charset, set()).add(number)
    entries: dict[str, dict[str, Any]] = {}
    for charset in sorted(collations):
        entries[charset] = {"collations": _ranges(collations[charset])}
        if charset in UNICODE:
            entries[charset]["codec"] = UNICODE[charset]
        elif charset in BASES:
            entries[charset].update(_entry(servers[0], charset, BASES[charset]))
    lines = (f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _collations(server: Server) -> list[tuple[int, str]]:
    is_mariadb = server.spec.flavour == "mariadb"
    table = "COLLATION_CHARACTER_SET_APPLICABILITY" if is_mariadb else "COLLATIONS"
    rows = server.execute(f"SELECT id, character_set_name FROM information_schema.{table}")
    # MariaDB has collations for several character sets, with a number for each.
    return [(number, charset) for number, charset in rows if number]


def _ranges(numbers: Iterable[int]) -> str:
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _entry(server: Server, charset: str, base: Base) -> dict[str, Any]:
    singles = [bytes([number]) for number in range(256)]
    codes = [*singles, *(lead + bytes([end]) for lead in base.leads for end in range(0x40, 0xFF)), *base.more]
    others = [
        (code, NO_CHARACTER if text is None else text)
        for code, text in _ask(server, charset, codes)
        if text != _python(code, base.codec) and not (text is None and base.pattern)
    ]
    entry: dict[str, Any] = {"codec": base.codec}
    if others:
        entry |= {"pattern": base.pattern} if base.pattern else {}
        entry["others"] = list(_runs(others))
    return entry


def _ask(server: Server, charset: str, codes: list[bytes]) -> Iterator[tuple[bytes, str | None]]:
    connection = server.connect()
    cursor = connection.cursor()
    for start in range(0, len(codes), _AT_ONCE):
        yield from _convert(cursor, charset, codes[start : start + _AT_ONCE])
    connection.close()


def _convert(cursor: Any, charset: str, codes: list[bytes]) -> Iterator[tuple[bytes, str | None]]:
    """The text of each code; None for a code that is not exactly one character."""
    texts = ", ".join(f"HEX(CONVERT(_{charset} X'{code.hex()}' USING utf8mb4))" for code in codes)
    try:
        cursor.execute(f"SELECT {texts}")
    except Exception:
        # The server rejects a literal with an invalid character: find the invalid one.
        if len(codes) == 1:
            yield codes[0], None
            return
        half = len(codes) // 2
        yield from _convert(cursor, charset, codes[:half])
        yield from _convert(cursor, charset, codes[half:])
        return
    for code, in_hex in zip(codes, cursor.fetchone(), strict=True):
        text = bytes.fromhex(in_hex or "").decode("utf-8")
        yield code, text if len(text) == 1 and (text != "?" or code == b"?") else None


def _python(code: bytes, codec: str) -> str | None:
    try:
        return code.decode(codec)
    except UnicodeDecodeError:
        return None


def _runs(others: list[tuple[bytes, str]]) -> Iterator[list[str]]:
    """The characters as runs of consecutive codes, in the format of `charsets.tables`."""
    runs: list[tuple[bytes, str]] = []
    for code, text in others:
        if runs and _is_next(code, *runs[-1]):
            runs[-1] = (runs[-1][0], runs[-1][1] + text)
        else:
            runs.append((code, text))
    for code, text in runs:
        is_even = all(ord(text[index]) == ord(text[0]) + index for index in range(len(text)))
        yield [code.hex(), text[0], text[-1]] if is_even and len(text) >= _LONG_RUN else [code.hex(), text]


def _is_next(code: bytes, start: bytes, text: str) -> bool:
    same_length = len(code) == len(start)
    return same_length and int.from_bytes(code, "big") == int.from_bytes(start, "big") + len(text)


if __name__ == "__main__":
    sys.exit(main())
