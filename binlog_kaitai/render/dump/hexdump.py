"""`--hexdump`: the bytes of an event, in the layout of each client."""

from __future__ import annotations

from binlog_kaitai.columns.text.hexdump import WIDTH, Style

#: Sizes of the header's fields in the order of the clients' columns.
_FIELDS = (4, 1, 4, 4, 4, 2)


def _letters(shown: bytes) -> bytes:
    return bytes(byte if byte in shown else ord(".") for byte in range(256))


_PRINTABLE = bytes(range(ord(" "), ord("~") + 1))

MYSQL_STYLE = Style(
    letters=_letters(bytes(byte for byte in _PRINTABLE if chr(byte).isalnum())),
    fill=b"0",
    width=48,
    fields=_FIELDS,
    head=b"\n# Position  Timestamp   Type   Source ID        Size      Source Pos    Flags \n# ",
    gaps=(b" ", *[b"   "] * 5),
    after_header=b"\n",
    gap=b" ",
    end=b"# ",
    end_without_lines=b"# ",
)

MARIADB_STYLE = Style(
    letters=_letters(_PRINTABLE),
    fill=b" ",
    width=49,
    fields=_FIELDS,
    head=b"\n# Position\n#           |Timestamp   |Type |Master ID   |Size        |Master Pos  |Flags\n# ",
    gaps=(b"  |", b" |", b"   |", b" |", b" |", b" |"),
    after_header=b"\n#\n",
    gap=b"  ",
    end=b"#\n# Event: ",
    end_without_lines=b"# Event: ",
)


def hexdump(style: Style, raw: bytes, position: int, header_length: int) -> bytes:
    """The lines of an event; `mysqlbinlog` does not separate a header whose length is not 19."""
    if style is MARIADB_STYLE or header_length == sum(_FIELDS):
        return _with_header(style, raw, position, header_length)
    lines = _lines(style, raw[: max(0, len(raw) - sum(_FIELDS))], position)
    return b"\n" + (b"".join(lines) or b"\n") + style.end


def _with_header(style: Style, raw: bytes, position: int, header_length: int) -> bytes:
    header, at = raw[:header_length].ljust(sum(style.fields), b"\0"), 0
    text = style.head + _position(style, position)
    for gap, size in zip(style.gaps, style.fields, strict=True):
        text += gap + header[at : at + size].hex(" ").encode()
        at += size
    lines = _lines(style, raw[header_length:], position + header_length)
    return text + style.after_header + b"".join(lines) + (style.end if lines else style.end_without_lines)


def _position(style: Style, position: int) -> bytes:
    return (b"%x" % position).rjust(8, style.fill)


def _lines(style: Style, data: bytes, position: int) -> list[bytes]:
    found = []
    for offset in range(0, len(data), WIDTH):
        piece = data[offset : offset + WIDTH]
        half = WIDTH // 2
        digits = f"{piece[:half].hex(' ')}  {piece[half:].hex(' ')}".encode().ljust(style.width)
        front = b"# " + _position(style, position + offset) + style.gap
        found.append(front + digits[: style.width] + b" |" + piece.translate(style.letters) + b"|\n")
    return found
