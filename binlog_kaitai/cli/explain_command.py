"""`binlog-kaitai explain`."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from binlog_kaitai.cli import shared_options as options
from binlog_kaitai.cli.console import has_colors, print_json, say
from binlog_kaitai.errors import UsageError

if TYPE_CHECKING:
    from binlog_kaitai.render.explanation import Explained
    from binlog_kaitai.sources.source import Source

#: Lines that are written at a time.
_LINES = 1 << 10


@click.command()
@options.sources
@options.option("--at position", "Only the event at this position.", "POS", type=options.number)
@options.formats("text", "json")
@options.color
@options.zone
@options.flag("--wide", "Do not wrap lines to the terminal width.")
@options.flag("--full in_full", "Show fields longer than 4 KiB in full.")
@options.new_file("--html", "Write a page, the viewer, with the log in it.")
@options.option("--start-position start", "With --html: start here.", "N", type=options.number)
@options.option("--stop-position stop", "With --html: stop here.", "N", type=options.number)
@options.columns
@options.ddl
def explain(
    sources: tuple[str, ...],
    position: int | None,
    output: str,
    wide: bool,
    in_full: bool,
    html: str | None,
    **excerpt: Any,
) -> None:
    """Show each byte of an event, with its field and its meaning.

    A line has offset, bytes in hex, field, value and meaning. With --format json, each line is one event: a
    list of its leaf fields with offset, size, path and value. Events inside a compressed transaction follow
    the event that contains them. In an encrypted log of MySQL, the header comes first. Text output shortens
    fields longer than 4 KiB unless --full is given.

    --html writes a self-contained page, the viewer, with the log inside: its events, their rows, and each
    byte with its meaning. --at chooses the event that it shows first. Columns that the log does not name
    have the names of earlier CREATE and ALTER TABLE statements in the log, or else of --ddl.

    With --mask COLUMNS=null, or columns that are left out, the page has the log that `slice` writes with
    these options, whose positions are not those of the log.

    \b
    Examples:
      binlog-kaitai explain --at 197 binlog.000024
      binlog-kaitai explain binlog.000024 | less -S
      binlog-kaitai explain --html log.html --start-position 197 binlog.000024
    """
    from binlog_kaitai.log.event_log import open, stops_before
    from binlog_kaitai.render.explanation import Explained

    if html is not None:
        if output == "json" or wide or in_full:
            raise UsageError("--html shows everything; remove --format, --wide and --full")
        _write_page(sources, html, position=position, **excerpt)
        return
    if any(value not in (None, ()) for value in excerpt.values()):
        raise UsageError("--start-position, --stop-position, --ddl and masks need --html")
    if output == "json" and (wide or in_full):
        raise UsageError("--wide and --full apply to text output only; JSON is always complete")
    width = None if wide or not sys.stdout.isatty() else shutil.get_terminal_size().columns
    is_shown, header_size = False, 0

    def see_header(header: bytes) -> None:
        nonlocal header_size
        header_size = len(header)
        if header and position is None:
            _print(Explained.of_header(header), output, width, in_full=in_full)

    with open(sources, verify_checksums=False) as log:
        for source in log.sources:
            stops = stops_before(source, position) if position is not None else []
            for event in log.read_from(_watched(source, see_header), stops):
                if position is not None and event.position > position:
                    break
                if position is None or event.position == position:
                    is_shown = True
                    explained = Explained.of(event, header_size)
                    _print(explained, output, width, in_full=in_full)
                    if explained.error is not None:
                        raise event.locate(explained.error)
    if not is_shown and position is not None:
        for source in log.sources:
            options.refuse_position(source, position)
        raise UsageError(f"no event begins at position {position}", file=", ".join(sources))


def _write_page(sources: tuple[str, ...], path: str, **chosen: Any) -> None:
    from binlog_kaitai import __version__
    from binlog_kaitai.check.slices import slice
    from binlog_kaitai.log.read_options import MaskOptions
    from binlog_kaitai.render.check_reports import slice_line
    from binlog_kaitai.render.viewer_page import Excerpt, page
    from binlog_kaitai.sources.source import Source, resolve

    options.refuse_inputs(path, sources)
    logs = resolve(sources)
    if len(logs) != 1:
        raise UsageError(f"--html shows one log, not {len(logs)}")
    log = logs[0]
    if log.name == "-":  # the log is read twice
        with log.open() as stream:
            log = Source.of_bytes(stream.read(), log.name)
    name, masks = os.path.basename(log.name), {key: chosen.pop(key) for key in MaskOptions.__annotations__}
    with TemporaryDirectory() as folder:
        if any(masks.values()):
            if chosen.pop("position") is not None:
                raise UsageError("with masks, events have other positions than in the log; omit --at")
            start, stop, copy = chosen.pop("start"), chosen.pop("stop"), os.path.join(folder, "masked")
            (done,) = slice(log, copy, start_position=start, stop_position=stop, ddl=chosen["ddl"], **masks)
            say(slice_line(replace(done, target=path)))
            log, name = Source.of_path(copy), f"{name} (masked)"
        excerpt = Excerpt.of(log, name, **chosen)
    options.write_page(path, page(__version__, excerpt))


def _watched(source: Source, see_header: Callable[[bytes], None]) -> Source:
    """A source that passes the header of its file to a callback when it is opened."""
    from binlog_kaitai.sources.layer import header_before

    def opened() -> BinaryIO:
        stream = source.open()
        see_header(header_before(stream))
        return stream

    return replace(source, open=opened)


def _print(explained: Explained, output: str, width: int | None, *, in_full: bool) -> None:
    if output == "json":
        print_json(explained.json())
        return
    lines = explained.lines(width, in_full=in_full, has_colors=has_colors())
    while part := list(islice(lines, _LINES)):
        click.echo("\n".join(part))
