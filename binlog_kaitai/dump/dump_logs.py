"""Runs a dump: selects the events of the sources, and the client to imitate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import BinaryIO, NamedTuple

import numpy as np

from binlog_kaitai.core.context import Context
from binlog_kaitai.core.framing import MAGIC, Frame, Framer, Tail, TailKind
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.dump.block_printer import BLOCK_SIZE, MOST_EVENTS, BlockPrinter
from binlog_kaitai.dump.dump_options import DumpOptions
from binlog_kaitai.dump.dump_output import LoadFiles, Write
from binlog_kaitai.dump.printer import Printer
from binlog_kaitai.dump.selection import DumpSelection, SelectionEndedError
from binlog_kaitai.errors import BinlogError, SourceError, UsageError
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.block_reader import BlockOptions, BlockReader
from binlog_kaitai.log.event_reader import EventReader, ParsedEvent
from binlog_kaitai.log.log_end import classify_end
from binlog_kaitai.log.read_options import no_progress
from binlog_kaitai.log.threads import thread_count
from binlog_kaitai.log.transaction_roles import GtidTracker
from binlog_kaitai.sources.source import Source, SourceLike, resolve

#: Types a log may begin with.
_HEADER_TYPES = frozenset(
    (EventType.format_description_event, EventType.previous_gtids_log_event, EventType.rotate_event)
)


def dump(
    source: SourceLike | Iterable[SourceLike],
    write: Write,
    options: DumpOptions | None = None,
    *,
    threads: int | None = None,
    progress: Callable[[Source, int], object] = no_progress,
) -> EventReader:
    """Print logs like the clients of their servers.

    `source`: the logs, as for :func:`binlog_kaitai.open`.
    `write`: receives the text in pieces, as bytes or views of bytes.
    `options`: what to show.
    `threads`: number of threads that write text: by default, one.
    `progress`: called periodically with the source and the offset reached in it.
    Returns the reader, whose `ends` describe how each log ended.
    Raises `BinlogError`: a log is damaged, or contains something that cannot be printed; the text printed so
    far is properly terminated.
    """
    options = options or DumpOptions()
    reader = EventReader(resolve(source, repeats=True), verify_checksums=options.verify_checksums)
    _Dump(reader, write, options, thread_count(threads, reader.sources), progress).run()
    return reader


class _Head(NamedTuple):
    """What a client reads of a log before it seeks to the start position.

    `formats`: the format descriptions.
    `last_read`: where the client is then.
    `end`: the end of the events read; the start position if one begins there.
    `rest`: the following events of the same block; None at the end of the log.
    """

    formats: list[Block]
    last_read: int
    end: int
    rest: Block | None


class _Dump:
    def __init__(
        self,
        reader: EventReader,
        write: Write,
        options: DumpOptions,
        threads: int,
        progress: Callable[[Source, int], object],
    ) -> None:
        self.reader, self._progress = reader, progress
        self._threads = threads
        self.write = write
        self.options = options
        self.loads = LoadFiles(options.local_load)
        self.selection = DumpSelection(options)
        self.printer: Printer | None = None
        #: Prints the current log, once its first event was read.
        self._log: BlockPrinter | None = None

    def run(self) -> None:
        sources, is_broken = self.reader.sources, False
        try:
            for number, source in enumerate(sources):
                self.selection.begin_log(is_first=number == 0, is_last=number == len(sources) - 1)
                self._log = None
                self._print_log(source)
        except SelectionEndedError:
            pass
        except BaseException:
            is_broken = True
            raise
        finally:
            if self.printer is None:
                self.printer = self._printer_of(None)
                self.write(self.printer.start_all())
            self.printer.is_broken = is_broken
            self.write(self.printer.end_all())

    def _print_log(self, source: Source) -> None:
        start = self.selection.start_position or 0
        self._source = source
        self._position = start if start <= len(MAGIC) else 0
        try:
            if start > len(MAGIC):
                self._print_from(source, start)
            else:
                with source.open() as stream:
                    blocks = BlockReader.of_file(stream, source.name, **self._block_options)
                    context = Context.of(blocks.context.layout)
                    self._print_all(blocks, context)
                    self._end(blocks, context, stream)
            if self._log is not None:
                self._log.end_payload()
        except BinlogError as error:
            position = self._position if self._log is None else self._log.position
            raise error.at(file=source.name, position=position) from error.__cause__
        except OSError as error:
            raise SourceError(error.strerror or str(error), file=source.name) from error
        finally:
            if self._log is not None:
                self._log.printer.end_log()

    def _print_all(self, blocks: Iterable[Block], context: Context) -> None:
        held: list[Block] = []
        for block in blocks:
            self._progress(self._source, int(block.end_positions[-1]))
            if self.printer is None and not block.is_special and block.layout.binlog_version == 4:
                held.append(_copied(block))  # before the format description, which tells the client
                continue
            log = self._begin(block, context)
            for earlier in held:
                log.print(earlier)
            held.clear()
            log.print(block)

    def _print_from(self, source: Source, start: int) -> None:
        """Print the events of a log from an offset on, with any format description before it."""
        with source.open() as stream:
            blocks = BlockReader.of_file(stream, source.name, **self._block_options)
            context, after, versions = (Context.of(blocks.context.layout) for _ in range(3))
            events = iter(blocks)
            head = self._read_head(events, context, start)
            if head.rest is None:
                end = classify_end(source.name, _tail_of(blocks), context, stream)
            for block in head.formats:
                versions.observe(block.raw(0), block.fixed_header(0))
            for block in head.formats[:-1]:
                after.observe(block.raw(0), block.fixed_header(0))
            for block in head.formats[-1:]:
                self._show_format(block, after, head.last_read)
            if not (head.formats and head.end < start and source.path is not None):
                if head.rest is None:
                    self.reader.ends.append(end)
                    return
                if self._log is not None:
                    self._log.context = context
                self._print_all(self._later(chain((head.rest,), events), context, start), context)
                self._end(blocks, context, stream)
                return
        self._position = start
        with source.open() as stream:
            Framer.of_file(stream).skip_to(start)
            blocks = BlockReader(stream, versions, start, name=source.name, **self._block_options)
            self._print_all(blocks, after)
            self._end(blocks, after, stream)

    def _read_head(self, blocks: Iterable[Block], context: Context, start: int) -> _Head:
        formats: list[Block] = []
        last_read = end = 0
        for block in blocks:
            for row in range(len(block)):
                if block.positions[row] >= start:
                    return _Head(formats, last_read, start, block.part(row, len(block)))
                self._read(block, row, context)
                last_read, end = int(block.positions[row]), int(block.end_positions[row])
                if block.types[row] == EventType.format_description_event:
                    formats.append(_copied(block))
                elif block.types[row] not in _HEADER_TYPES:
                    return _Head(formats, last_read, end, block.part(row + 1, len(block)))
        return _Head(formats, end if end < start else last_read, end, None)

    def _later(self, blocks: Iterable[Block], context: Context, start: int) -> Iterator[Block]:
        """The events from an offset on; those before it are read only."""
        for block in blocks:
            first = int(np.searchsorted(block.positions, start))
            for row in range(first):
                self._read(block, row, context)
            if first < len(block):
                yield block.part(first, len(block))

    def _read(self, block: Block, row: int, context: Context) -> None:
        frame = Frame(int(block.positions[row]), block.fixed_header(row), block.raw(row))
        for _ in self.reader.events_of(block.file, frame, context, GtidTracker()):
            pass

    def _show_format(self, block: Block, context: Context, last_read: int) -> None:
        log, event = self._begin(block, context), block.event(0)
        if not is_of_mariadb(event):
            log.shown_at = last_read  # the position of mysqlbinlog at that time
        elif not self.options.prints_base64:
            context.observe(event.raw, event.fixed_header)
            return
        log.print(block)

    def _end(self, blocks: BlockReader, context: Context, stream: BinaryIO) -> None:
        self.reader.ends.append(classify_end(blocks.name, _tail_of(blocks), context, stream))

    @property
    def _block_options(self) -> BlockOptions:
        return {
            "block_size": BLOCK_SIZE,
            "max_events": MOST_EVENTS,
            "leaves_checks": not self.options.verify_checksums,
            "verify_checksums": self.options.verify_checksums,
            "prefetches": self._threads > 1,
        }

    def _begin(self, block: Block, context: Context) -> BlockPrinter:
        """The printer of the current log: the client is chosen by the first event of the first log."""
        if self._log is None:
            self._position = int(block.positions[0])
            # Nothing is printed of a log that cannot be read.
            self._read(block, 0, Context.of(context.layout))
            if self.printer is None:
                self.printer = self._printer_of(block.event(0))
                self.write(self.printer.start_all())
            self._log = BlockPrinter(self.printer, self.reader, self.selection, context, self._threads)
            self.printer.start_log()
        return self._log

    def _printer_of(self, event: ParsedEvent | None) -> Printer:
        if event is not None and is_of_mariadb(event):
            if self.options.require_row_format:
                raise UsageError("--require-row-format works on MySQL logs only")
            from binlog_kaitai.dump.mariadb_binlog import MariadbPrinter, version_of

            make: type[MariadbPrinter] = MariadbPrinter
            if self.options.flashback:
                from binlog_kaitai.dump import flashback

                make = flashback.FlashbackPrinter
            return make(self.options, self.write, self.loads, version_of(event.body.server_version))
        if self.options.flashback and event is not None:
            raise UsageError("--flashback works on MariaDB logs only; use `sql --undo` for other logs")
        if self.options.filters_domains and event is not None:
            raise UsageError("domains and MariaDB GTIDs work on MariaDB logs only; use --include-gtids")
        from binlog_kaitai.dump.mysqlbinlog import MysqlPrinter

        return MysqlPrinter(self.options, self.write, self.loads)


def _copied(block: Block) -> Block:
    """A block that stays valid when others are read."""
    copied = block.part(0, len(block))
    copied.data = block.data.copy()
    return copied


def _tail_of(blocks: BlockReader) -> Tail:
    return blocks.tail or Tail(TailKind.NOTHING, blocks.position, 0)


def is_of_mariadb(event: ParsedEvent) -> bool:
    """Whether the first event of a log shows that MariaDB wrote it."""
    body = event.body
    if "mariadb" in getattr(body, "server_version", "").lower():
        return True
    return len(getattr(body, "len_post_headers", ())) >= EventType.annotate_rows_event
