"""The plain bytes of a log, however it lies there: packed, encrypted, both or neither.

What a file is shows in its first bytes; its name does not matter. Whoever reads the stream need not know.
"""

from __future__ import annotations

from typing import BinaryIO, cast

from binlog_kaitai.core.framing import ENCRYPTED_MAGIC, MAGIC, read_up_to
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.sources import mariadb_encryption
from binlog_kaitai.sources.keys import Keys
from binlog_kaitai.sources.layer import Preceded, Refused
from binlog_kaitai.sources.mysql_encryption import HEADER_SIZE, decrypted


def plain(raw: BinaryIO, keys: Keys | None = None) -> BinaryIO:
    """A stream of the plain log.

    Where a key is missing, reading raises `EncryptedError`; of a log of MariaDB the reader of events does,
    at the first encrypted one.

    Parameters
    ----------
    raw
        A stream at the first byte of the file.
    keys
        Where to look for keys besides the process and its environment.
    """
    begin = raw.tell() if raw.seekable() else 0
    start = read_up_to(raw, len(MAGIC))
    if start == ENCRYPTED_MAGIC:
        try:
            return decrypted(raw, keys, start)
        except BinlogError as error:
            return cast(BinaryIO, Refused(raw, error))
    if start == MAGIC:
        stream, start = mariadb_encryption.decrypted(raw, start, keys)
        if stream is not None:
            return stream
    return _again(raw, start, begin)


def is_log(raw: BinaryIO) -> bool:
    """Whether a file begins like a log; encrypted ones are."""
    return read_up_to(raw, len(MAGIC)) in (MAGIC, ENCRYPTED_MAGIC)


def plain_size(raw: BinaryIO, size: int) -> int:
    """Length in bytes of the plain log in a file of a size."""
    if read_up_to(raw, len(MAGIC)) == ENCRYPTED_MAGIC:
        return max(size - HEADER_SIZE, 0)
    return size


def _again(raw: BinaryIO, start: bytes, begin: int) -> BinaryIO:
    """The stream from `begin` on, of which some bytes were read."""
    if raw.seekable():
        raw.seek(begin)
        return raw
    return cast(BinaryIO, Preceded(start, raw))
