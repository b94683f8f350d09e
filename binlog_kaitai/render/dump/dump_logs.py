"""Runs a dump: selects the events of the sources, and the client to imitate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

from binlog_kaitai.core.context import Context
from binlog_kaitai.core.framing import MAGIC, Framer, Tail, TailKind
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.errors import BinlogError, SourceError, UsageError
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.log.event_reader import EventReader, ParsedEvent
from binlog_kaitai.log.log_end import classify_end
from binlog_kaitai.log.threads import thread_count
from binlog_kaitai.render.dump.dump_options import DumpOptions
from binlog_kaitai.render.dump.dump_output import LoadFiles, Write
from binlog_kaitai.render.dump.event_by_event import BLOCK_SIZE, MOST_EVENTS, LogEvents
from binlog_kaitai.render.dump.printed_event import PrintedEvent, inner_item, item_of, rewrite
from binlog_kaitai.render.dump.printer import Printer
from binlog_kaitai.render.dump.selection import Domains, DumpSelection, SelectionEndedError
from binlog_kaitai.sources.source import Source, SourceLike, resolve

if TYPE_CHECKING:
    from binlog_kaitai.render.dump.block_by_block import LogBlocks


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
) -> EventReader:
    """Print logs like the clients of their servers.

    `source`: the logs, as for :func:`binlog_kaitai.open`.
    `write`: receives the text in pieces, as bytes.
    `options`: what to show.
    `threads`: number of threads that write text: by default, one.
    Returns the reader, whose `ends` describe how each log ended.
    Raises `BinlogError`: a log is damaged, or contains something that cannot be printed; the text printed so
    far is properly terminated.
    """
    options = options or DumpOptions()
    reader = EventReader(resolve(source), verify_checksums=options.verify_checksums)
    _Dump(reader, write, options, thread_count(threads, reader.sources)).run()
    return reader


class _Dump:
    def __init__(self, reader: EventReader, write: Write, options: DumpOptions, threads: int) -> None:
        self.reader = reader
        self._threads = threads
        self.write = write
        self.options = options
        self.loads = LoadFiles(options.local_load)
        self.selection = DumpSelection(options)
        self.domains = Domains(options)
        self.printer: Printer | None = None
        self.outer: PrintedEvent | None = None
        #: The format descriptions before the start position, if blocks are printed from there.
        self._rest: list[ParsedEvent] = []
        self._has_begun = False

    def run(self) -> None:
        sources, is_broken = self.reader.sources, False
        with self.reader:
            try:
                for number, source in enumerate(sources):
                    self.selection.begin_log(is_first=number == 0, is_last=number == len(sources) - 1)
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
        self._has_begun = False
        self.outer = None
        self._rest = []
        start = self.selection.start_position
        try:
            if start is None or start <= len(MAGIC):
                self._print_blocks(source)
            else:
                for event, shown_at in self._events_from(source, start):
                    self.show(event, shown_at)
                if self._rest:
                    self._print_blocks(source, start, self._rest)
            self.end_payload()
        finally:
            if self._has_begun:
                self._printer.end_log()

    def show(self, event: ParsedEvent, shown_at: int | None = None, passes: bool | None = None) -> None:
        """Process an event; `passes` is whether its transaction is left out, if that is known.

        Raises `SelectionEndedError`.
        """
        self._begin(event)
        if event.payload_index is not None:
            if self.outer is None:
                return  # in a transaction that is left out
            printed = inner_item(event, self.outer)
        else:
            self.end_payload()
            printed = item_of(event)
        printed.position = printed.position if shown_at is None else shown_at
        if self._print(printed, passes) and printed.kind == EventType.transaction_payload_event:
            self.outer = printed

    def end_payload(self) -> None:
        if self.outer is not None:
            self._printer.end_payload()
        self.outer = None

    def _print(self, printed: PrintedEvent, passes: bool | None) -> bool:
        """Print an event if it is selected, and return whether it is."""
        self._printer.check(printed)
        if not self.selection.selects(printed) or self.domains.hides(printed):
            return False
        if self.selection.filters_gtid(printed) if passes is None else passes:
            self._printer.pass_over(printed)
            return False
        if self._printer.rewritten:
            rewrite(printed, self._printer.rewritten, rewrites_all=self._printer.rewrites_all)
        self._printer.process(printed)
        return True

    def _events_from(self, source: Source, start: int) -> Iterator[tuple[ParsedEvent, int | None]]:
        """The events of a log from an offset on, with any format description before it.

        Each event comes with the position the client prints, if that differs. If blocks can be read from the
        offset on, only the events before it are yielded; `_rest` then holds the format descriptions among
        them.
        """
        events = self.reader.read_from(source)
        head: list[ParsedEvent] = []  # what a client reads before it seeks to the start position
        following: ParsedEvent | None = None
        last_read = 0
        for event in events:
            if event.position >= start:
                following = event
                break
            head.append(event)
            last_read = event.position
            if event.layout.effective_type(event.type_code) not in _HEADER_TYPES:
                break
        else:
            if head and head[-1].end_position < start:
                last_read = head[-1].end_position
        formats = [event for event in head if event.type_code == EventType.format_description_event]
        yield from self._show_formats(formats, last_read)
        if following is not None:
            yield following, None
        elif formats and head[-1].end_position < start and source.path is not None:
            self._rest = formats
            return
        yield from ((event, None) for event in events if event.position >= start)

    def _print_blocks(self, source: Source, start: int = 0, formats: Iterable[ParsedEvent] = ()) -> None:
        """Print a log block by block.

        `start`, `formats`: where to begin, if not at the log's first event, and the format descriptions
        before that.
        """
        name, log = source.name, None
        try:
            with source.open() as stream:
                blocks = self._blocks(stream, name, start, formats)
                context = _context_of(blocks.context.layout.binlog_version, formats)
                context.layout = blocks.context.layout
                log, in_bulk = LogEvents(self, name, start, context), None
                held: list[ParsedEvent] = []
                for block in blocks:
                    log.count(block)
                    if self.printer is None and not block.is_special and block.layout.binlog_version == 4:
                        held += log.events_of(block)  # before the format description, which tells the client
                        continue
                    if held:
                        self._begin(block.event(0))
                        for event in held:
                            self.show(event)
                        held = []
                    has_payloads = EventType.transaction_payload_event in block.kinds
                    if block.is_special or not self._has_begun or not (log.pays() or has_payloads):
                        log.print(block)
                        continue
                    in_bulk = in_bulk or (self._in_bulk(log) if is_plain(self.options) else log)
                    in_bulk.print(block)
                tail = blocks.tail or Tail(TailKind.NOTHING, log.position, 0)
                self.reader.ends.append(classify_end(name, tail, context))
        except BinlogError as error:
            position = start if log is None else log.position
            raise error.at(file=name, position=position) from error.__cause__
        except OSError as error:
            raise SourceError(error.strerror or str(error), file=name) from error

    def _in_bulk(self, log: LogEvents) -> LogBlocks:
        # Deferred imports: small logs are printed event by event.
        from binlog_kaitai.render.dump.block_by_block import LogBlocks
        from binlog_kaitai.render.dump.block_printer import BlockPrinter

        return LogBlocks(log, BlockPrinter(self._printer, self, log.context, self._threads))

    def _blocks(self, stream: BinaryIO, name: str, start: int, formats: Iterable[ParsedEvent]) -> BlockReader:
        arguments: dict[str, Any] = {
            "block_size": BLOCK_SIZE,
            "max_events": MOST_EVENTS,
            "leaves_checks": not self.options.verify_checksums,
            "verify_checksums": self.options.verify_checksums,
            "prefetches": self._threads > 1,
        }
        if not start:
            return BlockReader.of_file(stream, name, **arguments)
        framer = Framer.of_file(stream)
        framer.skip_to(start)
        context = _context_of(framer.binlog_version, formats)
        return BlockReader(stream, context, start, name=name, **arguments)

    def _show_formats(
        self, formats: list[ParsedEvent], last_read: int
    ) -> Iterator[tuple[ParsedEvent, int | None]]:
        for event in formats[-1:]:
            if is_of_mariadb(event):
                if self.options.prints_base64:
                    yield event, None
                else:
                    self._begin(event)
            else:
                yield event, last_read  # the position of mysqlbinlog at that time

    def _begin(self, event: ParsedEvent) -> None:
        """Choose the client by the first event of the first log, and start a log."""
        if self.printer is None:
            self.printer = self._printer_of(event)
            self.write(self.printer.start_all())
        if not self._has_begun:
            self._has_begun = True
            self.printer.start_log()

    def _printer_of(self, event: ParsedEvent | None) -> Printer:
        if event is not None and is_of_mariadb(event):
            if self.options.require_row_format:
                raise UsageError("--require-row-format works on MySQL logs only")
            from binlog_kaitai.render.dump.mariadb_binlog import MariadbPrinter, version_of

            make: type[MariadbPrinter] = MariadbPrinter
            if self.options.flashback:
                from binlog_kaitai.render.dump import flashback

                make = flashback.FlashbackPrinter
            return make(self.options, self.write, self.loads, version_of(event.body.server_version))
        if self.options.flashback and event is not None:
            raise UsageError("--flashback works on MariaDB logs only; use `sql --undo` for other logs")
        if self.options.filters_domains and event is not None:
            raise UsageError("domains and MariaDB GTIDs work on MariaDB logs only; use --include-gtids")
        from binlog_kaitai.render.dump.mysqlbinlog import MysqlPrinter

        return MysqlPrinter(self.options, self.write, self.loads)

    @property
    def _printer(self) -> Printer:
        if self.printer is None:
            raise AssertionError("no log has begun")
        return self.printer


def is_plain(options: DumpOptions) -> bool:
    """Whether all events are printed unchanged, or left out based on their headers or GTIDs."""
    return not (options.require_row_format or options.flashback or options.filters_domains)


def _context_of(version: int, formats: Iterable[ParsedEvent]) -> Context:
    context = Context(version)
    for event in formats:
        context.observe(event.raw, event.fixed_header)
    return context


def is_of_mariadb(event: ParsedEvent) -> bool:
    """Whether the first event of a log shows that MariaDB wrote it."""
    body = event.body
    if "mariadb" in getattr(body, "server_version", "").lower():
        return True
    return len(getattr(body, "len_post_headers", ())) >= EventType.annotate_rows_event
