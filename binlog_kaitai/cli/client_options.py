"""The option syntax of the servers' clients, and those of their options that do not apply to files.

As in `my_getopt`, the clients' parser: underscores in names are equivalent to hyphens, `--skip-NAME` and
`--NAME=0` turn a flag off, `--loose-NAME` is ignored if it is unknown, choices may have any case and may be
abbreviated, and numbers may end in K, M, G, T, P or E.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from binlog_kaitai.cli.shared_options import Command

if TYPE_CHECKING:
    _Choice = click.Choice[str]
    _Type = click.ParamType[object]
else:  # not generic in all versions of click that are allowed
    _Choice = click.Choice
    _Type = click.ParamType


_ON, _OFF = frozenset(("1", "on", "true")), frozenset(("0", "off", "false"))
_SUFFIXES = "kmgtpe"
_GTID = re.compile(r"[0-9]+-[0-9]+-[0-9]+")

#: Options that name a server, or request something that only a server has.
_OF_SERVERS = (
    ("-h", "--host"),
    ("-P", "--port"),
    ("-u", "--user"),
    ("-S", "--socket"),
    ("--protocol",),
    ("--read-from-remote-source",),
    ("--read-from-remote-master",),
    ("--stop-never-slave-server-id",),
    ("--connection-server-id",),
    ("--bind-address",),
)
_FLAGS_OF_SERVERS = (("-R", "--read-from-remote-server"), ("--stop-never",), ("--raw",))
#: Options that tune a connection or the client's memory, without effect on reading files.
_WITHOUT_EFFECT = (
    "binlog-row-event-max-size character-sets-dir compression-algorithms default-auth "
    "open-files-limit plugin-dir server-public-key-path ssl-ca ssl-capath ssl-cert ssl-cipher ssl-crl "
    "ssl-crlpath ssl-fips-mode ssl-fp ssl-fplist ssl-key ssl-mode ssl-session-data tls-ciphersuites "
    "tls-sni-servername tls-version zstd-compression-level defaults-file defaults-extra-file "
    "defaults-group-suffix login-path"
)
_FLAGS_WITHOUT_EFFECT = (
    ("-C", "--compress"),
    ("--get-server-public-key",),
    ("--ssl",),
    ("--ssl-session-data-continue-on-failed-reuse",),
    ("--ssl-verify-server-cert",),
    ("--debug-check",),
    ("--debug-info",),
    ("--no-defaults",),
    ("--no-login-paths",),
    ("--gtid-strict-mode",),
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


def options_without_meaning(command: Command) -> Command:
    """Add the clients' options that do not apply to files: they are rejected, or have no effect."""
    hidden = partial(click.option, hidden=True, expose_value=False)
    optional = partial(hidden, is_flag=False, flag_value="-", callback=_refuse)
    for names in _OF_SERVERS:
        command = hidden(*names, callback=_refuse)(command)
    for names in _FLAGS_OF_SERVERS:
        command = hidden(*names, cls=ClientFlag, callback=_refuse)(command)
    for name in _WITHOUT_EFFECT.split():
        command = hidden(f"--{name}")(command)
    for names in _FLAGS_WITHOUT_EFFECT:
        command = hidden(*names, cls=ClientFlag)(command)
    command = hidden("--server-id-bits", callback=_refuse)(command)
    for names in (("-#", "--debug"), ("--print-defaults",), ("-p", "--password")):
        command = optional(*names)(command)
    return command
