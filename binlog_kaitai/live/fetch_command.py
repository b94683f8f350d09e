"""`binlog-kaitai fetch`."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any

import click

from binlog_kaitai.cli import shared_options as options
from binlog_kaitai.cli.console import handling, interrupt, say
from binlog_kaitai.core.filters import MAX_SERVER_ID
from binlog_kaitai.errors import ConnectionLostError, UsageError
from binlog_kaitai.text.output_text import to_json

#: The server cannot be reached; other errors would recur on the next try.
EXIT_UNREACHABLE = 4


@click.command()
@click.argument("url", metavar="URL")
@options.target("Directory of the archive.", instead="archive to a local disk, and add --store URL")
@options.flag("--follow", "Keep reading as the server writes, until interrupted.")
@options.option(
    "--from start",
    "Where a new archive starts: earliest, latest, a log name, or GTIDs to skip.",
    "POSITION",
    default="earliest",
)
@options.flag("--semi-sync", "Semi-synchronous: commits wait until they are archived.")
@options.option("--server-id", "Server ID to register with; default: random.", "N", type=options.number)
@options.option(
    "--heartbeat",
    "Heartbeat interval; fetch reconnects after twice that.",
    "SECONDS",
    type=click.FloatRange(0.1, 3600),
    default=10,
)
@options.option("--defaults-file", "Read only this option file.", "FILE", type=click.Path())
@options.new_file("--metrics-file", "Keep this file up to date for Prometheus.")
@options.option("--compress", "Compress rotated logs.", type=click.Choice(("zstd",)))
@options.option("--store", "Copy closed logs to this folder of an object store.", "URL")
@options.option(
    "--keep-local",
    "Of the logs in the store, keep only the newest N in the directory.",
    "N",
    type=click.IntRange(0),
)
@options.formats("text", "json")
def fetch(url: str, target: str, output: str, **settings: Any) -> None:
    """Archive a running server's binary logs, byte for byte.

    URL is mysql://[USER@]HOST[:PORT]/ or mariadb://…; user, password and more may also come from the option
    files of the server's clients (groups [client] and [binlog-kaitai]) and from MYSQL_PWD. The user needs
    REPLICATION SLAVE.

    Each run continues where the last one ended, even if it was interrupted. Nothing is overwritten, and a
    server other than the archive's is rejected. With several hosts, HOST1,HOST2:PORT, the archive continues
    at another one if its server is lost, in a directory of its own. Exits 4 if the server cannot be reached,
    2 if it refuses.

    \b
    Examples:
      binlog-kaitai fetch mysql://repl@db1/ --to archive
      binlog-kaitai fetch mysql://repl@db1,db2/ --to archive --follow
      binlog-kaitai fetch mysql://repl@db1/ --to archive --store s3://bucket/db1
      binlog-kaitai fetch 'mariadb://repl@db2/?ssl-ca=db.pem' --to archive
    """
    from binlog_kaitai.live import fetch

    server_id = settings["server_id"]
    if server_id is not None and not 1 <= server_id <= MAX_SERVER_ID:
        raise UsageError(f"--server-id {server_id} is out of range; use 1 to {MAX_SERVER_ID}")
    if settings["keep_local"] is not None and settings["store"] is None:
        raise UsageError("--keep-local requires --store")
    if settings["semi_sync"] and not settings["follow"]:
        raise UsageError("--semi-sync requires --follow")
    if (metrics := settings["metrics_file"]) is not None:
        options.refuse_inputs(metrics, [target, settings["defaults_file"]])
        settings["metrics_file"] = Path(metrics)
    is_json = output == "json"
    try:
        with handling(interrupt, signal.SIGTERM):
            fetch(url, target, measure=is_json, report=_say_json if is_json else _say_text, **settings)
    except ConnectionLostError as error:
        say(f"binlog-kaitai: {error}", err=True)
        sys.exit(EXIT_UNREACHABLE)
    except KeyboardInterrupt:
        if not settings["follow"]:
            raise


def _say_json(what: str, facts: dict[str, object]) -> None:
    click.echo(to_json({"event": what, **facts}))
    sys.stdout.flush()


def _say_text(what: str, facts: dict[str, object]) -> None:
    match what:
        case "retry":
            say(f"{facts['reason']}; another try in {facts['seconds']} s", err=True)
        case "store retry":
            reason = f"{facts['log']} is not stored: {facts['reason']}"
            say(f"{reason}; another try in {facts['seconds']} s", err=True)
        case "stored":
            say(f"{facts['log']}: stored as {facts['url']}")
        case "torn":
            from binlog_kaitai.live.server_logs import PASSED

            say(PASSED.format(**facts), err=True)
        case "failover":
            say(f"continuing at {facts['server']}, from {facts['log']}, in {facts['folder']}", err=True)
        case "connected":
            say(f"{facts['server']}: from {facts['log']}, position {facts['position']}", err=True)
        case _:
            say(f"{facts['log']}: {what}, {facts['position']} bytes")
