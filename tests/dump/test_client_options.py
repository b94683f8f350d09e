"""`dump` accepts the options of the clients, or explains why not."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from binlog_kaitai.cli import main
from binlog_kaitai.dump.dump_command import dump
from tests import corpus_files
from tests.dump.client_options import REFUSED, SHORT, TAKEN, WITHOUT_EFFECT

_LOG = corpus_files.case("mysql-9.7", "crash").logs[0]
_MARIADB_LOG = corpus_files.case("mariadb-11.8", "domains").logs[0]


def _dump(
    capfdbinary: pytest.CaptureFixture[bytes], *arguments: str, log: object = _LOG
) -> tuple[int, bytes, str]:
    with pytest.raises(SystemExit) as ended:
        main(["dump", *arguments, str(log)])
    output = capfdbinary.readouterr()
    return int(ended.value.code or 0), output.out, output.err.decode()


def _given(name: str, value: str) -> str:
    return f"{name}={value}" if value else name


@pytest.mark.parametrize("name", WITHOUT_EFFECT)
def test_options_of_connections_change_nothing(name: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    given = _dump(capfdbinary, _given(name, WITHOUT_EFFECT[name]))
    assert given == _dump(capfdbinary)


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_a_server_is_refused(name: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    value, reason = REFUSED[name]
    code, _, error = _dump(capfdbinary, _given(name, value))
    assert code == 2
    assert reason in error


@pytest.mark.parametrize("name", TAKEN)
def test_the_others_are_taken(name: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    is_of_mariadb = name in ("--flashback", "--do-domain-ids", "--ignore-domain-ids")
    code, _, error = _dump(
        capfdbinary, _given(name, TAKEN[name]), log=_MARIADB_LOG if is_of_mariadb else _LOG
    )
    assert code != 2 or "--require-row-format" in error


@pytest.mark.parametrize("short", SHORT)
def test_short_names_are_those_of_the_clients(short: str) -> None:
    context = click.Context(dump)
    options = [one for one in dump.get_params(context) if isinstance(one, click.Option)]
    (found,) = [option for option in options if short in option.opts]
    assert SHORT[short] in found.opts


def test_nothing_is_reported_twice() -> None:
    assert len({*TAKEN, *WITHOUT_EFFECT, *REFUSED}) == len(TAKEN) + len(WITHOUT_EFFECT) + len(REFUSED)
    assert set(SHORT.values()) <= {*TAKEN, *WITHOUT_EFFECT, *REFUSED}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("--base64-output=DECODE-ROWS", "--base64-output=decode-rows"),
        ("--base64-output=d", "--base64-output=decode-rows"),
        ("--base64_output=Decode", "--base64-output=decode-rows"),
        ("--base64-output=UNSPEC", "--base64-output=auto"),
        ("--hexdump=1", "--hexdump"),
        ("--hexdump=ON", "-H"),
        ("--enable-hexdump", "-H"),
        ("--hexdump=0", "-F"),
        ("--skip-hexdump", "-F"),
        ("--disable-hexdump", "-F"),
        ("--loose-no-such-option=1", "-F"),
        ("--loose-hexdump", "-H"),
        ("--stop-position=1K", "--stop-position=1024"),
        ("--offset=0", "-F"),
    ],
)
def test_options_are_written_as_for_the_clients(
    one: str, other: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert _dump(capfdbinary, one)[:2] == _dump(capfdbinary, other)[:2]


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ("--base64-output=always", "is not one of"),
        ("--base64-output=", "is not one of"),
        ("--hexdump=maybe", "is not 1 or 0"),
        ("--offset=abc", "not a valid number"),
        ("--offset=-1", "not a valid number"),
        ("--offset=٣", "not a valid number"),
        ("--start-position=0-1-1,0-2-2", "two GTIDs of the same domain"),
        ("--start-position=0-1-1", "on MariaDB logs only"),
        ("--no-such-option", "No such option"),
    ],
)
def test_values_that_make_no_sense(
    option: str, reason: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    code, _, error = _dump(capfdbinary, option)
    assert code == 2
    assert reason in error


def test_the_later_of_two_flags_holds(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    plain, shown = _dump(capfdbinary)[1], _dump(capfdbinary, "-H")[1]
    assert plain != shown
    assert _dump(capfdbinary, "-H", "--skip-hexdump")[1] == plain
    assert _dump(capfdbinary, "--hexdump=0", "--hexdump")[1] == shown


def test_a_log_in_use_is_refused_on_demand(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    log = corpus_files.case("damaged", "mysql-9.7-in_use").logs[0]
    assert _dump(capfdbinary, "-F", log=log)[0] == 0
    code, text, error = _dump(capfdbinary, "--skip-force-if-open", log=log)
    assert code == 2
    assert "position 4, FORMAT_DESCRIPTION_EVENT: the log is in use" in error
    assert b"# at 4\n" not in text


def test_the_version_is_printed() -> None:
    line = [sys.executable, "-m", "binlog_kaitai", "dump", "-V"]
    done = subprocess.run(line, capture_output=True, check=True, text=True)
    assert done.stdout.startswith("binlog-kaitai dump, version ")
