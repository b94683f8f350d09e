"""Every command in every format, and characters that control terminals."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.statistics.stats_model import PART_NAMES
from binlog_kaitai.text.output_text import TerminalWriter, iso_time
from tests.cli.conftest import Run
from tests.cli.test_terminal import on_terminal
from tests.corpus_files import case
from tests.extent import sample
from tests.grammar.row_bytes import table_map_bytes
from tests.log_maker import LogMaker, events_of, statement
from tests.rows.test_rows_hostile import row_event

MIXED = case("mysql-9.7", "mixed").logs[0]

#: Commands that print what is in a log, and their formats.
FORMATS = {
    "events": ("table", "json", "csv"),
    "rows": ("table", "json", "csv", "debezium"),
    "transactions": ("table", "json", "csv"),
    "stats": ("table", "json", "csv"),
    "verify": ("text", "json"),
    "explain": ("text", "json"),
    "gtids": ("text", "json"),
}
PAIRS = [(command, form) for command, forms in FORMATS.items() for form in forms]


def records(output: str) -> list[dict[str, str]]:
    """The records of CSV, each of which has a field for every heading."""
    headings, *rows = csv.reader(io.StringIO(output, newline=""), strict=True)
    assert rows
    assert {len(row) for row in rows} == {len(headings)}
    return [dict(zip(headings, row, strict=True)) for row in rows]


@pytest.mark.parametrize(("command", "form"), PAIRS)
def test_every_command_has_every_format(command: str, form: str, run: Run) -> None:
    done = run(command, "--format", form, MIXED)
    assert (done.returncode, done.stderr) == (0, "")
    if form == "csv":
        assert records(done.stdout)
    elif form in ("json", "debezium"):
        assert [json.loads(line) for line in done.stdout.splitlines()]
    else:
        assert done.stdout.splitlines()


@pytest.mark.parametrize("part", PART_NAMES)
def test_every_part_of_stats_has_every_format(part: str, run: Run) -> None:
    """The same rows in JSON and CSV, which the table shows."""
    log = case("mysql-9.7", "orders").logs[0]
    objects = json.loads(run("stats", "--part", part, "--format", "json", log).stdout)[part]
    table, text = (run("stats", "--part", part, "--format", form, log) for form in ("table", "csv"))
    assert (table.returncode, text.returncode, table.stderr + text.stderr) == (0, 0, "")
    _, *rows = csv.reader(io.StringIO(text.stdout, newline=""), strict=True)
    assert len(rows) == len(objects)
    for row, one in zip(rows, objects, strict=True):
        values = [",".join(map(str, value)) if isinstance(value, list) else value for value in one.values()]
        for place in {*one} & {"time", "start"}:
            values[list(one).index(place)] = iso_time(one[place])
        assert row == ["" if value is None else str(value) for value in values]


#: A name that colours, ends the line, and is CSI in one character.
NAME = "t\x1b[31m\r\x7f\x9b2J"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    layout, groups = events_of(case("mysql-5.6", "types_v1_rows").logs[0])
    log, name = LogMaker(layout), NAME.encode()
    log.add(groups[0][0])
    log.add(statement(f"CREATE VIEW `{NAME}` AS SELECT 1".encode(), layout))
    log.add(statement(b"BEGIN", layout))
    table_map = table_map_bytes([3], optional=b"\4\2\1c")  # the name of the column
    index = table_map.index(b"\x01t\0")
    table_map = table_map[:index] + bytes([len(name)]) + name + table_map[index + 2 :]
    log.add(row_event(EventType.table_map_event, table_map))
    log.add(row_event(EventType.write_rows_event_v1, b"\7" + bytes(5) + b"\1\0" + b"\1\xff" + bytes(5)))
    log.add(statement(None, layout))
    return log.write(tmp_path / "binlog.000001")


def test_csv_has_control_characters_in_quotes(hostile: Path, run: Run) -> None:
    rows = run("rows", "--format", "csv", hostile)
    assert [row["table"] for row in records(rows.stdout)] == [NAME]
    assert f',"{NAME}",' in rows.stdout
    for command in ("events", "transactions"):
        assert records(run(command, "--format", "csv", hostile).stdout)
    tables = run("stats", "--format", "csv", "--part", "tables", hostile)
    assert [row["table"] for row in records(tables.stdout)] == [NAME]


@pytest.mark.parametrize(
    "command",
    sample(
        [
            *(f"{command} --format {form}" for command, form in PAIRS if command != "stats"),
            "stats --format csv",
            "stats --format json",
            "dump",
            "dump -v",
            "sql --allow-unnamed",
        ],
        6,
    ),
)
def test_terminals_get_no_control_characters(command: str, hostile: Path) -> None:
    written = on_terminal(*command.split(), hostile, NO_COLOR="1").replace(b"\r\n", b"\n").decode()
    assert [one for one in written if not one.isprintable() and one not in "\n\t"] == []


def test_elsewhere_dump_prints_what_the_client_prints(hostile: Path, run: Run) -> None:
    assert f"CREATE VIEW `{NAME}` AS SELECT 1" in run("dump", hostile).stdout


def test_a_character_may_be_split_between_two_writes() -> None:
    stream = io.BytesIO()
    writer = TerminalWriter(stream)
    for piece in (b"a\xe4\xb8", b"\xad\x1b\t\n\xff", b"\xe4"):
        writer.write(piece)
    writer.flush()
    assert stream.getvalue() == "a中\\x1b\t\n\\udcff\\udce4".encode()
