"""`binlog-kaitai dump`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, BinaryIO, TypeVar

import click

import binlog_kaitai
from binlog_kaitai.cli import options
from binlog_kaitai.cli.client_options import (
    ClientChoice,
    ClientCommand,
    ClientFlag,
    ClientNumber,
    ClientNumbers,
    ClientPosition,
    options_without_meaning,
)
from binlog_kaitai.cli.progress import watched
from binlog_kaitai.errors import DamagedError, writing_to

_Command = TypeVar("_Command", bound=Callable[..., Any])
_NUMBER, _NUMBERS, _POSITION = ClientNumber(), ClientNumbers(), ClientPosition()


def _flag(*names: str, help: str, default: bool = False) -> Callable[[_Command], _Command]:
    return click.option(*names, cls=ClientFlag, default=default, help=help)


def _numbers(
    *names: str, help: str, default: frozenset[int] | None = frozenset()
) -> Callable[[_Command], _Command]:
    return click.option(*names, type=_NUMBERS, default=default, metavar="N,...", help=help)


@click.command(cls=ClientCommand, context_settings={"help_option_names": ["-?", "--help"]})
@options.sources
@click.option("--verbose", "-v", count=True, help="Rows as commented statements; -vv: with types.")
@click.option(
    "--base64-output",
    type=ClientChoice(("auto", "never", "decode-rows", "unspec")),
    default="auto",
    show_default=True,
    help="BINLOG statements: where needed, never, or not for rows.",
)
@_flag("--hexdump", "-H", help="The bytes of each event, too.")
@_flag("--short-form", "-s", help="Statements only: no comments, no rows.")
@_flag("--print-table-metadata", help="What table maps say of the columns.")
@_flag("--skip-gtids", help="No GTIDs: transactions get new ones.")
@_flag("--skip-annotate-row-events", help="MariaDB: no statements behind row events.")
@_flag("--idempotent", "-i", help="MySQL: pass over errors of missing and double rows.")
@_flag("--require-row-format", help="MySQL: refuse what is not logged as rows.")
@_flag("--flashback", "-B", help="MariaDB: take the rows back, the last ones first.")
@_flag("--disable-log-bin", "-D", help="Turn the binary log off while the text runs.")
@_flag("--verify-binlog-checksum", "-c", help="Stop at an event whose checksum is wrong.")
@click.option("--set-charset", metavar="NAME", help="SET NAMES in front.")
@click.option("--rewrite-db", metavar="OLD->NEW", multiple=True, help="Another name for a database. *")
@click.option("--database", "-d", metavar="NAME", help="Only events of this database.")
@click.option("--table", "-T", metavar="NAME", help="MariaDB: only rows of this table.")
@_numbers("--server-id", "--do-server-ids", "server_ids", help="Only events of these servers.")
@_numbers("--ignore-server-ids", "ignored_server_ids", help="No events of these servers.")
@_numbers("--do-domain-ids", "domain_ids", help="MariaDB: only these domains.", default=None)
@_numbers("--ignore-domain-ids", "ignored_domain_ids", help="MariaDB: not these domains.")
@click.option("--offset", "-o", type=_NUMBER, default=0, metavar="N", help="Skip so many events.")
@click.option("--start-position", "-j", type=_POSITION, metavar="N", help="Start here in the first file.")
@click.option("--stop-position", type=_POSITION, metavar="N", help="Stop here in the last file.")
@click.option("--start-datetime", metavar="TIME", help="From the first event at or after; local time.")
@click.option("--stop-datetime", metavar="TIME", help="Stop at the first event at or after.")
@click.option("--include-gtids", metavar="SET", help="Only these transactions.")
@click.option("--exclude-gtids", metavar="SET", help="Not these transactions.")
@click.option("--local-load", "-l", metavar="DIR", help="Where files of LOAD DATA go; default: /tmp.")
@_flag("--to-last-log", "-t", help="Go on with the later logs beside the last SOURCE.")
@click.option(
    "--result-file", "-r", type=options.LocalPath(dir_okay=False), metavar="FILE", help="Not to stdout."
)
@_flag(
    "--print-row-count", "prints_row_count", default=True, help="MariaDB: how many rows changed (default)."
)
@_flag(
    "--print-row-event-positions",
    "prints_row_positions",
    default=True,
    help="MariaDB: where rows events are (default).",
)
@_flag(
    "--force-if-open", "-F", default=True, help="Print logs in use (default); --skip-force-if-open: refuse."
)
@_flag("--force-read", "-f", help="Go on after events of unknown types.")
@options_without_meaning
@click.version_option(binlog_kaitai.__version__, "-V", "--version", prog_name="binlog-kaitai dump")
def command(sources: tuple[str, ...], to_last_log: bool, result_file: str | None, **given: Any) -> None:
    """What mysqlbinlog and mariadb-binlog print, byte for byte.

    Of MariaDB's logs it is what mariadb-binlog prints. A client can run it: binlog-kaitai dump … | mysql.
    Times are local (TZ). Of a damaged log, what is printed before the damage has its proper end, and the exit
    code is 1.

    The data of LOAD DATA is written to files, whose names the statements have.

    Options marked * may be repeated.

    \b
    Examples:
      binlog-kaitai dump -vv --base64-output=decode-rows binlog.000024
      binlog-kaitai dump --start-position 157 --database shop binlog.000024 | mysql
      binlog-kaitai dump --to-last-log --rewrite-db 'shop->shop2' binlog.000024
    """
    from binlog_kaitai.render.dump import dump
    from binlog_kaitai.sources.source import resolve, with_later_logs

    logs = resolve(sources)
    if to_last_log:
        logs = with_later_logs(logs)
    chosen, target = _options(**given), result_file or "stdout"
    with writing_to(target), _opened(result_file) as output:
        try:
            with watched(logs, beside_output=not result_file) as watched_logs:
                reader = dump(watched_logs, _guarded(output.write, target), chosen)
        except DamagedError as error:
            if error.file == logs[0].name:  # which may be undamaged, and read from the middle of an event
                options.refuse_position(logs[0], given["start_position"])
            raise
        finally:
            output.flush()
    options.say_ends(reader.ends)


def _opened(result_file: str | None) -> AbstractContextManager[BinaryIO]:
    return open(result_file, "wb") if result_file else nullcontext(sys.stdout.buffer)


def _guarded(write: Callable[[bytes], object], target: str) -> Callable[[bytes], object]:
    """Writes, and names the target where that fails: what reads the logs would name the log."""

    def guarded(data: bytes) -> object:
        with writing_to(target):
            return write(data)

    return guarded


def _options(
    *,
    base64_output: str,
    rewrite_db: tuple[str, ...],
    start_datetime: str | None,
    stop_datetime: str | None,
    include_gtids: str | None,
    exclude_gtids: str | None,
    verify_binlog_checksum: bool,
    start_position: Any,
    stop_position: Any,
    **plain: Any,
) -> Any:
    from binlog_kaitai.core.filters import Filters
    from binlog_kaitai.render.dump import Base64Output, DumpOptions

    filters = Filters.of(
        start_datetime=start_datetime,
        stop_datetime=stop_datetime,
        include_gtids=include_gtids,
        exclude_gtids=exclude_gtids,
    )
    return DumpOptions(
        # What the clients make of neither: as if it was not given.
        base64_output=Base64Output("auto" if base64_output == "unspec" else base64_output),
        rewrite_databases=dict(_pair(one) for one in rewrite_db),
        verify_checksums=verify_binlog_checksum,
        start_timestamp=filters.start_timestamp,
        stop_timestamp=filters.stop_timestamp,
        include_gtids=filters.include_gtids,
        exclude_gtids=filters.exclude_gtids,
        start_position=start_position if isinstance(start_position, int) else None,
        stop_position=stop_position if isinstance(stop_position, int) else None,
        start_gtids=start_position if isinstance(start_position, dict) else {},
        stop_gtids=stop_position if isinstance(stop_position, dict) else {},
        **plain,
    )


def _pair(text: str) -> tuple[str, str]:
    from binlog_kaitai.errors import UsageError

    old, arrow, new = (part.strip() for part in text.partition("->"))
    if not (old and arrow and new):
        raise UsageError(f"{text!r} renames no database; write 'old->new'")
    return old, new
