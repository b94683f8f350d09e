"""Closed logs of an archive, compressed: zstd's seekable format, which can be read from the middle.

A log is compressed to a file beside it, which is renamed once it is on disk; then the log is removed. A log
whose compressed file is there already was left by a process that was killed in between.
"""

from __future__ import annotations

import os
import stat
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import zstandard

from binlog_kaitai.core.grammar import sizes
from binlog_kaitai.errors import writing_to
from binlog_kaitai.sources.disk import sync

SUFFIX = ".zst"

#: Bytes of a log in a frame: as much is decompressed at least to read an event.
_FRAME = 1 << 20

# The fields of `formats/packed/zstd_seek_table.ksy` in their order; tests read them back by the grammar.
_TABLE = sizes.ZstdSeekTable
_WIDTH = _TABLE.LEN_CONTENT_SIZE  # of all numbers
_NO_CHECKSUMS = b"\0"


class Packer:
    """Compresses closed logs in the background, oldest first."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="binlog-kaitai compress")
        self._jobs: list[Future[None]] = []

    def add(self, path: Path) -> Future[None]:
        """Compress a log to which nothing will be added any more; returns what is done then."""
        self._jobs.append(self._pool.submit(compress, path, self._stop))
        return self._jobs[-1]

    def check(self) -> None:
        """Raise what went wrong in the background.

        Raises
        ------
        SourceError
            A compressed log cannot be written.
        """
        while self._jobs and self._jobs[0].done():
            self._jobs.pop(0).result()

    def close(self, *, is_patient: bool) -> None:
        """Finish the work; impatiently, leave it to the next run.

        Raises
        ------
        SourceError
            A compressed log cannot be written.
        """
        if not is_patient:
            self._stop.set()
        self._pool.shutdown(cancel_futures=not is_patient)
        for job in self._jobs:
            if not job.cancelled():
                job.result()


def compress(path: Path, stop: threading.Event) -> None:
    """Replace a log by its compressed file, unless it is stopped.

    Raises
    ------
    SourceError
        It cannot be written.
    """
    target = path.with_name(path.name + SUFFIX)
    draft = path.with_name(f".{target.name}.new")
    with writing_to(str(target)):
        if not target.exists():
            try:
                if not _write(path, draft, stop):
                    return
                draft.replace(target)
            finally:
                draft.unlink(missing_ok=True)
            sync(path.parent)
        path.unlink()


def _write(path: Path, draft: Path, stop: threading.Event) -> bool:
    """Whether all of it was written and is on disk."""
    compressor = zstandard.ZstdCompressor(write_checksum=True)
    entries: list[tuple[int, int]] = []
    with path.open("rb") as log, draft.open("wb") as file:
        while data := log.read(_FRAME):
            if stop.is_set():
                return False
            frame = compressor.compress(data)
            file.write(frame)
            entries.append((len(frame), len(data)))
        file.write(seek_table(entries))
        file.flush()
        os.fsync(file.fileno())
        with suppress(OSError):  # as the log: others may be meant to read the archive
            os.fchmod(file.fileno(), stat.S_IMODE(path.stat().st_mode))
    return True


def seek_table(entries: list[tuple[int, int]]) -> bytes:
    """The seek table after frames, by their compressed and original sizes."""
    listed = b"".join(_number(packed) + _number(plain) for packed, plain in entries)
    footer = _number(len(entries)) + _NO_CHECKSUMS + _TABLE.Footer.MAGIC
    return _TABLE.MAGIC + _number(len(listed) + len(footer)) + listed + footer


def _number(value: int) -> bytes:
    return value.to_bytes(_WIDTH, "little")
