"""Opens a log as plain bytes: compressed, encrypted, inside InnoDB, a write set of Galera, or plain.

The first bytes of a file determine its kind; its name does not matter. Readers of the stream need not
distinguish.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, BinaryIO, cast

from binlog_kaitai.core.framing import ENCRYPTED_MAGIC, MAGIC, read_up_to
from binlog_kaitai.core.grammar import sizes
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.sources import encryption, packed
from binlog_kaitai.sources.keys import Keys
from binlog_kaitai.sources.layer import Preceded, Refused

if TYPE_CHECKING:
    from binlog_kaitai.sources.innodb_pages import Beside

_INNODB_MAGIC = sizes.InnodbLog.FileHeader.MAGIC


def plain(raw: BinaryIO, keys: Keys | None = None, beside: Beside | None = None) -> BinaryIO:
    """A stream of the plain log.

    Reading raises errors in the start of the log: damage, or `EncryptedError` if a key is missing. For
    MariaDB's encrypted logs, the event reader raises it at the first encrypted event.

    `raw`: a stream at the first byte of the file.
    `keys`: where to find keys, besides the process and its environment.
    `beside`: opens other files of the same series, in which logs may continue.
    """
    try:
        return _opened(raw, keys, beside)
    except BinlogError as error:
        return cast(BinaryIO, Refused(raw, error))
    except BaseException:
        raw.close()
        raise


def _opened(raw: BinaryIO, keys: Keys | None, beside: Beside | None) -> BinaryIO:
    begin = raw.tell() if raw.seekable() else 0
    start = read_up_to(raw, len(MAGIC))
    if (packing := packed.format_of(start)) is not None:
        raw = cast(BinaryIO, packed.PackedStream(_again(raw, start, begin), packing))
        begin, start = 0, read_up_to(raw, len(MAGIC))
    if start == ENCRYPTED_MAGIC:
        return encryption.decrypted_log(raw, keys, start)
    if start == _INNODB_MAGIC:
        from binlog_kaitai.sources.innodb_log import opened

        return opened(raw, start, beside)
    if start == MAGIC:
        stream, start = encryption.decrypted_events(raw, start, keys)
        if stream is not None:
            return stream
    elif len(start) == len(MAGIC):
        from binlog_kaitai.sources import write_sets

        stream, start = write_sets.opened(raw, start, begin)
        if stream is not None:
            return stream
    return _again(raw, start, begin)


def unpacked(raw: BinaryIO) -> BinaryIO:
    """A decompressed stream of a compressed file, or the file itself."""
    stream = packed.unpacked(raw)
    if stream is raw:
        return raw
    from binlog_kaitai.sources.innodb_log import copied

    return copied(stream)


def is_log(raw: BinaryIO) -> bool:
    """Whether a file begins like a log, possibly compressed or encrypted; damage raises `BinlogError`."""
    return read_up_to(packed.unpacked(raw), len(MAGIC)) in (MAGIC, ENCRYPTED_MAGIC, _INNODB_MAGIC)


def plain_size(raw: BinaryIO, size: int, *, unpacks: bool, beside: Beside | None = None) -> int | None:
    """Size in bytes of the plain log in a file.

    None for compressed files and files inside InnoDB that must be read for this, unless `unpacks` is set.
    """
    stream, start = raw, read_up_to(raw, len(MAGIC))
    if (packing := packed.format_of(start)) is not None:
        raw.seek(0)
        unpacking = packed.PackedStream(raw, packing)
        if not unpacks and not unpacking.has_frames:
            return None
        size = unpacking.seek(0, io.SEEK_END)
        unpacking.seek(0)
        stream = cast(BinaryIO, unpacking)
        start = read_up_to(stream, len(MAGIC))
    if start == _INNODB_MAGIC:
        raw.seek(0)
        return plain(raw, None, beside).seek(0, io.SEEK_END) if unpacks else None
    if start == ENCRYPTED_MAGIC:
        return max(size - sizes.EncryptionHeader.HEADER_LENGTH, 0)
    if start != MAGIC:
        from binlog_kaitai.sources import write_sets

        size += write_sets.added_size(stream, start)
    return size


def _again(raw: BinaryIO, start: bytes, begin: int) -> BinaryIO:
    """The stream from `begin` on, part of which has been read."""
    if raw.seekable():
        raw.seek(begin)
        return raw
    return cast(BinaryIO, Preceded(raw, start))
