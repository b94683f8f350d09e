"""Entry points that read: event reader, columns, verification, scripts, statistics, single bytes."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np

import binlog_kaitai as bk
from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.check.verify_report import MAX_DAMAGES, Report
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.grammar import ROWS_TYPES, EventType, TableMapEvent
from binlog_kaitai.core.info import info_of
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.errors import BinlogError, EncryptedError
from binlog_kaitai.lines.event_lines import write_json
from binlog_kaitai.lines.row_texts import write_rows
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.log.event_rows import Change, rows_of
from binlog_kaitai.log.event_rows import to_json as row_json
from binlog_kaitai.log.payloads import expand
from binlog_kaitai.log.rolled_back import RolledBack
from binlog_kaitai.render.check_reports import report_lines
from binlog_kaitai.render.explanation import Explained, dissect
from binlog_kaitai.render.sql import OmissionReport, SqlOptions, write_sql
from binlog_kaitai.text.output_text import to_json
from binlog_kaitai.values.schema import Schema, is_mariadb
from tests.row_objects import row_object
from tools.fuzz.outcome import Outcome
from tools.fuzz.run import Run

#: Events with statements.
QUERIES = (EventType.query_event, EventType.query_compressed_event)

#: Sources that scripts can be made of.
_SAFE = frozenset((*range(0x20, 0x7F), 0x0A))


def read(run: Run) -> None:
    """Every event, body and row, from the event reader."""
    lines: list[bytes] = []
    rows: list[bytes] = []
    events_error: BinlogError | None = None
    rows_error: BinlogError | None = None
    tables = _Tables(rolled_back(run))
    run.sure_rows = None
    try:
        for event in bk.open(run.data):
            if run.sure_rows is None and not is_known(event):
                run.sure_rows = len(rows)
            if events_error is None:
                try:
                    lines.append(line_of(event))
                except BinlogError as error:
                    events_error = error
            if rows_error is None:
                try:
                    if run.sure_rows is None:
                        rows += tables.rows_of(event)
                except BinlogError as error:
                    rows_error = error
    except BinlogError as error:
        events_error, rows_error = events_error or error, rows_error or error
    run.keep("read events", Outcome(lines, events_error))
    run.keep("read rows", Outcome(rows, rows_error if run.sure_rows is None else None))


def line_of(event: ParsedEvent) -> bytes:
    """The line of `events --format json`; raises located errors, as the commands do."""
    header = event.fixed_header
    try:
        info = info_of(event.parsed)
    except BinlogError as error:
        raise event.locate(error) from error.__cause__
    values = {
        "file": event.file,
        "position": event.position,
        "end_position": event.end_position,
        "timestamp": header.timestamp,
        "type": event.type,
        "type_code": event.type_code,
        "server_id": header.server_id,
        "size": len(event.raw),
        "flags": header.flags,
        "checksum": event.checksum_status,
        "gtid": event.gtid,
        "info": info,
    }
    return to_json(values).encode("utf-8", "backslashreplace")


class _Tables:
    """The tables of a log, with column names from statements before their table maps.

    Parameters
    ----------
    rolled_back
        For each rows event of the log, whether it was rolled back.
    """

    def __init__(self, rolled_back: Iterator[bool]) -> None:
        self._rolled_back = rolled_back
        self._definitions = Definitions()
        self._schemas: dict[int, tuple[TableMapEvent, Schema | BinlogError]] = {}

    def rows_of(self, event: ParsedEvent) -> list[bytes]:
        """The lines of `rows --format json` for an event."""
        kind = event.layout.effective_type(event.type_code)
        if kind in QUERIES:
            self._definitions.observe_query(event.body)
        if kind == EventType.table_map_event:
            table_map = event.body
            names = table_map.schema_name, table_map.table_name
            definition = self._definitions.of(*names, table_map)
            schema: Schema | BinlogError
            try:
                schema = Schema.of(table_map, definition, is_mariadb=is_mariadb(event.layout))
            except BinlogError as error:
                schema = error
            self._schemas[id(table_map)] = table_map, schema
        if kind in ROWS_TYPES and next(self._rolled_back, False):
            return []
        _, known = self._schemas.get(id(event.table_map), (None, None))
        if isinstance(known, BinlogError):
            raise event.locate(type(known)(known.reason, field=known.field))
        rows = list(rows_of(event, known))
        return [row_json(row_object(event, row)).encode("utf-8", "backslashreplace") for row in rows]


def rolled_back(run: Run) -> Iterator[bool]:
    """For each rows event, whether it was rolled back, as found in blocks of one event or a few."""
    with suppress(BinlogError):
        blocks = BlockReader.of_file(io.BytesIO(run.data), "<fuzz>", block_size=256)
        for block in RolledBack().decided(chain.from_iterable(map(expand, blocks))):
            marks = np.zeros(len(block), dtype=np.bool_) if block.rolled_back is None else block.rolled_back
            yield from marks[np.isin(block.types, [*ROWS_TYPES])].tolist()


def rows_events(run: Run) -> Iterator[ParsedEvent]:
    """The rows events of the log, up to an error."""
    with suppress(BinlogError):
        for event in bk.open(run.data):
            if event.layout.effective_type(event.type_code) in ROWS_TYPES:
                yield event


def is_known(event: ParsedEvent) -> bool:
    """Whether an event's effect on definitions is known, which is not so for an unreadable statement.

    The columns examine the start of such a statement, if they can locate it.
    """
    if event.layout.effective_type(event.type_code) in QUERIES:
        try:
            event.body  # noqa: B018
        except BinlogError:
            return False
    return True


def lines_of(parts: Iterable[Any]) -> Iterable[bytes]:
    """The lines in the parts of an output."""
    for part in parts:
        yield from bytes(part).split(b"\n")[:-1]


def rows(run: Run) -> None:
    """The rows of the columns are those of the event reader."""
    actual, expected = run.gather("rows", lambda: lines_of(write_rows(run.source))), run.outcomes["read rows"]
    if run.sure_rows is not None:
        actual = Outcome(actual.value[: run.sure_rows])
    run.differ("diff-rows", expected, actual)


def events(run: Run) -> None:
    """The events of the columns are those of the event reader."""
    actual = run.gather("events", lambda: lines_of(write_json(run.source)))
    run.differ("diff-events", run.outcomes["read events"], actual)


def thorough(run: Run) -> None:
    run.thorough = run.attempt("verify --thorough", lambda: scan(run.source, is_thorough=True)).value


def verify(run: Run) -> None:
    report: Report | None = run.attempt("verify", lambda: scan(run.source)).value
    if report is not None:
        list(report_lines(report))
        whole = run.thorough
        if whole is not None and report.damage_count > whole.damage_count:
            run.note("verify-thorough", "finds less", f"{report.damage_count} > {whole.damage_count}")


def blind(run: Run) -> None:
    """`verify --thorough` reports damage at every position that an entry point rejects."""
    report = run.thorough
    if report is None or report.damage_count > MAX_DAMAGES:
        return
    named = [*report.damages, *([] if report.not_checked is None else [report.not_checked])]
    offsets = {error.position for error in named}
    refused: dict[int | None, list[tuple[str, BinlogError]]] = {}
    for name, outcome in run.outcomes.items():
        error = outcome.refusal
        if isinstance(error, EncryptedError) and (name == "follow" or (name == "repair" and 0 in offsets)):
            continue  # of what the server will write next, or of what follows a start that `verify` ends at
        if error is not None and run.is_of_log(error) and error.position not in offsets:
            refused.setdefault(error.position, []).append((name, error))
    said = ", ".join(map(str, named)) or "ok"
    for entries in refused.values():
        lines = [f"{name}: {error}" for name, error in entries]
        run.note("verify-blind", entries[0][1].reason, "\n".join([*lines, f"verify --thorough: {said}"]))


def alone(run: Run) -> None:
    """The event reader rejects logs in which `verify --thorough` finds damage, except of positions, and of
    rows that were rolled back.
    """
    if run.thorough is None or run.sure_rows is not None:
        return
    damages = [error for error in run.thorough.damages if error.field != "header.next_position"]
    if damages and all(run.outcomes[name].refusal is None for name in ("read events", "read rows")):
        marks = rolled_back(run)
        left_out = {event.position for event in rows_events(run) if next(marks, False)}
        if damages := [error for error in damages if error.position not in left_out]:
            run.note("verify-alone", damages[0].reason, damages[0])


def _sql(run: Run, name: str, *, undo: bool) -> None:
    # Statements that servers do not prepare, such as XA, are printed in their original character set.
    rows_only = undo or run.chance.random() < 0.5
    operation = [change.value for change in Change] if rows_only else []
    options = SqlOptions(undo=undo, operation=operation, allow_unnamed=run.chance.random() < 0.8)
    report = OmissionReport(lambda warning: None)
    outcome = run.gather(name, lambda: write_sql([run.source], Filters(), options, report))
    text = b"".join(bytes(part) for part in outcome.value)
    if wrong := set(text) - _SAFE if rows_only else ():
        place = min(text.index(byte) for byte in wrong)
        around = text[max(place - 100, 0) : place + 50]
        run.note(f"ascii-{name}", "bytes that are not printable ASCII", repr(around))


def sql(run: Run) -> None:
    _sql(run, "sql", undo=False)


def undo(run: Run) -> None:
    _sql(run, "sql --undo", undo=True)


def stats(run: Run) -> None:
    outcome = run.attempt("stats", lambda: bk.stats(run.source))
    if outcome.value is not None:
        run.keep("stats", Outcome(outcome.value.to_object(), outcome.value.error))
        to_json(outcome.value.to_object())


def explain(run: Run) -> None:
    """The leaves of an event cover each byte exactly once."""

    def explained() -> Iterable[str]:
        for event in bk.open(run.data, verify_checksums=False):
            leaves = dissect(event).leaves
            end = 0
            for leaf in leaves:
                if leaf.offset != end:
                    run.note("explain-tiles", f"{event.type} {leaf.path}", f"{leaf} at {end} of {event!r}")
                    break
                end = leaf.end
            shown = Explained.of(event)
            yield from shown.lines(run.chance.choice((None, 80, 120)))
            yield shown.json()
            if shown.error is not None:
                raise event.locate(shown.error)

    run.gather("explain", explained)
