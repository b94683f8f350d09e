"""Commands that list what logs contain, one item per line: `events`, `rows` and `transactions`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import click

from binlog_kaitai.cli import shared_options as options
from binlog_kaitai.cli.console import text_output
from binlog_kaitai.cli.followed import followed, follows
from binlog_kaitai.errors import UsageError

if TYPE_CHECKING:
    from binlog_kaitai.core.filters import FilterOptions
    from binlog_kaitai.lines.row_forms import Form
    from binlog_kaitai.rows.row_masks import Masks

#: Optional columns of `rows`.
_SHOWN = ("gtid", "thread", "statement")

#: How a transaction may end: the names of `transaction_roles.Outcome`, which help does not load.
_KINDS = ("commit", "rollback", "xa_prepare", "ddl", "implicit", "open")


@click.command()
@options.sources
@options.filters
@options.formats("table", "json", "csv")
@options.jobs
@follows
def events(
    sources: tuple[str, ...],
    output: str,
    jobs: int | None,
    follow: bool,
    from_now: bool,
    **filters: Unpack[FilterOptions],
) -> None:
    """List events, one per line.

    With --format json, each line is an object with file, position, end_position, timestamp (seconds since
    1970 UTC), type, type_code, server_id, size, flags, checksum ("ok", "bad", "none"), gtid (of the event's
    transaction, or null) and info (the event's main fields). Events inside a compressed transaction follow
    the event that contains them and share its position.

    With --follow, events are printed as their transactions commit, including those in logs the server starts
    later; Ctrl-C stops it.

    \b
    Examples:
      binlog-kaitai events binlog.000024
      binlog-kaitai events --format json --event-type query binlog.index
      binlog-kaitai events --follow --from-now /var/lib/mysql/binlog.index
      binlog-kaitai events --start-datetime -2h -t shop.orders binlog.*
    """
    from binlog_kaitai.core.filters import Filters
    from binlog_kaitai.core.spans import Span
    from binlog_kaitai.lines.event_lines import write_json
    from binlog_kaitai.lines.listings import event_writer

    stdout = text_output(is_table=output == "table")
    write = event_writer(output, stdout)
    if follow:
        with followed(sources, filters, from_now=from_now) as spans:
            for source, of_span in spans:
                chosen = Filters.of(**(source.span or Span()).restrict(of_span))
                for lines in write_json(source, chosen):
                    write(lines)
        return
    options.print_lines(partial(write_json, sources, Filters.of(**filters), threads=jobs), write, stdout)


@click.command()
@options.sources
@options.filters
@options.formats("table", "json", "csv", "debezium")
@options.several("--show", _SHOWN, "NAMES", f"Extra columns, comma-separated: {', '.join(_SHOWN)}.")
@options.flag("--vertical -G", "Print a line for each column, like \\G in mysql.")
@options.count("--limit", "Print only the first N rows.")
@options.count("--tail last", "Print only the last N rows.")
@options.changes
@options.rules
@options.ddl
@options.jobs
@follows
def rows(
    sources: tuple[str, ...],
    output: str,
    show: tuple[str, ...],
    vertical: bool,
    limit: int | None,
    last: int | None,
    operation: tuple[str, ...],
    where: str | None,
    column: tuple[str, ...],
    rules: Masks,
    ddl: str | None,
    jobs: int | None,
    follow: bool,
    from_now: bool,
    **filters: Unpack[FilterOptions],
) -> None:
    """List changed rows, one per line.

    With --format json, each line is an object with file, position, row (its number in the event), timestamp,
    gtid, server_id, schema, table, change ("insert", "update", "delete"), and before and after: objects by
    column name, or null. Integers are numbers, DECIMAL and temporal values are text as MySQL prints them,
    bytes are {"hex": …}, JSON columns are JSON. Columns missing from a row image are omitted.
    `diffs` holds partial updates of JSON columns. --show adds `thread` (the connection ID) and `statement`,
    which the server must log (binlog_rows_query_log_events, binlog_annotate_row_events); both are null if
    the log does not have them.

    --where takes an SQL condition. A change matches if its row before or after the change does.

    With --format debezium, each line is a message of Debezium's connector with its default settings: topic,
    key and value, without schemas, and a tombstone after a delete. What a log does not have is neutral:
    `name` is empty, `snapshot` is "false", `transaction` is null. --show statement adds `query`.

    With --format csv and a single --table, each column of the table is a field, and an update is two records,
    update_preimage and update_postimage; otherwise before and after are fields that hold JSON.

    Column names come from the log (binlog_row_metadata=FULL), else from DDL statements in the log, else
    from --ddl; otherwise columns are named c1, c2 …

    --mask replaces values, in both images and in keys, and --exclude-columns leaves columns out. A digest is
    that of `export`. Partial updates of masked columns are left out.

    With --follow, rows are printed as their transactions commit, including those in logs the server starts
    later; Ctrl-C stops it.

    \b
    Examples:
      binlog-kaitai rows -t shop.orders binlog.000024
      binlog-kaitai rows -t shop.orders --where "id = 42" --show thread binlog.*
      binlog-kaitai rows --format json --ddl schema.sql binlog.index | jq .after
      binlog-kaitai rows --mask 'shop.customers.email=null' binlog.000024
    """
    from binlog_kaitai.core.filters import Filters
    from binlog_kaitai.lines.masked_rows import MaskedRows
    from binlog_kaitai.lines.row_texts import page_lines, write_rows
    from binlog_kaitai.rows.event_metadata import ORIGINS, THREAD
    from binlog_kaitai.rows.row_criteria import CriteriaChoice
    from binlog_kaitai.sources.source import resolve

    choice = CriteriaChoice.of(operation=operation, where=where, column=column)
    has_thread = output == "debezium"
    origins = [name for name in ORIGINS if name in show or (has_thread and name == THREAD)]
    logs = sources if follow and output != "table" else resolve(sources)
    has_files = len(logs) > 1
    shape = _shape_of(
        output, show, rules, vertical=vertical, tables=filters.get("table"), has_files=has_files
    )
    masked = MaskedRows(rules)
    shape.form.masked(masked)
    heading, stdout = shape.heading, text_output(is_table=output == "table" and not vertical)

    def write(lines: bytes | memoryview) -> None:
        nonlocal heading
        stdout.write(heading)
        heading = b""
        stdout.write(lines)

    if limit and last:
        raise UsageError("--limit and --tail cannot be used together")
    if follow and (limit or last):
        raise UsageError(f"--{'limit' if limit else 'tail'} cannot be used with --follow")
    if follow:
        from binlog_kaitai.following.span_pages import pages_of_span

        with followed(sources, filters, from_now=from_now, ddl=ddl) as spans:
            for source, of_span in spans:
                for page in pages_of_span(source, of_span, ddl, origins=origins, masks=rules):
                    for texts in shape.convert(page_lines(page, choice, shape.form)):
                        write(texts)
        return

    selected: dict[str, Any] = {"ddl": ddl, "origins": origins, "choice": choice}
    read = partial(write_rows, logs, Filters.of(**filters), form=shape.form, threads=jobs, **selected)

    def lines(**reading: Any) -> Iterator[bytes | memoryview]:
        texts = read(**reading)
        if limit or last:
            from binlog_kaitai.lines.row_listing import first_records, last_records

            choose = first_records if limit else last_records
            texts = choose(texts, limit or last or 0, is_csv=shape.is_csv)
        yield from shape.convert(texts)

    options.print_lines(lines, write, stdout)
    if shape.form.nameless:
        options.say_nameless(resolve(logs), shape.form.nameless)
    if limit:
        return
    if choice is not None:
        choice.check()
    rules.warn_unseen(masked.seen)


class _Shape(NamedTuple):
    """The format of rows: lines from the log, what they are converted to, and the first line."""

    form: Form
    heading: bytes
    convert: Callable[[Iterable[bytes | memoryview]], Iterator[bytes | memoryview]] = iter
    is_csv: bool = False


def _shape_of(
    output: str, show: tuple[str, ...], rules: Masks, *, vertical: bool, tables: object, has_files: bool
) -> _Shape:
    if rules and "statement" in show:
        raise UsageError("statements may contain what is masked or left out; omit --show statement")
    from binlog_kaitai.core.filters import is_pattern
    from binlog_kaitai.lines.row_listing import Fields, NamedForm, Vertical, form_of

    if vertical and output != "table":
        raise UsageError(f"--vertical cannot be used with --format {output}")
    if vertical:
        return _Shape(form_of("json")[0], b"", Vertical(show))
    if output == "csv" and isinstance(tables, tuple) and len(tables) == 1 and not is_pattern(tables[0]):
        return _Shape(NamedForm(), b"", Fields(show))
    shown = (*show, "file") if has_files else show
    return _Shape(*form_of(output, shown), is_csv=output == "csv")


@click.command()
@options.sources
@options.option(
    "--sort",
    "Sort in descending order; default: log order.",
    type=click.Choice(("size", "duration", "rows", "events")),
)
@options.count("--limit", "Print only the first N transactions.")
@options.option(
    "--kind", "Only transactions that end this way; ddl: schema changes. *", type=click.Choice(_KINDS)
)
@options.operations("Only transactions with row changes of this kind. *")
@options.option(
    "--min-size",
    "Only transactions of at least this size, such as 64m.",
    "SIZE",
    type=options.size,
    default="0",
    show_default=False,
)
@options.option(
    "--min-rows",
    "Only transactions with at least N changed rows.",
    "N",
    type=options.number,
    default="0",
    show_default=False,
)
@options.filters
@options.formats("table", "json", "csv")
@options.ddl
def transactions(sources: tuple[str, ...], output: str, **chosen: Any) -> None:
    """List transactions, one per line.

    Each line has file and position, commit time, GTID, how the transaction ended (commit, rollback,
    xa_prepare, ddl, implicit, or open if its end is not in the file), duration, size in the file, number of
    events, of rows inserted, updated and deleted, connection ID, and the tables it changed or its DDL
    statement.

    With --format json, each line is an object with the columns of the transactions view; times are seconds
    since 1970 UTC.

    Filters select whole transactions: positions and times are those of the start; any event may match
    --table, --database or --event-type. With --sort, nothing is printed if a log is damaged.

    \b
    Examples:
      binlog-kaitai transactions --sort size --limit 10 binlog.*
      binlog-kaitai transactions --sort duration -t shop.orders binlog.000024
      binlog-kaitai transactions --operation delete --min-rows 1000 binlog.*
      binlog-kaitai transactions --kind ddl --start-datetime yesterday binlog.*
      binlog-kaitai transactions --format json binlog.* | jq '.gtid'
    """
    from binlog_kaitai.core.filters import FilterOptions, Filters
    from binlog_kaitai.core.options import part_of
    from binlog_kaitai.lines.listings import transaction_writer
    from binlog_kaitai.views.transactions_view import write_transactions

    stdout = text_output(is_table=output == "table")
    filters = part_of(chosen, FilterOptions)
    others = {name: value for name, value in chosen.items() if name not in filters}
    lines = partial(write_transactions, sources, Filters.of(**filters), **others)
    write = transaction_writer(output, stdout)
    options.print_lines(lines, write, stdout, beside_output=chosen["sort"] is None)
