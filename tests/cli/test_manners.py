"""What commands reject, what their errors name, and what they print to a terminal."""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.render.explanation import Explained
from binlog_kaitai.text.output_text import printable
from tests.cli.conftest import Run
from tests.corpus_files import CORPUS
from tests.log_maker import log_of_statements

_LOG = CORPUS / "mysql-9.7/rotate/binlog.000001"

#: Controls but the ends of lines, and overrides of the writing direction.
_CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@pytest.mark.parametrize(
    "arguments",
    [
        ["export", "--to", "s3://bucket/lake", _LOG],
        ["slice", "--to", "gs://bucket/log", _LOG],
        ["repair", "--to", "hdfs://host/log", _LOG],
        ["dump", "-r", "s3://bucket/text", _LOG],
        ["stats", "--html", "abfss://x/page.html", _LOG],
        ["fetch", "mysql://db1/", "--to", "s3://bucket/archive"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_urls_are_no_targets(
    run: Run, arguments: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert done.returncode == 2
    assert "is a URL; output must be a local path" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--snapshot"], "--snapshot and --snapshot-from cannot be used together"),
        (["--start", "latest"], "--snapshot-from determines where the lake starts; omit --start"),
        (["--view", "events"], "--snapshot-from requires the changes view"),
        (["--ddl", __file__], "--snapshot-from provides the definitions of the tables; omit --ddl"),
        (["--dry-run"], "--dry-run reads logs, not a dump"),
    ],
)
def test_options_that_contradict_a_dump(run: Run, options: list[str], words: str, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    done = run("pipeline", "--to", tmp_path / "lake", "--snapshot-from", __file__, *options, _LOG)
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "lake").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["stats", "--html", "page.html", "--format", "json", _LOG],
        ["stats", "--by", "hour", "--part", "tables", _LOG],
        ["explain", "--format", "json", "--full", _LOG],
        ["rows", "--start-datetime", "2026-11-21", "--stop-datetime", "2026-11-20", _LOG],
    ],
)
def test_contradictions_are_errors(run: Run, arguments: list[object]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert not done.stdout
    assert done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no /dev/full")
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["dump", "-r", "/dev/full", _LOG], "/dev/full"),
        (["dump", "-vv", "-r", "/dev/full", CORPUS / "mysql-9.7/types_full/binlog.000001"], "/dev/full"),
        (["stats", "--html", "/dev/full", _LOG], "/dev/full"),
        (["export", "--to", "/dev/full", _LOG], "/dev/full"),
        (["repair", "--to", "/dev/full/log", _LOG], "/dev/full/log"),
        (["slice", "--to", "/dev/full/log", _LOG], "/dev/full/log"),
    ],
)
def test_errors_of_writing_name_the_file(run: Run, arguments: list[object], named: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(f"binlog-kaitai: {named}: cannot write: ")


@pytest.mark.parametrize("command", ["events", "rows", "stats", "explain", "sql", "verify", "dump"])
def test_another_file_is_wrong_usage(run: Run, command: str, tmp_path: Path) -> None:
    other, magic = tmp_path / "notes.txt", tmp_path / "magic"
    other.write_text("not a log\n" * 1000)
    done = run(command, other)
    assert done.returncode == 2
    assert "not a binary log" in done.stdout + done.stderr
    magic.write_bytes(b"\0\0\0\0" + _LOG.read_bytes()[4:])
    done = run(command, magic)
    assert done.returncode == 1
    assert "the magic is damaged" in done.stdout + done.stderr


def test_a_position_inside_an_event_names_the_nearest(run: Run) -> None:
    events = [event.position for event in bk.open(_LOG)]
    inside = events[3] + 5
    for arguments in (["dump", "-j", inside], ["explain", "--at", inside]):
        done = run(*arguments, _LOG)
        assert done.returncode == 2
        assert f"the nearest begin at {events[3]} and {events[4]}" in done.stderr


@pytest.mark.parametrize("command", ["events", "stats", "explain"])
def test_controls_do_not_reach_the_terminal(run: Run, command: str, tmp_path: Path) -> None:
    hostile = "INSERT INTO `a\x1b[2J\u202e\x07\x9b31m` VALUES ('\x00\r\x7f')".encode() + b"\xff\xfe"
    path = tmp_path / "binlog\x1b[31m.000001"
    path.write_bytes(log_of_statements(hostile, b"CREATE TABLE `\x1b]0;x\x07` (a INT)"))
    done = run(command, path)
    assert not _CONTROLS.search(done.stdout + done.stderr)
    assert "\\x1b" in done.stdout or command == "explain"


def test_errors_have_no_controls(run: Run, tmp_path: Path) -> None:
    for path in (tmp_path / "no\x1b[2Jlog\n", tmp_path / "none\x1b", tmp_path / "none\u202e"):
        path.write_text("text") if "log" in path.name else None
        done = run("rows", path)
        assert done.returncode == 2
        assert not _CONTROLS.search(done.stderr)
        assert done.stderr.count("\n") <= 1


def test_what_is_printable_stays() -> None:
    assert printable("é 世界 \u00a0\\n") == "é 世界 \u00a0\\n"
    assert printable("\n\t\x1b\x85\u202e\udcff") == "\\n\\t\\x1b\\x85\\u202e\\udcff"


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_explain_shows_each_value_at_any_width(width: int) -> None:
    for event in bk.open(_LOG):
        lines = list(Explained.of(event).lines(width))
        assert max(map(len, lines)) <= width
        shown = re.sub(r"\s+", "", "".join(lines))
        assert f"{event.fixed_header.len_event}" in shown
        for start, line in enumerate(lines[1:-1], 1):
            if re.match(r" *\d+ {2}[0-9a-f]{2}( |$)", line) and "header.type_code" in line:
                assert event.type.lower() in line + lines[start + 1]


def test_export_has_nothing_from_after_the_damage(run: Run, tmp_path: Path) -> None:
    """Tables in the same block, of which another one is damaged before."""
    path = CORPUS / "mysql-9.7/charsets/binlog.000001"
    events = list(bk.open(path))
    maps = [event for event in events if event.type == "TABLE_MAP_EVENT"]
    middle = maps[len(maps) // 2]
    good = path.read_bytes()
    bad = bytearray(good)
    bad[middle.position + 19 + 8] = 0xEE  # the length of the schema's name
    raw = bytes(bad[middle.position : middle.end_position - 4])
    bad[middle.end_position - 4 : middle.end_position] = _checksum(raw)
    damaged = tmp_path / "damaged"
    damaged.write_bytes(bytes(bad))
    rows = run("rows", "--format", "json", damaged)
    done = run("export", "--view", "changes", "--to", tmp_path / "lake", damaged)
    assert rows.returncode == done.returncode == 1
    counts = re.findall(r": (\d+) rows", done.stdout)
    changes = [json.loads(line)["change"] for line in rows.stdout.split("\n") if line]
    images = sum(2 if change == "update" else 1 for change in changes)
    assert sum(map(int, counts)) == images


def _checksum(data: bytes) -> bytes:
    """The checksum of an event."""
    return zlib.crc32(data).to_bytes(4, "little")
