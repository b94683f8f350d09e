"""MySQL after 9.7 is numbered by the calendar, 26.7 and so on: its logs read like those of 9.7."""

from __future__ import annotations

import struct
from pathlib import Path
from zlib import crc32

import pytest
from click.testing import CliRunner

from binlog_kaitai.cli.app import app
from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import read_header
from binlog_kaitai.core.known_formats import known_formats
from binlog_kaitai.values.sql_text import SqlDialect
from tests.corpus_files import case

OLD, NEW = b"9.7.4-2", b"26.10.0"
LOGS = [case("mysql-9.7", name).logs[0] for name in ("gtid_tags", "payloads", "json_partial", "ddl")]


def renumbered(data: bytes) -> bytes:
    """The log as a server of another version would have written it."""
    assert len(OLD) == len(NEW)
    size = read_header(data[len(MAGIC) :], 4).len_event
    event = bytearray(data[len(MAGIC) : len(MAGIC) + size])
    index = event.index(OLD)
    event[index : index + len(OLD)] = NEW
    in_use, event[17] = event[17], event[17] & ~1
    event[-4:] = struct.pack("<I", crc32(event[:-4]))
    event[17] = in_use
    return data[: len(MAGIC)] + event + data[len(MAGIC) + size :]


COMMANDS = (("rows", "--format", "json"), ("sql", "--allow-unnamed"), ("transactions",), ("dump", "-vv"))


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.parent.name)
def test_output_is_the_same(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path(log.name)
    for command in COMMANDS:
        outputs = []
        for data in (log.read_bytes(), renumbered(log.read_bytes())):
            path.write_bytes(data)
            done = CliRunner().invoke(app, [*command, path.name], catch_exceptions=False)
            # `dump` prints the format description first, which has the version.
            text = done.output.split("# at ", 2)[-1] if command[0] == "dump" else done.output
            outputs.append((done.exit_code, text))
        assert outputs[0] == outputs[1]


@pytest.mark.parametrize("version", ["26.7.0", "26.10.0-commercial", "27.1.12-log"])
def test_newer_than_all_that_are_known(version: str) -> None:
    assert known_formats(version) == known_formats("9.7.4")
    assert SqlDialect.of(version, is_mariadb=False).version > (9, 7)
