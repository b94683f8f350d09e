"""Logs of several servers in one call: statements of one do not affect the tables of another."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.cli.app import main
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, header_offset
from binlog_kaitai.log.series import SeriesDefinitions
from tests.corpus_files import case
from tests.log_maker import log_of_statements
from tests.views.test_splits import in_splits, rows

ALTER = b"ALTER TABLE t.a CHANGE v hidden VARCHAR(200)"
CREATE = b"CREATE TABLE t.a (number INT PRIMARY KEY, hidden VARCHAR(200))"


def with_server_id(data: bytes, server_id: int) -> bytes:
    """A log whose first event has another server id."""
    size, at = header_offset("len_event"), 4 + header_offset("server_id")
    end = 4 + int.from_bytes(data[4 + size : 8 + size], "little")
    found = bytearray(data)
    found[at : at + 4] = server_id.to_bytes(4, "little")
    # A format description has a checksum even where other events have none.
    body = found[4 : end - CHECKSUM_SIZE]
    found[end - CHECKSUM_SIZE : end] = zlib.crc32(body).to_bytes(CHECKSUM_SIZE, "little")
    return bytes(found)


@pytest.fixture(params=["another folder", "another name", "another server id"])
def logs(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """A server's CREATE, statements of another server, and rows of the first one's table."""
    own = [path.read_bytes() for path in case("mysql-9.7", "rotate").logs]
    other = log_of_statements(CREATE, ALTER, None)
    names = [f"a/binlog.{number:06}" for number in range(1, len(own) + 1)]
    names[-1:] = [{"another folder": "b/", "another name": "a/other."}.get(request.param, "a/"), names[-1]]
    names[-2] += "binlog.000099"
    if request.param == "another server id":
        other = with_server_id(other, 4711)
    paths = [tmp_path / name for name in names]
    for path, data in zip(paths, [*own[:-1], other, own[-1]], strict=True):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    return list(map(str, paths))


@pytest.mark.filterwarnings("ignore::binlog_kaitai.DefinitionWarning")
def test_statements_count_for_their_own_server_only(logs: list[str]) -> None:
    found = rows(bk.read_changes(logs))
    assert json.loads(found[-1]["after"]) == {"id": 50, "v": "after the stop"}
    assert bk.read_changes(logs, table="t.a").schema.names[-2:] == ["id", "v"]
    assert in_splits("changes", logs, 300) == found


def test_the_command_line_distinguishes_servers(logs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["rows", "--format", "json", logs[-2], *logs[:-2], logs[-1]])
    assert ended.value.code == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["after"] == {"id": 50, "v": "after the stop"}


def test_given_definitions_hold_for_all_servers() -> None:
    definitions = SeriesDefinitions(ddl="CREATE TABLE t.a (x INT);")
    one, other = definitions.of("a/binlog.000001", 1), definitions.of("b/binlog.000001", 1)
    assert one is definitions.of("a/binlog.000007", 1)
    assert one is not other
    assert one.of("t", "a") == other.of("t", "a") is not None
