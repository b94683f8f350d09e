"""`--hexdump`: the bytes of an event, as each of the clients lays them out."""

from __future__ import annotations

import re

_WIDTH = 16
_NOT_ALNUM = re.compile(rb"[^0-9A-Za-z]")
_NOT_PRINTABLE = re.compile(rb"[^ -~]")
#: Sizes of the header's fields in the order of the clients' columns.
_FIELDS = (4, 1, 4, 4, 4, 2)


def _groups(header: bytes) -> list[str]:
    found, at = [], 0
    for size in _FIELDS:
        found.append(header[at : at + size].hex(" "))
        at += size
    return found


def mysql_hexdump(raw: bytes, position: int, header_length: int) -> bytes:
    """The lines of `mysqlbinlog`; a header of another length than 19 is not set apart."""
    lines = []
    at = 0
    if header_length == sum(_FIELDS):
        at = header_length
        fields = "   ".join(_groups(raw[:at]))
        lines.append("# Position  Timestamp   Type   Source ID        Size      Source Pos    Flags ")
        lines.append(f"# {position:08x} {fields}")
        data = raw[at:]
    else:
        data = raw[: max(0, len(raw) - sum(_FIELDS))]
    start = position + at
    for offset in range(0, len(data), _WIDTH):
        piece = data[offset : offset + _WIDTH]
        digits = f"{piece[:8].hex(' ')}  {piece[8:].hex(' ')}"
        text = _NOT_ALNUM.sub(b".", piece).decode()
        lines.append(f"# {start + offset:08x} {digits:48.48} |{text}|")
    return ("\n" + "\n".join(lines) + "\n# ").encode()


def mariadb_hexdump(raw: bytes, position: int, header_length: int) -> bytes:
    """The lines of `mariadb-binlog`."""
    header, data = raw[:header_length], raw[header_length:]
    timestamp, kind, server, size, end, flags = _groups(header.ljust(sum(_FIELDS), b"\0"))
    lines = [
        "# Position",
        "#           |Timestamp   |Type |Master ID   |Size        |Master Pos  |Flags",
        f"# {position:8x}  |{timestamp} |{kind}   |{server} |{size} |{end} |{flags}",
        "#",
    ]
    start = position + header_length
    for offset in range(0, len(data), _WIDTH):
        piece = data[offset : offset + _WIDTH]
        digits = f"{piece[:8].hex(' '):23}  {piece[8:].hex(' ')}"
        text = _NOT_PRINTABLE.sub(b".", piece).decode()
        lines.append(f"# {start + offset:8x}  {digits:49} |{text}|")
    if data:
        lines.append("#")
    return ("\n" + "\n".join(lines) + "\n# Event: ").encode()
