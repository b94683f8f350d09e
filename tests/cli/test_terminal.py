"""Behavior common to all commands: colours, broken pipes, progress, shell completion."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from binlog_kaitai.cli import console
from binlog_kaitai.errors import UNSAFE
from binlog_kaitai.sources.source import Source
from tests.corpus_files import case
from tests.extent import sample
from tools.costly.making import Log, named

MIXED = case("mysql-9.7", "mixed").logs[0]
TOOL = [sys.executable, "-m", "binlog_kaitai"]
READING = ["dump", "events", "explain", "rows", "sql", "stats", "verify"]
WRITING = ["export", "repair", "slice"]

#: Switches on a colour of the text or of its background.
COLOUR = re.compile(rb"\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7])[0-9;]*m")


def environment(**changes: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    return {**kept, "TERM": "xterm-256color", "COLUMNS": "120", **changes}


def on_terminal(*arguments: object, status: int = 0, **changes: str) -> bytes:
    """What a command writes to a terminal, which stdout and stderr are."""
    mother, child = pty.openpty()
    process = subprocess.Popen(
        [*TOOL, *map(str, arguments)], stdin=child, stdout=child, stderr=child, env=environment(**changes)
    )
    os.close(child)
    written = b""
    while True:
        try:
            part = os.read(mother, 1 << 16)
        except OSError:  # how Linux reports that the other end is closed
            break
        if not part:
            break
        written += part
    os.close(mother)
    assert process.wait(60) == status, written
    return written


@pytest.mark.parametrize("command", sample(READING, 2))
def test_no_colours_where_output_is_no_terminal(command: str) -> None:
    done = subprocess.run([*TOOL, command, str(MIXED)], capture_output=True, env=environment(), timeout=60)
    assert done.returncode == 0, done.stderr
    assert b"\x1b" not in done.stdout + done.stderr


def test_colours_on_a_terminal_unless_no_color_is_set() -> None:
    assert COLOUR.search(on_terminal("stats", MIXED))
    assert not COLOUR.search(on_terminal("stats", MIXED, NO_COLOR="1"))


@pytest.mark.parametrize("command", ["rows", "explain", "stats", "events", "logs", "transactions"])
def test_colours_elsewhere_on_request(command: str) -> None:
    """The option decides; NO_COLOR and FORCE_COLOR do without it, in this order."""

    def output(*words: str, **variables: str) -> bytes:
        call = [*TOOL, command, *words, str(MIXED)]
        done = subprocess.run(call, capture_output=True, env=environment(**variables), timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    colored, plain = output("--color", "always", NO_COLOR="1"), output()
    assert b"\x1b[" in colored
    assert b"\x1b[" in output(FORCE_COLOR="1")
    # Blanks at the end of a line have a style, too.
    shown = re.sub(rb"\x1b\[[0-9;]*m", b"", colored)
    assert [line.rstrip() for line in shown.split(b"\n")] == [line.rstrip() for line in plain.split(b"\n")]
    for words, variables in (
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}),
        (("--color", "never"), {"FORCE_COLOR": "1"}),
    ):
        assert output(*words, **variables) == plain


def test_the_option_is_stronger_than_the_terminal() -> None:
    assert b"\x1b" not in on_terminal("rows", "--color", "never", MIXED)
    assert COLOUR.search(on_terminal("rows", "--color", "auto", MIXED))


@pytest.mark.parametrize("command", ["rows", "explain"])
def test_listings_have_colours_too(command: str) -> None:
    assert COLOUR.search(on_terminal(command, MIXED))
    assert b"\x1b" not in on_terminal(command, MIXED, NO_COLOR="1")


@pytest.mark.parametrize(
    "command",
    [
        *("rows", "rows -G", "rows --format json", "rows --format csv", "rows --format debezium"),
        *("events --format json", "transactions", "stats", "explain", "dump -vv", "sql --allow-unnamed"),
    ],
)
def test_no_control_of_a_log_reaches_a_terminal(command: str, tmp_path: Path) -> None:
    """Elsewhere, JSON, CSV, SQL and `dump` have values as they are."""
    hostile, log = "\u202eevil\u2066\u200f\u061c\u2028\x1b]0;\x9b".encode(), Log()
    log.query(b"CREATE TABLE `" + hostile + b"` (a INT)", database=hostile)
    log.query(b"BEGIN", database=hostile)
    document = b"\x0c" + bytes([len(hostile)]) + hostile
    log.map(1, b"\x0f\xf5", b"\0\4\4", named([hostile, b"j"]), name=hostile)
    sizes = [len(one).to_bytes(size, "little") for one, size in ((hostile, 2), (document, 4))]
    log.insert(1, 2, b"\3", b"\0" + sizes[0] + hostile + sizes[1] + document)
    log.xid()
    path = tmp_path / "binlog.000001"
    path.write_bytes(log.data)
    written = on_terminal(*command.split(), path, status=3 * ("sql" in command), NO_COLOR="1").decode()
    assert "evil" in written
    assert not re.search(UNSAFE, re.sub(r"[\r\n\t]|\x1b\[[\d;]+m", "", written))  # but styles


@pytest.mark.parametrize("command", ["rows", "events", "transactions"])
def test_lines_fit_the_terminal_and_are_folded_between_words(command: str) -> None:
    log = case("mysql-9.7", "orders").logs[0]
    folded = on_terminal(command, log, COLUMNS="80", NO_COLOR="1").decode()
    wide = on_terminal(command, log, COLUMNS="1000", NO_COLOR="1").decode()
    assert max(map(len, folded.splitlines())) <= 80
    if command == "rows":
        assert folded.split() == wide.split()


def test_what_has_no_room_beside_is_in_a_line_below() -> None:
    log = case("mysql-9.7", "orders").logs[0]
    text = on_terminal("transactions", "--operation", "delete", log, COLUMNS="80", NO_COLOR="1").decode()
    heading, transaction, below, more = text.splitlines()
    assert heading.split() == ["file", "position", "time", "(UTC)", "kind"]
    assert transaction.split() == [log.name, "34054", "2026-11-23", "07:39:04", "commit"]
    gtid = "d5c03e68-e707-11f1-9054-02fc00000001:5"
    assert f"{below} {more.strip()}" == f"    {gtid}  size 2.01 KiB  events 6  deleted 10 thread 15  t.orders"


@pytest.mark.parametrize("command", sample(READING, 3))
def test_a_reader_that_went_away_is_no_error(command: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run([*TOOL, command, str(MIXED)], stdout=closed, stderr=subprocess.PIPE, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    "command", sample(["dump", "events", "export", "repair", "rows", "slice", "stats", "verify"], 3)
)
def test_long_work_shows_how_far_it_is(command: str, tmp_path: Path) -> None:
    target = ["--to", str(tmp_path / "new")] if command in WRITING else []
    code = (
        "import os, sys; sys.stdout = open(os.devnull, 'w'); "
        "from binlog_kaitai.cli import console; console._WORTHWHILE = 1; "
        f"from binlog_kaitai.cli import main; main({[command, *target, str(MIXED)]!r})"
    )
    mother, child = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", code], stderr=child, env=environment())
    os.close(child)
    written = b""
    while True:
        try:
            written += os.read(mother, 1 << 16)
        except OSError:
            break
    os.close(mother)
    assert process.wait(60) == 0
    assert MIXED.name.encode() in written


@pytest.mark.parametrize(("size", "is_shown"), [((4 << 20) - 1, False), (4 << 20, True)])
def test_a_bar_is_shown_for_logs_of_4_mib_or_more(size: int, is_shown: bool, tmp_path: Path) -> None:
    log = tmp_path / "binlog.000001"
    log.write_bytes(bytes(size))
    bar = console._Bar("")
    bar.advance(Source.of_path(str(log)), 4)
    bar.close()
    assert (bar._bar is not None) is is_shown


def completed(*words: str) -> list[str]:
    """The completions of the last word that bash gets."""
    variables = {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        TOOL,
        env=environment(_BINLOG_KAITAI_COMPLETE="bash_complete", **variables),
        capture_output=True,
        text=True,
        timeout=60,
    )
    return [line.partition(",")[2] or line for line in done.stdout.splitlines()]


def test_the_shell_completes_commands_options_and_values() -> None:
    assert completed("binlog-kaitai", "ver") == ["verify"]
    assert completed("binlog-kaitai", "stats", "--form") == ["--format"]
    assert completed("binlog-kaitai", "stats", "--format", "c") == ["csv"]
    assert completed("binlog-kaitai", "events", "--event-type", "xid") == ["XID_EVENT"]


def test_the_shell_completes_files_by_itself() -> None:
    variables = {"COMP_WORDS": "binlog-kaitai events my", "COMP_CWORD": "2"}
    done = subprocess.run(
        TOOL, env=environment(_BINLOG_KAITAI_COMPLETE="bash_complete", **variables), capture_output=True
    )
    assert done.stdout.startswith(b"file,")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script(shell: str) -> None:
    done = subprocess.run(
        TOOL, env=environment(_BINLOG_KAITAI_COMPLETE=f"{shell}_source"), capture_output=True, text=True
    )
    assert "binlog-kaitai" in done.stdout
