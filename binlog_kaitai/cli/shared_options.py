"""Options shared by several commands."""

from __future__ import annotations

import os
import stat
import time
import warnings
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import partial, reduce, wraps
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

import click

from binlog_kaitai.cli.console import progress_over, say, warn
from binlog_kaitai.core.filters import (
    MAX_POSITION,
    ZERO_DATES,
    FilterOptions,
    is_pattern,
    moment_of,
    parse_size,
    whole_number,
)
from binlog_kaitai.errors import BinlogError, SourceError, UsageError, writing_to
from binlog_kaitai.sources import disk as outputs
from binlog_kaitai.sources import is_server, servers_of
from binlog_kaitai.sources.remote import is_url, public
from binlog_kaitai.text.output_text import first_names
from binlog_kaitai.views import VIEWS

if TYPE_CHECKING:
    from binlog_kaitai.log.log_end import End
    from binlog_kaitai.sources.source import Source

#: The file descriptor; `sys.stdout` may have been replaced.
_STDOUT = 1

Command = TypeVar("Command", bound=Callable[..., object])
_Lines = TypeVar("_Lines")


def option(
    names: str, help: str, metavar: str | None = None, **settings: Any
) -> Callable[[Command], Command]:
    """An option; its names, and that of the parameter, are separated by blanks. Defaults are shown.

    It may be repeated if its help ends with `*`.
    """
    settings = {"show_default": "default" in settings, "multiple": help.endswith("*"), **settings}
    return click.option(*names.split(), help=help, metavar=metavar, **settings)


flag = partial(option, is_flag=True)

# A path, so that shells complete it; the reader checks whether it exists.
paths = partial(click.argument, nargs=-1, required=True, type=click.Path(allow_dash=True))


def files_read(context: click.Context) -> list[str]:
    """The files that options name as inputs."""
    files: list[str] = context.meta.setdefault(f"{__name__}.files", [])
    return files


def refuse_inputs(target: str | None, sources: Iterable[str | None]) -> None:
    """Refuse an output that is a source, one of its logs, or a file that an option reads."""
    if target is None:
        return
    from binlog_kaitai.sources.source import resolve

    inputs = files_read(click.get_current_context()).copy()
    for source in sources:
        if source is not None and not is_url(source):
            inputs.append(source)
            with suppress(SourceError):  # reported where it is read
                inputs += [log.path for log in resolve(source) if log.path is not None]
    outputs.refuse_inputs(target, inputs)


def _use_key(context: click.Context, option: click.Parameter, value: object) -> None:
    """Apply an option for keys; commands do not receive it."""
    if not value:
        return
    from binlog_kaitai.sources.keys import Keys, use

    keys = context.meta.setdefault(f"{__name__}.keys", {})
    keys[option.name] = value
    if isinstance(option.type, click.Path):
        files_read(context).extend(cast("tuple[str, ...]", value))
    use(Keys.of(**keys))
    context.call_on_close(lambda: use(None))


_key_option = partial(option, callback=_use_key, expose_value=False)
_key_files = partial(_key_option, metavar="FILE", type=click.Path())


def all_of(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Several options as one decorator."""
    return lambda command: reduce(lambda decorated, option: option(decorated), reversed(options), command)


#: The options for the keys of encrypted logs.
keys = all_of(
    _key_files("--keyring", "Keys of encrypted logs: a MySQL server's keyring. *"),
    _key_option("--key", "A key of encrypted logs. *", "ID=HEX"),
    _key_files("--key-file", "Keys of encrypted logs: a file of MariaDB's file_key_management. *"),
    _key_option("--key-file-secret", "Secret that decrypts the key file, or FILE:PATH.", "TEXT"),
    _key_option("--key-file-pbkdf2", "Number of PBKDF2 rounds, if the key file uses PBKDF2.", "N", type=int),
)


def sources(command: Command) -> Command:
    """Add the argument `SOURCE...`, and the options for keys.

    Stdout may not be one of the sources; a warning says if these are logs of several servers.
    """

    @wraps(command)
    def checked(*arguments: object, sources: tuple[str, ...], **options: object) -> object:
        with suppress(OSError):  # stdout may be closed
            if stat.S_ISREG(os.fstat(_STDOUT).st_mode):
                refuse_inputs("/dev/stdout", sources)
        with suppress(BinlogError, OSError):  # reported where they are read
            _note_servers(sources)
        return command(*arguments, sources=sources, **options)

    return paths("sources", metavar="SOURCE...")(keys(cast(Command, checked)))


def _note_servers(paths: tuple[str, ...]) -> None:
    from binlog_kaitai.sources.source import by_server, resolve

    if any(path == "-" or is_url(path) for path in paths):  # reads once, or far away
        return
    logs = resolve(paths)
    if len(logs) > 1 and len(groups := by_server(logs)) > 1:
        servers = (f"{of_server[0].name} of server {number}" for number, of_server in groups.items())
        say(f"warning: the logs are of several servers: {', '.join(servers)}; not merged by time", err=True)


def number(text: str) -> int:
    """A number of at least 0 in ASCII digits; click's type also accepts underscores and other digits."""
    try:
        value = whole_number(text)
    except UsageError as error:
        raise click.BadParameter(error.reason) from None
    if not 0 <= value <= MAX_POSITION:
        raise click.BadParameter(f"{value} is not a number from 0 to {MAX_POSITION}")
    return value


def size(text: str) -> int:
    """A number of bytes, possibly with a unit: 64m."""
    try:
        return parse_size("size", text)
    except UsageError as error:
        raise click.BadParameter(error.reason.removeprefix("option size: ")) from None


_COPY = "write to a local disk, then copy the files"


class LocalPath(click.Path):
    """A path to write to; URLs are rejected, since they would become local folders.

    `instead`: what to do with a URL.
    """

    def __init__(self, *, instead: str = _COPY, dir_okay: bool = True) -> None:
        super().__init__(dir_okay=dir_okay)
        self._instead = instead

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        if is_url(os.fspath(value)):
            name = public(os.fspath(value))
            self.fail(f"{name} is a URL; output must be a local path: {self._instead}", param, ctx)
        return super().convert(value, param, ctx)


#: An option for a file to write.
new_file = partial(option, metavar="FILE", type=LocalPath())
#: An option for a file to read.
existing_file = partial(option, metavar="FILE", type=click.Path(exists=True, dir_okay=False))
#: An option for how many of something, from 1 on.
count = partial(option, metavar="N", type=click.IntRange(min=1))


def target(help_text: str, *, instead: str = _COPY) -> Callable[[Command], Command]:
    """The option `--to` of commands that write into a directory."""
    return option("--to target", help_text, "DIR", type=LocalPath(instead=instead), required=True)


def operations(help_text: str) -> Callable[[Command], Command]:
    """The option `--operation`."""
    return option("--operation", help_text, type=click.Choice(("insert", "update", "delete")))


#: The options that select row changes by content, passed as keywords.
changes = all_of(
    operations("Only row changes of this kind. *"),
    option("--where", 'Only row changes that match, such as "id=42".', "CONDITION"),
    option("--column", "Only updates that change this column. *", "NAME"),
)


def several(name: str, names: tuple[str, ...], metavar: str, help: str) -> Callable[[Command], Command]:
    """Add an option that takes a comma-separated list of names and passes it as a tuple."""

    def read(context: click.Context, parameter: click.Parameter, text: str) -> tuple[str, ...]:
        chosen = tuple(name.strip() for name in text.split(",") if name.strip())
        if unknown := [name for name in chosen if name not in names]:
            raise click.BadParameter(f"{unknown[0]!r} is not one of {', '.join(names)}")
        return chosen

    def complete(context: click.Context, parameter: click.Parameter, beginning: str) -> list[str]:
        before, comma, last = beginning.rpartition(",")
        return [before + comma + name for name in names if name.startswith(last) and name not in before]

    settings = {"callback": read, "shell_complete": complete}
    return option(name, help, metavar, default="", show_default=False, **settings)


def _use_color(context: click.Context, option: click.Parameter, when: str) -> None:
    by_variable = False if os.environ.get("NO_COLOR") else bool(os.environ.get("FORCE_COLOR")) or None
    context.color = {"always": True, "never": False}.get(when, by_variable)


color = option(
    "--color",
    "When to color output; default: auto, on terminals.",
    type=click.Choice(("always", "never", "auto")),
    default="auto",
    callback=_use_color,
    expose_value=False,
    show_default=False,
)


def formats(*names: str, default: str | None = "") -> Callable[[Command], Command]:
    """Add `--format`, whose default is the first of the names; the command gets it as `output`.

    A table has colors, so `--color` is added, too.
    If `default` is None, the command gets None unless the option is given.
    """
    chosen = names[0] if default == "" else default
    output = option(
        "--format output",
        f"Default: {names[0]}.",
        type=click.Choice(names),
        default=chosen,
        show_default=False,
    )
    return all_of(output, color) if "table" in names else output


def _complete_type(context: click.Context, option: click.Parameter, beginning: str) -> list[str]:
    from binlog_kaitai.core.event_types import CHANGE_TYPES, TYPE_NAMES

    names = (*CHANGE_TYPES, *TYPE_NAMES)
    return [name for name in names if name.startswith((beginning.upper(), beginning.lower()))]


class _FileOrServer(click.File):
    """A file, or the URL of a server."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        is_url_of_server = isinstance(value, str) and is_server(value)
        return value if is_url_of_server else super().convert(value, param, ctx)


def _text_of(context: click.Context, option: click.Parameter, file: BinaryIO | str | None) -> str | None:
    if file is None:
        return None
    if isinstance(file, str):
        return servers_of(file).definitions(file)
    files_read(context).append(file.name)
    return file.read().decode("utf-8", "surrogateescape")


_text_option = partial(option, metavar="FILE|URL", type=_FileOrServer("rb"), callback=_text_of)
ddl = _text_option("--ddl", "CREATE TABLE statements, as mysqldump writes, or the server that has them.")
for_table = _text_option("--for-table", "With --undo: the current CREATE TABLE; adapt statements to it.")
views = option("--view views", "Only this view. *", type=click.Choice(VIEWS))
zero_dates = option(
    "--zero-dates", "How to write dates such as 0000-00-00.", type=click.Choice(ZERO_DATES), default="null"
)
bit1_as_boolean = flag("--bit1-as-boolean", "BIT(1) is boolean, not an integer.")


def _renames(context: click.Context, option: click.Parameter, pairs: tuple[str, ...]) -> dict[str, str]:
    names = {}
    for pair in pairs:
        old, arrow, new = (part.strip() for part in pair.partition("->"))
        if not (old and arrow and new):
            raise UsageError(f"{pair!r} is not a valid rename; use 'old->new'")
        names[old] = new
    return names


#: The command gets the new names of databases by the old ones.
rewrite_db = option("--rewrite-db", "Rename a database. *", "OLD->NEW", callback=_renames)
jobs = count("--jobs", "Number of threads; default: 1, or for changed rows one per processor, at most 4.")


def filters(command: Command) -> Command:
    """Add the filter options; the command gets them as keywords, by the names of `Filters.of`.

    Its help says, before the examples, that options may be repeated.
    """
    help_text = cleandoc(command.__doc__ or "")
    command.__doc__ = help_text.replace("\b", "Options marked * may be repeated.\n\n\b")

    @wraps(command)
    def call(start_datetime: str | None, stop_datetime: str | None, **others: object) -> object:
        # Relative times are those of now, also for what is read later (`--follow`).
        start, stop = (text and moment_of(text) for text in (start_datetime, stop_datetime))
        if start and stop and int(start.timestamp()) >= int(stop.timestamp()):
            raise UsageError(
                f"--start-datetime {start_datetime} must be before --stop-datetime {stop_datetime}"
            )
        chosen = {"start_datetime": start, "stop_datetime": stop, **others}
        chosen["table"] = _qualified(chosen)
        return command(**chosen)

    return _FILTERS(zone(cast(Command, call)))


def _qualified(chosen: dict[str, Any]) -> tuple[str, ...]:
    """The tables to filter, with the schema of those that are given without, which only one schema has."""
    tables: tuple[str, ...] = chosen["table"]
    plain = [name for name in tables if "." not in name and not is_pattern(name)]
    if not plain or "-" in chosen["sources"]:  # stdin can be read only once
        return tables
    from binlog_kaitai.core.filters import Filters
    from binlog_kaitai.core.options import part_of
    from binlog_kaitai.rows.log_pages import RowsPages
    from binlog_kaitai.rows.table_maps import Table

    filters = Filters.of(**{**part_of(chosen, FilterOptions), "table": None})
    names: dict[tuple[str, str], None] = {}
    with progress_over("tables") as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the command will give the same ones
        pages = RowsPages(chosen["sources"], filters, progress=progress, has_rolled_back=True)
        with suppress(BinlogError):  # so will it with the error, if it reads so far
            for page in pages:
                names |= {table.key: None for table, _ in page.runs() if isinstance(table, Table)}
    by_name = {name: [f"{schema}.{table}" for schema, table in names if table == name] for name in plain}
    for name, qualified in by_name.items():
        if len(qualified) != 1:
            which = f"it is in several schemas: {', '.join(qualified)}" if qualified else "no schema has it"
            raise UsageError(f"table {name}: {which}; use schema.table")
        say(f"table {name}: {qualified[0]}", err=True)
    return tuple(by_name[name][0] if name in by_name else name for name in tables)


def _use_zone(context: click.Context, option: click.Parameter, is_utc: bool | None) -> None:
    """Make UTC the local time of this process, for filters and output alike."""
    if not is_utc:
        return
    before = os.environ.get("TZ")

    def use(name: str | None) -> None:
        if name is None:
            os.environ.pop("TZ", None)
        else:
            os.environ["TZ"] = name
        time.tzset()

    use("UTC")
    context.call_on_close(lambda: use(before))


zone = option(
    "--utc/--local",
    "Zone of times, in filters and in output; default: local, or UTC if BINLOG_KAITAI_UTC=1.",
    default=None,
    envvar="BINLOG_KAITAI_UTC",
    callback=_use_zone,
    expose_value=False,
    is_eager=True,
    show_default=False,
)


def refuse_position(source: Source, position: int | None) -> None:
    """Reject a position inside an event; the error names the nearest event boundaries.

    Raises `UsageError`: no event begins at the position.
    """
    from binlog_kaitai.core.framing import not_at_an_event

    reason = None
    with suppress(BinlogError, OSError), source.open() as stream:
        if position is not None and stream.seekable():
            reason = not_at_an_event(stream, position)
    if reason is not None:
        raise UsageError(reason, file=source.name)


_columns = all_of(
    option("--include-columns", "Take only these columns of a table. *", "COLUMNS"),
    option("--exclude-columns", "Leave out these columns. *", "COLUMNS"),
)
#: For outputs whose masked values are NULL.
columns = all_of(_columns, option("--mask", "Mask columns with NULL. *", "COLUMNS=null"))
masks = all_of(
    _columns,
    option("--mask", "Mask columns: hash (with key), sha256, truncate:N or null. *", "COLUMNS=METHOD"),
    option(
        "--mask-key-file",
        "Key of the method hash; default: the environment variable BINLOG_KAITAI_MASK_KEY.",
        "FILE",
        type=LocalPath(),
    ),
)


def rules(command: Command) -> Command:
    """Add the options for masks; the command gets them as `rules`, a `Masks`."""

    @wraps(command)
    def call(
        include_columns: tuple[str, ...],
        exclude_columns: tuple[str, ...],
        mask: tuple[str, ...],
        mask_key_file: str | None,
        **others: object,
    ) -> object:
        from binlog_kaitai.rows.row_masks import Masks

        return command(rules=Masks.of(include_columns, exclude_columns, mask, mask_key_file), **others)

    return masks(cast(Command, call))


_FILTERS = all_of(
    option("--start-position", "Start here in the first file.", "N", type=number),
    option("--stop-position", "Stop here in the last file.", "N", type=number),
    option("--start-datetime", "Skip events before this time: 2026-11-20 03:00, -2h, yesterday.", "TIME"),
    option("--stop-datetime", "Stop at the first event at or after this time.", "TIME"),
    option("--include-gtids", "Only transactions in this GTID set.", "SET"),
    option("--exclude-gtids", "Skip transactions in this GTID set.", "SET"),
    option("--database -d", "Only events of this schema. *", "NAME"),
    option("--table -t", "Only events of this schema.table. *", "TABLE"),
    option(
        "--event-type",
        "Only events of this type: query, QUERY_EVENT; or insert, update, delete for row events. *",
        "TYPE",
        shell_complete=_complete_type,
    ),
    option("--server-id", "Only events from this server. *", "N", type=number),
)

#: The headings of several options in the help of commands, after those of the command itself.
_HELP_HEADINGS = {
    "Filters": (
        *FilterOptions.__annotations__,
        *("kind", "operation", "where", "column", "min_size", "min_rows"),
    ),
    "Columns": ("include_columns", "exclude_columns", "mask", "mask_key_file"),
    "State": ("state", "on_refusal", "heal", "resnapshot"),
    "Snapshots": ("snapshot", "snapshot_readers", "dump"),
    "Engine": ("engine", "ui", "catalog", "master", "settings"),
    "Encrypted logs": ("keyring", "key", "key_file", "key_file_secret", "key_file_pbkdf2"),
}


def format_options(command: click.Command, context: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the options of a command for its help, those of the command itself first."""
    records = {
        option.name: record
        for option in command.get_params(context)
        if isinstance(option, click.Option) and (record := option.get_help_record(context)) is not None
    }
    groups = {
        heading: [records.pop(name) for name in names if name in records]
        for heading, names in _HELP_HEADINGS.items()
        if len(records.keys() & names) > 1
    }
    for heading, shown in {"Options": [*records.values()], **groups}.items():
        if shown:
            with formatter.section(heading):
                formatter.write_dl(shown)


def print_lines(
    lines: Callable[..., Iterable[_Lines]],
    write: Callable[[_Lines], object],
    stdout: BinaryIO,
    *,
    beside_output: bool = True,
) -> None:
    """Print the lines of several logs with a progress bar, then how the logs ended.

    `lines`: gets `ends`, a list for the ends of the logs, and `progress`; yields lines as `write` takes them.
    `beside_output`: see `progress_over`.
    """
    ends: list[End] = []
    try:
        with progress_over(beside_output=beside_output) as progress:
            for part in lines(ends=ends, progress=progress):
                write(part)
    finally:
        stdout.flush()
    say_ends(ends)


def say_ends(ends: list[End]) -> None:
    """Report on stderr the files that are still being written or were not closed."""
    from binlog_kaitai.log.log_end import EndKind

    for end in ends:
        after = f"; the {end.bytes_after} bytes after it are an incomplete event" if end.bytes_after else ""
        if end.kind is EndKind.IN_USE:
            say(f"{end.file}: in use, read up to position {end.position}{after}", err=True)


def say_nameless(logs: Iterable[Source], tables: Collection[str]) -> None:
    """Report on stderr tables whose columns have no names in the logs, and what may have them."""
    from binlog_kaitai.sources.source import earlier_logs

    first = next((log.path for log in logs if log.path is not None), None)
    before = [os.path.basename(path) for path in (earlier_logs(first) if first else ())]
    place = f" ({before[0]}{f' to {before[-1]}' if before[1:] else ''}, beside these)" if before else ""
    warn(
        f"the logs do not name the columns of {first_names(tables)}, shown as c1, c2 …; read the earlier log "
        f"that has CREATE TABLE{place}, or use --ddl FILE (mysqldump --no-data) or --ddl mysql://USER@HOST/"
    )


def write_page(path: str, page: bytes) -> None:
    """Write an HTML page, and report its size on stderr."""
    with writing_to(path), outputs.replacing(Path(path)) as file:
        file.write(page)
    say(f"{path}: {len(page):,} bytes", err=True)
