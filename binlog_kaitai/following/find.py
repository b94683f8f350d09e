"""Finds the log of a checkpoint, even after it was renamed or another server took over."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.spans import LogHeader, Span
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.errors import SourceError
from binlog_kaitai.following.checkpoints import Checkpoint
from binlog_kaitai.following.log_headers import open_log, read_from, read_log_header, size_of, span_from
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.gtid_runs import add_gtids
from binlog_kaitai.sources import eras
from binlog_kaitai.sources.keys import Keys
from binlog_kaitai.sources.source import MAGIC, log_name, log_number, series_of

_NUMBERED = re.compile(r"(.*)\.([0-9]+)")

#: Callback that receives the loss; raises, or returns to continue reading.
Lose = Callable[[SourceError], None]


def locate(checkpoint: Checkpoint, paths: Sequence[str], lose: Lose, keys: Keys | None = None) -> Checkpoint:
    """The checkpoint in an existing log: its own, or the one that continues where its GTIDs end.

    Parameters
    ----------
    lose
        Called with the error if transactions are missing, and may raise it; if it returns, the checkpoint is
        at the oldest transaction available.
    keys
        Where to look for the keys of encrypted logs.
    """
    same = [path for path in paths if path == checkpoint.file]
    # It may have been compressed since.
    name = log_name(os.path.basename(checkpoint.file))
    same += [path for path in paths if log_name(os.path.basename(path)) == name]
    what = "no longer exists"
    for path in same:
        log_header, size = read_log_header(path, keys), size_of(path)
        if checkpoint.position <= len(MAGIC) and not checkpoint.log_id:
            # It had no first event so far.
            begin = start_of(path, keys)
            return replace(begin, definitions=checkpoint.definitions, era=checkpoint.era)
        if log_header is None or log_header.log_id != checkpoint.log_id:
            what = "is a different log than before"
        elif size >= checkpoint.position:
            return replace(checkpoint, file=path)
        else:
            what = f"was read up to {checkpoint.position}, but is only {size} bytes long now"
            return _from_the_oldest(checkpoint, paths, what, lose, keys)
    if checkpoint.gtids:
        return _by_gtids(checkpoint, paths, what, lose, keys)
    return _from_the_oldest(checkpoint, paths, f"{what}, and has no GTIDs to find another log by", lose, keys)


def start_of(path: str, keys: Keys | None = None) -> Checkpoint:
    """The checkpoint at the start of a log."""
    log_header = read_log_header(path, keys)
    return (
        Checkpoint(path)
        if log_header is None
        else Checkpoint(path, log_id=log_header.log_id, gtids=str(log_header.previous or ""))
    )


def era_after(checkpoint: Checkpoint, path: str) -> int:
    """The era of a log that is read after a checkpoint in another one.

    It stays the same if the log has a greater number in the same series, so that changes are ordered by that
    number.
    """
    before = checkpoint.file
    is_greater = series_of(path) == series_of(before) and log_number(path) > log_number(before)
    return checkpoint.era if is_greater or not before else checkpoint.era + 1


def _from_the_oldest(
    checkpoint: Checkpoint, paths: Sequence[str], reason: str, lose: Lose, keys: Keys | None
) -> Checkpoint:
    lose(SourceError(reason, file=checkpoint.file))
    start = start_of(paths[0], keys)
    everything = GtidSet.parse(start.gtids)
    everything.update(GtidSet.parse(checkpoint.gtids))
    era = era_after(checkpoint, start.file)
    return replace(
        start, gtids=str(everything), skip=checkpoint.gtids, definitions=checkpoint.definitions, era=era
    )


def _by_gtids(
    checkpoint: Checkpoint, paths: Sequence[str], what: str, lose: Lose, keys: Keys | None
) -> Checkpoint:
    reached = GtidSet.parse(checkpoint.gtids)
    headers = [
        (path, log_header) for path in paths if (log_header := read_log_header(path, keys)) is not None
    ]
    if checkpoint.file and (
        missing := reached.without(gtids_up_to(headers[-1][0], keys) if headers else GtidSet())
    ):
        reason = f"the available logs lack {missing}, which were already read: the server lags or was reset"
        return _from_the_oldest(checkpoint, paths, f"{what}; {reason}", lose, keys)
    for path, log_header in reversed(headers):
        if log_header.previous is not None and not log_header.previous.without(reached):
            start = Checkpoint(
                path,
                log_id=log_header.log_id,
                gtids=checkpoint.gtids,
                definitions=checkpoint.definitions,
                era=era_after(checkpoint, path),
            )
            return _first_new(replace(start, skip=checkpoint.gtids), reached, keys)
    lost = next(
        (
            log_header.previous.without(reached)
            for _, log_header in headers
            if log_header.previous is not None
        ),
        None,
    )
    reason = (
        f"no available log contains the transactions {lost}" if lost else "no available log continues from it"
    )
    return _from_the_oldest(checkpoint, paths, f"{what}; by its GTIDs, {reason}", lose, keys)


def gtids_up_to(path: str, keys: Keys | None) -> GtidSet:
    """All GTIDs of a log, including those before it."""
    found, log_header = GtidSet(), read_log_header(path, keys)
    if log_header is not None and log_header.previous is not None:
        found.update(log_header.previous)
    with open_log(path, keys) as stream:
        for block in read_from(stream, path, Span()):
            add_gtids(found, block)
    return found.up_to_last()


def _first_new(checkpoint: Checkpoint, reached: GtidSet, keys: Keys | None) -> Checkpoint:
    """The checkpoint moved to the first transaction of its log that is not in a set."""
    with open_log(checkpoint.file, keys) as stream:
        span = span_from(stream, checkpoint.file, checkpoint.position, checkpoint.format_position)
        reader = read_from(stream, checkpoint.file, span)
        for block in reader:
            if block.is_special:
                checkpoint = replace(checkpoint, format_position=int(block.positions[0]))
            if not _has_new(block, reached):
                continue
            for row, kind in enumerate(block.types.tolist()):
                if kind in GTID_TYPES and _has_new(block.part(row, row + 1), reached):
                    return replace(checkpoint, position=int(block.positions[row]))
        # All its transactions are known; future ones are not.
        end = reader.position
    return replace(checkpoint, position=end, skip="")


def _has_new(block: Block, reached: GtidSet) -> bool:
    found = GtidSet()
    add_gtids(found, block)
    return bool(found.without(reached))


def check_next(checkpoint: Checkpoint, path: str, log_header: LogHeader, lose: Lose) -> None:
    """Check that one log continues where another ends: by its number, else by its GTIDs."""
    before, after = (
        _NUMBERED.fullmatch(log_name(os.path.basename(name))) for name in (checkpoint.file, path)
    )
    is_same_server = eras.number_of(checkpoint.file) == eras.number_of(path)
    if before and after and before[1] == after[1] and is_same_server:
        if int(after[2]) == int(before[2]) + 1:
            return
    elif not before or not after:
        return  # custom file names prove nothing
    if log_header.previous is not None:
        lost = log_header.previous.without(GtidSet.parse(checkpoint.gtids))
        if not lost:
            return
        reason = f"does not continue where {checkpoint.file} ends: no available log contains {lost}"
    else:
        reason = f"does not continue where {checkpoint.file} ends: logs between them are missing"
    lose(SourceError(reason, file=path))
