"""Parsing scenarios, and a client's hex dump; no server needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.corpus.oracle import EventLine, event_lines, gaps
from tools.corpus.scenario import all_scenarios, load

MYSQL_DUMP = """\
# at 4
#261120 17:45:09 server id 97  end_log_pos 127 CRC32 0xfe2fcc4a
# Position  Timestamp   Type   Source ID        Size      Source Pos    Flags
# 00000004 25 87 00 6b   0f   61 00 00 00   7b 00 00 00   7f 00 00 00   00 00
# 00000017 04 00 39 2e 37 2e 34 2d  32 00 00 00 00 00 00 00 |..9.7.4.2.......|
# \tStart: binlog v 4, server v 9.7.4-2 created 261120 17:45:09 at startup
"""
# An annotate event and its table map: both `# at` lines first, and both headers with the second position.
MARIADB_DUMP = """\
# at 683
# at 736
#261120 17:46:44 server id 33110  end_log_pos 736 CRC32 0x9bd60cef
# Position
#           |Timestamp   |Type |Master ID   |Size        |Master Pos  |Flags
#      2e0  |84 87 00 6b |a0   |56 81 00 00 |35 00 00 00 |e0 02 00 00 |00 00
#
# Event: \tAnnotate_rows:
#261120 17:46:44 server id 33110  end_log_pos 780 CRC32 0x8393e7c9
# Position
#           |Timestamp   |Type |Master ID   |Size        |Master Pos  |Flags
#      2e0  |84 87 00 6b |13   |56 81 00 00 |2c 00 00 00 |0c 03 00 00 |00 00
#
# Event: \tTable_map: `t`.`a` mapped to number 275
"""
# A compressed transaction at 100 to 200, with one event inside; the next event stands at 200.
PAYLOAD_DUMP = """\
#261120 17:45:06 server id 97  end_log_pos 200 CRC32 0xde73d89a
# 00000064 22 87 00 6b   28   61 00 00 00   64 00 00 00   c8 00 00 00   00 00
#261120 17:45:06 server id 97  end_log_pos 200 CRC32 0x601e88bc
# 000000c8 22 87 00 6b   10   61 00 00 00   1b 00 00 00   00 00 00 00   00 00
#261120 17:45:06 server id 97  end_log_pos 231 CRC32 0xca5c58b9
# 000000c8 22 87 00 6b   10   61 00 00 00   1f 00 00 00   e7 00 00 00   00 00
"""


def _lines(folder: Path, dump: str, size: int) -> list[EventLine]:
    """The events of a dump, printed by a stand-in for the client."""
    log, text = folder / "binlog.000001", folder / "dump.txt"
    log.write_bytes(bytes(size))
    text.write_text(dump)
    client = folder / "client"
    client.write_text(f"#!/bin/sh\ncat '{text}'\n")
    client.chmod(0o755)
    return event_lines([str(client)], log)


def test_header_out_of_mysqlbinlog(tmp_path: Path) -> None:
    (event,) = _lines(tmp_path, MYSQL_DUMP, 127)
    assert event == EventLine("binlog.000001", 4, 0x6B008725, 15, 97, 123, 127, 0, "0xfe2fcc4a", 0)


def test_positions_out_of_mariadb_binlog(tmp_path: Path) -> None:
    events = _lines(tmp_path, MARIADB_DUMP, 780)
    assert [(event.position, event.type_code) for event in events] == [(683, 160), (736, 19)]
    assert gaps(events, 780, first=683) == []


def test_events_of_a_payload_are_inner(tmp_path: Path) -> None:
    events = _lines(tmp_path, PAYLOAD_DUMP, 231)
    assert [(event.type_code, event.inner) for event in events] == [(40, 0), (16, 1), (16, 0)]


def test_a_missing_event_is_a_gap(tmp_path: Path) -> None:
    events = _lines(tmp_path, MYSQL_DUMP, 500)
    assert gaps(events, 500) == ["binlog.000001: no event covers 127 to 500"]


def test_scenario(tmp_path: Path) -> None:
    (tmp_path / "more.sql").write_text("SELECT 2;\n")
    (tmp_path / "one.sql").write_text(
        "-- About it.\n-- @servers mysql\n-- @options --a=1 --b\nSELECT 1,\n  2;\n-- @only mysql-9.7\n"
        "/*B*/ SELECT 3;\n-- @refused\nSELECT 4;\n-- @include more.sql\n-- @restart --c\n"
    )
    scenario = load(tmp_path / "one.sql")
    assert (scenario.name, scenario.servers, scenario.options) == ("one", ("mysql",), ("--a=1", "--b"))
    assert [str(step) for step in scenario.steps] == [
        "SELECT 1,\n  2;",
        "/*B*/ SELECT 3;",
        "-- @refused\nSELECT 4;",
        "SELECT 2;",
        "-- @restart --c",
    ]
    assert [step.runs_on("mysql-5.6") for step in scenario.steps] == [True, False, True, True, True]


def test_a_statement_without_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "open.sql").write_text("SELECT 1\n")
    with pytest.raises(ValueError, match="not terminated"):
        load(tmp_path / "open.sql")


def test_every_scenario_of_the_project_can_be_read() -> None:
    assert len(all_scenarios()) > 20
