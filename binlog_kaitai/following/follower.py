"""Advances from one checkpoint to the next, as the logs grow, even if another server takes over."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.spans import LogHeader
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.ddl.definitions import DatedText, Timelines, restore, save
from binlog_kaitai.errors import BinlogError, DataLossWarning, SourceError, UsageError, warn
from binlog_kaitai.following.checkpoints import Checkpoint, Start
from binlog_kaitai.following.log_headers import blocks_from, header_of, size_of
from binlog_kaitai.following.walk import FAR, Limit, Step, Walk
from binlog_kaitai.log.gtid_runs import add_gtids, gtids_of
from binlog_kaitai.log.series import LogEnds, continuity, timelines_of
from binlog_kaitai.sources import eras, source
from binlog_kaitai.sources.keys import Keys
from binlog_kaitai.sources.source import LOG_NAME, log_name, log_number, series_of

#: How often listing is retried if a log is removed meanwhile; the pause between attempts, in seconds.
_TRIES, _PAUSE = 5, 0.1

_RESET = (
    "the server was reset or restored from a backup. It may give the GTIDs of transactions that were read to"
    " others; begin with a new checkpoint, or a new lake"
)

#: Target size of a span, in bytes; exceeded only by a transaction that crosses it.
SPLIT_SIZE = 64 << 20


#: Callback that receives the loss; raises, or returns to continue reading.
Lose = Callable[[SourceError], None]


class Follower:
    """Finds what is new in the logs of a server.

    `paths`: directories, globs, index files or files, as `binlog_kaitai.open` takes them.
    `fails_on_loss`: raise if unread logs were removed; otherwise warn and continue with the remaining logs.
    `follows_definitions`: store the table definitions from statements in the checkpoints.
    `ddl`: initial table definitions, as mysqldump writes them.
    `split_size`, `at_once`: approximate span size in bytes, and number of spans read at a time.
    `passes_damage`: continue after damage, which is left to the reader of the span that contains it.
    `loss_option`: how users turn `fails_on_loss` off, for the error message; ``""`` if they cannot.
    `keys`: where to look for the keys of encrypted logs, besides the process and its environment.
    """

    def __init__(
        self,
        paths: Iterable[str],
        *,
        fails_on_loss: bool = True,
        follows_definitions: bool = False,
        ddl: str | None = None,
        split_size: int = SPLIT_SIZE,
        at_once: int = 1,
        passes_damage: bool = False,
        loss_option: str = "failOnDataLoss=false",
        keys: Keys | None = None,
    ) -> None:
        self._keys = keys
        self._loss_option = loss_option
        self._paths = list(paths)
        self._fails_on_loss = fails_on_loss
        self._follows_definitions = follows_definitions
        self._ddl = ddl
        self._timelines: Timelines | None = ddl.timelines if isinstance(ddl, DatedText) else None
        self._split_size, self._at_once = split_size, at_once
        self._passes_damage = passes_damage
        self._planned: tuple[Checkpoint, Checkpoint, list[Step]] | None = None
        self._lost = ""  # what was lost before the position from which logs are read next

    def logs(self) -> list[str]:
        """The existing logs, oldest first.

        Raises `SourceError`, `UsageError`: there is none, or one that cannot be read repeatedly.
        """
        for left in reversed(range(_TRIES)):
            try:
                logs = source.resolve(self._paths)
                break
            except SourceError:
                if not left:
                    raise
                time.sleep(_PAUSE)
        paths = [log.path for log in logs if log.path is not None]
        if len(paths) < len(logs):
            raise UsageError("streams cannot be followed; use a file")
        return paths

    def earliest(self) -> Checkpoint:
        """The start of the oldest log."""
        return self._start_of(self.logs()[0])

    def latest(self) -> Checkpoint:
        """After the last complete transaction of the newest log."""
        last = self.logs()[-1]
        return self._walk(self._start_of(last), [last], Limit()).checkpoint

    def place(self, where: Start) -> Checkpoint:
        """The checkpoint for user input, such as ``{"file", "position"}``; ``{"gtids"}``: after a set.

        Raises `UsageError`, `SourceError`: there is no such log, or the position is inside a transaction.
        """
        if isinstance(where, str):
            return self.latest() if where == "latest" else self.earliest()
        if set(where) == {"gtids"}:
            paths, gtids = self.logs(), GtidSet.parse(str(where["gtids"]))
            if gtids.position():  # in MariaDB, everything up to it
                gtids = gtids.up_to_here([self._gtids_up_to(paths[-1])])
            return self._locate(Checkpoint("", gtids=str(gtids)), paths)
        if not {"file"} <= set(where) <= {"file", "position"}:
            raise UsageError(f'{dict(where)} is not a position; use {{"file": name, "position": offset}}')
        checkpoint = Checkpoint.of(where)
        matching = [path for path in self.logs() if checkpoint.file in _spellings(path)]
        if len(matching) != 1:
            what = "matches several logs" if matching else "is not among the logs"
            raise UsageError(f"{checkpoint.file} {what}")
        start = self._start_of(matching[0])
        if checkpoint.position <= len(MAGIC):
            return start
        limit = Limit(file=matching[0], position=checkpoint.position)
        reached = self._walk(start, matching, limit).checkpoint
        if reached.position != checkpoint.position:
            reason = f"no transaction begins here; the next one begins at {reached.position}"
            raise UsageError(reason, file=matching[0], position=checkpoint.position)
        # A snapshot's definitions have the results of the statements before its position.
        return replace(reached, definitions="") if isinstance(self._ddl, DatedText) else reached

    def end(self) -> tuple[str, int]:
        """The newest log, and its length: currently no checkpoint lies after it."""
        last = self.logs()[-1]
        return last, size_of(last)

    def advance(
        self,
        start: Checkpoint,
        *,
        max_bytes: int | None = None,
        max_files: int | None = None,
        until: tuple[str, int] | None = None,
    ) -> Checkpoint:
        """The checkpoint after the last complete transaction within the limits; `start` if there is none.

        `max_bytes`, `max_files`: upper limits, except that at least one transaction is read.
        `until`: a result of :meth:`end`: nothing after it is read.
        Raises `BinlogError`: the next transaction cannot be read, or was removed.
        """
        limit = Limit(max_bytes or FAR, max_files or FAR)
        if until is not None:
            limit.file, limit.position = until
        paths = self.logs()
        walk = self._walk(self._locate(start, paths), paths, limit)
        # A checkpoint that only moved to another log, without anything new to read, need not become a batch.
        end = walk.end if walk.steps else start
        self._planned = start, end, walk.steps
        return end

    def steps(self, start: Checkpoint, end: Checkpoint) -> list[Step]:
        """The steps between two checkpoints; the second comes from `advance`, possibly in another process.

        Raises `BinlogError`: they cannot be read, or were removed.
        """
        if start == end:
            return []
        if self._planned is not None and self._planned[:2] == (start, end):
            return self._planned[2]
        paths = self.logs()
        begin = self._locate(start, paths)
        wanted = GtidSet.parse(end.gtids).without(GtidSet.parse(start.gtids))
        try:
            there = self._locate(replace(end, gtids=""), paths, _refuse)
        except SourceError:
            if not wanted:
                raise
            return self._steps_by_gtids(begin, end, paths, wanted)
        walk = self._walk(begin, paths, Limit(file=there.file, position=there.position))
        reached = walk.checkpoint.file, walk.checkpoint.position
        if reached != (there.file, there.position):
            reason = f"was read up to {end.position}, but no transaction ends there now"
            self._lose(SourceError(reason, file=there.file, position=walk.checkpoint.position))
        return walk.steps

    def _steps_by_gtids(
        self, begin: Checkpoint, end: Checkpoint, paths: Sequence[str], wanted: GtidSet
    ) -> list[Step]:
        """Steps that continue in the logs of another server, which has its own order of transactions."""
        goal = GtidSet.parse(end.gtids)
        walk = self._walk(begin, paths, Limit(), goal, wanted)
        if lost := goal.without(GtidSet.parse(walk.checkpoint.gtids)):
            self._lose(SourceError(f"no available log contains the transactions {lost}", file=end.file))
        return [_with_gtids(step, str(wanted)) for step in walk.steps]

    def _walk(
        self,
        start: Checkpoint,
        paths: Sequence[str],
        limit: Limit,
        goal: GtidSet | None = None,
        wanted: GtidSet | None = None,
    ) -> Walk:
        definitions = restore(start.definitions, self._ddl) if self._follows_definitions else None
        if definitions is not None and self._ddl is not None:
            if self._timelines is None:
                # The file is not from after the logs that exist now.
                logs = [source.Source.of_path(path, self._keys) for path in paths[paths.index(start.file) :]]
                self._timelines = timelines_of(restore("", self._ddl), logs)
            definitions.hold(self._timelines)
            definitions.skip_to(start.file, start.position)
            start = replace(start, definitions=save(definitions))
        walk = Walk(
            start,
            limit,
            definitions,
            wanted=wanted,
            split_size=self._split_size,
            at_once=self._at_once,
            passes_damage=self._passes_damage,
            keys=self._keys,
        )
        walk.forget(self._loss())
        number = paths.index(start.file)
        try:
            while True:
                walk.read(is_last=number == len(paths) - 1)
                if goal is not None:
                    walk.is_over |= not goal.without(GtidSet.parse(walk.checkpoint.gtids))
                if walk.is_over:
                    return walk
                # If a log has no first event, it is the newest and was just created, or it was left by a
                # crash.
                log_header = None
                while log_header is None:
                    number += 1
                    if number == len(paths):
                        return walk
                    log_header = header_of(paths[number], self._keys)
                is_new_era = eras.number_of(paths[number]) != eras.number_of(walk.checkpoint.file)
                if is_new_era and log_header.previous is None and number == len(paths) - 1:
                    return walk  # its GTIDs, which show where it continues, are still to come
                self._check_next(walk.checkpoint, paths[number], log_header)
                skip = walk.checkpoint.skip
                if is_new_era:
                    skip = walk.checkpoint.gtids  # another server's logs, which may have any of them
                if log_header.previous is not None and not GtidSet.parse(skip).without(log_header.previous):
                    skip = ""
                start = _at_start(paths[number], log_header)
                start = replace(start, skip=skip, era=_era_after(walk.checkpoint, paths[number]))
                walk.enter(start, self._loss())
        except BinlogError:
            if not walk.steps:
                raise
            return walk  # the part before the damage can be read

    def _lose(self, error: SourceError) -> None:
        if self._fails_on_loss:
            if self._loss_option:
                error.reason += f"; to continue with the remaining logs, set {self._loss_option}"
            raise error
        self._lost = str(error)
        warn(self._lost, DataLossWarning)

    def _loss(self) -> str:
        lost, self._lost = self._lost, ""
        return lost

    # -- checkpoints in the existing logs

    def _locate(self, checkpoint: Checkpoint, paths: Sequence[str], lose: Lose | None = None) -> Checkpoint:
        """The checkpoint in an existing log: its own, or the one that continues where its GTIDs end.

        `lose`: called with the error if transactions are missing, and may raise it; if it returns, the
        checkpoint is at the oldest transaction available.
        """
        same = [path for path in paths if path == checkpoint.file]
        # It may have been compressed since.
        name = log_name(os.path.basename(checkpoint.file))
        same += [path for path in paths if log_name(os.path.basename(path)) == name]
        what = "no longer exists"
        for path in same:
            log_header, size = header_of(path, self._keys), size_of(path)
            if checkpoint.position <= len(MAGIC) and not checkpoint.log_id:
                # It had no first event so far.
                begin = self._start_of(path)
                return replace(begin, definitions=checkpoint.definitions, era=checkpoint.era)
            if log_header is None or log_header.log_id != checkpoint.log_id:
                what = "is a different log than before"
                if log_header is not None and _is_of_same_server(checkpoint, path, log_header):
                    return self._at_oldest(checkpoint, paths, f"{what}: {_RESET}", lose)
            elif size >= checkpoint.position:
                return replace(checkpoint, file=path)
            else:
                what = f"was read up to {checkpoint.position}, but is only {size} bytes long now"
                return self._at_oldest(checkpoint, paths, what, lose)
        if log_number(paths[-1]) < log_number(checkpoint.file):
            newest = header_of(paths[-1], self._keys)
            if newest is not None and _is_of_same_server(checkpoint, paths[-1], newest):
                what += f", and the newest log is {os.path.basename(paths[-1])}: {_RESET}"
                return self._at_oldest(checkpoint, paths, what, lose)
        if checkpoint.gtids:
            return self._by_gtids(checkpoint, paths, what)
        what += ", and has no GTIDs to find another log by"
        return self._at_oldest(checkpoint, paths, what, lose)

    def _start_of(self, path: str) -> Checkpoint:
        """The checkpoint at the start of a log."""
        log_header = header_of(path, self._keys)
        return Checkpoint(path) if log_header is None else _at_start(path, log_header)

    def _at_oldest(
        self, checkpoint: Checkpoint, paths: Sequence[str], reason: str, lose: Lose | None = None
    ) -> Checkpoint:
        (lose or self._lose)(SourceError(reason, file=checkpoint.file))
        start = self._start_of(paths[0])
        everything = GtidSet.parse(start.gtids)
        everything.update(GtidSet.parse(checkpoint.gtids))
        return replace(
            start,
            gtids=str(everything),
            skip=checkpoint.gtids,
            definitions=checkpoint.definitions,
            era=_era_after(checkpoint, start.file),
        )

    def _by_gtids(self, checkpoint: Checkpoint, paths: Sequence[str], what: str) -> Checkpoint:
        reached = GtidSet.parse(checkpoint.gtids)
        headers = [(path, header) for path in paths if (header := header_of(path, self._keys)) is not None]
        if checkpoint.file:
            newest = self._gtids_up_to(headers[-1][0]) if headers else GtidSet()
            if missing := reached.without(newest):
                what += f"; the available logs lack {missing}, which were already read: the server lags or "
                return self._at_oldest(checkpoint, paths, f"{what}was reset")
        previous = [(path, header.previous) for path, header in headers if header.previous is not None]
        for path, before in reversed(previous):
            if not before.without(reached):
                start = replace(
                    _at_start(path, dict(headers)[path]),
                    gtids=checkpoint.gtids,
                    definitions=checkpoint.definitions,
                    era=_era_after(checkpoint, path),
                    skip=checkpoint.gtids,
                )
                return self._first_new(start, reached)
        lost = previous[0][1].without(reached) if previous else None
        reason = f"contains the transactions {lost}" if lost else "continues from it"
        return self._at_oldest(checkpoint, paths, f"{what}; by its GTIDs, no available log {reason}")

    def _gtids_up_to(self, path: str) -> GtidSet:
        """All GTIDs of a log, including those before it."""
        gtids, log_header = GtidSet(), header_of(path, self._keys)
        if log_header is not None and log_header.previous is not None:
            gtids.update(log_header.previous)
        with blocks_from(Checkpoint(path), self._keys) as (reader, _):
            for block in reader:
                add_gtids(gtids, block)
        return gtids.up_to_last()

    def _first_new(self, checkpoint: Checkpoint, reached: GtidSet) -> Checkpoint:
        """The checkpoint moved to the first transaction of its log that is not in a set."""
        format_position = checkpoint.format_position
        with blocks_from(checkpoint, self._keys) as (reader, _):
            for block in reader:
                if block.is_special:
                    format_position = int(block.positions[0])
                if not gtids_of(block) - reached:
                    continue
                for row, kind in enumerate(block.types.tolist()):
                    if kind in GTID_TYPES and gtids_of(block.part(row, row + 1)) - reached:
                        position = int(block.positions[row])
                        return replace(checkpoint, position=position, format_position=format_position)
            # All its transactions are known; future ones are not.
            return replace(checkpoint, position=reader.position, format_position=format_position, skip="")

    def _check_next(self, checkpoint: Checkpoint, path: str, log_header: LogHeader) -> None:
        """Check that one log continues where another ends."""
        gtids = GtidSet.parse(checkpoint.gtids)
        before = LogEnds.of(source.Source.of_path(checkpoint.file, self._keys), gtids)
        after = LogEnds(path, log_header)
        if not LOG_NAME.fullmatch(before.file_name) or not LOG_NAME.fullmatch(after.file_name):
            return  # custom file names prove nothing
        is_new_era = eras.number_of(before.name) != eras.number_of(path)
        if before.stem == after.stem and not is_new_era:
            link = continuity(before, after)
            if not link.is_gap:
                return
            reason = link.reason
        else:
            # Without GTIDs, an archive goes on in another era only after a gap.
            previous = log_header.previous if gtids or not is_new_era else None
            lost = previous and previous - gtids
            if previous is not None and not lost:
                return
            missing = f"no available log contains {lost}" if lost else "logs between them are missing"
            reason = f"does not continue where {before.file_name} ends: {missing}"
        self._lose(SourceError(reason, file=path))


def _at_start(path: str, log_header: LogHeader) -> Checkpoint:
    return Checkpoint(
        path,
        log_id=log_header.log_id,
        server_id=log_header.server_id or 0,
        gtids=str(log_header.previous or ""),
    )


def _is_of_same_server(checkpoint: Checkpoint, path: str, log_header: LogHeader) -> bool:
    """Whether the server of a checkpoint's log wrote another one, under a name of the same series."""
    series = [(series_of(name)[1], eras.number_of(name)) for name in (checkpoint.file, path)]
    return series[0] == series[1] and log_header.server_id == checkpoint.server_id != 0


def _with_gtids(step: Step, include: str) -> Step:
    """A step restricted to some GTIDs."""
    span = replace(step.span, include=include, exclude="")
    return step._replace(source=replace(step.source, span=span))


def _spellings(path: str) -> tuple[str, ...]:
    """What users may call a log: its path, or its name with or without the extension of its compression."""
    name = os.path.basename(path)
    return path, name, source.log_name(name)


def _refuse(error: SourceError) -> None:
    raise error


def _era_after(checkpoint: Checkpoint, path: str) -> int:
    """The era of a log that is read after a checkpoint in another one.

    It stays the same if the log has a greater number in the same series, so that changes are ordered by that
    number.
    """
    before = checkpoint.file
    is_greater = series_of(path) == series_of(before) and log_number(path) > log_number(before)
    return checkpoint.era if is_greater or not before else checkpoint.era + 1
