"""Events whose rows have column names, and the names in the top-level package."""

from __future__ import annotations

import subprocess
import sys
from contextlib import nullcontext

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.grammar import EventType, header_offset
from binlog_kaitai.values.schema import NameSource
from tests.corpus_files import LogFile, case, logs
from tests.extent import sample
from tests.log_maker import LogMaker, events_of, statement


@pytest.mark.parametrize(
    "log", sample([log for log in logs() if log.case.folder.name == "ddl"], 2), ids=lambda log: log.id
)
def test_rows_have_the_names_that_read_changes_gives_them(log: LogFile) -> None:
    expected = {
        (row["_position"], row["_row"]): set(row)
        for table in _tables(log)
        for batch in bk.read_changes(log.path, table=table)
        for row in batch.to_pylist()
    }
    found = {}
    with bk.open(log.path) as reader:
        for event in reader:
            for row in event.rows():
                found[event.position, row.index] = set(row.after or row.before or ())
    assert found
    assert {place: names <= expected[place] for place, names in found.items()} == dict.fromkeys(found, True)


def _tables(log: LogFile) -> set[str]:
    changes = bk.read_changes(log.path).read_all().to_pylist()
    return {f"{change['schema']}.{change['table']}" for change in changes}


def test_an_event_keeps_the_names_of_its_time() -> None:
    """Rows may be asked for in any order, long after the reader has gone on."""
    log = case("mysql-9.7", "ddl").logs[0]
    at_once = [[list(row.after or row.before or ()) for row in event.rows()] for event in bk.open(log)]
    events = list(bk.open(log))
    later = [[list(row.after or row.before or ()) for row in event.rows()] for event in reversed(events)]
    assert later[::-1] == at_once


def test_a_log_that_is_read_again_begins_again() -> None:
    """What is renamed in the end of the log has its old name at its start, the second time, too."""
    layout, groups = events_of(case("mysql-9.7", "ddl").logs[0])
    log = LogMaker(layout)
    log.add_all([*groups[0], *next(group for group in groups if any(map(_is_rows, group)))])
    table = next(event.schema for event in bk.open(bytes(log.data)) if event.schema is not None)
    name = f"`{table.schema_name}`.`{table.table_name.replace('`', '``')}`"
    columns = ", ".join(f"`n{column.index}` INT" for column in table.columns)
    log.add(statement(f"ALTER TABLE {name} RENAME COLUMN `n0` TO `other`".encode(), layout))
    with bk.open(bytes(log.data), ddl=f"CREATE TABLE {name} ({columns})") as reader:
        names = [[row.schema.columns[0].name for event in reader for row in event.rows()] for _ in range(2)]
    assert names[0] == names[1]
    assert set(names[0]) == {"n0"}


def _is_rows(raw: bytes) -> bool:
    return raw[header_offset("type_code")] == EventType.write_rows_event


def test_definitions_can_be_given() -> None:
    log = case("mysql-9.7", "ddl").logs[0]
    rows = [event for event in bk.open(log) if event.schema is not None]
    without = {rows[0].schema.names_from} if rows[0].schema else set()
    assert without == {NameSource.DEFINITION}
    # Of the rows alone, without the statements before them, only a given definition knows the names.
    data = _without_queries(log.read_bytes())
    table = rows[0].schema
    assert table is not None
    columns = ", ".join(f"`n{number}` {column.type_name}" for number, column in enumerate(table.columns))
    name = f"`{table.schema_name}`.`{table.table_name.replace('`', '``')}`"
    ddl = f"CREATE TABLE {name} ({columns})"
    first = next(event for event in bk.open(data, ddl=ddl) if event.schema is not None)
    assert first.schema is not None
    assert [column.name for column in first.schema.columns] == [
        f"n{number}" for number in range(len(table.columns))
    ]
    bare = next(event for event in bk.open(data) if event.schema is not None)
    assert bare.schema is not None
    assert bare.schema.names_from is NameSource.NONE


def _without_queries(data: bytes) -> bytes:
    kept = [event.raw for event in bk.open(data) if event.type != "QUERY_EVENT"]
    return data[:4] + b"".join(kept)


def test_the_package_lists_all_its_names() -> None:
    assert [name for name in dir(bk) if not name.startswith("__")] == bk.__all__
    for name in bk.__all__:
        assert getattr(bk, name) is not None
    with pytest.raises(AttributeError, match="nosuch"):
        bk.nosuch  # noqa: B018


def test_the_help_does_without_the_grammar() -> None:
    program = "import sys; from binlog_kaitai.cli.app import main; print('binlog_grammar' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_sets_of_gtids_as_sets() -> None:
    uuid = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
    one, other = bk.GtidSet.parse(f"{uuid}:1-10,0-1-5"), bk.GtidSet.parse(f"{uuid}:8-12")
    assert str(one | other) == f"0-1-5,{uuid}:1-12"
    assert str(one - other) == f"0-1-5,{uuid}:1-7"
    assert str(one & other) == f"{uuid}:8-10"
    assert (one & other) in one
    assert other not in one
    assert f"{uuid}:3" in one
    assert eval(repr(one), {"GtidSet": bk.GtidSet}) == one


@pytest.mark.parametrize(
    ("server", "name"), sample([("mysql-9.7", "payloads"), ("mysql-9.7", "ddl"), ("mariadb-11.8", "ddl")], 2)
)
def test_reading_from_a_position_on_gives_the_same_events(server: str, name: str) -> None:
    """Names, GTIDs and table maps are those that the events before the position have set."""
    log = case(server, name).logs[0]

    def reported(event: bk.Event) -> object:
        names = event.schema and [column.name for column in event.schema.columns]
        return event.position, event.payload_index, event.gtid, names

    everything = [reported(event) for event in bk.open(log)]
    positions = sorted({event.position for event in bk.open(log)})
    for start in positions[:: max(len(positions) // 7, 1)]:
        expected = [one for one in everything if isinstance(one, tuple) and one[0] >= start]
        assert [reported(event) for event in bk.open(log, start_position=start)] == expected


@pytest.mark.parametrize(
    ("server", "name"),
    sample(
        [("mysql-9.7", "payloads"), ("mysql-9.7", "ddl"), ("mysql-5.6", "mixed"), ("mariadb-11.8", "ddl")], 2
    ),
)
def test_events_of_a_table_are_those_that_read_events_gives(server: str, name: str) -> None:
    log = case(server, name).logs[0]
    tables = {one for row in bk.read_transactions(log).read_all().to_pylist() for one in row["tables"]}
    assert tables
    for table in (*sorted(tables)[:5], ["!*.a", "*.*"], "no.table"):
        wanted = bk.read_events(log, table=table).read_all().to_pylist()
        with nullcontext() if table != "no.table" else pytest.warns(bk.FilterWarning, match="no.table"):
            found = [(event.position, event.type) for event in bk.open(log, table=table)]
        assert found == [(one["position"], one["type"]) for one in wanted]
        assert bool(found) == (table != "no.table")


def test_the_rows_of_a_table_have_the_names_of_statements_about_others() -> None:
    """Other tables are left out, but what statements say of this one under another name is known."""
    log = case("mysql-9.7", "ddl").logs[0]
    rows = [row for event in bk.open(log, table="t.c") for row in event.rows()]
    assert rows
    assert rows == [row for event in bk.open(log) for row in event.rows() if row.schema.full_name == "t.c"]


def test_positions_at_which_no_event_begins() -> None:
    log = case("mysql-9.7", "mixed").logs[0]
    with pytest.raises(bk.UsageError, match="no event begins at 240; the nearest begin at 235 and 358"):
        next(iter(bk.open(log, start_position=240)))
    size = log.stat().st_size
    with pytest.raises(bk.UsageError, match=f"no event begins at {size + 1}"):
        list(bk.open(log, start_position=size + 1))
    assert not list(bk.open(log, start_position=size))
    with pytest.raises(bk.UsageError, match="start_position"):
        bk.open(log, start_position=-1)


def test_verify_and_stats() -> None:
    logs = case("mysql-9.7", "rotate").logs
    reports = list(bk.verify(logs))
    assert [report.file for report in reports] == [str(log) for log in logs]
    assert all(report.is_ok for report in reports)
    assert not any(report.missing_before for report in reports)
    (_, last) = bk.verify([logs[0], logs[2]])
    assert last.missing_before == reports[1].gtids
    (damaged,) = bk.verify(case("damaged", "mysql-9.7-flipped_bit").logs)
    assert not damaged.is_ok
    assert damaged.damages
    counted = bk.stats(logs)
    assert counted.totals["events"] == sum(report.events for report in reports)
    assert counted.error is None
    table = counted.parts["tables"].objects()[0]
    assert bk.stats(logs, table=f"{table['schema']}.{table['table']}").totals["transactions"] > 0
