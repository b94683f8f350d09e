"""`binlog-kaitai find`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from binlog_kaitai.cli import shared_options as options
from binlog_kaitai.cli.console import table_output, text_output, warn
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.errors import UsageError

if TYPE_CHECKING:
    from binlog_kaitai.core.gtids import GtidSet
    from binlog_kaitai.sources.source import Source

_AGO = re.compile(r"-([0-9]+[wdhms])+")


class _FindCommand(click.Command):
    """Takes a time such as ``-2h`` as an argument, which looks like an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [f"{arg[1:]} ago" if _AGO.fullmatch(arg) else arg for arg in args])


@click.command(cls=_FindCommand)
@click.argument("target", metavar="TIME|GTID")
@options.sources
@options.formats("table", "json", "csv")
@options.zone
def find(target: str, sources: tuple[str, ...], output: str) -> None:
    """Find the log and position of a time or a GTID.

    Prints the first transaction that starts at or after the time, or that has the GTID (or one of a set), as
    `transactions` prints it. Only the headers of the other logs are read. The logs must be of one server, in
    order. Exits 2 if there is no such transaction.

    TIME is as in --start-datetime: '2026-11-20 03:00:00' (local, or with a time zone), 'yesterday 03:00',
    -2h.

    \b
    Examples:
      binlog-kaitai find '2026-11-20 03:00:00' /var/lib/mysql/binlog.index
      binlog-kaitai find -2h binlog.*
      binlog-kaitai find a40b4242-e518-11f1-9090-02fc00000001:77 binlog.*
    """
    from binlog_kaitai.render.listings import transaction_writer
    from binlog_kaitai.sources.source import resolve
    from binlog_kaitai.views.transaction_lines import write_transactions

    logs = resolve(sources)
    filters, gtids = _target(target)
    if all(log.path is not None for log in logs):  # others can be opened only once
        logs = _from_time(logs, filters.start_timestamp or 0) if gtids is None else _with_gtids(logs, gtids)
    stdout = table_output() if output == "table" else text_output()
    write, count = transaction_writer(output, stdout), 0
    for lines in write_transactions(logs, filters, limit=1) if logs else ():
        write(lines)
        count += 1
    stdout.flush()
    if not count:
        raise UsageError(f"no transaction {'at or after' if gtids is None else 'of'} {target} in these logs")


def _target(text: str) -> tuple[Filters, GtidSet | None]:
    """The filter of a time, or of GTIDs, and these."""
    from binlog_kaitai.cli.gtids_command import literal

    try:  # first as a time: 2026-11-20 could be a GTID of MariaDB, too
        return Filters.of(start_datetime=text), None
    except UsageError:
        if (gtids := literal(text)) is None:
            raise
        return Filters(include_gtids=gtids), gtids


def _from_time(logs: list[Source], timestamp: int) -> list[Source]:
    """The last log that was begun before the time, and those after it."""
    from binlog_kaitai.sources.source import header_of

    begun = [header_of(log).begun for log in logs]
    if begun[0] > timestamp:
        warn(f"warning: the first log, {logs[0].name}, begins after this time")
    return logs[max((number for number, time in enumerate(begun) if 0 < time < timestamp), default=0) :]


def _with_gtids(logs: list[Source], gtids: GtidSet) -> list[Source]:
    """The logs that may have some of these GTIDs, judging by the sets at their beginnings."""
    from binlog_kaitai.sources.source import header_of

    # After the last log, and before a log that does not state it, anything may have been executed.
    earlier = [header_of(log).previous for log in logs]
    if earlier[0] and gtids & earlier[0]:
        warn(f"warning: transactions of this GTID are in logs before the first one, {logs[0].name}")
    return [
        log
        for log, before, after in zip(logs, earlier, [*earlier[1:], None], strict=True)
        if (gtids if after is None else gtids & after).without(before or type(gtids)())
    ]
