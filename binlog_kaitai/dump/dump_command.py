"""`binlog-kaitai dump`, with the option syntax of the servers' clients.

As in `my_getopt`, the clients' parser: underscores in names are equivalent to hyphens, `--skip-NAME` and
`--NAME=0` turn a flag off, `--loose-NAME` is ignored if it is unknown, choices may have any case and may be
abbreviated, and numbers may end in K, M, G, T, P or E.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import click

import binlog_kaitai
from binlog_kaitai.cli import shared_options as options
from binlog_kaitai.cli.console import progress_over, text_output
from binlog_kaitai.errors import DamagedError, writing_to

if TYPE_CHECKING:
    from binlog_kaitai.dump.dump_options import DumpOptions

    _Choice = click.Choice[str]
    _Type = click.ParamType[object]
else:  # not generic in all versions of click that are allowed
    _Choice = click.Choice
    _Type = click.ParamType

_ON, _OFF = frozenset(("1", "on", "true")), frozenset(("0", "off", "false"))
_SUFFIXES = "kmgtpe"
_GTID = re.compile(r"[0-9]+-[0-9]+-[0-9]+")

#: Options that name a server, or request something that only a server has; a slash is between names of one.
_OF_SERVERS = (
    "-h/--host -P/--port -u/--user -S/--socket --protocol --read-from-remote-source "
    "--read-from-remote-master --stop-never-slave-server-id --connection-server-id "
    "--bind-address --server-id-bits"
)
_FLAGS_OF_SERVERS = "-R/--read-from-remote-server --stop-never --raw"
_MAYBE_WITH_VALUES = "-#/--debug --print-defaults -p/--password"
#: Options that tune a connection or the client's memory, without effect on reading files.
_WITHOUT_EFFECT = (
    "--binlog-row-event-max-size --character-sets-dir --compression-algorithms --default-auth "
    "--open-files-limit --plugin-dir --server-public-key-path --ssl-ca --ssl-capath --ssl-cert --ssl-cipher "
    "--ssl-crl --ssl-crlpath --ssl-fips-mode --ssl-fp --ssl-fplist --ssl-key --ssl-mode --ssl-session-data "
    "--tls-ciphersuites --tls-sni-servername --tls-version --zstd-compression-level --defaults-file "
    "--defaults-extra-file --defaults-group-suffix --login-path"
)
_FLAGS_WITHOUT_EFFECT = (
    "-C/--compress --get-server-public-key --ssl --ssl-session-data-continue-on-failed-reuse "
    "--ssl-verify-server-cert --debug-check --debug-info --no-defaults --no-login-paths --gtid-strict-mode"
)
#: Options of the clients that are not supported here.
_REFUSED = {
    "--server-id-bits": "not supported; give the full ID with --server-id",
    "--debug": "not supported; debug traces exist only in the clients",
    "--print-defaults": "not supported; dump does not read option files",
}


class ClientFlag(click.Option):
    """A flag that `--skip-NAME` turns off; the help does not list that name."""

    def __init__(self, names: Sequence[str], **settings: Any) -> None:
        declared = [name for name in names if name.startswith("-")]
        rest = [name for name in names if not name.startswith("-")]
        long = max(declared, key=len)
        off = [f"{name}/--skip-{long[2:]}" if name == long else name for name in declared]
        super().__init__([*off, *rest], **{"default": False, **settings})

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        shown, self.secondary_opts = self.secondary_opts, []
        try:
            return super().get_help_record(ctx)
        finally:
            self.secondary_opts = shown


class ClientChoice(_Choice):
    """One of several words, in any case, or an unambiguous prefix of one."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        word = str(value).rstrip(" ").lower()
        if word in self.choices:
            return word
        longer = [choice for choice in self.choices if word and choice.startswith(word)]
        return longer[0] if len(longer) == 1 else str(super().convert(value, param, ctx))


class ClientNumber(_Type):
    """A non-negative number with an optional suffix for a power of 1024."""

    name = "number"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value)
        power = _SUFFIXES.find(text[-1:].lower()) + 1 if text else 0
        digits = text[:-1] if power else text
        if not (digits.isascii() and digits.isdigit()):
            self.fail(f"{text!r} is not a valid number; use digits, optionally followed by K, M or G")
        return int(digits) << (10 * power)


class ClientNumbers(_Type):
    """Comma-separated numbers."""

    name = "numbers"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> frozenset[int]:
        if isinstance(value, frozenset):
            return value  # the default
        return frozenset(
            ClientNumber().convert(number.strip(), param, ctx) for number in str(value).split(",")
        )


class ClientPosition(_Type):
    """An offset, or MariaDB's GTIDs, one per domain, as a sequence number by domain."""

    name = "position"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | dict[int, int]:
        gtids = [gtid.strip() for gtid in str(value).split(",")]
        if not all(_GTID.fullmatch(gtid) for gtid in gtids):
            return ClientNumber().convert(value, param, ctx)
        parts = [[int(part) for part in gtid.split("-")] for gtid in gtids]
        numbers = {domain: number for domain, _, number in parts}
        if len(numbers) < len(parts):
            self.fail(f"{value} has two GTIDs of the same domain; give one per domain")
        return numbers


class ClientCommand(click.Command):
    """A command with the option syntax of the clients."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(self._as_click_has_them(args)))

    def _as_click_has_them(self, args: list[str]) -> Iterator[str]:
        options = [option for option in self.params if isinstance(option, click.Option)]
        known = {name for option in options for name in option.opts} | {"--help"}
        off = {
            name: option.secondary_opts[0]
            for option in options
            if option.secondary_opts
            for name in option.opts
        }
        rest = iter(args)
        for arg in rest:
            if arg == "--":
                yield arg
                break
            if not arg.startswith("--"):
                yield arg
                continue
            written, has_value, value = arg[2:].partition("=")
            name, is_off = _plain(written.replace("_", "-"), known)
            if name not in known and written.lower().startswith("loose"):
                click.echo(f"ignored: {arg}, which dump does not know", err=True)
                continue
            if name in off and has_value:
                if value.lower() not in _ON | _OFF:
                    raise click.BadParameter(f"{value!r} is not 1 or 0", param_hint=name)
                is_off ^= value.lower() in _OFF
                has_value = ""
            yield (off[name] if is_off and name in off else name) + (f"={value}" if has_value else "")
        yield from rest


def _plain(name: str, known: set[str]) -> tuple[str, bool]:
    """A long option without the clients' prefixes, and whether a prefix turns it off."""
    if name.startswith("loose-"):
        name = name.removeprefix("loose-")
    if f"--{name}" in known:
        return f"--{name}", False
    for prefix, is_off in (("skip-", True), ("disable-", True), ("enable-", False)):
        if name.startswith(prefix) and f"--{name.removeprefix(prefix)}" in known:
            return f"--{name.removeprefix(prefix)}", is_off
    return f"--{name}", False


def _refuse(context: click.Context, parameter: click.Parameter, value: object) -> None:
    if value:
        name = max(parameter.opts, key=len)
        reason = _REFUSED.get(name, "needs a server; dump reads files and connects to none")
        raise click.UsageError(f"{name}: {reason}" if name in _REFUSED else f"{name} {reason}")


def options_without_meaning(command: options.Command) -> options.Command:
    """Add the clients' options that do not apply to files: they are rejected, or have no effect."""
    hidden: dict[str, Any] = {"hidden": True, "expose_value": False}
    refused, flag = {**hidden, "callback": _refuse}, {"cls": ClientFlag}
    for names, settings in (
        (_OF_SERVERS, refused),
        (_FLAGS_OF_SERVERS, refused | flag),
        (_WITHOUT_EFFECT, hidden),
        (_FLAGS_WITHOUT_EFFECT, hidden | flag),
        (_MAYBE_WITH_VALUES, refused | {"is_flag": False, "flag_value": "-"}),
    ):
        for option in names.split():
            command = click.option(*option.split("/"), **settings)(command)
    return command


#: The filters that need parsing.
_TIMES, _GTIDS = ("start_datetime", "stop_datetime"), ("include_gtids", "exclude_gtids")

_flag = partial(options.option, show_default=False, cls=ClientFlag)
_numbers = partial(options.option, show_default=False, metavar="N,...", type=ClientNumbers())


@click.command(cls=ClientCommand, context_settings={"help_option_names": ["-?", "--help"]})
@options.sources
@options.option("--verbose -v", "Show rows as commented SQL; -vv: with column types.", count=True)
@options.option(
    "--base64-output",
    "When to print BINLOG statements.",
    type=ClientChoice(("auto", "never", "decode-rows", "unspec")),
    default="auto",
)
@_flag("--hexdump -H", "Also dump each event in hex.")
@_flag("--short-form -s", "Only statements: no comments, no rows.")
@_flag("--print-table-metadata", "Print column metadata from table maps.")
@_flag("--skip-gtids", "Omit GTIDs, so that transactions get new ones.")
@_flag("--skip-annotate-row-events", "MariaDB: omit the statements that caused row events.")
@_flag("--idempotent -i", "MySQL: ignore missing-row and duplicate-key errors on replay.")
@_flag("--require-row-format", "MySQL: fail on anything not in row format.")
@_flag("--flashback -B", "MariaDB: revert row changes, last ones first.")
@_flag("--disable-log-bin -D", "Disable binary logging on replay.")
@_flag("--verify-binlog-checksum -c verify_checksums", "Stop at an event with a wrong checksum.")
@options.option("--set-charset", "Start with SET NAMES.", "NAME")
@options.rewrite_db
@options.option("--database -d", "Only events of this database.", "NAME")
@options.option("--table -T", "MariaDB: only rows of this table.", "NAME")
@_numbers("--server-id --do-server-ids server_ids", "Only events of these servers.", default=frozenset())
@_numbers("--ignore-server-ids ignored_server_ids", "Skip events of these servers.", default=frozenset())
@_numbers("--do-domain-ids domain_ids", "MariaDB: only these domains.")
@_numbers("--ignore-domain-ids ignored_domain_ids", "MariaDB: skip these domains.", default=frozenset())
@options.option(
    "--offset -o", "Skip the first N events.", "N", type=ClientNumber(), default=0, show_default=False
)
@options.option("--start-position -j", "Start here in the first file.", "N", type=ClientPosition())
@options.option("--stop-position", "Stop here in the last file.", "N", type=ClientPosition())
@options.option("--start-datetime", "Start at the first event at or after this time.", "TIME")
@options.option("--stop-datetime", "Stop at the first event at or after this time.", "TIME")
@options.option("--include-gtids", "Only transactions in this GTID set.", "SET")
@options.option("--exclude-gtids", "Skip transactions in this GTID set.", "SET")
@options.option("--local-load -l", "Directory for LOAD DATA files; default: /tmp.", "DIR")
@_flag("--to-last-log -t", "Continue with the logs that follow the last SOURCE.")
@options.option(
    "--result-file -r", "Write to FILE instead of stdout.", "FILE", type=options.LocalPath(dir_okay=False)
)
@_flag("--print-row-count prints_row_count", "MariaDB: print row counts (default).", default=True)
@_flag(
    "--print-row-event-positions prints_row_positions",
    "MariaDB: print row event positions (default).",
    default=True,
)
@_flag("--force-if-open -F", "Accept active logs (default); refuse: --skip-force-if-open.", default=True)
@_flag("--force-read -f", "Continue after events of unknown type.")
@options.jobs
@options_without_meaning
@click.version_option(binlog_kaitai.__version__, "-V", "--version", prog_name="binlog-kaitai dump")
def dump(
    sources: tuple[str, ...], to_last_log: bool, result_file: str | None, jobs: int | None, **settings: Any
) -> None:
    """Print a log exactly as mysqlbinlog or mariadb-binlog does.

    MariaDB logs are printed as mariadb-binlog prints them, all others as mysqlbinlog does. The output can
    be executed: binlog-kaitai dump … | mysql --binary-mode. Times are local (TZ). If a log is damaged,
    the output up to the damage is terminated properly, and the exit code is 1.

    LOAD DATA files are written to disk, and the statements refer to them by name.

    Options marked * may be repeated.

    \b
    Examples:
      binlog-kaitai dump -vv --base64-output=decode-rows binlog.000024
      binlog-kaitai dump -j 157 -d shop binlog.000024 | mysql --binary-mode
      binlog-kaitai dump --to-last-log --rewrite-db 'shop->shop2' binlog.000024
    """
    from binlog_kaitai.dump.dump_logs import dump
    from binlog_kaitai.sources.source import Source, later_logs, resolve

    logs = resolve(sources, repeats=True)  # as the clients do
    if to_last_log and logs and logs[-1].path is not None:
        logs += [Source.of_path(path, logs[-1].keys) for path in later_logs(logs[-1].path)]
    options.refuse_inputs(result_file, [*sources, *(log.path for log in logs)])
    chosen, target = _options(**settings), result_file or "stdout"
    with writing_to(target), open(result_file, "wb") if result_file else nullcontext(text_output()) as output:
        try:
            with progress_over(beside_output=not result_file) as progress:
                reader = dump(logs, _guarded(output.write, target), chosen, threads=jobs, progress=progress)
        except DamagedError as error:
            if error.file == logs[0].name:  # which may be undamaged, and read from the middle of an event
                options.refuse_position(logs[0], chosen.start_position)
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


def _options(base64_output: str, rewrite_db: dict[str, str], **chosen: Any) -> DumpOptions:
    from binlog_kaitai.core.filters import Filters
    from binlog_kaitai.dump.dump_options import Base64Output, DumpOptions

    for end in ("start", "stop"):
        if isinstance(chosen[f"{end}_position"], dict):
            chosen[f"{end}_gtids"] = chosen.pop(f"{end}_position")
    filters = Filters.of(**{name: chosen.pop(name) for name in _TIMES + _GTIDS})
    chosen |= {name: getattr(filters, name) for name in ("start_timestamp", "stop_timestamp", *_GTIDS)}
    # As in the clients, `unspec` means that the option was not given.
    base64 = Base64Output("auto" if base64_output == "unspec" else base64_output)
    return DumpOptions(base64_output=base64, rewrite_databases=rewrite_db, **chosen)
