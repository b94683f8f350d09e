"""`binlog-kaitai dump`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

import binlog_kaitai
from binlog_kaitai.cli import shared_options as options
from binlog_kaitai.cli.client_options import (
    ClientChoice,
    ClientCommand,
    ClientFlag,
    ClientNumber,
    ClientNumbers,
    ClientPosition,
    options_without_meaning,
)
from binlog_kaitai.cli.console import text_output, watched
from binlog_kaitai.errors import DamagedError, writing_to

if TYPE_CHECKING:
    from binlog_kaitai.render.dump import DumpOptions

_NUMBER, _NUMBERS, _POSITION = ClientNumber(), ClientNumbers(), ClientPosition()


def _flag(*names: str, help: str, default: bool = False) -> Callable[[options.Command], options.Command]:
    return click.option(*names, cls=ClientFlag, default=default, help=help)


def _numbers(
    *names: str, help: str, default: frozenset[int] | None = frozenset()
) -> Callable[[options.Command], options.Command]:
    return click.option(*names, type=_NUMBERS, default=default, metavar="N,...", help=help)


@click.command(cls=ClientCommand, context_settings={"help_option_names": ["-?", "--help"]})
@options.sources
@click.option("--verbose", "-v", count=True, help="Show rows as commented SQL; -vv: with column types.")
@click.option(
    "--base64-output",
    type=ClientChoice(("auto", "never", "decode-rows", "unspec")),
    default="auto",
    show_default=True,
    help="When to print BINLOG statements.",
)
@_flag("--hexdump", "-H", help="Also dump each event in hex.")
@_flag("--short-form", "-s", help="Only statements: no comments, no rows.")
@_flag("--print-table-metadata", help="Print column metadata from table maps.")
@_flag("--skip-gtids", help="Omit GTIDs, so that transactions get new ones.")
@_flag("--skip-annotate-row-events", help="MariaDB: omit the statements that caused row events.")
@_flag("--idempotent", "-i", help="MySQL: ignore missing-row and duplicate-key errors on replay.")
@_flag("--require-row-format", help="MySQL: fail on anything not in row format.")
@_flag("--flashback", "-B", help="MariaDB: revert row changes, last ones first.")
@_flag("--disable-log-bin", "-D", help="Disable binary logging on replay.")
@_flag("--verify-binlog-checksum", "-c", help="Stop at an event with a wrong checksum.")
@click.option("--set-charset", metavar="NAME", help="Start with SET NAMES.")
@options.rewrite_db
@click.option("--database", "-d", metavar="NAME", help="Only events of this database.")
@click.option("--table", "-T", metavar="NAME", help="MariaDB: only rows of this table.")
@_numbers("--server-id", "--do-server-ids", "server_ids", help="Only events of these servers.")
@_numbers("--ignore-server-ids", "ignored_server_ids", help="Skip events of these servers.")
@_numbers("--do-domain-ids", "domain_ids", help="MariaDB: only these domains.", default=None)
@_numbers("--ignore-domain-ids", "ignored_domain_ids", help="MariaDB: skip these domains.")
@click.option("--offset", "-o", type=_NUMBER, default=0, metavar="N", help="Skip the first N events.")
@click.option("--start-position", "-j", type=_POSITION, metavar="N", help="Start here in the first file.")
@click.option("--stop-position", type=_POSITION, metavar="N", help="Stop here in the last file.")
@click.option("--start-datetime", metavar="TIME", help="Start at the first event at or after this time.")
@click.option("--stop-datetime", metavar="TIME", help="Stop at the first event at or after this time.")
@click.option("--include-gtids", metavar="SET", help="Only transactions in this GTID set.")
@click.option("--exclude-gtids", metavar="SET", help="Skip transactions in this GTID set.")
@click.option("--local-load", "-l", metavar="DIR", help="Directory for LOAD DATA files; default: /tmp.")
@_flag("--to-last-log", "-t", help="Continue with the logs that follow the last SOURCE.")
@click.option(
    "--result-file",
    "-r",
    type=options.LocalPath(dir_okay=False),
    metavar="FILE",
    help="Write to FILE instead of stdout.",
)
@_flag("--print-row-count", "prints_row_count", default=True, help="MariaDB: print row counts (default).")
@_flag(
    "--print-row-event-positions",
    "prints_row_positions",
    default=True,
    help="MariaDB: print row event positions (default).",
)
@_flag(
    "--force-if-open", "-F", default=True, help="Accept logs in use (default); refuse: --skip-force-if-open."
)
@_flag("--force-read", "-f", help="Continue after events of unknown type.")
@options.jobs
@options_without_meaning
@click.version_option(binlog_kaitai.__version__, "-V", "--version", prog_name="binlog-kaitai dump")
def dump(
    sources: tuple[str, ...], to_last_log: bool, result_file: str | None, jobs: int | None, **settings: Any
) -> None:
    """Print a log exactly as mysqlbinlog or mariadb-binlog does.

    MariaDB logs are printed as mariadb-binlog prints them, all others as mysqlbinlog does. The output can be
    executed: binlog-kaitai dump … | mysql. Times are local (TZ). If a log is damaged, the output up to the
    damage is terminated properly, and the exit code is 1.

    LOAD DATA files are written to disk, and the statements refer to them by name.

    Options marked * may be repeated.

    \b
    Examples:
      binlog-kaitai dump -vv --base64-output=decode-rows binlog.000024
      binlog-kaitai dump -j 157 --database shop binlog.000024 | mysql
      binlog-kaitai dump --to-last-log --rewrite-db 'shop->shop2' binlog.000024
    """
    from binlog_kaitai.render.dump import dump
    from binlog_kaitai.sources.source import Source, later_logs, resolve

    logs = resolve(sources)
    if to_last_log and logs and logs[-1].path is not None:
        logs += [Source.of_path(path, logs[-1].keys) for path in later_logs(logs[-1].path)]
    options.refuse_inputs(result_file, [*sources, *(log.path for log in logs)])
    chosen, target = _options(**settings), result_file or "stdout"
    with writing_to(target), open(result_file, "wb") if result_file else nullcontext(text_output()) as output:
        try:
            with watched(logs, beside_output=not result_file) as watched_logs:
                reader = dump(watched_logs, _guarded(output.write, target), chosen, threads=jobs)
        except DamagedError as error:
            if error.file == logs[0].name:  # which may be undamaged, and read from the middle of an event
                options.refuse_position(logs[0], settings["start_position"])
            raise
        finally:
            output.flush()
    options.say_ends(reader.ends)


def _guarded(write: Callable[[bytes], object], target: str) -> Callable[[bytes], object]:
    """Write text; errors name the target, rather than the log being read."""

    def guarded(data: bytes) -> object:
        with writing_to(target):
            return write(data)

    return guarded


def _options(
    *,
    base64_output: str,
    rewrite_db: dict[str, str],
    start_datetime: str | None,
    stop_datetime: str | None,
    include_gtids: str | None,
    exclude_gtids: str | None,
    verify_binlog_checksum: bool,
    start_position: int | dict[int, int] | None,
    stop_position: int | dict[int, int] | None,
    **plain: Any,
) -> DumpOptions:
    from binlog_kaitai.core.filters import Filters
    from binlog_kaitai.render.dump import Base64Output, DumpOptions

    filters = Filters.of(
        start_datetime=start_datetime,
        stop_datetime=stop_datetime,
        include_gtids=include_gtids,
        exclude_gtids=exclude_gtids,
    )
    return DumpOptions(
        # As in the clients, `unspec` means that the option was not given.
        base64_output=Base64Output("auto" if base64_output == "unspec" else base64_output),
        rewrite_databases=rewrite_db,
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
