"""`--hexdump`: the bytes of an event, in the layout of each client."""

from __future__ import annotations

from collections.abc import Iterator

from binlog_kaitai.log.hexdump import WIDTH, Style

#: Sizes of the header's fields in the order of the clients' columns.
_FIELDS = (4, 1, 4, 4, 4, 2)

#: How many bytes are formatted at once.
_PIECE = WIDTH << 12


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


def hexdump(style: Style, raw: bytes, position: int, header_length: int) -> Iterator[bytes]:
    """The lines of an event, in pieces; `mysqlbinlog` does not separate a header whose length is not 19."""
    if style is MARIADB_STYLE or header_length == sum(_FIELDS):
        yield _header(style, raw[:header_length], position)
        begin, end = header_length, len(raw)
        after = style.end if end > begin else style.end_without_lines
    else:
        begin, end, after = 0, max(0, len(raw) - sum(_FIELDS)), style.end
        yield b"\n" if end else b"\n\n"
    for at in range(begin, end, _PIECE):
        yield _lines(style, raw[at : min(at + _PIECE, end)], position + at)
    yield after


def _header(style: Style, raw: bytes, position: int) -> bytes:
    header, at = raw.ljust(sum(style.fields), b"\0"), 0
    text = style.head + _position(style, position)
    for gap, size in zip(style.gaps, style.fields, strict=True):
        text += gap + header[at : at + size].hex(" ").encode()
        at += size
    return text + style.after_header


def _position(style: Style, position: int) -> bytes:
    return (b"%x" % position).rjust(8, style.fill)


def _lines(style: Style, data: bytes, position: int) -> bytes:
    found = []
    for offset in range(0, len(data), WIDTH):
        piece = data[offset : offset + WIDTH]
        half = WIDTH // 2
        digits = f"{piece[:half].hex(' ')}  {piece[half:].hex(' ')}".encode().ljust(style.width)
        front = b"# " + _position(style, position + offset) + style.gap
        found.append(front + digits[: style.width] + b" |" + piece.translate(style.letters) + b"|\n")
    return b"".join(found)
