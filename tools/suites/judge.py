"""Compares the logs of a test with what the server reported, its client, and a second server."""

from __future__ import annotations

import re
import subprocess
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import binlog_kaitai as bk
from binlog_kaitai.check.damage_scan import verify
from binlog_kaitai.core.grammar import ColumnType
from binlog_kaitai.ddl import Definitions, TableDefinition
from binlog_kaitai.ddl.lexer import UnreadableError
from binlog_kaitai.ddl.statements import (
    AlterTable,
    ChangeDatabase,
    CreateTable,
    DropTables,
    RenameTables,
    TruncateTable,
    qualified,
    read_statement,
    session_of,
    text_of,
)  # fmt: skip
from binlog_kaitai.dump.dump_logs import dump
from binlog_kaitai.dump.dump_options import DumpOptions
from binlog_kaitai.log.event_log import Event
from binlog_kaitai.log.event_rows import Change, has_rows
from binlog_kaitai.values.charsets import max_bytes_of
from binlog_kaitai.values.table_definition import ColumnDefinition
from tests.ddl.test_corpus import QUERIES, plain
from tests.dump.dump_cases import ask, normalised
from tests.lines.test_rows_objects import lines_by_columns, lines_by_reader
from tests.rows.test_rows_corpus import by_columns as values_by_columns
from tests.rows.test_rows_corpus import by_reader as values_by_reader
from tests.rows.truth import OracleTable, server_text
from tests.servers.test_dump import MODES
from tests.support import by_columns, by_reader
from tools.servers import Server
from tools.suites.evidence import Columns, Point, Table, TableName, Witness
from tools.suites.trees import LeftOutError

#: Logs that are larger, and tables with more rows, are not compared everywhere.
_MOST_BYTES, _MOST_ROWS = 500_000, 2000
#: The event reader is slow: only smaller logs are read in all its ways.
_SMALL = 60_000
_LENGTHS = {"char": 1, "binary": 1, "bit": 1}
_SIZES = {"tiny": 1 << 8, "": 1 << 16, "medium": 1 << 24, "long": 1 << 62}
#: A value that the log does not have.
_UNKNOWN = "\0unknown"


#: The texts of the values of a row.
_Row = dict[str, str | None]


class Difference(NamedTuple):
    """`comparison`: which of them has found it; `text`: what differs. A refusal is not wrong."""

    comparison: str
    text: str
    is_refusal: bool = False


class Trial(NamedTuple):
    """A test that has run: its logs, and what the server reported.

    `before_last`: position of the log where the rows change that are to be undone.
    """

    server: Server
    second: Witness
    logs: list[Path]
    points: list[Point]
    tables: dict[TableName, Table]
    last_columns: Columns
    before_last: int


def differences(trial: Trial) -> Iterator[Difference]:
    """All differences that the comparisons find; one that fails is a difference, too.

    Raises `LeftOutError`: the logs are too large for this.
    """
    if sum(log.stat().st_size for log in trial.logs) > _MOST_BYTES:
        raise LeftOutError("a large log")
    for name, compare in COMPARISONS.items():
        try:
            with warnings.catch_warnings(record=True):
                warnings.simplefilter("always")
                texts = list(compare(trial))
        except Exception as error:  # whatever it is, it is to be reported
            texts = [f"{type(error).__name__}: {error}"]
        for text in texts[:8]:
            yield text if isinstance(text, Difference) else Difference(name, text)


def _readers(trial: Trial) -> Iterator[str]:
    for log in trial.logs:
        pairs: list[tuple[str, Any, Any]] = [("events", by_reader(log), by_columns(log))]
        pairs.append(("objects", *_objects(log)))
        if log.stat().st_size < _SMALL:
            pairs.append(("lines", list(lines_by_reader(log)), list(lines_by_columns(log))))
            pairs.append(("values", list(values_by_reader(log)), list(values_by_columns(log))))
        for name, one, other in pairs:
            if one != other:
                parts = zip(one, other, strict=False) if isinstance(one, list) else [(one, other)]
                first = next((pair for pair in parts if pair[0] != pair[1]), ("more", "fewer"))
                yield f"{name}: event reader {first[0]!r:.400}, columns {first[1]!r:.400}"


def _objects(log: Path) -> tuple[list[Any], list[Any]]:
    """Rows as objects: those of events, and those of `read_rows`, which leaves out what was rolled back."""
    columns = [(row.position, row.index, row.before, row.after) for row in bk.read_rows(log)]
    places = {row[:2] for row in columns}
    rows = ((event.position, row) for event in bk.open(log) for row in event.rows())
    events = [(position, row.index, row.before, row.after) for position, row in rows]
    return [row for row in events if row[:2] in places], columns


def _verify(trial: Trial) -> Iterator[str]:
    for report in verify(trial.logs, thorough=True):
        if not report.is_ok or report.gaps():
            yield f"{report.damages} {report.not_checked} {report.gaps()}"


def _dump(trial: Trial) -> Iterator[str]:
    names = list(MODES)
    for mode in {"vv", names[trial.before_last % len(names)]}:
        arguments, options = MODES[mode]
        for log in trial.logs:
            with tempfile.TemporaryDirectory() as folder:
                pieces: list[bytes] = []
                dump(str(log), pieces.append, DumpOptions(**{**vars(options), "local_load": folder}))
            ours = normalised(b"".join(pieces)).split(b"\n")
            theirs = normalised(ask(trial.server.spec.name, [str(log)], arguments)).split(b"\n")
            if ours != theirs:
                lines = zip(ours, theirs, strict=False)
                number, (mine, other) = next(
                    ((line, pair) for line, pair in enumerate(lines) if pair[0] != pair[1]), (-1, (b"", b""))
                )
                yield f"{mode}, line {number}: ours {mine!r:.300}, the client's {other!r:.300}"


class _Fold:
    """Follows definitions and rows through logs, and compares them with the server's at each point."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._definitions = Definitions()
        self._rows: dict[TableName, list[_Row]] = {}
        self._unclear: set[TableName] = set()
        self._logged: dict[tuple[str, int], list[bk.LoggedRow]] = {}
        for row in bk.read_rows(trial.logs):
            self._logged.setdefault((row.file, row.position), []).append(row)
        self._seen: set[str] = set()
        self._lost: set[tuple[str, TableName]] = set()
        self.definitions: list[str | Difference] = []
        self.rows: list[str] = []
        self.compared = [0, 0]

    def run(self) -> None:
        points = list(reversed(self._trial.points))
        for log in self._trial.logs:
            for event in bk.open(log):
                while points and (points[-1].log, points[-1].position) <= (log.name, event.position):
                    self._compare(points.pop())
                self._take(event)
        for point in reversed(points):
            self._compare(point)
        self._compare(Point("", 0, "the end", self._trial.last_columns, self._trial.tables))

    def _take(self, event: Event) -> None:
        if event.type in QUERIES:
            self._definitions.observe_query(event.body)
            self._statement(event)
        elif has_rows(event):
            for row in self._logged.pop((event.file, event.position), ()):
                self._apply(row)

    def _statement(self, event: Event) -> None:
        session = session_of(event.body)
        try:
            statement = read_statement(text_of(event.body) or "", session)
        except (UnreadableError, RecursionError):
            self._unclear |= {*self._rows}
            return
        schema = event.body.schema_name
        if isinstance(statement, CreateTable) and not statement.is_temporary:
            name = qualified(statement.name, schema)
            if statement.replaces or name not in self._rows:
                self._rows[name] = []
                self._unclear.discard(name)
        elif isinstance(statement, TruncateTable):
            self._forget(qualified(statement.name, schema), [])
        elif isinstance(statement, (DropTables, ChangeDatabase)):
            for name in [name for name in self._rows if self._definitions.of(*name) is None]:
                self._forget(name)
        elif isinstance(statement, RenameTables):
            for old, new in statement.pairs:
                self._rename(qualified(old, schema), qualified(new, schema))
        elif isinstance(statement, AlterTable):
            name = qualified(statement.name, schema)
            self._unclear.add(name)
            if statement.new_name is not None:
                self._rename(name, qualified(statement.new_name, schema))

    def _forget(self, name: TableName, rows: list[_Row] | None = None) -> None:
        self._unclear.discard(name)
        self._rows.pop(name, None)
        if rows is not None:
            self._rows[name] = rows

    def _rename(self, old: TableName, new: TableName) -> None:
        is_unclear = old in self._unclear
        self._forget(new, self._rows.pop(old, []))
        self._unclear.discard(old)
        if is_unclear:
            self._unclear.add(new)

    def _apply(self, row: bk.LoggedRow) -> None:
        name = (row.schema.schema_name, row.schema.table_name)
        rows = self._rows.setdefault(name, [])
        if name in self._unclear:
            return
        columns = {column.name: column for column in row.schema.columns}
        before, after = (
            None if image is None else {key: _text(value, columns[key]) for key, value in image.items()}
            for image in (row.before, row.after)
        )
        if before is None:
            rows.append({**dict.fromkeys(columns, _UNKNOWN), **(after or {})})
        elif (match := next((row for row in rows if _matches(row, before)), None)) is None:
            self.rows.append(f"{name}: no row {before!r:.300}")
            self._unclear.add(name)
        elif row.change is Change.DELETE:
            rows.remove(match)
        else:
            self._update(row, match, after or {}, {key for key, col in columns.items() if col.is_generated})
        if len(rows) > _MOST_ROWS:
            self._unclear.add(name)

    @staticmethod
    def _update(row: bk.LoggedRow, current: _Row, after: _Row, generated: set[str]) -> None:
        current.update(dict.fromkeys(generated, _UNKNOWN))
        for key, diff in row.diffs.items():
            if key not in after:
                document = current[key]
                after[key] = document if document in (None, _UNKNOWN) else diff.apply(document)
        current.update(after)

    def _compare(self, point: Point) -> None:
        for name, columns in point.columns.items():
            self._compare_definition(point, name, columns)
        for name, table in point.tables.items():
            oracle = OracleTable.of({"db": name[0], "table": name[1], **table._asdict()})
            types = [column.type_name for column in oracle.columns]
            oracle = replace(oracle, rows=tuple(tuple(map(_rounded, row, types)) for row in oracle.rows))
            names = [column.name for column in oracle.columns]
            if name in self._unclear:
                self._unclear.discard(name)
            elif (mine := self._rows.get(name)) is not None:
                self.compared[1] += len(mine)
                self._compare_rows(f"{point.statement[:200]!r}: {'.'.join(name)}", names, mine, oracle)
            self._rows[name] = [dict(zip(names, row, strict=True)) for row in oracle.rows]

    def _compare_rows(self, where: str, names: list[str], mine: list[_Row], oracle: OracleTable) -> None:
        exact: Counter[tuple[str | None, ...]] = Counter(oracle.rows)
        rest = []
        for row in mine:
            values = tuple(row.get(name, _UNKNOWN) for name in names)
            if exact[values] > 0:
                exact[values] -= 1
            else:
                rest.append(values)
        left = list(exact.elements())
        for values in rest:
            pairs = (row for row in left if all(a in (b, _UNKNOWN) for a, b in zip(values, row, strict=True)))
            if (match := next(pairs, None)) is not None:
                left.remove(match)
            else:
                text = f"the log has {values!r:.500}, the server {left[:2]!r:.500}"
                self.rows.append(f"{where} {names}: {text}")
                return
        if left:
            self.rows.append(f"{where} {names}: the server also has {left[:2]!r:.500}")

    def _compare_definition(self, point: Point, name: TableName, columns: list[tuple[Any, ...]]) -> None:
        known = self._definitions.match(*name)
        where = f"{point.statement[:160]!r}: {'.'.join(name)}"
        if not isinstance(known, TableDefinition):
            text = str(known or "not known")
            if (text, name) not in self._lost:
                self._lost.add((text, name))
                self.definitions.append(Difference("definitions", f"{where}: {text}", is_refusal=True))
            return
        self.compared[0] += 1
        shown = known.columns[:-2] if known.has_implicit_period else known.columns
        ours = [
            (
                col.name, _canonical(col.type_name, col.charset), *_charset(col), col.is_nullable,
                None if col.is_row_period else col.is_primary_key, col.is_generated,
            )
            for col in shown
        ]  # fmt: skip
        theirs = [_reported(column) for column in columns]
        if len(ours) != len(theirs):
            self._differs(where, ours, theirs)
            return
        for one, other in zip(ours, theirs, strict=True):
            differing = [(a, b) for a, b in zip(one, other, strict=True) if a not in (b, None)]
            if differing:
                self._differs(where, one, other, str(differing))

    def _differs(self, where: str, ours: object, theirs: object, key: str = "") -> None:
        """Note a difference, once for all columns that have the same."""
        if key not in self._seen:
            self._seen.add(key)
            self.definitions.append(f"{where}: ours {ours!r:.600}, the server's {theirs!r:.600}")


def _charset(column: ColumnDefinition) -> tuple[str | None, str | None]:
    """As servers name them today; documents have none."""
    if column.type_name == "json":
        return None, None
    return column.charset, re.sub(r"^utf8_", "utf8mb3_", column.collation or "") or None


def _canonical(type_name: str, charset: str | None) -> str:
    """A type as the servers report it: with lengths that are left out; TEXT(n) is the smallest that fits."""
    name, _, arguments = plain(type_name).partition("(")
    if name in _LENGTHS and not arguments:
        return f"{name}({_LENGTHS[name]})"
    if match := re.fullmatch(r"(decimal)(?:\((\d+)\))?( unsigned)?", plain(type_name)):
        return f"decimal({match[2] or 10},0){match[3] or ''}"
    if name not in ("text", "blob") or not arguments:
        return plain(type_name)
    size = int(arguments.rstrip(")")) * max_bytes_of(charset or "binary")
    return next(prefix for prefix, most in _SIZES.items() if size < most) + name


def _reported(column: tuple[Any, ...]) -> tuple[Any, ...]:
    name, kind, charset, collation, nullable, extra, is_key = column
    kind = kind.decode() if isinstance(kind, bytes) else kind
    is_generated = re.search(r"(?:VIRTUAL|STORED|PERSISTENT)( GENERATED)?", extra) is not None
    return name, plain(kind), charset, collation, nullable == "YES", is_key, is_generated


def _text(value: Any, column: bk.Column) -> str | None:
    """A value as a SELECT shows it; bytes that are no text are shown in many ways."""
    is_binary = column.charset == "binary" or column.type is ColumnType.geometry
    is_invalid = isinstance(value, bytes) and not is_binary
    return _UNKNOWN if is_invalid else _rounded(server_text(value, column), column.type_name or "")


def _rounded(text: str | None, type_name: str) -> str | None:
    """Numbers without the zeros of ZEROFILL; those of FLOAT(m,d) and DOUBLE(m,d) to their digits."""
    if text is None or text == _UNKNOWN:
        return text
    text = re.sub(r"^0+(?=\d)", "", text) if "zerofill" in type_name else text
    digits = {"float(": 5, "double": 14}.get(type_name[:6]) if "," in type_name else None
    return text if digits is None else f"{float(text):.{digits}g}"


def _matches(row: _Row, image: _Row) -> bool:
    pairs = ((row.get(key, _UNKNOWN), value) for key, value in image.items())
    return all(own == value or _UNKNOWN in (own, value) for own, value in pairs)


def _definitions(trial: Trial) -> Iterator[str | Difference]:
    fold = _Fold(trial)
    fold.run()
    yield from fold.definitions[:4]
    yield from (Difference("rows", text) for text in fold.rows[:4])


def _redo(trial: Trial) -> Iterator[str | Difference]:
    """The script makes the same tables on a second server; that of the last changes is then undone."""
    if len(trial.logs) > 1:
        yield Difference("redo", "several logs", is_refusal=True)
        return
    log, start = trial.logs[0], trial.before_last
    trial.second.reset({})
    for name, options in (("redo", {"stop_position": start}), ("redo", {"start_position": start})):
        if refusal := _play(trial, name, log, options):
            yield refusal
            return
        if "stop_position" in options:
            before = trial.second.tables()
    yield from _unequal("redo", trial.tables, trial.second.tables())
    if refusal := _play(trial, "undo", log, {"start_position": start, "undo": True}):
        yield refusal
        return
    yield from _unequal("undo", before, trial.second.tables())


def _play(trial: Trial, name: str, log: Path, options: dict[str, Any]) -> Difference | None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        script = b"".join(bk.sql_script(log, **options))
    server = trial.second.server
    client = server.client("mysql" if server.spec.flavour == "mysql" else "mariadb")
    command = [*client, "--no-defaults", "--binary-mode", "-h127.0.0.1", f"-P{server.port}", "-uroot"]
    done = subprocess.run(command, input=script, capture_output=True, timeout=120)
    if said:
        return Difference(name, str(said[0].message), is_refusal=True)
    if done.returncode:
        return Difference(name, done.stderr.decode(errors="replace").strip()[-400:])
    return None


def _unequal(name: str, one: dict[TableName, Table], other: dict[TableName, Table]) -> Iterator[Difference]:
    for table in sorted({*one, *other}):
        if table not in one or table not in other:
            yield Difference(name, f"{table} is only {'there' if table in one else 'made by the script'}")
        elif one[table].counted() != other[table].counted():
            left, right = one[table].counted(), other[table].counted()
            wanted, actual = [*(left - right)][:2], [*(right - left)][:2]
            yield Difference(name, f"{table}: expected {wanted!r:.500}, found {actual!r:.500}")


COMPARISONS: dict[str, Callable[[Trial], Iterator[str | Difference]]] = {
    "readers": _readers,
    "verify": _verify,
    "dump": _dump,
    "definitions": _definitions,
    "redo": _redo,
}
