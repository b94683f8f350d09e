"""Repairs a damaged log: writes all its intact events, by default only of complete transactions, to a new
log.

The result is verified before it gets its final name.
"""

from __future__ import annotations

import io
import os
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import BinaryIO, NamedTuple, Unpack

import numpy as np

from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.check.format_search import CorrectedStart, Rebuilt
from binlog_kaitai.check.log_start import find_log_start, read_log_start, replaced
from binlog_kaitai.check.log_writer import LogWriter, writing
from binlog_kaitai.check.salvage import Doubtful, knows_gtids, lost_in
from binlog_kaitai.check.verify_report import Report
from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import EventType, Format
from binlog_kaitai.core.options import takes
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.errors import (
    BinlogError,
    DamagedError,
    DefinitionWarning,
    NotABinlogError,
    UsageError,
    reading,
)
from binlog_kaitai.kernels.arrays import Bools, Codes, Ints
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.log.boundaries import Boundaries, Roles, Segments, first_true, roles_of, sure_beginning
from binlog_kaitai.log.gaps import AroundDamage, Gap
from binlog_kaitai.log.payloads import expand
from binlog_kaitai.log.read_options import CopyOptions
from binlog_kaitai.log.transaction_roles import Outcome, Phase, Role, is_of_temporary_table
from binlog_kaitai.rows.row_images import Images
from binlog_kaitai.rows.table_maps import Tables
from binlog_kaitai.sources.disk import refuse_inputs
from binlog_kaitai.sources.keys import Keys
from binlog_kaitai.sources.source import Source, SourceLike, resolve

_PIECE, _PAYLOAD = EventType.partial_row_data_event, EventType.transaction_payload_event


@dataclass
class Open:
    """A transaction that may have more events.

    `position`, `target`: start position in the input log, and in the output log.
    `gtid`: its GTID.
    `length`: total length in bytes, if its GTID event states it.
    `size`, `events`: size and number of its events so far.
    """

    position: int
    target: int
    gtid: str | None = None
    length: int | None = None
    size: int = 0
    events: int = 0
    is_ended: bool = False

    @classmethod
    def from_event(cls, block: Block, row: int, target: int) -> Open:
        """The transaction that begins with an event of a block."""
        transaction = cls(int(block.positions[row]), target)
        if block.types[row] in GTID_TYPES:
            event = block.event(row)
            transaction.gtid = event.stated_gtid
            transaction.length = getattr(event.body, "len_transaction", None)
        return transaction

    def go_on(self, block: Block, rows: Ints, roles: Codes, phases: Codes) -> None:
        """Add more events, for which the state machine returned this."""
        self.size += int(block.sizes[rows].sum())
        self.events += len(rows)
        # An incident may follow the end.
        self.is_ended |= bool((roles == Role.END).any() or phases[-1] & Phase.ENDS)

    @property
    def is_complete(self) -> bool:
        """Whether nothing of it is missing at its end."""
        length = self.length or 0
        return self.size == length or (self.is_ended and self.size > length)


def sure_or_defining(block: Block, roles: Roles, *, has_gtids: bool) -> int:
    """`sure_beginning`, or DDL before that, which cannot occur inside a transaction without a GTID."""
    first = sure_beginning(roles.roles, has_gtids=has_gtids)
    defines = (roles.roles == Role.STATEMENT) & (roles.outcomes == Outcome.DDL)
    for row in [] if has_gtids else np.flatnonzero(defines[:first]).tolist():
        if not is_of_temporary_table(block.event(row).body.query):
            return row
    return first


def orphans(block: Block) -> int:
    """How many pieces of a rows event come first, after a gap that contains its first piece."""
    rows = block.rows_of(_PIECE)
    is_one = (rows == np.arange(len(rows))) & (block.body(_PIECE).numbers("fragment_number") != 1)
    return first_true(~is_one)


def rows_without_tables(block: Block, tables: Tables) -> Bools:
    """Which events are rows, or pieces of rows, without their table map (a bool array).

    `tables`: the table maps before the block; its own are added.
    """
    is_lost = np.zeros(len(block), dtype=np.bool_)
    # A payload that cannot be opened has its own table maps; a definition that does not match is not damage.
    with suppress(BinlogError), warnings.catch_warnings():
        warnings.simplefilter("ignore", DefinitionWarning)
        for part in expand(block):
            images = Images(part, tables)
            for row in images.rows[images.table_of < 0].tolist():
                first = last = int(np.searchsorted(block.positions, part.positions[row]))
                if block.types[last] == _PAYLOAD:
                    continue
                while first and block.types[first] == _PIECE and block.event(first).body.fragment_number > 1:
                    first -= 1  # a piece of the rows event that ends here
                is_lost[first : last + 1] = True
    return is_lost


def open_pieces(block: Block, first: int, target: int, before: Open | None) -> Open | None:
    """The pieces of an incomplete rows event at the end of a block.

    `first`, `target`: the first event of the block to be written, and its output position.
    `before`: the result for the previous block.
    """
    rows, body = block.rows_of(_PIECE), block.body(_PIECE)
    numbers, totals = body.numbers("fragment_number"), body.numbers("num_fragments")
    if not len(rows) or rows[-1] != len(block) - 1 or numbers[-1] == totals[-1]:
        return None
    begins = np.flatnonzero(numbers == 1)
    row = first
    if before is None or len(begins):
        row = int(rows[begins[-1]]) if len(begins) else first
        before = Open(int(block.positions[row]), target + int(block.positions[row] - block.positions[first]))
    before.size += int(block.sizes[row:].sum())
    before.events += len(block) - row
    return before


#: If one of these events occurs, every transaction begins with a GTID event.
_HAVE_GTIDS = {*GTID_TYPES, EventType.previous_gtids_log_event, EventType.gtid_list_event}

#: Reasons for leaving out the events of a relay log, rows, and pieces of a rows event.
_NO_FORMAT = "the format description of their server is lost"
_NO_TABLE = "the table map of these rows is lost"
_LOST = "part of it is lost"
_PIECES = "pieces of the rows event are missing"


class Dropped(NamedTuple):
    """Intact events that were left out: an incomplete transaction, or the rest of one.

    `gtid` is None if it is unknown.
    """

    position: int
    size: int
    events: int
    gtid: str | None
    reason: str


@dataclass
class Repair:
    """The result of repairing a log.

    `file`, `target`: the damaged log and the new one.
    `damages`: damage found in the damaged log (the first thousand).
    `damage_count`: total number of damages.
    `corrected`: offset of the single wrong byte of the first event that was corrected.
    `rebuilt`: how the first event was rebuilt, if more than one byte was wrong.
    `lost`: byte ranges without an intact event.
    `dropped`: intact events that were left out.
    `doubtful`: events that were kept although they are not proven intact.
    `result`: the verification report of the new log, which has no damage.
    """

    file: str
    target: str
    damages: list[BinlogError] = field(default_factory=list)
    damage_count: int = 0
    corrected: int | None = None
    rebuilt: Rebuilt | None = None
    lost: list[Gap] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    doubtful: list[Doubtful] = field(default_factory=list)
    result: Report = field(default_factory=lambda: Report(""))

    @property
    def lost_bytes(self) -> int:
        """Bytes of the damaged log that are not part of any event in the new one."""
        return sum(gap.stop - gap.start for gap in self.lost) + sum(part.size for part in self.dropped)

    @property
    def is_empty(self) -> bool:
        """Whether only the first event of the damaged log could be kept although it contained more."""
        return self.result.events <= 1 and self.lost_bytes > 0

    @property
    def lacks_format(self) -> bool:
        """Whether intact events were left out because their format is unknown."""
        return any(part.reason == _NO_FORMAT for part in self.dropped)


@takes(CopyOptions)
def repair(
    source: SourceLike,
    target: str | os.PathLike[str],
    *,
    keep_partial: bool = False,
    format_from: SourceLike | None = None,
    **options: Unpack[CopyOptions],
) -> Repair:
    """Write the intact events of a damaged log to a new log, like the command ``repair``.

    Parameters
    ----------
    source
        The damaged log; must be seekable.
    target
        Path of the new log, which is not encrypted.
    keep_partial
        Also keep the intact events of incomplete transactions, except incomplete split rows events, and rows
        whose table map is lost.
    format_from
        Another log of the same server: its first event replaces the damaged one.
    **options
        See :class:`CopyOptions`.

    Raises
    ------
    UsageError
        The target exists or is one of the logs, or there is not exactly one log, or it is not seekable.
    BinlogError
        The first event is damaged and cannot be proven, or the log is encrypted.
    """
    log, target = _single(source, options["keys"]), os.fspath(target)
    format_log = None if format_from is None else _single(format_from, options["keys"])
    inputs = [log.path, format_log.path if format_log else None]
    refuse_inputs(target, inputs)
    with reading(log.name), log.open() as stream:
        if not stream.seekable():
            raise UsageError("streams cannot be repaired; save the log to a file first", file=log.name)
        head = _header_of(stream, format_log)
    report = scan(log, partial(options["progress"], log), start=head)
    if report.not_checked is not None:
        raise report.not_checked
    done = Repair(log.name, target, report.damages, report.damage_count, head.corrected, head.rebuilt)
    if head.damage is not None:
        done.damages.insert(0, head.damage.at(file=log.name, position=0))
        done.damage_count += 1
    with (
        reading(log.name),
        log.open() as stream,
        writing(target, inputs, overwrite=options["overwrite"]) as writer,
    ):
        done.lost, done.doubtful = lost_in(stream, report, head)
        _Rebuild(writer, done, head, keep_partial=keep_partial).run(stream)
    done.result = scan(Source.of_path(target))
    if done.result.damage_count:
        raise done.result.damages[0]
    left_out = [(part.position, part.position + part.size) for part in done.dropped]
    done.doubtful = [
        event for event in done.doubtful if not any(start <= event.position < end for start, end in left_out)
    ]
    return done


def _single(source: SourceLike, keys: Keys | None) -> Source:
    if len(logs := resolve(source, keys)) != 1:
        raise UsageError("matches several logs; repair one at a time", file=str(source))
    return logs[0]


def _header_of(stream: BinaryIO, format_from: Source | None) -> CorrectedStart:
    """The start of a log, corrected, or that of another log with the same format."""
    if format_from is not None:
        with reading(format_from.name), format_from.open() as other:
            return replaced(stream, read_log_start(other))
    try:
        return find_log_start(stream)
    except BinlogError as error:
        if isinstance(error, NotABinlogError) and not isinstance(error, DamagedError):
            raise
        error.reason += "; use --format-from to take it from another log of the same server"
        raise


def _writes_gtids(layout: Format) -> bool:
    """Whether the server that wrote this format description begins every transaction with a GTID event.

    MariaDB does since 10.0, MySQL since 5.7. MySQL 5.6 has GTID events, but writes them only with
    gtid_mode=ON.
    """
    # Event types added in MySQL 5.7 distinguish it from 5.6.
    is_newer = layout.post_header_length_of(EventType.transaction_context_event) > 0
    is_mariadb = layout.post_header_length_of(EventType.gtid_event) > 0
    return knows_gtids(layout) and (is_newer or is_mariadb)


class _Rebuild:
    def __init__(self, writer: LogWriter, done: Repair, head: CorrectedStart, *, keep_partial: bool) -> None:
        self._writer = writer
        self._done = done
        self._header = head
        context = head.context
        self._keep_partial = keep_partial
        self._has_gtids = False
        # In a relay log, its own format is followed by that of the events' server, which is required to read
        # them.
        self._lacks_format = context.is_relay_log and bool(done.lost)
        self._is_adrift = False  # after a gap, with no certain start so far
        self._boundaries = Boundaries()
        self._open: Open | None = None
        self._pieces: Open | None = None
        self._tables = Tables(Definitions())

    def run(self, stream: BinaryIO) -> None:
        for block in BlockReader.of_file(io.BytesIO(self._header.data), self._done.file):
            self._take_usable(block)
        start, lost = self._header.end, self._done.lost
        known = [gap for gap in lost if gap.stop > start or gap.start >= start]
        if self._header.lost is not None:
            lost.insert(0, self._header.lost)
            self._close(_LOST)
        name, context, size = self._done.file, self._header.context, stream.seek(0, io.SEEK_END)
        for part in AroundDamage(stream, name, context, start, known=known):
            if isinstance(part, Block):
                self._take_usable(part)
            elif part in known:
                self._close(_LOST)
            elif part.start < size:
                raise part.error
        self._close("its end is missing")

    def _take_usable(self, block: Block) -> None:
        """Write a block, without rows whose table map is lost.

        They belong to a transaction that lost its beginning, whatever precedes them.
        """
        if not (self._keep_partial or self._done.lost):
            self._take(block)
            return
        is_lost = rows_without_tables(block, self._tables)
        limits = [0, *(np.flatnonzero(np.diff(is_lost)) + 1).tolist(), len(block)]
        for begin, end in pairwise(limits):
            if is_lost[begin]:
                if not self._keep_partial:
                    self._close(_NO_TABLE)
                size = int(block.end_positions[end - 1] - block.positions[begin])
                self._drop(int(block.positions[begin]), size, end - begin, None, _NO_TABLE)
            else:
                self._take(block if end - begin == len(block) else block.part(begin, end))

    def _take(self, block: Block) -> None:
        roles, first = roles_of(block), 0
        self._lacks_format &= not (block.is_special and int(block.positions[0]) > len(MAGIC))
        if self._lacks_format and not self._keep_partial:
            self._take_outside(block, roles)
            return
        self._has_gtids |= not _HAVE_GTIDS.isdisjoint(block.kinds)
        if self._is_adrift:
            if self._keep_partial:
                first, reason = orphans(block), _PIECES
            else:
                has_gtids = self._has_gtids or _writes_gtids(block.layout)
                first = sure_or_defining(block, roles, has_gtids=has_gtids)
                reason = "the start of their transaction may be lost"
            if first:
                size = int(block.end_positions[first - 1] - block.positions[0])
                self._drop(int(block.positions[0]), size, first, None, reason)
        if first < len(block):
            self._is_adrift = False
            segments = self._boundaries.divide(roles.part(first, len(block)))
            self._note_open(block, segments, roles.roles, first)
            self._pieces = open_pieces(block, first, self._writer.position, self._pieces)
            self._writer.write(block, np.arange(first, len(block)))

    def _take_outside(self, block: Block, roles: Roles) -> None:
        is_outside = roles.roles == Role.OUTSIDE
        self._writer.write(block, np.flatnonzero(is_outside))
        for row in np.flatnonzero(~is_outside).tolist():
            self._drop(int(block.positions[row]), int(block.sizes[row]), 1, None, _NO_FORMAT)

    def _note_open(self, block: Block, segments: Segments, roles: Codes, first: int) -> None:
        if not segments.is_open:
            self._open = None
            return
        rows = segments.rows[segments.starts[-1] :] + first
        if self._open is None or not (segments.continues and len(segments.starts) == 1):
            distance = int(block.positions[rows[0]] - block.positions[first])
            self._open = Open.from_event(block, int(rows[0]), self._writer.position + distance)
        assert segments.phases is not None
        self._open.go_on(block, rows, roles[rows], segments.phases[rows - first])

    def _close(self, reason: str) -> None:
        """End the open transaction at a gap or at the end of the log: drop it if it is incomplete."""
        begun, self._open = self._open, None
        pieces, self._pieces = self._pieces, None
        # Pieces may also follow the end of a transaction, which is complete without them.
        if self._keep_partial or begun is None or begun.is_complete:
            begun, reason = pieces, _PIECES
        if begun is not None and not begun.is_complete:
            self._writer.truncate(begun.target)
            self._drop(begun.position, begun.size, begun.events, begun.gtid, reason)
        self._boundaries = Boundaries()
        self._is_adrift = True

    def _drop(self, position: int, size: int, events: int, gtid: str | None, reason: str) -> None:
        dropped, last = self._done.dropped, self._done.dropped[-1:]
        if gtid is None and last and last[0].position + last[0].size == position and last[0].reason == reason:
            dropped[-1] = last[0]._replace(size=last[0].size + size, events=last[0].events + events)
        else:
            dropped.append(Dropped(position, size, events, gtid, reason))
