"""`binlog-kaitai pipeline`."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from binlog_kaitai.cli import shared_options as options
from binlog_kaitai.cli.console import handling, interrupt, say
from binlog_kaitai.core.extras import pip_install
from binlog_kaitai.errors import BinlogError, UsageError
from binlog_kaitai.lake import FORMATS, PLACE, SOURCES
from binlog_kaitai.lake.lake_command import storage_options
from binlog_kaitai.views import VIEWS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from binlog_kaitai.pipeline.pipeline import Job, Pipeline
    from binlog_kaitai.pipeline.pipeline_reports import Reports
    from binlog_kaitai.pipeline.tasks import Tasks

#: A time as Spark writes it, and the seconds of its units.
_INTERVAL = re.compile(r"(\d+(?:\.\d+)?) *(ms|milliseconds?|s|seconds?|minutes?|hours?)")
_SECONDS = {"mil": 0.001, "ms": 0.001, "mi": 60.0, "s": 1.0, "h": 3600.0}

#: Spark's setting by which the tasks of all sources get their share.
_FAIR = "spark.scheduler.mode=FAIR"

#: Seconds for the batches of several sources to end after an interruption.
_PATIENCE = 10.0

#: Parameters that name files to read.
_INPUTS = ("servers", "dump", "mask_key_file")

#: Parameters that a source of `--servers` can have.
_OF_SOURCES = (
    "tables", "views", "state", "start", "batch_size", "split_size", "zero_dates", "ddl", "mode",
    "allow_loss", "spool", "snapshot", "snapshot_readers", "dump", "include_columns", "exclude_columns",
    "mask", "mask_key_file", "renames", "on_refusal", "resnapshot", "heal", "on_schema_change",
)  # fmt: skip


@click.command()
@options.paths("sources", metavar="[SOURCE...]", required=False)
@options.option("--to target", "Directory or URL of the lake.", "LAKE", required=True)
@storage_options
@options.existing_file("--servers", "Load several sources, named in this TOML file.")
@options.option(
    "--into",
    "With --servers: a lake for each source, in folders of LAKE; or one, with a column _source.",
    type=click.Choice(("folders", "one")),
    default="folders",
)
@options.flag("--continuous", "Keep running until interrupted.")
@options.option(
    "--interval", "With --continuous: how often to check for new events.", "TIME", default="10 seconds"
)
@options.option("--tables -t", "Only changes of these tables. *", "SCHEMA.TABLE")
@options.views
@options.option("--format table_format", "Table format.", type=click.Choice(FORMATS), default="delta")
@options.flag("--state", "Also keep the current contents of each table.")
@options.option(
    "--on-refusal",
    "With --state: what a table whose contents are not known keeps: the rows from before, or none.",
    type=click.Choice(("keep", "drop")),
    default="keep",
)
@options.option(
    "--on-schema-change",
    "When the columns of a table change: change them in the lake, too, or end before that batch.",
    type=click.Choice(("evolve", "fail")),
    default="evolve",
)
@options.option(
    "--compact-files",
    "Join the small files of a table that has more than N, and once a day with --continuous remove files "
    "that no version of the last week has; 0: leave that to lake compact and lake vacuum.",
    "N",
    type=click.IntRange(0),
    default=50,
)
@options.flag("--no-dates", "Do not partition the tables by date.")
@options.option(
    "--start",
    'Where a new lake starts: earliest, latest, or JSON like {"file": "binlog.000007", "position": 4}.',
    "POSITION",
    default="earliest",
)
@options.option("--batch-size", "Maximum bytes per batch.", "SIZE", default="1g")
@options.option("--split-size", "Approximate bytes per task.", "SIZE", default="64m")
@options.zero_dates
@options.bit1_as_boolean
@options.ddl
@options.option(
    "--mode",
    "On damage: fail, write rows to the table damage, or only count it.",
    type=click.Choice(("failfast", "permissive", "dropmalformed"), case_sensitive=False),
    default="failfast",
)
@options.flag("--allow-loss", "Continue if unread logs have been purged.")
@options.option(
    "--spool",
    "For a server: where to keep its logs until they are loaded; default: in the lake.",
    "DIR",
    type=options.LocalPath(),
)
@options.flag(
    "--snapshot",
    "For a server: begin a new lake with the contents of its tables, then load its logs from there on.",
)
@options.option(
    "--snapshot-readers",
    "Connections that read the tables for --snapshot.",
    "N",
    type=click.IntRange(1, 64),
    default=2,
)
@options.option(
    "--snapshot-from dump",
    "Begin a new lake with a dump of mysqldump, mariadb-dump or mydumper, then load the logs from its "
    "position on.",
    "DUMP",
    type=click.Path(exists=True),
)
@options.option(
    "--resnapshot",
    "Read a table of an existing lake again, from the server or --snapshot-from; it begins anew with that. *",
    "SCHEMA.TABLE",
)
@options.flag(
    "--heal", "For a server, with --state: read tables again whenever their contents are not known."
)
@options.masks
@options.option(
    "--rename renames",
    "Another name in the lake for a schema, or a table as SCHEMA.TABLE; OLD may be a glob. *",
    "OLD=NEW",
)
@options.flag("--dry-run", "Print what would be loaded, without writing. Needs no Spark.")
@options.new_file("--progress-file", "Append a line of JSON for each batch.")
@options.new_file("--metrics-file", "Keep metrics in this file, in Prometheus' text format.")
@options.option(
    "--engine",
    "What runs the tasks: Spark, or processes of this machine, which need neither Spark nor Java.",
    type=click.Choice(("spark", "local")),
    default="spark",
)
@options.flag("--ui", "Serve Spark's user interface.")
@options.option("--catalog", "Register the Delta tables of the lake in this catalog of Spark.", "NAME")
@options.option("--master", "Spark master, such as local[4]; set by spark-submit itself.", "URL")
@options.option("--conf settings", "A Spark setting. *", "NAME=VALUE")
def pipeline(
    sources: tuple[str, ...],
    target: str,
    servers: str | None,
    continuous: bool,
    interval: str,
    dry_run: bool,
    progress_file: str | None,
    metrics_file: str | None,
    engine: str,
    ui: bool,
    catalog: str | None,
    master: str | None,
    settings: tuple[str, ...],
    **_: Any,
) -> None:
    """Load new changes into Delta or Iceberg tables, with Spark or without.

    LAKE is a directory, or a folder of an object store, such as s3://bucket/folder. Its tables are events,
    transactions, statements, and the changes of each table, partitioned by date. Each run loads what is new
    since the last one. If a run is interrupted, the next one continues without gaps or duplicates. SOURCE may
    be a running server, mysql://USER@HOST/ (see fetch). COLUMNS are SCHEMA.TABLE.COLUMN, each possibly a
    glob.

    FILE names several sources: [NAME] with url or logs, and options as here for this source only.

    Options marked * may be repeated.

    \b
    Examples:
      binlog-kaitai pipeline --to lake /var/lib/mysql/binlog.index
      binlog-kaitai pipeline --to s3://bucket/lake --continuous binlog.index
      binlog-kaitai pipeline --to lake --continuous mysql://repl@db1/
      binlog-kaitai pipeline --to lake --snapshot --continuous mysql://repl@db1/
      binlog-kaitai pipeline --to lake --snapshot-from dump.sql mysql://repl@db1/
      binlog-kaitai pipeline --to lake --servers fleet.toml --into one
    """
    context = click.get_current_context()
    _check(context)
    from binlog_kaitai.lake.storage import Storage
    from binlog_kaitai.pipeline.fleet import Fleet
    from binlog_kaitai.pipeline.pipeline import Pipeline
    from binlog_kaitai.pipeline.pipeline_reports import Reports, show_preview
    from binlog_kaitai.pipeline.progress import Progress, ProgressFiles
    from binlog_kaitai.pipeline.spark_catalog import CatalogTables

    jobs = _jobs(context)
    for path in (progress_file, metrics_file):
        options.refuse_inputs(path, [*sources, *(context.params[name] for name in _INPUTS)])
    if dry_run:
        for job in jobs:
            show_preview(job)
        return
    files = ProgressFiles(*(None if path is None else Path(path) for path in (progress_file, metrics_file)))
    reports = [Reports(job, files) for job in jobs]
    registered: list[CatalogTables] = []

    def take(report: Reports, progress: Progress) -> None:
        report.take(progress)
        for tables in registered:
            tables.register()

    pipelines = [Pipeline(run.job, partial(take, run), run.take_snapshot, run.take_state) for run in reports]
    seconds = parse_interval(interval) if continuous else None

    def start(settings: Sequence[str]) -> _Engine:
        if engine == "local":
            return _on_this_machine()
        started, spark = _on_spark(master, settings, shows_ui=ui)
        if catalog is not None:
            registered[:] = [CatalogTables(spark, catalog, Storage(jobs[0].lake, jobs[0].storage_options))]
            try:
                registered[0].register()
            except BinlogError:
                started.stop()
                raise
        return started

    try:
        if servers is None:
            _load_alone(pipelines[0], reports[0], partial(start, settings), seconds)
        else:
            failures = {report.job.source: report.take_failure for report in reports}
            fleet = Fleet(pipelines, lambda source, error: failures[source](error, retries=continuous))
            with _running(start((_FAIR, *settings))) as started:
                try:
                    fleet.run(started.tasks, interval=seconds)
                except KeyboardInterrupt:
                    started.cancel()
                    fleet.wait(_PATIENCE)
                    raise
    finally:
        for report in reports:
            report.end()
    if not continuous and any(report.outdated for report in reports):
        sys.exit(3)


def _load_alone(
    pipeline: Pipeline, report: Reports, start: Callable[[], _Engine], interval: float | None
) -> None:
    """Run the pipeline of a single source; with an interval, again on another engine after a failure."""
    from binlog_kaitai.pipeline.fleet import retried

    def load() -> None:
        with _running(start()) as engine:
            replace(pipeline).run(engine.tasks(""), interval=interval)

    pipeline.lake.check()
    if interval is None:
        load()
    else:
        with suppress(KeyboardInterrupt), handling(interrupt, signal.SIGINT, signal.SIGTERM):
            retried(load, partial(report.take_failure, retries=True))


def _check(context: click.Context) -> None:
    """Refuse options that need others or another engine, and an engine whose packages are missing."""
    params = context.params
    is_given = context.get_parameter_source("interval") is ParameterSource.COMMANDLINE
    if not params["continuous"] and is_given:
        raise UsageError("--interval requires --continuous")
    if params["engine"] == "local":
        for name in ("ui", "catalog", "master", "settings"):
            if params[name]:
                raise UsageError(f"--{'conf' if name == 'settings' else name} requires --engine spark")
        return
    if params["catalog"] is not None and params["table_format"] != "delta":
        raise UsageError("--catalog registers Delta tables; those of Iceberg are in a catalog already")
    if params["catalog"] is not None and params["servers"] is not None and params["into"] != "one":
        raise UsageError("--catalog requires --into one: tables of several lakes have the same names")
    try:
        import pyspark  # noqa: F401
    except ImportError as error:
        hint = f"run: {pip_install('spark')}; --engine local needs neither"
        raise UsageError(f"requires PySpark 4.1 or newer and Java 17; {hint}") from error


def _jobs(context: click.Context) -> list[Job]:
    """The jobs of the command line, one for each source of `--servers`."""
    from binlog_kaitai.lake.storage import Storage

    params = context.params
    path, target = params["servers"], Storage(params["target"], params["storage_options"])
    if path is None:
        if context.get_parameter_source("into") is ParameterSource.COMMANDLINE:
            raise UsageError("--into requires --servers")
        if not params["sources"]:
            raise click.MissingParameter(ctx=context, param_type="argument", param_hint="SOURCE")
        return [_job(params)]
    from binlog_kaitai.pipeline.fleet_file import in_source, read_fleet

    if params["sources"]:
        raise UsageError("--servers names the sources; omit SOURCE")
    if params["spool"] is not None or params["dump"] is not None:
        raise UsageError(f"--spool and --snapshot-from are for one source; set them in {path}")
    is_shared = params["into"] == "one"
    if not is_shared and {PLACE, SOURCES} & set(target.names()):
        raise UsageError(f"{target.name} is a lake; use a folder for the lakes of the sources, or --into one")
    jobs = []
    for source, own in read_fleet(path, context, _OF_SOURCES):
        with in_source(path, source):
            own["target"] = target.url if is_shared else target.url_of(source)
            jobs.append(_job(own, source))
    return jobs


def _job(options: dict[str, Any], source: str = "") -> Job:
    """What to load from one source; `options`: for it, by the names of the command's parameters."""
    from binlog_kaitai.core.filters import Filters, at_least_one
    from binlog_kaitai.lake.rules import Rules
    from binlog_kaitai.pipeline.followed_logs import Following, parse_starting, spooled
    from binlog_kaitai.pipeline.pipeline import Job
    from binlog_kaitai.pipeline.pipeline_reports import spool_of, work_of
    from binlog_kaitai.rows.row_masks import Masks
    from binlog_kaitai.sources.remote import is_url

    chosen = SimpleNamespace(**options)
    wanted = chosen.views or VIEWS
    has_changes, has_dump = "changes" in wanted, chosen.dump is not None
    begins = "--snapshot" if chosen.snapshot else "--snapshot-from" if has_dump else ""
    provides = f"{begins} provides the definitions of the tables; omit --ddl"
    for is_wrong, reason in (
        (chosen.tables and not has_changes, "--tables filters the changes view; add --view changes"),
        ("-" in chosen.sources, "stdin cannot be followed"),
        (chosen.state and not has_changes, "--state requires the changes view"),
        (chosen.snapshot and has_dump, "--snapshot and --snapshot-from cannot be used together"),
        (begins and not has_changes, f"{begins} requires the changes view"),
        (begins and chosen.start != "earliest", f"{begins} determines where the lake starts; omit --start"),
        (begins and chosen.ddl is not None and not chosen.resnapshot, provides),
        (chosen.heal and not chosen.state, "--heal requires --state"),
        (chosen.resnapshot and not has_changes, "--resnapshot requires the changes view"),
        (chosen.dry_run and has_dump, "--dry-run reads logs, not a dump; omit --snapshot-from"),
    ):
        if is_wrong:
            raise UsageError(reason)
    Filters.of(table=chosen.tables)
    paths = tuple(path if is_url(path) else os.path.abspath(path) for path in chosen.sources)
    rules = Rules.of(
        Masks.of(chosen.include_columns, chosen.exclude_columns, chosen.mask, chosen.mask_key_file),
        chosen.renames,
        bit1_as_boolean=chosen.bit1_as_boolean,
    )
    work = os.path.join(work_of(chosen.target), source) if chosen.into == "one" else work_of(chosen.target)
    paths, server = spooled(paths, spool_of(paths, chosen.spool, chosen.target, work, rules))
    for option, is_given in (
        ("--snapshot", chosen.snapshot),
        ("--resnapshot without --snapshot-from", chosen.resnapshot and chosen.dump is None),
        ("--heal", chosen.heal),
    ):
        if is_given and server is None:
            raise UsageError(f"{option} requires a server: mysql://USER@HOST/")
    following = Following(
        paths,
        max_bytes=at_least_one("--batch-size", chosen.batch_size),
        starting=parse_starting("--start", chosen.start),
        fails_on_data_loss=not chosen.allow_loss,
        ddl=chosen.ddl,
        split_size=at_least_one("--split-size", chosen.split_size),
        mode=chosen.mode.upper(),
        server=server,
    )
    return Job(
        following,
        chosen.target,
        work,
        wanted,
        chosen.tables,
        chosen.zero_dates,
        chosen.table_format,
        chosen.snapshot_readers if chosen.snapshot else 0,
        rules,
        chosen.dump,
        chosen.state,
        not chosen.no_dates,
        source,
        chosen.into == "one",
        chosen.storage_options,
        chosen.on_refusal == "drop",
        chosen.resnapshot,
        chosen.heal,
        chosen.on_schema_change == "fail",
        chosen.compact_files,
    )


class _Engine(NamedTuple):
    """What runs tasks: those of a source by its name, what gives them up, and what ends it."""

    tasks: Callable[[str], Tasks]
    cancel: Callable[[], object]
    stop: Callable[[], object]


def _on_spark(master: str | None, settings: Sequence[str], *, shows_ui: bool) -> tuple[_Engine, SparkSession]:
    from binlog_kaitai.pipeline.spark_session import session, stop
    from binlog_kaitai.pipeline.spark_tasks import SparkTasks

    spark = session(master, settings, has_rows=False, shows_ui=shows_ui)
    if shows_ui:
        say(f"Spark's user interface: {spark.sparkContext.uiWebUrl or 'not available'}")
    cancel = spark.sparkContext.cancelAllJobs
    return _Engine(partial(SparkTasks, spark), cancel, partial(stop, spark)), spark


def _on_this_machine() -> _Engine:
    from binlog_kaitai.pipeline.tasks import LocalTasks

    tasks = LocalTasks()
    return _Engine(lambda source: tasks, tasks.stop, tasks.stop)


@contextmanager
def _running(engine: _Engine) -> Iterator[_Engine]:
    """The engine for the block, which SIGINT and SIGTERM end."""
    try:
        with handling(interrupt, signal.SIGINT, signal.SIGTERM):
            yield engine
    except KeyboardInterrupt:
        engine.cancel()
    finally:
        engine.stop()


def parse_interval(text: str) -> float:
    """A time such as ``10 seconds``, in seconds.

    Raises `UsageError`: it is none.
    """
    match = _INTERVAL.fullmatch(text.strip().lower())
    if match is None:
        raise UsageError(f"--interval: {text!r} is not a time such as '10 seconds'")
    return float(match[1]) * _SECONDS[next(unit for unit in _SECONDS if match[2].startswith(unit))]
