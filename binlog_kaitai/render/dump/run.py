"""From sources to the text of a dump: which events are printed, and in which dress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO

import numpy as np

from binlog_kaitai.columns.blocks.block import Block
from binlog_kaitai.columns.blocks.reader import BlockReader
from binlog_kaitai.columns.kernels import BAD
from binlog_kaitai.columns.rows.tables import last_of_each
from binlog_kaitai.context import Context
from binlog_kaitai.errors import BinlogError, SourceError, UsageError
from binlog_kaitai.framing import Frame, Framer, Tail, TailKind
from binlog_kaitai.grammar import EventType
from binlog_kaitai.reader import Event, LogReader, judge_end
from binlog_kaitai.render.dump.blocks.chosen import chosen_part, has_pieces, passed_over
from binlog_kaitai.render.dump.blocks.mariadb import MariadbBlocks
from binlog_kaitai.render.dump.blocks.mysql import MysqlBlocks
from binlog_kaitai.render.dump.blocks.printer import BlockPrinter, is_plain
from binlog_kaitai.render.dump.flashback import FlashbackPrinter
from binlog_kaitai.render.dump.item import Item, inner_item, item_of
from binlog_kaitai.render.dump.loads import LoadFiles
from binlog_kaitai.render.dump.mariadb import MariadbPrinter, version_of
from binlog_kaitai.render.dump.mysql import MysqlPrinter
from binlog_kaitai.render.dump.options import DumpOptions
from binlog_kaitai.render.dump.printer import Printer, Write
from binlog_kaitai.render.dump.rewrite import rewrite
from binlog_kaitai.render.dump.selection import Selection, Verdict
from binlog_kaitai.sources import MAGIC, Source, SourceLike, resolve
from binlog_kaitai.transactions import GtidTracker

#: Most bytes and events of a block: each block costs some milliseconds, each event memory.
_BLOCK_SIZE, _MOST_EVENTS = 16 << 20, 1 << 16

#: With these a log may begin.
_HEAD_TYPES = frozenset(
    (EventType.format_description_event, EventType.previous_gtids_log_event, EventType.rotate_event)
)


def dump(
    source: SourceLike | Iterable[SourceLike], write: Write, options: DumpOptions | None = None
) -> LogReader:
    """Print logs as the clients of their servers do.

    Parameters
    ----------
    source
        As :func:`binlog_kaitai.open` takes it.
    write
        Takes the text in pieces, as bytes.
    options
        What to show.

    Returns
    -------
    LogReader
        Whose `ends` tell how each log ended.

    Raises
    ------
    BinlogError
        A log is damaged, or it has what cannot be printed so; what was printed has its proper end.
    """
    options = options or DumpOptions()
    reader = LogReader(resolve(source), verify_checksums=options.verify_checksums)
    _Dump(reader, write, options).run()
    return reader


class _Dump:
    def __init__(self, reader: LogReader, write: Write, options: DumpOptions) -> None:
        self.reader = reader
        self.write = write
        self.options = options
        self.loads = LoadFiles(options.local_load)
        self.selection = Selection(options)
        self.printer: Printer | None = None
        self._outer: Item | None = None
        #: The format descriptions before the start position, if blocks are printed from there.
        self._rest: list[Event] = []
        self._has_begun = False

    def run(self) -> None:
        sources, is_broken = self.reader.sources, False
        with self.reader:
            try:
                for number, source in enumerate(sources):
                    self.selection.begin_log(is_first=number == 0, is_last=number == len(sources) - 1)
                    if not self._print_log(source):
                        break
            except BaseException:
                is_broken = True
                raise
            finally:
                if self.printer is None:
                    self.printer = self._printer_of(None)
                    self.write(self.printer.start_all())
                self.printer.is_broken = is_broken
                self.write(self.printer.end_all())

    def _print_log(self, source: Source) -> bool:
        """Print one log; False where the wanted events end."""
        self._has_begun = False
        self._outer = None
        self._rest = []
        start = self.selection.start_position
        try:
            if is_plain(self.options) and (start is None or start <= len(MAGIC)):
                if not self._print_blocks(source):
                    return False
            else:
                for event, shown_at in self._events(source):
                    if not self._show(event, shown_at):
                        return False
                if self._rest and start and not self._print_blocks(source, start, self._rest):
                    return False
            self._end_payload()
        finally:
            if self._has_begun:
                self._printer.end_log()
        return True

    def _show(self, event: Event, shown_at: int | None = None, passes: bool | None = None) -> bool:
        """Take an event that was read; False where the wanted events end.

        `passes` tells whether it is left out for the sake of its transaction, if that is known.
        """
        self._begin(event)
        if event.payload_index is not None:
            if self._outer is None:
                return True  # of a transaction that is left out
            item = inner_item(event, self._outer)
        else:
            self._end_payload()
            item = item_of(event)
        item.position = item.position if shown_at is None else shown_at
        verdict = self._print(item, passes)
        if verdict is Verdict.PRINT and item.kind == EventType.transaction_payload_event:
            self._outer = item
        return verdict is not Verdict.STOP

    def _end_payload(self) -> None:
        if self._outer is not None:
            self._printer.end_payload()
        self._outer = None

    def _print(self, item: Item, passes: bool | None) -> Verdict:
        """Print an event if it is wanted."""
        self._printer.check(item)
        is_filtered = self.selection.filters_gtid(item) if passes is None else passes
        verdict = self.selection.judge(item)
        if verdict is Verdict.PRINT:
            if self._printer.rewritten:
                rewrite(item, self._printer.rewritten, rewrites_all=self._printer.rewrites_all)
            if is_filtered:
                self._printer.pass_over(item)
                return Verdict.SKIP
            self._printer.process(item)
        return verdict

    def _events(self, source: Source) -> Iterator[tuple[Event, int | None]]:
        """The events of a log from the wanted one on, a format description before it included.

        With each, where the client says that it is, if that is elsewhere.
        """
        start = self.selection.start_position
        if start is None or start <= len(MAGIC):
            yield from ((event, None) for event in self.reader.read_from(source, []))
            return
        events = self.reader.read_from(source, [])
        head: list[Event] = []
        following: Event | None = None
        for event in events:
            if event.position >= start or event.layout.effective_type(event.type_code) not in _HEAD_TYPES:
                following = event
                break
            head.append(event)
        formats = [one for one in head if one.type_code == EventType.format_description_event]
        yield from self._show_formats(formats, head)
        if following is not None and following.position >= start:
            yield following, None
        elif following is not None and source.path is not None and formats:
            if is_plain(self.options):
                self._rest = formats
                return
            events = self.reader.read_from(source, [*(one.position for one in formats), start])
        yield from ((event, None) for event in events if event.position >= start)

    def _print_blocks(self, source: Source, start: int = 0, formats: Iterable[Event] = ()) -> bool:
        """Print a log block by block; False where the wanted events end.

        Parameters
        ----------
        start, formats
            Where to begin if not at the log's first event, and the format descriptions before.
        """
        name, position, transactions = source.name, start, GtidTracker()
        try:
            with source.open() as stream:
                blocks = self._blocks(stream, name, start, formats)
                context = _context_of(blocks.context.layout.binlog_version, formats)
                printer: BlockPrinter | None = None
                for block in blocks:

                    def read(row: int, block: Block = block) -> Iterator[Event]:
                        nonlocal position
                        position = int(block.positions[row])
                        frame = Frame(position, block.fixed_header(row), block.raw(row))
                        yield from self.reader.events_of(name, frame, context, transactions)

                    def print_event(row: int, passes: bool | None = None) -> None:
                        for event in read(row):
                            if not self._show(event, passes=passes):
                                raise _Stopped

                    if printer is None and self.printer is not None and self._has_begun:
                        printer = blocks_of(self.printer, context)
                    if printer is None or block.is_special:
                        for row in range(len(block)):
                            print_event(row)
                    else:
                        self._print_block(printer, block, read, print_event)
                    position = int(block.end_positions[-1])
                tail = blocks.tail or Tail(TailKind.NOTHING, position, 0)
                self.reader.ends.append(judge_end(name, tail, context))
        except _Stopped:
            return False
        except BinlogError as error:
            raise error.at(file=name, position=position) from error.__cause__
        except OSError as error:
            raise SourceError(error.strerror or str(error), file=name) from error
        return True

    def _blocks(self, stream: BinaryIO, name: str, start: int, formats: Iterable[Event]) -> BlockReader:
        given: dict[str, Any] = {"block_size": _BLOCK_SIZE, "max_events": _MOST_EVENTS}
        given["leaves_checks"] = 0 if self.options.verify_checksums else 1
        if not start:
            return BlockReader.of_file(stream, name, **given)
        framer = Framer.of_file(stream)
        framer.skip_to(start)
        context = _context_of(framer.binlog_version, formats)
        return BlockReader(stream, context, start, name=name, **given)

    def _print_block(
        self,
        printer: BlockPrinter,
        block: Block,
        read: Callable[[int], Iterator[Event]],
        print_event: Callable[[int, bool | None], None],
    ) -> None:
        selection, header = self.selection, block.header
        others = selection.of_others(header.numbers("server_id"), block.types)
        timestamps = header.numbers("timestamp").astype(np.int64)
        begin, end = selection.range_of(timestamps, block.positions, others)
        passed, is_one_by_one = None, others is not None and has_pieces(block)
        if selection.filters_gtids:
            passed = passed_over(selection, block)
            is_one_by_one |= passed is None
        if is_one_by_one:
            for row in range(len(block)):
                print_event(row, None)
            return
        is_hidden = np.arange(len(block)) < begin
        if others is not None:
            is_hidden |= others
        shown = np.flatnonzero(~is_hidden[:end])
        if passed is not None:
            is_hidden |= passed
        for row in _remembered(block, is_hidden[:end]):
            for _ in read(row):
                pass
        if passed is None:
            passed = np.zeros(len(block), dtype=np.bool_)

        def print_shown(row: int) -> None:
            print_event(int(shown[row]), bool(passed[shown[row]]))

        printer.print(chosen_part(block, shown, passed[shown]), passed[shown], print_shown, self._end_payload)
        if end < len(block):
            print_event(end, False)

    def _show_formats(self, formats: list[Event], head: list[Event]) -> Iterator[tuple[Event, int | None]]:
        for one in formats[-1:]:
            if is_of_mariadb(one):
                if self.options.prints_base64:
                    yield one, None
                else:
                    self._begin(one)
            else:
                yield one, head[-1].end_position

    def _begin(self, event: Event) -> None:
        """Choose the dress by the first event of the first log, and begin a log."""
        if self.printer is None:
            self.printer = self._printer_of(event)
            self.write(self.printer.start_all())
        if not self._has_begun:
            self._has_begun = True
            self.printer.start_log()

    def _printer_of(self, event: Event | None) -> Printer:
        if event is not None and is_of_mariadb(event):
            if self.options.require_row_format:
                raise UsageError("--require-row-format is for logs of MySQL")
            make = FlashbackPrinter if self.options.flashback else MariadbPrinter
            return make(self.options, self.write, self.loads, version_of(event.body.server_version))
        if self.options.flashback and event is not None:
            raise UsageError("--flashback is for logs of MariaDB; `sql --undo` takes back what others tell")
        return MysqlPrinter(self.options, self.write, self.loads)

    @property
    def _printer(self) -> Printer:
        if self.printer is None:
            raise AssertionError("no log has begun")
        return self.printer


def blocks_of(printer: Printer, context: Context) -> BlockPrinter:
    """What prints blocks as a printer prints events."""
    if isinstance(printer, MariadbPrinter):
        return MariadbBlocks(printer, context)
    assert isinstance(printer, MysqlPrinter)
    return MysqlBlocks(printer, context)


def _context_of(version: int, formats: Iterable[Event]) -> Context:
    context = Context(version)
    for one in formats:
        context.observe(one.raw, one.fixed_header)
    return context


def _remembered(block: Block, is_hidden: Any) -> list[int]:
    """The events among those that nobody prints that the reader has to see."""
    if not is_hidden.any():
        return []
    kind, count = EventType.table_map_event, len(is_hidden)
    events = block.rows_of(kind)
    own = np.flatnonzero(is_hidden[events[events < count]])
    ids = block.body(kind).numbers("table_id.value")[own]
    others = is_hidden & (
        (block.types[:count] == EventType.partial_row_data_event) | (block.checksums[:count] == BAD)
    )
    wanted = np.union1d(events[own][last_of_each(ids)], np.flatnonzero(others))
    found: list[int] = wanted.tolist()
    return found


class _Stopped(Exception):  # noqa: N818 - no error
    """The wanted events end."""


def is_of_mariadb(event: Event) -> bool:
    """Whether the first event of a log says that MariaDB wrote it."""
    body: Any = event.body
    if "mariadb" in getattr(body, "server_version", "").lower():
        return True
    return len(getattr(body, "post_header_lengths", ())) >= EventType.annotate_rows_event
