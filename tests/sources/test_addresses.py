"""Secrets in addresses open logs, and are in no output, file, error, name or checkpoint."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.sources import remote
from binlog_kaitai.sources.source import resolve
from tests.cli.conftest import Run, run  # noqa: F401 - a fixture
from tests.object_store import LOGS, serving_logs

SECRET = "pass/word+1"
KEY = "AKIDKEY"


@pytest.fixture(scope="module")
def folder() -> Iterator[str]:
    """A store, to which the environment has no key."""
    with serving_logs() as url, pytest.MonkeyPatch.context() as environment:
        environment.delenv("AWS_ACCESS_KEY_ID")
        environment.delenv("AWS_SECRET_ACCESS_KEY")
        remote._system.cache_clear()
        yield url.replace("s3://", f"s3://{KEY}:{SECRET}@") + "?region=us-east-1"
    remote._LOGINS.clear()
    remote._system.cache_clear()


def is_clean(text: str) -> bool:
    return not any(secret in text for secret in (SECRET, "pass%2Fword", KEY))


COMMANDS = [
    "verify FOLDER",
    "rows FOLDER --format json",
    "rows FOLDER --format csv",
    "events FOLDER --format json",
    "transactions FOLDER --format json",
    "sql FOLDER --allow-unnamed",
    "dump FOLDER",
    "find 2026-11-20 FOLDER",
    "gtids FOLDER",
    "stats FOLDER --format json",
    "stats FOLDER --html OUT/page.html",
    "explain --html OUT/page.html LOG",
    "export FOLDER --to OUT/export",
    "slice LOG --to OUT/slice",
    "repair LOG --to OUT/repaired",
    "verify FOLDER/missing",
    "slice LOG --to LOG",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_output_has_them(command: str, folder: str, tmp_path: Path, run: Run) -> None:  # noqa: F811
    before, _, options = folder.partition("?")
    words = {
        "FOLDER": folder,
        "LOG": f"{before}/{LOGS[1].name}?{options}",
        "FOLDER/missing": f"{before}/missing?{options}",
    }
    done = run(*(words.get(word, word.replace("OUT", str(tmp_path))) for word in command.split()))
    assert is_clean(done.stdout + done.stderr), done
    if "LOG --to LOG" not in command and "missing" not in command:
        assert done.returncode == 0, done.stderr
    for path in tmp_path.rglob("*"):
        assert is_clean(str(path))
        assert path.is_dir() or is_clean(path.read_bytes().decode("latin-1"))


def test_names_have_none_and_still_open_the_log(folder: str) -> None:
    logs = resolve(folder)
    assert [log.name for log in logs] == [log.path for log in logs]
    assert is_clean(repr(logs))
    rows = sum(1 for _ in bk.read_rows(folder))
    assert rows > 0
    assert sum(1 for log in logs for _ in bk.read_rows(log)) == rows


def test_a_pickled_log_is_opened_in_another_process(folder: str, tmp_path: Path) -> None:
    """As by Spark's tasks."""
    pickled = tmp_path / "log"
    pickled.write_bytes(pickle.dumps(resolve(folder)[0]))
    code = f"import pickle; print(len(pickle.load(open({str(pickled)!r}, 'rb')).open().read()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() in {str(log.stat().st_size) for log in LOGS}, done.stderr


def test_a_checkpoint_has_none_and_is_found_again(folder: str) -> None:
    events = bk.follow(folder, idle_timeout=0)
    assert sum(1 for _ in events) > 0
    checkpoint = json.dumps(events.checkpoint)
    assert is_clean(checkpoint)
    assert not list(bk.follow(folder, start=json.loads(checkpoint), idle_timeout=0))


@pytest.mark.parametrize(
    "url",
    [
        "s3://KEY:{}@bucket/a?unknown=1",
        "https://user:{}@127.0.0.1:1/a",
        "http://user:{}@127.0.0.1:1/a?region=1",
        "ftp://user:{}@127.0.0.1/a",
        "unknown://user:{}@host/a",
        "abfss://container:{}@account.dfs.core.windows.net/a",
        "mysql://user:{}@127.0.0.1:1/?connect-timeout=1",
        "mysql://user:{}@127.0.0.1:1/path",
        "mysql://user:{}@[::1/",
        "mysql://user:{}@127.0.0.1:1/?connect-timeout=1&other=1",
        "mysql://user:{}@127.0.0.1:1/?x",
        "mariadb://user:{}@127.0.0.1:0/",
    ],
)
@pytest.mark.parametrize("middle", ["", "℀", "[", "?", "#", "/", "@"])
def test_errors_have_none(url: str, middle: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    remote._system.cache_clear()
    with pytest.raises(BinlogError) as caught:
        resolve(url.format(f"plugh{middle}xyzzy"))
    shown = f"{caught.value} {caught.value!r} {caught.value.__cause__}"
    assert "xyzzy" not in shown
    assert "plugh" not in shown
    remote._LOGINS.clear()
