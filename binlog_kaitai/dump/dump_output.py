"""Collects the text of events, and writes it immediately or at the end of the statement.

The text of a row-logged statement consists of header lines (`head`), one BINLOG statement for all its events
(`body`), and the rows (`tail`). `Output` writes the text of one event after another. For a block of events,
the printer makes the same calls, and `shape_steps` records them. The files of LOAD DATA are written to disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import IO

import numpy as np

from binlog_kaitai.dump.printed_event import PrintedEvent
from binlog_kaitai.dump.row_comments import RowsHeader
from binlog_kaitai.dump.row_printer import RowPrinter
from binlog_kaitai.errors import reading
from binlog_kaitai.sources.disk import create
from binlog_kaitai.text.base64_kernel import LINE, PAIRS, put_base64
from binlog_kaitai.text.text_kernels import HEADER_FIELDS, WIDTH, HexdumpStyle

#: How many bytes are encoded at once, if the text is passed on in pieces.
_BASE64_PIECE = LINE << 14


def base64_pieces(data: bytes) -> Iterator[bytes]:
    """The lines, in several pieces for long data."""
    for begin in range(0, len(data), _BASE64_PIECE):
        yield base64_lines(data[begin : begin + _BASE64_PIECE])


def base64_lines(data: bytes) -> bytes:
    """The lines, each with a line feed."""
    out = np.empty((len(data) // LINE + 1) * 77 + 8, dtype=np.uint8)
    size = put_base64.run(np.frombuffer(data, dtype=np.uint8), 0, len(data), PAIRS, out, 0)
    encoded: bytes = out[:size].tobytes()
    return encoded


#: How many bytes are formatted at once.
_HEXDUMP_PIECE = WIDTH << 12


def _letters(shown: bytes) -> bytes:
    return bytes(byte if byte in shown else ord(".") for byte in range(256))


_PRINTABLE = bytes(range(ord(" "), ord("~") + 1))

MYSQL_STYLE = HexdumpStyle(
    letters=_letters(bytes(byte for byte in _PRINTABLE if chr(byte).isalnum())),
    fill=b"0",
    width=48,
    head=b"\n# Position  Timestamp   Type   Source ID        Size      Source Pos    Flags \n# ",
    gaps=(b" ", *[b"   "] * 5),
    after_header=b"\n",
    gap=b" ",
    end=b"# ",
    end_without_lines=b"# ",
)

MARIADB_STYLE = HexdumpStyle(
    letters=_letters(_PRINTABLE),
    fill=b" ",
    width=49,
    head=b"\n# Position\n#           |Timestamp   |Type |Master ID   |Size        |Master Pos  |Flags\n# ",
    gaps=(b"  |", b" |", b"   |", b" |", b" |", b" |"),
    after_header=b"\n#\n",
    gap=b"  ",
    end=b"#\n# Event: ",
    end_without_lines=b"# Event: ",
)


def hexdump(style: HexdumpStyle, raw: bytes, position: int, header_length: int) -> Iterator[bytes]:
    """The lines of an event, in pieces; `mysqlbinlog` does not separate a header whose length is not 19."""
    if style is MARIADB_STYLE or header_length == sum(HEADER_FIELDS):
        yield _header(style, raw[:header_length], position)
        begin, end = header_length, len(raw)
        after = style.end if end > begin else style.end_without_lines
    else:
        begin, end, after = 0, max(0, len(raw) - sum(HEADER_FIELDS)), style.end
        yield b"\n" if end else b"\n\n"
    for start in range(begin, end, _HEXDUMP_PIECE):
        yield _lines(style, raw[start : min(start + _HEXDUMP_PIECE, end)], position + start)
    yield after


def _header(style: HexdumpStyle, raw: bytes, position: int) -> bytes:
    header, offset = raw.ljust(sum(HEADER_FIELDS), b"\0"), 0
    text = style.head + _position(style, position)
    for gap, size in zip(style.gaps, HEADER_FIELDS, strict=True):
        text += gap + header[offset : offset + size].hex(" ").encode()
        offset += size
    return text + style.after_header


def _position(style: HexdumpStyle, position: int) -> bytes:
    return (b"%x" % position).rjust(8, style.fill)


def _lines(style: HexdumpStyle, data: bytes, position: int) -> bytes:
    lines = []
    for offset in range(0, len(data), WIDTH):
        piece = data[offset : offset + WIDTH]
        half = WIDTH // 2
        digits = f"{piece[:half].hex(' ')}  {piece[half:].hex(' ')}".encode().ljust(style.width)
        front = b"# " + _position(style, position + offset) + style.gap
        lines.append(front + digits[: style.width] + b" |" + piece.translate(style.letters) + b"|\n")
    return b"".join(lines)


_PREFIX = "SQL_LOAD_MB-"


class LoadFiles:
    """Writes the files, and assigns their names.

    `folder`: output folder; None for the system's temporary folder.
    """

    def __init__(self, folder: str | None) -> None:
        self._folder = folder
        self._paths: dict[int, str] = {}

    def begin(self, file_id: int, block: bytes, name: str = "") -> None:
        """Start a file; `name` is a prefix of its number."""
        prefix = f"{name}-" if name else _PREFIX
        self._paths[file_id] = self._create(f"{prefix}{file_id:x}-", block)

    def append(self, file_id: int, block: bytes) -> None:
        """Append to a file; ignored if it was not started."""
        path = self._paths.get(file_id)
        if path is not None:
            with reading(path), open(path, "ab") as file:
                file.write(block)

    def take(self, file_id: int) -> bytes | None:
        """The name of a complete file; None if it was not started."""
        path = self._paths.pop(file_id, None)
        return None if path is None else os.fsencode(path)

    def _create(self, start: str, block: bytes) -> str:
        # The first free name, like the clients.
        from tempfile import gettempdir

        number, folder = 0, gettempdir() if self._folder is None else self._folder
        while True:
            path = os.path.join(folder, f"{start}{number:x}")
            with reading(path), suppress(FileExistsError), create(path) as file:
                file.write(block)
                return path
            number += 1


#: Receives the text as it is written.
Write = Callable[[bytes], object]

PutItem = Callable[[PrintedEvent], None]

#: Text before the row count of a statement.
ROW_COUNT = b"# Number of rows: "
#: Text around the base64 of a statement's events.
BINLOG, BINLOG_END = b"\nBINLOG '\n", b"'"


class TextSink:
    """Writes text: bytes, or templates with fields of an event."""

    def __init__(self, write: Write) -> None:
        self._write = write

    def append(self, piece: bytes) -> None:
        """Add a piece."""
        self._write(piece)

    def fill(
        self, template: bytes, printed: PrintedEvent, constants: dict[bytes, bytes | int] | None = None
    ) -> None:
        """Add a template; `constants` are the same for all events of the event's shape."""
        values = printed.values
        if constants:
            values.update(constants)
        self.append(template % values)


#: Maximum number of pieces kept in memory, maximum size of those of long texts, and size of pieces read from
#: the file, in bytes.
_MOST_PIECES, _MOST_TEXT, _READ_AT_ONCE = 1 << 16, 32 << 20, 1 << 20


class TextSpool(TextSink):
    """Text that waits until it is flushed, or taken out."""

    def __init__(self, write: Write) -> None:
        super().__init__(write)
        self._pieces: list[bytes] = []
        self._size = 0
        self._file: IO[bytes] | None = None

    def __bool__(self) -> bool:
        return bool(self._pieces) or self._file is not None

    def append(self, piece: bytes) -> None:
        self._pieces.append(piece)
        if len(self._pieces) > _MOST_PIECES:
            self._settle()

    def extend(self, pieces: Iterable[bytes]) -> None:
        """Add the pieces of a text of any length."""
        for piece in filter(None, pieces):
            self._pieces.append(piece)
            self._size += len(piece)
            if self._size > _MOST_TEXT:
                self._settle()

    def _settle(self) -> None:
        """Move all pieces to the file."""
        if self._file is None:
            import tempfile

            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed where it is emptied
        self._file.writelines(self._pieces)
        self._pieces.clear()
        self._size = 0

    def clear(self) -> None:
        """Discard everything."""
        self._pieces.clear()
        self._size = 0
        if self._file is not None:
            self._file.close()
            self._file = None

    def take(self) -> Iterator[bytes]:
        """Take everything out, in pieces; what the caller does not reach stays."""
        if self._file is not None:
            self._file.seek(0)
            while piece := self._file.read(_READ_AT_ONCE):
                yield piece
        if sum(map(len, self._pieces)) > _READ_AT_ONCE:
            yield from self._pieces
        elif self._pieces:
            yield b"".join(self._pieces)
        self.clear()

    def flush(self) -> None:
        """Write everything."""
        for piece in self.take():
            self._write(piece)


class Output:
    """Writes the text of one event after another.

    `now`, `head`: text that is written immediately, and lines that wait for `flush`.
    `body`, `tail`: base64 and rows of the current statement.
    `rows`: number of rows counted for the statement.
    `kept`: an event that is printed with another one, and the function that adds its text.
    """

    def __init__(self, write: Write, delimiter: bytes, style: HexdumpStyle, row_printer: RowPrinter) -> None:
        self.write = write
        self._delimiter, self._style, self._row_printer = delimiter, style, row_printer
        self.now = TextSink(write)
        self.head, self.body, self.tail = TextSpool(write), TextSpool(write), TextSpool(write)
        self.rows = 0
        self.kept: tuple[PrintedEvent, PutItem] | None = None

    @property
    def is_open(self) -> bool:
        """Whether text of a statement is waiting for its end."""
        return bool(self.body or self.tail or self.rows)

    def flush(self) -> None:
        """Write the lines."""
        self.head.flush()

    def add_hexdump(self, printed: PrintedEvent) -> None:
        """Add the bytes of an event to the lines."""
        if printed.position:
            header_length = printed.event.layout.header_length_of(printed.event.type_code)
            self.head.extend(hexdump(self._style, printed.raw, printed.position, header_length))

    def add_base64(self, raw: bytes) -> None:
        """Add an event to the BINLOG statement."""
        self.body.extend(base64_pieces(raw))

    def add_rows(self, printed: PrintedEvent, rows_header: RowsHeader | None, name: bytes | None) -> None:
        """Add the rows of an event, with a new database name if one is given."""
        pieces, count = self._row_printer.pieces(printed.event, rows_header, name)
        self.tail.extend(pieces)
        self.rows += count

    def count_rows(self, printed: PrintedEvent, rows_header: RowsHeader | None) -> None:
        """Count the rows of an event without printing them."""
        self.rows += self._row_printer.count(printed.event, rows_header)

    def base64(self, raw: bytes) -> bytes:
        """An event as lines of a BINLOG statement of its own."""
        return base64_lines(raw)

    def keep(self, printed: PrintedEvent, put: PutItem) -> None:
        """Keep an event to print it with another one; `put` adds its text."""
        self.kept = printed, put

    def put_kept(self, printed: PrintedEvent) -> None:
        """Add the text of the kept event, with the position of another one."""
        if self.kept is not None:
            kept, put = self.kept
            kept.position = printed.position
            put(kept)

    def end_statement(self, *, shows_count: bool = False, shows_zero: bool = False) -> None:
        """Write everything waiting, and the row count if it is requested and not zero."""
        self.flush()
        if self.body:
            self.write(BINLOG)
            self.body.flush()
            self.write(BINLOG_END + self._delimiter + b"\n")
        self.tail.flush()
        self.put_row_count(shows=shows_count, shows_zero=shows_zero)

    def put_row_count(self, *, shows: bool, shows_zero: bool = False) -> None:
        """Write the row count of a statement if it is requested, and reset it."""
        if shows and (self.rows or shows_zero):
            self.write(ROW_COUNT + b"%d\n" % self.rows)
        self.rows = 0

    def clear(self) -> None:
        """Discard everything waiting."""
        for text in (self.head, self.body, self.tail):
            text.clear()
        self.kept = None
