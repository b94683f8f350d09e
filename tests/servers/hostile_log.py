"""Logs of statements that a client is meant to misread, with settings that a server may refuse."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle, product
from typing import NamedTuple

from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType
from tests.corpus_files import case
from tests.log_maker import LogMaker, events_of

#: A collation of each character set that clients may have; a number that stands for none.
COLLATIONS = {
    "utf8mb4": 45, "latin1": 8, "gbk": 28, "gb18030": 248, "big5": 1, "sjis": 13, "cp932": 95, "euckr": 19
}  # fmt: skip
UNKNOWN = 1900

NO_BACKSLASH_ESCAPES, ANSI_QUOTES = 1 << 20, 4

#: Settings that servers refuse, as status variables.
REFUSED = {
    "none": b"",
    "time zone": b"\x05\x09Nowhere/X",
    "language": b"\x07" + (9999).to_bytes(2, "little"),
    "collation": b"\x04" + b"".join(n.to_bytes(2, "little") for n in (45, UNKNOWN, 45)),
    "server collation": b"\x04" + b"".join(n.to_bytes(2, "little") for n in (45, 45, UNKNOWN)),
    "sql_mode": b"\x01" + (1 << 45).to_bytes(8, "little"),
}


class Logged(NamedTuple):
    """A statement; None for a COMMIT."""

    text: bytes | None
    mode: int = 0
    charset: str = "utf8mb4"
    refused: str = "none"
    schema: bytes = b""


def log_of(name: str, statements: Iterable[Logged]) -> bytes:
    """A log as a server writes it."""
    layout, (head, *_) = events_of(case(name, "mixed" if name == "mysql-9.7" else "statement").logs[0])
    log = LogMaker(layout)
    log.add(head[0])
    for one in statements:
        number = COLLATIONS[one.charset].to_bytes(2, "little")
        status = b"\x01" + one.mode.to_bytes(8, "little") + b"\x04" + number * 3 + REFUSED[one.refused]
        body = bytes(8) + bytes([len(one.schema)]) + bytes(2) + len(status).to_bytes(2, "little") + status
        kind = EventType.xid_event if one.text is None else EventType.query_event
        body = bytes(8) if one.text is None else body + one.schema + b"\0" + one.text
        log.add(bytes(4) + bytes([kind]) + bytes(14) + body + bytes(CHECKSUM_SIZE * layout.is_checksummed))
    return bytes(log.data)


#: What a client runs if it takes it for a command, or for a statement of its own.
PAYLOADS = (
    b"; \n\\! touch PWNED\n ",
    b"; \nsystem touch PWNED\n ",
    b"\\d ;\n;\ncreate database pwned;\n",
    b"//*!*/\ncreate database pwned\n//*!*/\n",
    b"; \n\\. PWNED\n",
)
#: Text that ends a string or a name in one reading, but not in another.
ENDS = (
    b"'\\' '%s '", b"'\\\\' '%s '", b"'a\\'%s '", b"'\x81\\' '%s '", b"'\x95\\'%s '",
    b"'\xe8\xa1\xa8\\'%s'", b"`\x81` `%s `", b"`a\x81`%s `", b'"\\" "%s "', b'"\\" \'%s " \'',
    b"'\x81'' '%s '", b"'' /*! '\\' '%s ' */", b"'' -- '\n%s", b"'' /* ' */%s", b"'\x81\x30\x89\\'%s '",
)  # fmt: skip
VERBS = (
    b"create procedure r.p() set @a = %s",
    b"create trigger r.t before insert on r.there for each row set @a = %s",
)
MODES = (0, NO_BACKSLASH_ESCAPES, ANSI_QUOTES, NO_BACKSLASH_ESCAPES | ANSI_QUOTES)


def hostile(refused: str) -> Iterable[Logged]:
    """Statements in both readings of backslashes, with a setting; each in another character set."""
    turns = cycle(product(VERBS, COLLATIONS)), product(ENDS, PAYLOADS, MODES)
    for (verb, charset), (end, payload, mode) in zip(*turns, strict=False):
        yield Logged(verb % (end % payload), mode, charset, refused)
    # In every character set: the ends that these are about.
    for charset, end, mode in product(COLLATIONS, ENDS, MODES):
        yield Logged(VERBS[0] % (end % PAYLOADS[0]), mode, charset, refused)
