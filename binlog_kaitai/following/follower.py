"""From one mark to the next, however far the logs go by now."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.saved import restore
from binlog_kaitai.errors import BinlogError, DataLossWarning, SourceError, UsageError
from binlog_kaitai.following.checkpoints import Mark
from binlog_kaitai.following.find import check_next, locate, start_of
from binlog_kaitai.following.log_headers import read_head, size_of
from binlog_kaitai.following.walk import FAR, Division, Limit, Span, Walk
from binlog_kaitai.sources import source
from binlog_kaitai.sources.source import MAGIC

#: How often logs are listed where one is removed at that very moment; the pause between, in seconds.
_TRIES, _PAUSE = 5, 0.1

#: As many bytes a span has, about; at most, but for the transaction that goes over it.
SPLIT_SIZE = 64 << 20


class Follower:
    """Finds what is new in the logs of a server.

    Parameters
    ----------
    paths
        Directories, globs, index files or files, as `binlog_kaitai.open` takes them.
    fails_on_loss
        Raise where logs that have not been read are gone; else warn, and go on with what is there.
    follows_definitions
        Keep what statements say about tables in the marks.
    ddl
        Definitions to begin with, as mysqldump writes them.
    split_size, at_once
        About how many bytes make a span, and how many spans are read at a time; see `Division`.
    passes_damage
        Go on behind damage: it lies inside of a span, for whoever reads that.
    loss_option
        How a caller turns `fails_on_loss` off, for the error message.
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
    ) -> None:
        self._loss_option = loss_option
        self._paths = list(paths)
        self._fails_on_loss = fails_on_loss
        self._follows_definitions = follows_definitions
        self._ddl = ddl
        self._division = Division(split_size, at_once)
        self._passes_damage = passes_damage
        self._planned: tuple[Mark, Mark, list[Span]] | None = None

    def logs(self) -> list[str]:
        """The logs that are there, oldest first.

        Raises
        ------
        SourceError, UsageError
            There is none; or something that cannot be read again.
        """
        for left in reversed(range(_TRIES)):
            try:
                found = source.resolve(self._paths)
                break
            except SourceError:
                if not left:
                    raise
                time.sleep(_PAUSE)
        paths = [one.path for one in found if one.path is not None]
        if len(paths) < len(found):
            raise UsageError("streams cannot be followed; use a file")
        return paths

    def earliest(self) -> Mark:
        """The start of the oldest log."""
        return start_of(self.logs()[0])

    def latest(self) -> Mark:
        """Behind the last whole transaction of the newest log."""
        last = self.logs()[-1]
        return self._walk(start_of(last), [last], Limit()).mark

    def place(self, given: Mapping[str, Any]) -> Mark:
        """The mark that a person means: ``{"file", "position"}``, or ``{"gtids"}`` to go on behind a set.

        Raises
        ------
        UsageError, SourceError
            There is no such log, or a transaction goes over the position.
        """
        if set(given) == {"gtids"}:
            gtids = str(GtidSet.parse(str(given["gtids"])))
            return locate(Mark("", gtids=gtids), self.logs(), self._lose)
        if not {"file"} <= set(given) <= {"file", "position"}:
            raise UsageError(f'{dict(given)} is not a position; use {{"file": name, "position": offset}}')
        mark = Mark.of(given)
        found = [path for path in self.logs() if mark.file in (path, os.path.basename(path))]
        if len(found) != 1:
            raise UsageError(f"{mark.file} {'matches several logs' if found else 'is not among the logs'}")
        start = start_of(found[0])
        if mark.position <= len(MAGIC):
            return start
        reached = self._walk(start, found, Limit(file=found[0], position=mark.position)).mark
        if reached.position != mark.position:
            reason = f"no transaction begins here; the next one begins at {reached.position}"
            raise UsageError(reason, file=found[0], position=mark.position)
        return reached

    def end(self) -> tuple[str, int]:
        """The newest log, and its length: no mark is behind it by now."""
        last = self.logs()[-1]
        return last, size_of(last)

    def advance(
        self,
        start: Mark,
        *,
        max_bytes: int | None = None,
        max_files: int | None = None,
        until: tuple[str, int] | None = None,
    ) -> Mark:
        """The next mark: behind the last whole transaction within the limits; `start` if there is none.

        Parameters
        ----------
        max_bytes, max_files
            As much is taken at most, but one transaction at least.
        until
            As :meth:`end` gave it: nothing behind it is taken.

        Raises
        ------
        BinlogError
            The next transaction cannot be read, or is gone.
        """
        limit = Limit(max_bytes or FAR, max_files or FAR)
        if until is not None:
            limit.file, limit.position = until
        paths = self.logs()
        walk = self._walk(locate(start, paths, self._lose), paths, limit)
        # The mark in its new place, with nothing new behind it, need not become a batch.
        end = walk.mark if walk.spans else start
        self._planned = start, end, walk.spans
        return end

    def spans(self, start: Mark, end: Mark) -> list[Span]:
        """What lies between two marks, the second of which `advance` gave, maybe to another process.

        Raises
        ------
        BinlogError
            It cannot be read, or is gone.
        """
        if start == end:
            return []
        if self._planned is not None and self._planned[:2] == (start, end):
            return self._planned[2]
        paths = self.logs()
        begin = locate(start, paths, self._lose)
        wanted = GtidSet.parse(end.gtids).without(GtidSet.parse(start.gtids))
        try:
            there = locate(replace(end, gtids=""), paths, _refuse)
        except SourceError:
            if not wanted:
                raise
            return self._spans_by_gtids(begin, end, paths, wanted)
        walk = self._walk(begin, paths, Limit(file=there.file, position=there.position))
        reached = walk.mark.file, walk.mark.position
        if reached != (there.file, there.position):
            reason = f"was read up to {end.position}, but no transaction ends there now"
            self._lose(SourceError(reason, file=there.file, position=walk.mark.position))
        return walk.spans

    def _spans_by_gtids(self, begin: Mark, end: Mark, paths: Sequence[str], wanted: GtidSet) -> list[Span]:
        """The same transactions in the logs of another server, which wrote them in an order of its own."""
        goal = GtidSet.parse(end.gtids)
        walk = self._walk(begin, paths, Limit(), goal)
        if lost := goal.without(GtidSet.parse(walk.mark.gtids)):
            self._lose(SourceError(f"no available log contains the transactions {lost}", file=end.file))
        return [replace(span, include=str(wanted), exclude="") for span in walk.spans]

    def _walk(self, start: Mark, paths: Sequence[str], limit: Limit, goal: GtidSet | None = None) -> Walk:
        definitions: Definitions | None = None
        if self._follows_definitions:
            definitions = restore(start.definitions, self._ddl)
        walk = Walk(start, limit, self._division, definitions, passes_damage=self._passes_damage)
        at = paths.index(start.file)
        try:
            while True:
                walk.read(is_last=at == len(paths) - 1)
                if goal is not None:
                    walk.is_over |= not goal.without(GtidSet.parse(walk.mark.gtids))
                if walk.is_over:
                    return walk
                # Of a log without a first event the newest was made just now; another is left by a crash.
                head = None
                while head is None:
                    at += 1
                    if at == len(paths):
                        return walk
                    head = read_head(paths[at])
                check_next(walk.mark, paths[at], head, self._lose)
                skip = walk.mark.skip
                if head.previous is not None and not GtidSet.parse(skip).without(head.previous):
                    skip = ""
                walk.enter(Mark(paths[at], log_id=head.log_id, gtids=str(head.previous or ""), skip=skip))
        except BinlogError:
            if not walk.spans:
                raise
            return walk  # what comes before the damage can be read

    def _lose(self, error: SourceError) -> None:
        if self._fails_on_loss:
            error.reason += f"; to go on with what is there, set {self._loss_option}"
            raise error
        warnings.warn(str(error), DataLossWarning, stacklevel=2)


def _refuse(error: SourceError) -> None:
    raise error
