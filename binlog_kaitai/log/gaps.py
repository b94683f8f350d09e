"""Blocks of complete events and the gaps between them; the basis of all reading past damage.

Rules
-----
1. A gap begins at an event that cannot be complete: its header is impossible, the log ends inside it, or, if
   checksums are verified, its checksum is wrong.
2. It ends at the next complete event (`resync`), where reading continues as if nothing were missing. Where
   damage is dense (`MOST_GAPS`), the rest of the log is one gap, whose error counts the gaps in it.
   Rows after a gap that may contain a table map are never read with an older one of the same id (`pass_gap`).
3. Errors other than damage, such as encryption, end the log.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from typing import BinaryIO, NamedTuple, Unpack, cast

import numpy as np

from binlog_kaitai.core.context import Context
from binlog_kaitai.core.framing import MAGIC, TailKind, another_log, is_start, read_start, read_up_to
from binlog_kaitai.core.grammar import header_length
from binlog_kaitai.errors import (
    BAD_CHECKSUM,
    AnotherLogError,
    BinlogError,
    ChecksumError,
    DamagedError,
    FramingError,
    TruncatedError,
)
from binlog_kaitai.kernels.byte_kernels import BAD
from binlog_kaitai.log import checksum_runs as checksums
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.block_reader import BlockOptions, BlockReader
from binlog_kaitai.log.log_end import End, EndKind
from binlog_kaitai.log.resync import Search
from binlog_kaitai.log.span_reader import Limited, pass_gap

#: End of a gap after which there is no complete event.
TO_THE_END = 1 << 63

#: Gaps after which a log is not read further: so many, and one more for each so many bytes. Each takes 2 ms.
MOST_GAPS, BYTES_PER_GAP = 500, 1 << 16


def most_gaps(size: int) -> int:
    """How many gaps of the first `size` bytes of a log are looked into one by one."""
    return MOST_GAPS + size // BYTES_PER_GAP


class Gap(NamedTuple):
    """Bytes of a log that are not complete events, with the error; empty where an event is missing."""

    start: int
    stop: int
    error: BinlogError

    @property
    def is_last(self) -> bool:
        """Whether no complete event follows."""
        return self.stop == TO_THE_END

    def stop_in(self, size: int) -> int:
        """End offset in a log of `size` bytes."""
        return size if self.is_last else self.stop


def add_gap(gaps: list[Gap], gap: Gap) -> None:
    """Append a gap; merge it with the last one if it overlaps or adjoins it."""
    if gaps and gaps[-1].start <= gap.start <= gaps[-1].stop:
        gaps[-1] = gaps[-1]._replace(stop=max(gaps[-1].stop, gap.stop))
    else:
        gaps.append(gap)


class AroundDamage:
    """Blocks of a log from a given event on, and the gaps between them, in log order.

    `stream`: the log: at its first byte if `context` is None, else at an event.
    `context`: state before the event.
    `position`: offset of the event.
    `search`: finds complete events in the stream; passed by callers that read the stream more than once.
    `known`: gaps found earlier, in order; each has an end.
    `is_checked`: treat an event with a wrong checksum as a gap.
    `leaves_pieces`: the caller processes blocks in another thread, and calls `finish` after the last one.
    `enters_logs`: if another log begins in the same file, continue in it. Its magic is then reported as a
    gap.
    `options`: those of `BlockReader`.
    `reader`: the reader of the current block; at a gap, of the block before it.
    `end`: set after iteration: how the log ended; None if the bytes after the last gap were not read.
    Raises `NotABinlogError`, `EncryptedError`: the stream does not begin with a readable log.
    """

    def __init__(
        self,
        stream: BinaryIO,
        name: str,
        context: Context | None = None,
        position: int = 0,
        *,
        search: Search | None = None,
        known: Iterable[Gap] = (),
        is_checked: bool = False,
        leaves_pieces: bool = False,
        enters_logs: bool = False,
        **options: Unpack[BlockOptions],
    ) -> None:
        self.end: End | None = None
        self._stream, self._name, self._options = stream, name, options
        self._search = search or Search(stream)
        self._known = deque(known)
        self._is_checked, self._enters_logs = is_checked, enters_logs
        self._leaves_pieces = leaves_pieces
        self._is_over, self._gap_count = False, 0
        if context is None:
            self.reader = BlockReader.of_file(stream, name, **options)
        else:
            self.reader = self._read_from(position, context)

    def __iter__(self) -> Generator[Block | Gap, None, None]:
        while not self._is_over:
            yield from self._pass_gaps((yield from self._blocks()))

    def finish(self) -> None:
        """Check that no pieces of a rows event are missing at the end."""
        if self.end is not None and self.end.kind is EndKind.CLEAN:
            try:
                self.reader.context.pieces.finish()
            except BinlogError:
                self.end = self.end._replace(kind=EndKind.TRUNCATED)
                raise

    def _blocks(self) -> Generator[Block, None, BinlogError | None]:
        """Blocks of the current reader; returns the error that ends them."""
        try:
            for block in self.reader:
                bad = np.flatnonzero(checksums.check(block) == BAD)[:1].tolist() if self._is_checked else []
                whole = block.part(0, bad[0]) if bad else block
                if len(whole):
                    yield whole
                if bad:
                    return ChecksumError(BAD_CHECKSUM, position=int(block.positions[bad[0]]))
        except BinlogError as error:
            return error
        return None

    def _pass_gaps(self, error: BinlogError | None) -> Iterator[Gap]:
        """The gap after the reader's last block, if the log does not end there; reading then continues."""
        reader, tail = self.reader, self.reader.tail
        start = reader.position if error is None or error.position is None else error.position
        if error is None and self._known:
            yield (gap := self._known.popleft())
            pass_gap(self._stream, gap.start, gap.stop, reader.context)
            self.reader = self._read_from(gap.stop, reader.context)
            return
        if isinstance(error, AnotherLogError) and self._enters_logs and self._stream.seekable():
            yield from self._enter_log(start)
            return
        is_cut = error is None and tail is not None and tail.kind is not TailKind.NOTHING
        stop = None
        if is_cut or isinstance(error, DamagedError):
            stop = self._search.after(start, reader.context)
        if stop is not None:
            self._gap_count += 1
            if self._gap_count > most_gaps(start):
                yield self._rest(start, reader.context)
                return
            lie = FramingError("the event does not end at the position in its header", position=start)
            yield Gap(start, stop, error or lie)
            if self._enters_logs and self._is_start(stop - len(MAGIC)):
                yield from self._enter_log(stop - len(MAGIC))
            else:
                pass_gap(self._stream, start, stop, reader.context)
                self.reader = self._read_from(stop, reader.context)
            return
        self._is_over = True
        if error is None:
            error = self._classify_end()
        if error is not None:
            yield Gap(start, TO_THE_END, error)

    def _rest(self, start: int, context: Context) -> Gap:
        """The rest of a log with too many gaps, as one."""
        self._is_over = True
        more = self._search.count_gaps(start, context.layout)
        reason = f"not read further after damage in {self._gap_count - 1} places; {more} more follow"
        return Gap(start, TO_THE_END, FramingError(reason, position=start))

    def _classify_end(self) -> BinlogError | None:
        """Determine how the log ended; returns the error for the bytes after its last complete event."""
        tail = self.reader.tail
        assert tail is not None
        try:
            self.end = self.reader.end(checks_pieces=not self._leaves_pieces, search=self._search)
        except DamagedError as error:
            self.end = End(self._name, EndKind.TRUNCATED, tail.position, tail.size)
            return error
        return TruncatedError("incomplete event", position=tail.position) if tail.size else None

    def _read_from(self, position: int, context: Context) -> BlockReader:
        stream = self._stream
        stream.seek(position)
        if self._known:
            stream = cast(BinaryIO, Limited(stream, self._known[0].start - position))
        return BlockReader(stream, context, position, name=self._name, **self._options)

    def _is_start(self, position: int) -> bool:
        self._stream.seek(max(position, 0))
        try:
            return is_start(read_up_to(self._stream, header_length(4)))
        except DamagedError:
            return False  # what cannot be read is no magic

    def _enter_log(self, position: int) -> Iterator[Gap]:
        """Continue in another log that begins at an offset."""
        begin = position + len(MAGIC)
        yield Gap(position, begin, another_log(position))
        self._stream.seek(position)
        try:
            version, peeked = read_start(self._stream)
        except BinlogError as error:
            self._is_over, error.position = True, position
            yield Gap(position, TO_THE_END, error)
            return
        context = Context(version, peeked)
        self.reader = BlockReader(
            self._stream, context, begin, name=self._name, peeked=peeked, **self._options
        )
