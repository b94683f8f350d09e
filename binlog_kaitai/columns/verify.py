"""One pass over a log that finds all damage it can, and counts what is there.

Checked: the frame of every event, the position in its header, its checksum, the insides of compressed
transactions, and by the record layouts the body of events that have no checksum. No damage ends the pass:
behind a header that cannot be right it goes on at the next whole event, if the file can seek.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from binlog_kaitai.adapter import gtid_set, gtid_text
from binlog_kaitai.columns import checksums
from binlog_kaitai.columns.block import Block
from binlog_kaitai.columns.blocks import BlockReader
from binlog_kaitai.columns.gtids import uuids_of
from binlog_kaitai.columns.kernels import BAD, OK
from binlog_kaitai.columns.payloads import expand
from binlog_kaitai.columns.resync import find_event
from binlog_kaitai.context import Context
from binlog_kaitai.errors import BinlogError, ChecksumError, FramingError, SourceError, TruncatedError
from binlog_kaitai.framing import Tail, TailKind
from binlog_kaitai.grammar import EventType
from binlog_kaitai.gtids import GtidSet
from binlog_kaitai.reader import End, EndKind, judge_end
from binlog_kaitai.sources import Source
from binlog_kaitai.transactions import GTID_TYPES, mysql_gtid

#: More damages than this are counted, not kept.
MAX_DAMAGES = 1000

#: Length of the text of a UUID; a source of MariaDB, `domain-server`, is shorter.
_UUID_LENGTH = 36

_ENDS_OF_TRANSACTIONS = (EventType.xid_event, EventType.xa_prepare_log_event)


@dataclass
class Report:
    """What a pass over one log found.

    Attributes
    ----------
    file : str
        Name of the log.
    size : int
        Its length in bytes, as far as it was read.
    events, inner_events, transactions : int
        Events of the file itself, events inside compressed transactions, transactions.
    checksums : dict
        Number of the file's own events by the state of their checksum: ``"ok"``, ``"bad"``, ``"none"``.
    damages : list of BinlogError
        The first :data:`MAX_DAMAGES` damages, in the order of the file.
    damage_count : int
        How many there are.
    end : End or None
        How the file ended; None if reading stopped before.
    previous_gtids : GtidSet or None
        What the log says that came before it; None where it says nothing.
    gtids : GtidSet
        The transactions in it.
    """

    file: str
    size: int = 0
    events: int = 0
    inner_events: int = 0
    transactions: int = 0
    checksums: dict[str, int] = field(default_factory=lambda: dict.fromkeys(checksums.STATUSES, 0))
    damages: list[BinlogError] = field(default_factory=list)
    damage_count: int = 0
    end: End | None = None
    previous_gtids: GtidSet | None = None
    gtids: GtidSet = field(default_factory=GtidSet)

    def add(self, error: BinlogError) -> None:
        """Note a damage."""
        self.damage_count += 1
        if len(self.damages) < MAX_DAMAGES:
            self.damages.append(error)

    def gaps(self) -> dict[str, list[tuple[int, int]]]:
        """First and last of the numbers that are left out between the log's GTIDs, by source.

        In MySQL a source is a server (and tag), and numbers of the logs before count as there. In MariaDB
        it is a domain, whose numbers go on from server to server. A gap need not be damage: filters,
        crashes and Group Replication leave some too.
        """
        by_source = GtidSet()
        for gtids in (self.gtids, self.previous_gtids or GtidSet()):
            for source, intervals in gtids.items():
                for first, last in intervals:
                    # Of what came before, MariaDB states only the last number.
                    start = first if _is_mysql(source) or gtids is self.gtids else 1
                    by_source.add_range(_numbered_by(source), start, last + 1)
        own = {_numbered_by(source) for source, _ in self.gtids.items()}
        return {
            source: gaps for source, found in by_source.items() if source in own and (gaps := found.gaps())
        }


def _is_mysql(source: str) -> bool:
    return len(source) >= _UUID_LENGTH


def _numbered_by(source: str) -> str:
    """What has its own sequence of numbers: a server (and tag) of MySQL, a domain of MariaDB."""
    return source if _is_mysql(source) else source.partition("-")[0]


def scan(source: Source, progress: Callable[[int], object] | None = None) -> Report:
    """Check one log.

    Parameters
    ----------
    source
        The log.
    progress
        Gets the offset that has been reached, now and then.

    Raises
    ------
    SourceError
        The file cannot be read. What is wrong with the log itself is in the report.
    """
    report = Report(source.name)
    try:
        with source.open() as stream:
            _Scan(report, progress or (lambda position: None)).run(stream)
    except OSError as error:
        raise SourceError(error.strerror or str(error), file=source.name) from error
    return report


class _Scan:
    def __init__(self, report: Report, progress: Callable[[int], object]) -> None:
        self._report = report
        self._progress = progress
        self._is_relay_log = False
        self._drift = 0  # of the positions in the headers, against where the events are
        self._has_gtids = False
        self._ended = 0  # transactions, by their last events

    def run(self, stream: Any) -> None:
        report = self._report
        try:
            reader: BlockReader | None = BlockReader.of_file(stream, report.file)
        except BinlogError as error:
            report.add(error.at(file=report.file, position=0))
            return
        while reader is not None:
            reader = self._run_to_damage(reader, stream)
        report.transactions = report.transactions if self._has_gtids else self._ended

    def _run_to_damage(self, reader: BlockReader, stream: Any) -> BlockReader | None:
        """Read up to the end or to where the frames are lost; gives the reader of what follows."""
        report = self._report
        found: BinlogError | None = None
        try:
            for block in reader:
                self._take(block, reader)
                self._progress(reader.position)
        except BinlogError as error:
            found = error.at(file=report.file, position=reader.position)
        report.size = reader.position + (reader.tail.size if reader.tail else 0)
        following = self._find_following(reader, stream, found)
        if following is not None:
            reason = found.reason if found else "the event does not end where its header says"
            skipped = following.position - reader.position
            reason += f"; the next whole event is {skipped} bytes on, at {following.position}"
            report.add(FramingError(reason, file=report.file, position=reader.position))
        elif found is not None:
            report.add(found)
        elif reader.tail is not None:
            self._note_end(reader.tail, reader.context)
        return following

    def _find_following(
        self, reader: BlockReader, stream: Any, found: BinlogError | None
    ) -> BlockReader | None:
        is_lost = isinstance(found, FramingError) or (found is None and reader.tail is not None)
        if not is_lost or (reader.tail and reader.tail.kind is TailKind.NOTHING) or not stream.seekable():
            return None
        layout, start = reader.context.layout, reader.position + 1
        position = find_event(stream, start, layout, is_relay_log=self._is_relay_log)
        if position is None:
            return None
        stream.seek(position)
        self._drift = 0
        return BlockReader(stream, reader.context, position, name=reader.name)

    def _note_end(self, tail: Tail, context: Context) -> None:
        try:
            self._report.end = judge_end(self._report.file, tail, context)
        except TruncatedError as error:
            self._report.add(error)
            self._report.end = End(self._report.file, EndKind.TRUNCATED, tail.position, tail.size)

    def _take(self, block: Block, reader: BlockReader) -> None:
        report = self._report
        report.events += len(block)
        damages: list[BinlogError] = []
        statuses = checksums.check(block)
        for status, count in enumerate(np.bincount(statuses, minlength=len(checksums.STATUSES)).tolist()):
            report.checksums[checksums.STATUSES[status]] += count
        for row in np.flatnonzero(statuses == BAD).tolist():
            reason = "the checksum does not fit the bytes"
            damages.append(block.event(row).locate(ChecksumError(reason, field="checksum")))
        if block.is_special and block.positions[0] == len(b"\xfebin"):
            self._is_relay_log = bool(np.asarray(block.header["is_relay_log"]).any())
        damages += self._check_positions(block)
        whole = statuses == OK
        for part in self._expanded(block, reader, damages):
            if part is not block:
                report.inner_events += int((part.end_positions != part.positions + part.sizes).sum())
            damages += self._check_bodies(part, whole if part is block else None)
            self._count_transactions(part)
        for error in sorted(damages, key=lambda error: error.position or 0):
            report.add(error)

    def _expanded(self, block: Block, reader: BlockReader, damages: list[BinlogError]) -> Iterator[Block]:
        while True:
            try:
                yield from expand(block, reader.context)
                return
            except BinlogError as error:
                damages.append(error.at(file=block.file, position=int(block.positions[0])))
                done = int(np.searchsorted(block.positions, error.position or 0, side="right"))
                block = block.part(done, len(block))

    def _check_positions(self, block: Block) -> Iterator[BinlogError]:
        """Compare each header's position with where the event is; only a relay log's come from elsewhere.

        Behind a lost event all positions are off by its length, which is worth saying once.
        """
        if block.layout.binlog_version < 4 or self._is_relay_log:
            return
        rows = np.flatnonzero(block.header["next_position"] != 0)
        stated = block.header["next_position"][rows]
        drift = (stated - block.end_positions[rows]) & 0xFFFFFFFF
        before = np.concatenate(([self._drift], drift[:-1]))
        for index in np.flatnonzero((drift != 0) & (drift != before)).tolist():
            row = int(rows[index])
            reason = f"its header says that it ends at {stated[index]}, not at {block.end_positions[row]}"
            yield block.event(row).locate(FramingError(reason, field="header.next_position"))
        self._drift = int(drift[-1]) if len(drift) else self._drift

    def _check_bodies(self, block: Block, is_whole: Any) -> Iterator[BinlogError]:
        """Events that no checksum vouches for and that do not follow the grammar."""
        for kind in block.kinds:
            rows = block.rows_of(kind)
            doubtful = rows if is_whole is None else rows[~is_whole[rows]]
            if not len(doubtful) or block.is_special:
                continue
            misfits = rows[~block.body(kind).fits]
            for row in np.intersect1d(doubtful, misfits).tolist():
                try:
                    _ = block.event(row).parsed
                except BinlogError as error:
                    yield error

    def _count_transactions(self, block: Block) -> None:
        report = self._report
        for kind in block.kinds:
            rows = block.rows_of(kind)
            if kind in GTID_TYPES:
                self._has_gtids = True
                report.transactions += len(rows)
                self._add_gtids(block, kind)
            elif kind in _ENDS_OF_TRANSACTIONS:
                self._ended += len(rows)
            elif kind == EventType.query_event and not self._has_gtids:
                self._ended += _count_commits(block)
            elif kind in (EventType.previous_gtids_log_event, EventType.gtid_list_event):
                self._note_previous(block, int(rows[0]), kind)

    def _add_gtids(self, block: Block, kind: int) -> None:
        gtids, body, rows = self._report.gtids, block.body(kind), block.rows_of(kind)
        if kind == EventType.gtid_log_event:
            uuids, codes = uuids_of(block, body)
            numbers = body.numbers("gno")
            for code, uuid in enumerate(uuids):
                _add_numbers(gtids, mysql_gtid(uuid, 0)[:-2], numbers[(codes == code) & body.fits])
        elif kind == EventType.gtid_event:
            sources = np.stack((body.numbers("domain_id"), block.header["server_id"][rows]))
            numbers = body.numbers("sequence_number").astype(np.int64)
            for domain, server in np.unique(sources, axis=1).T.tolist():
                of_source = (sources[0] == domain) & (sources[1] == server) & body.fits
                _add_numbers(gtids, f"{domain}-{server}", numbers[of_source])
        elif kind == EventType.gtid_tagged_log_event:
            for row in rows.tolist():
                try:
                    text = gtid_text(block.event(row).parsed)
                except BinlogError:
                    continue  # its bad checksum, or its body, is noted already
                if text is not None:
                    gtids.add(text)

    def _note_previous(self, block: Block, row: int, kind: int) -> None:
        if self._report.previous_gtids is not None:
            return
        previous = GtidSet()
        try:
            body: Any = block.event(row).body
        except BinlogError as error:
            self._report.add(error)
            return
        if kind == EventType.previous_gtids_log_event:
            previous = gtid_set(body.gtids)
        else:
            for gtid in body.gtids:
                previous.add_range(
                    f"{gtid.domain_id}-{gtid.server_id}", gtid.sequence_number, gtid.sequence_number + 1
                )
        self._report.previous_gtids = previous


def _add_numbers(gtids: GtidSet, source: str, numbers: Any) -> None:
    numbers = np.unique(numbers[numbers > 0])
    if len(numbers):
        breaks = np.flatnonzero(np.diff(numbers) != 1)
        firsts = numbers[np.concatenate(([0], breaks + 1))].tolist()
        lasts = numbers[np.concatenate((breaks, [len(numbers) - 1]))].tolist()
        for first, last in zip(firsts, lasts, strict=True):
            gtids.add_range(source, first, last + 1)


def _count_commits(block: Block) -> int:
    """Statements that end a transaction in logs without GTIDs."""
    starts, lengths = block.body(EventType.query_event).ranges("query")
    count = 0
    for word in (b"COMMIT", b"ROLLBACK"):
        for start in starts[lengths == len(word)].tolist():
            count += bytes(block.data[start : start + len(word)]).upper() == word
    return count
