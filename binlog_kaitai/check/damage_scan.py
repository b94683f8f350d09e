"""Checks a log for damage in one pass, and counts its contents.

Checks the frame of every event, the position in its header, its checksum, the contents of compressed
transactions, bodies and rows (see `damaged_bodies`). Damage does not end the pass: after an impossible
header, it continues at the next complete event, if the file is seekable.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, Unpack

import numpy as np

from binlog_kaitai.check.damaged_bodies import Bodies, check_images
from binlog_kaitai.check.series_check import SeriesCheck
from binlog_kaitai.check.verify_report import MAX_DAMAGES, LogReports, Report
from binlog_kaitai.core.adapter import gtid_set
from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import POSITION_MASK, EventType, header_offset
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.options import takes
from binlog_kaitai.core.spans import PREVIOUS_TYPES
from binlog_kaitai.core.transactions import GTID_TYPES, mariadb_gtid
from binlog_kaitai.errors import AnotherLogError, BinlogError, FramingError, GrammarError, reading
from binlog_kaitai.kernels.arrays import Bytes
from binlog_kaitai.kernels.byte_kernels import BAD, NONE, OK
from binlog_kaitai.log import checksum_runs as checksums
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.block_reader import BLOCK_SIZE, BlockReader, find_drifts
from binlog_kaitai.log.boundaries import Boundaries, QuiescentPoints
from binlog_kaitai.log.gaps import TO_THE_END, AroundDamage, Gap
from binlog_kaitai.log.gtid_runs import add_gtids
from binlog_kaitai.log.log_end import EndKind
from binlog_kaitai.log.payloads import expand
from binlog_kaitai.log.read_options import DefinitionOptions, KeyOptions, PassOptions
from binlog_kaitai.log.series import SeriesDefinitions
from binlog_kaitai.log.threads import in_order, prefetches_with, thread_count
from binlog_kaitai.rows.table_maps import Tables
from binlog_kaitai.sources.source import Source, SourceLike, resolve

if TYPE_CHECKING:
    from binlog_kaitai.check.format_search import CorrectedStart

#: Maximum size of a block, and number of its events. Part of the work for a block is independent of its size.
_BLOCK_SIZE, _MAX_EVENTS = 4 * BLOCK_SIZE, 1 << 16


def scan(
    source: Source,
    progress: Callable[[int], object] | None = None,
    *,
    is_thorough: bool = False,
    definitions: SeriesDefinitions | None = None,
    start: CorrectedStart | None = None,
    threads: int | None = None,
) -> Report:
    """Check a log.

    `progress`: called periodically with the offset reached.
    `is_thorough`: check every body, and the rows of every rows event, even those with correct checksums.
    `definitions`: table definitions in force before the log. The statements of the log are added if its rows
    are checked.
    `start`: replaces the damaged start of the log, which must be seekable.
    `threads`: number of threads that compute checksums, see `thread_count`.
    Raises `SourceError`: the file cannot be read. Damage of the log itself is part of the report.
    """
    report = Report(source.name)
    with reading(source.name), source.open() as stream:
        scanning = _Scan(
            report,
            progress or (lambda position: None),
            SeriesDefinitions() if definitions is None else definitions,
            is_thorough=is_thorough,
            threads=thread_count(threads, [source]),
        )
        scanning.run(stream, start)
    return report


class _Scan:
    def __init__(
        self,
        report: Report,
        progress: Callable[[int], object],
        definitions: SeriesDefinitions,
        *,
        is_thorough: bool,
        threads: int,
    ) -> None:
        self._threads = threads
        self._report = report
        self._progress = progress
        self._begin = len(MAGIC)  # of the log's first event; of a later log in the same file, once reached
        self._after_format: int | None = None  # end of the log's first event
        self._is_relay_log = False
        # Difference between positions in headers and offsets; unknown directly after lost bytes.
        self._drift: int | None = 0
        self._is_exact = True
        self._off_to_the_end: BinlogError | None = None
        self._bodies = Bodies(all_of_them=is_thorough)
        self._definitions = definitions
        self._tables: Tables | None = None  # set at the first event
        self._is_thorough = is_thorough
        self._boundaries = Boundaries()

    def run(self, stream: BinaryIO, start: CorrectedStart | None = None) -> None:
        report = self._report
        try:
            blocks = self._around(stream, start)
        except BinlogError as error:
            report.add(error.at(file=report.file, position=0), TO_THE_END)
            return
        try:
            for item in in_order(iter(blocks), _checked, self._threads, _size):
                if isinstance(item, Block):
                    self._take(item)
                    self._progress(int(item.positions[-1] + item.sizes[-1]))
                elif not item.is_last:
                    self._note_gap(item.start, item.stop, item.error)
                elif blocks.end is None or blocks.end.kind is EndKind.TRUNCATED:
                    raise item.error
            blocks.finish()
        except BinlogError as error:
            report.add(error.at(file=report.file, position=blocks.reader.position), TO_THE_END)
        tail, report.end = blocks.reader.tail, blocks.end
        report.size = blocks.reader.position + (tail.size if tail else 0)
        if self._drift and self._off_to_the_end is not None:
            report.add(self._off_to_the_end)
        report.bodies = self._bodies.count

    def _around(self, stream: BinaryIO, start: CorrectedStart | None) -> AroundDamage:
        """All blocks of a log; with `start`, those after the replaced start."""
        name = self._report.file
        context, position = None, 0
        if start is not None:
            first = BlockReader.of_file(io.BytesIO(start.data), name)
            for block in first:
                self._take(block)
            self._drift = None
            context, position = first.context, start.end
            stream.seek(position)
        return AroundDamage(
            stream,
            name,
            context,
            position,
            enters_logs=True,
            leaves_pieces=True,
            leaves_checks=self._threads > 1,
            block_size=_BLOCK_SIZE,
            max_events=_MAX_EVENTS,
            prefetches=prefetches_with(self._threads),
            shares_blocks=self._threads > 1,
        )

    def _note_gap(self, start: int, stop: int, error: BinlogError) -> None:
        self._drift = None
        if isinstance(error, AnotherLogError):
            self._begin, self._is_relay_log = stop, False
        else:
            reason = f"{error.reason}; the next intact event begins {stop - start} bytes later, at {stop}"
            error = FramingError(reason, position=start)
        self._report.add(error.at(file=self._report.file, position=start), stop)

    def _take(self, block: Block) -> None:
        report = self._report
        report.events += len(block)
        damages: list[BinlogError] = []
        statuses = checksums.check(block)
        whole = statuses == OK
        is_whole = bool(whole.all())
        checked = True if is_whole else whole
        counts = [0, len(block), 0] if is_whole else np.bincount(statuses, minlength=3).tolist()
        for name, count in zip(checksums.STATUSES, counts, strict=True):
            report.checksums[name] += count
        for row in [] if is_whole else np.flatnonzero(statuses == BAD).tolist():
            damages.append(checksums.error_at(block, row))
        self._note_times(block)
        if block.is_special:
            self._note_format(block)
        damages += self._check_positions(block)
        for part in self._expanded(block, damages):
            if part is not block:
                report.inner_events += int((part.end_positions != part.positions + part.sizes).sum())
            read = self._note_previous(part, damages)
            damages += self._bodies.check(part, checked if part is block else None, read)
            if self._is_thorough or not block.layout.is_checksummed:
                damages += self._check_images(part, block, statuses)
            self._count_transactions(part, damages)
        for error in sorted(damages, key=lambda error: error.position or 0):
            report.add(error, _end_of(block, error))
            if isinstance(error, GrammarError):
                report.invalid.add(int(block.positions[_row_of(block, error)]))

    def _check_images(self, part: Block, block: Block, statuses: Bytes) -> Iterator[BinlogError]:
        """Check the rows of all events that are neither damaged nor inside a damaged event."""
        if self._tables is None:
            server_id = block.fixed_header(0).server_id
            self._tables = Tables(self._definitions.of(self._report.file, server_id))
        wanted, is_bad = np.ones(len(part), dtype=np.bool_), statuses == BAD
        if is_bad.any():
            wanted = ~is_bad[np.searchsorted(block.positions, part.positions)]
        wanted[self._bodies.refused] = False
        return check_images(part, self._tables, wanted)

    def _note_times(self, block: Block) -> None:
        report, first = self._report, block.fixed_header(0)
        if report.server_id is None:
            report.server_id, report.first_time = first.server_id, first.timestamp or None
        report.last_time = block.fixed_header(len(block) - 1).timestamp or report.last_time

    def _note_format(self, block: Block) -> None:
        """Detect a relay log, by a flag or by a second format description, that of the source."""
        is_first = block.positions[0] == self._begin
        self._is_relay_log |= not is_first or bool(np.asarray(block.header["is_relay_log"]).any())
        self._is_exact = checksums.check(block)[0] != NONE
        position = int(block.positions[0])
        if self._report.server_version is None:
            with suppress(BinlogError):  # damage of the body, which is checked below
                self._report.server_version = getattr(block.event(0).body, "server_version", None)
        if block.types[0] == EventType.format_description_event and position > len(MAGIC):
            self._report.formats.append((position, block.raw(0)))

    def _expanded(self, block: Block, damages: list[BinlogError]) -> Iterator[Block]:
        while True:
            try:
                yield from expand(block)
                return
            except BinlogError as error:
                damages.append(error.at(file=block.file, position=int(block.positions[0])))
                done = int(np.searchsorted(block.positions, error.position or 0, side="right"))
                block = block.part(done, len(block))

    def _check_positions(self, block: Block) -> Iterator[BinlogError]:
        """Compare the position in each header with the offset of the event, except in relay logs.

        After a lost event, all positions are off by its length, which is reported once. Servers without
        checksums used other positions inside transactions; there, only a difference that persists is
        reported. In a log that a server sent from a start position, all positions are off by the same
        distance: the server clears the position in the format description. In a Galera write set, they
        count from its first event, and events have no checksums.
        """
        if block.layout.binlog_version < 4 or self._is_relay_log:
            self._off_to_the_end = None
            return
        first = block.fixed_header(0)
        if int(block.positions[0]) == self._begin:
            self._after_format = self._begin + first.len_event
            if first.next_position in (0, first.len_event):
                self._drift = None
                return
        if self._drift is None:
            self._drift = _first_drift(block)
        elif int(block.positions[0]) == self._after_format and not block.layout.is_checksummed:
            # Positions that are too low cannot mean that events are lost.
            drift = _first_drift(block) or 0
            self._drift = drift if drift > POSITION_MASK // 2 else self._drift
        off = np.empty(min(len(block), MAX_DAMAGES), dtype=np.int64)
        position = int(block.positions[0] - block.starts[0])
        find = find_drifts.run
        offsets = block.data, block.starts, block.sizes, header_offset("next_position")
        count, self._drift = find(*offsets, position, self._drift or 0, off)
        for row in off[:count].tolist():
            stated, end = block.fixed_header(row).next_position, int(block.end_positions[row])
            reason = f"its header gives the end as {stated} instead of {end}"
            error = block.event(row).locate(FramingError(reason, field="header.next_position"))
            if self._is_exact:
                yield error
            else:
                self._off_to_the_end = error

    def _count_transactions(self, block: Block, damages: list[BinlogError]) -> None:
        report = self._report
        report.transactions += self._count(block, damages)
        add_gtids(report.gtids, block)
        report.open_gtid = _open_gtid(block, report.open_gtid)

    def _count(self, block: Block, damages: list[BinlogError]) -> int:
        """Number of transactions that begin in a block; events that cannot be decoded are damage instead."""
        count = 0
        while len(block):
            try:
                return count + self._boundaries.count(block)
            except BinlogError as error:
                if all(damage.position != error.position for damage in damages):
                    damages.append(error)
                after = int(np.searchsorted(block.positions, error.position or 0, side="right"))
                count += self._count(block.part(0, max(after - 1, 0)), damages)
                block = block.part(after, len(block))
        return count

    def _note_previous(self, block: Block, damages: list[BinlogError]) -> int | None:
        """Record the GTIDs before the log; returns the number of the event decoded for this."""
        rows = [int(block.rows_of(kind)[0]) for kind in PREVIOUS_TYPES if kind in block.counts]
        if self._report.previous_gtids is not None or not rows:
            return None
        row, previous = min(rows), GtidSet()
        event = block.event(row)
        try:
            body = event.body
            if block.types[row] == EventType.previous_gtids_log_event:
                previous = gtid_set(body.gtids)
        except BinlogError as error:
            damages.append(event.locate(error))
            return row
        if block.types[row] != EventType.previous_gtids_log_event:
            for gtid in body.gtids:
                previous.add(mariadb_gtid(gtid.domain_id, gtid.server_id, gtid.sequence_number))
        self._report.previous_gtids = previous
        return row


def _checked(item: Block | Gap) -> tuple[Block | Gap]:
    """A block whose checksums have been checked, and whose events have been divided by their type."""
    if isinstance(item, Block) and not item.is_special:
        checksums.check(item)
        _ = item.counts
    return (item,)


def _size(item: Block | Gap) -> int:
    return int(item.sizes.sum()) if isinstance(item, Block) else 0


def _open_gtid(block: Block, before: str | None) -> str | None:
    """The GTID of the transaction that is not complete at the end of a block; `before`: at its start."""
    if not len(block):
        return before
    start = max((int(block.rows_of(kind)[-1]) for kind in GTID_TYPES if kind in block.counts), default=-1)
    last = block.part(max(start, 0), len(block))
    try:
        if QuiescentPoints().of(last)[-1] == len(last):
            return None
        return before if start < 0 else block.event(start).stated_gtid
    except BinlogError:
        return None


def _first_drift(block: Block) -> int | None:
    """Difference between position and offset of the first event that has a position."""
    for row in range(len(block)):
        if stated := block.fixed_header(row).next_position:
            return (stated - int(block.end_positions[row])) & POSITION_MASK
    return None


def _end_of(block: Block, error: BinlogError) -> int | None:
    """End of the event that cannot be used; None if an event is missing before it.

    A format description that can be decoded takes effect even if its checksum is wrong.
    """
    if isinstance(error, FramingError) or block.types[0] == EventType.format_description_event:
        return None
    return int(block.end_positions[_row_of(block, error)])


def _row_of(block: Block, error: BinlogError) -> int:
    return int(np.searchsorted(block.positions, error.position or 0, side="right")) - 1


class VerifyOptions(KeyOptions, DefinitionOptions, PassOptions, total=False):
    """The keywords of :func:`verify`."""


@takes(VerifyOptions)
def verify(
    source: SourceLike | Iterable[SourceLike],
    *,
    thorough: bool = False,
    **options: Unpack[VerifyOptions],
) -> LogReports:
    """Check logs for damage, like the command ``verify``.

    Checks frames, positions, checksums, bodies, rows, and whether each log continues the one before it in its
    series. Damage does not raise an error; it is part of the report.

    Parameters
    ----------
    source
        Whatever :func:`binlog_kaitai.open` accepts.
    thorough
        Check all bodies and rows, also of events whose checksums match.
    **options
        See :class:`VerifyOptions`.

    Returns
    -------
    LogReports
        Iterator of `Report`, one per log, after it has been read; has `is_ok`, and a table in notebooks.

    Raises
    ------
    SourceError
        Immediately: no log was found.
    """
    sources = resolve(source, options["keys"])
    return LogReports(_reports(sources, thorough, options))


def _reports(sources: list[Source], thorough: bool, options: VerifyOptions) -> Iterator[Report]:
    series, definitions = SeriesCheck(sources), SeriesDefinitions(sources, options["ddl"])
    for source in sources:
        advance = partial(options["progress"], source)
        report = scan(
            source, advance, is_thorough=thorough, definitions=definitions, threads=options["threads"]
        )
        series.take(report)
        yield report
