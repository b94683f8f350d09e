"""`binlog-kaitai gtids`, and `find`, which finds a time or a GTID in logs."""

from __future__ import annotations

import json
import operator
import re
import sys
from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import click

from binlog_kaitai.cli import shared_options as options
from binlog_kaitai.cli.console import progress_over, say, text_output, warn
from binlog_kaitai.errors import BinlogError, UsageError

if TYPE_CHECKING:
    from binlog_kaitai.core.gtids import GtidSet
    from binlog_kaitai.log.log_end import End

#: Exit codes of `contains` and `diff`, as in grep and diff: something is missing; an error occurred.
EXIT_MISSING, EXIT_FAILED = 1, 2

_CONTAINS, _DIFF = "contains", "diff"
_OPERATIONS: dict[str, Callable[[GtidSet, GtidSet], GtidSet]] = {
    "subtract": operator.sub,
    "union": operator.or_,
    "intersect": operator.and_,
    _CONTAINS: lambda first, others: others - first,
    _DIFF: operator.sub,
}


def _complete(
    context: click.Context, operand: click.Parameter, beginning: str
) -> list[click.shell_completion.CompletionItem]:
    """Operations as the first word, and files."""
    words = [] if context.params.get("operands") else _OPERATIONS
    files = operand.type.shell_complete(context, operand, beginning)
    fitting = [word for word in words if word.startswith(beginning)]
    return [*map(click.shell_completion.CompletionItem, fitting), *files]


@click.command()
@options.paths("operands", metavar="[OPERATION] SET...", shell_complete=_complete)
@options.keys
@options.formats("text", "json")
@options.flag("--logged", "For logs: only the transactions they contain.")
@options.flag("--positions", "MariaDB: read and print GTIDs as replication positions.")
def gtids(operands: tuple[str, ...], output: str, logged: bool, positions: bool) -> None:
    """Show the GTIDs in logs; combine and compare GTID sets.

    SET is a log, a directory, a quoted glob pattern, an .index file, - for stdin, or a literal set in the
    format of @@gtid_executed: uuid:1-77,uuid:tag:3, or for MariaDB 0-1-5,0-1-7..9. A log stands for
    everything its server had executed: the log's own transactions and all earlier ones (PREVIOUS_GTIDS,
    GTID_LIST).

    \b
    OPERATION is one of
      subtract   GTIDs in the first set and in none of the others
      union      GTIDs in any of the sets (the default)
      intersect  GTIDs in all of the sets
      contains   GTIDs that the first set lacks; exits 1 if there are any
      diff       GTIDs in only one of two sets; exits 1 if there are any

    `contains` and `diff` exit 2 on any error.

    In MariaDB, a GTID in gtid_slave_pos is a position that stands for everything in its domain up to there.
    With --positions, literal GTIDs are read as positions, and a union is printed as one.

    \b
    Examples:
      binlog-kaitai gtids /var/lib/mysql/binlog.index
      binlog-kaitai gtids subtract /backup/source /backup/replica
      binlog-kaitai gtids diff /backup/source /backup/replica
      binlog-kaitai gtids contains logs/ "$(mysql -BNe 'SELECT @@gtid_executed')"
      binlog-kaitai gtids --logged 'binlog.00002*'
    """
    operation, texts = operands[0], operands[1:]
    if operation not in _OPERATIONS:
        operation, texts = "union", operands
    if len(texts) < (1 if operation == "union" else 2):
        raise UsageError(f"{operation} needs at least two sets: {operation} FIRST SECOND")
    if operation == _DIFF and len(texts) > 2:
        raise UsageError("diff takes two sets: diff FIRST SECOND")
    try:
        sets = _operands(texts, logged=logged)
        result = _result(operation, sets, logged=logged, positions=positions)
        if operation == _DIFF:
            others = _result(operation, sets[::-1], logged=logged, positions=positions)
    except BinlogError as error:
        if operation not in (_CONTAINS, _DIFF):
            raise
        warn(error)
        sys.exit(EXIT_FAILED)
    if operation == _DIFF:
        _write_difference(list(zip(texts, (result, others), strict=True)), output)
        sys.exit(EXIT_MISSING if result or others else 0)
    shown = result.position() if positions and operation == "union" else result
    if output == "json":
        name = (
            {"contains": not result, "missing": str(shown)}
            if operation == _CONTAINS
            else {"gtids": str(shown)}
        )
        click.echo(json.dumps({**name, "count": _count(result)}))
    elif result:
        say(str(shown))
    if operation == _CONTAINS and result:
        sys.exit(EXIT_MISSING)


def _write_difference(only_in: list[tuple[str, GtidSet]], output: str) -> None:
    if output == "json":
        objects = [{"gtids": str(gtids), "count": _count(gtids)} for _, gtids in only_in]
        click.echo(json.dumps(dict(zip(("only_in_first", "only_in_second"), objects, strict=True))))
        return
    for text, gtids in only_in:
        if gtids:
            say(f"only in {text}: {gtids}")


class _Operand(NamedTuple):
    gtids: GtidSet
    is_log: bool


def _operands(texts: tuple[str, ...], *, logged: bool) -> list[_Operand]:
    """The sets named by the arguments."""
    from binlog_kaitai.core.gtids import literal_gtids
    from binlog_kaitai.log.gtid_runs import gtids as logged_gtids

    ends: list[End] = []
    literals = [literal_gtids(text) for text in texts]
    operands = []
    with progress_over() as progress:
        for text, gtids in zip(texts, literals, strict=True):
            is_log = gtids is None
            if gtids is None:
                gtids = logged_gtids(text, logged=logged, ends=ends, progress=progress)
            operands.append(_Operand(gtids, is_log))
    options.say_ends(ends)
    return operands


def _result(operation: str, operands: list[_Operand], *, logged: bool, positions: bool) -> GtidSet:
    sets = [operand.gtids for operand in operands]
    if not positions:
        return _combined(operation, sets)
    # A position contains everything in its domain up to it, from any server; the output lists the given
    # GTIDs.
    wide = [
        operand.gtids if operand.is_log and logged else operand.gtids.up_to_here(sets) for operand in operands
    ]
    named = [operand.gtids if operand.is_log else operand.gtids.up_to_here() for operand in operands]
    return _combined(operation, wide) & reduce(operator.or_, named)


def _combined(operation: str, sets: list[GtidSet]) -> GtidSet:
    if operation == _CONTAINS:
        sets = [sets[0], reduce(operator.or_, sets[1:])]
    return reduce(_OPERATIONS[operation], sets)


def _count(gtids: GtidSet) -> int:
    # `len` is limited to 2^63.
    return sum(last - first + 1 for _, numbers in gtids.items() for first, last in numbers)


# -- find

_AGO = re.compile(r"-([0-9]+[wdhms])+")


class _FindCommand(click.Command):
    """Takes a time such as ``-2h`` as an argument, which looks like an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [f"{arg[1:]} ago" if _AGO.fullmatch(arg) else arg for arg in args])


@click.command(cls=_FindCommand)
@click.argument("target", metavar="TIME|GTID|LOG:POSITION")
@options.sources
@options.formats("table", "json", "csv")
@options.zone
def find(target: str, sources: tuple[str, ...], output: str) -> None:
    """Find the log and position of a time or a GTID, or the transaction at a position.

    Prints the first transaction that starts at or after the time, or that has the GTID (or one of a set), or
    that contains the position or follows it, as `transactions` prints it: one for each server whose logs are
    given, in order. Only the headers of other logs are read. Exits 2 if there is no such transaction.

    TIME is as in --start-datetime: '2026-11-20 03:00:00' (local, or with a time zone), 'yesterday 03:00',
    -2h.

    \b
    Examples:
      binlog-kaitai find '2026-11-20 03:00:00' /var/lib/mysql/binlog.index
      binlog-kaitai find -2h binlog.*
      binlog-kaitai find a40b4242-e518-11f1-9090-02fc00000001:77 binlog.*
      binlog-kaitai find binlog.000003:1234 binlog.*
    """
    from binlog_kaitai.check.finding import find
    from binlog_kaitai.lines.listings import transaction_writer
    from binlog_kaitai.views.transactions_view import json_lines

    table = find(target, sources)
    stdout = text_output(is_table=output == "table")
    write = transaction_writer(output, stdout)
    for batch in table.to_batches():
        write(json_lines(batch))
    stdout.flush()
