"""Finds the transaction of a time, a GTID or a position, and reads only the logs that may have it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from datetime import date
from typing import NamedTuple, Unpack

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.core.adapter import utc
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.gtids import GtidSet, literal_gtids
from binlog_kaitai.core.options import takes
from binlog_kaitai.errors import FilterWarning, UsageError, warn
from binlog_kaitai.log.read_options import KeyOptions
from binlog_kaitai.log.series import SeriesDefinitions
from binlog_kaitai.sources.source import Source, SourceLike, by_server, header_of, log_name, resolve
from binlog_kaitai.views.transactions_view import TRANSACTIONS_SCHEMA, transaction_batches

#: A date with a time, or with a leading zero, none of which a GTID of MariaDB has.
_DATE = r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}[T ][0-9]|[0-9]{4}-(?:0[0-9]-[0-9]{2}|[0-9]{2}-0[0-9])$"


@takes(KeyOptions)
def find(
    target: str | date | GtidSet, source: SourceLike | Iterable[SourceLike], **options: Unpack[KeyOptions]
) -> pa.Table:
    """Find the transaction of a time, a GTID or a position, like the command ``find``.

    Parameters
    ----------
    target
        A time, as `start_datetime`: the first transaction that starts then or later. A GTID, or a set: the
        first transaction of it. ``"binlog.000003:1234"``: the transaction that contains this byte offset of
        the log, or the next one in it.
    source
        Whatever :func:`binlog_kaitai.open` accepts; the logs of a server must be in order.
    **options
        See :class:`KeyOptions`.

    Returns
    -------
    pyarrow.Table
        A row for each server that has one, with the columns of :func:`binlog_kaitai.read_transactions`.

    Raises
    ------
    UsageError
        There is no such transaction; the message says what the logs have. Or the target is none of these.
    BinlogError
        No log was found, or one is damaged.
    """
    logs, wanted = resolve(source, options["keys"]), _Target.of(target)
    can_reopen = all(log.path is not None for log in logs)
    servers = list(by_server(logs).values()) if can_reopen else [logs]
    chosen = [wanted.choose(of) if can_reopen or wanted.log else of for of in servers]
    batches = [transaction for of in chosen if of for transaction in wanted.first(of)]
    if not batches:
        there = f": {'; '.join(map(wanted.contents, servers))}" if can_reopen else " in these logs"
        raise UsageError(f"no transaction {wanted.what}{there}")
    return pa.Table.from_batches(batches, TRANSACTIONS_SCHEMA)


class _Target(NamedTuple):
    """A time or GTIDs, by filters, or an offset in a log."""

    what: str
    filters: Filters
    log: str = ""
    offset: int = 0

    @classmethod
    def of(cls, target: str | date | GtidSet) -> _Target:
        if isinstance(target, GtidSet):
            return cls(f"of {target}", Filters(include_gtids=target))
        try:  # first as a time: 2026-11-20 could be a GTID of MariaDB, too
            return cls(f"at or after {target}", Filters.of(start_datetime=target))
        except UsageError:
            if re.match(_DATE, str(target)):
                raise
            if (gtids := literal_gtids(str(target))) is not None:
                return cls.of(gtids)
            if (place := re.fullmatch(r"(.+\.[0-9]{6,}):([0-9]{1,18})", str(target))) is None:
                raise
            return cls(f"at or after position {place[2]} of {place[1]}", Filters(), place[1], int(place[2]))

    def choose(self, logs: list[Source]) -> list[Source]:
        """The logs of a server that may have it, judging by their names or headers."""
        if self.log:
            return [log for log in logs if self.log in (name := log_name(log.name), os.path.basename(name))]
        headers = [header_of(log) for log in logs]
        if (gtids := self.filters.include_gtids) is None:
            time, begun = self.filters.start_timestamp or 0, [header.begun for header in headers]
            if begun[0] > time:
                warn(f"the first log, {logs[0].name}, begins after this time", FilterWarning)
            return logs[max((number for number, start in enumerate(begun) if 0 < start < time), default=0) :]
        # After the last log, and before a log that does not state it, anything may have been executed.
        earlier = [header.previous for header in headers]
        if earlier[0] and gtids & earlier[0]:
            warn(f"transactions of this GTID are in logs before the first one, {logs[0].name}", FilterWarning)
        return [
            log
            for log, before, after in zip(logs, earlier, [*earlier[1:], None], strict=True)
            if (gtids if after is None else gtids & after).without(before or GtidSet())
        ]

    def first(self, logs: list[Source]) -> Iterator[pa.RecordBatch]:
        """The first such transaction in logs of a server."""
        for batch in transaction_batches(logs, self.filters, definitions=SeriesDefinitions(logs)):
            if len(later := batch.filter(pc.greater(batch["end_position"], self.offset))):
                yield later.slice(0, 1)
                return

    def contents(self, logs: list[Source]) -> str:
        """What the logs of a server have instead."""
        if self.log and (chosen := self.choose(logs)):
            return f"{chosen[-1].name} ends at {scan(chosen[-1]).size}"
        names, last = dict.fromkeys((logs[0].name, logs[-1].name)), scan(logs[-1])
        gtids = str((last.previous_gtids or GtidSet()) | last.gtids)
        executed = (
            f"GTIDs executed by then: {gtids[:200]}{'…' * (len(gtids) > 200)}" if gtids else "without GTIDs"
        )
        times = [str(utc(time))[:19] if time else "?" for time in (header_of(logs[0]).begun, last.last_time)]
        return f"{' to '.join(names)}: events from {' to '.join(times)} UTC, {executed}"
