"""Commands print of encrypted and of packed logs what they print of the plain ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from binlog_kaitai.cli.app import app
from tests.corpus_files import Case, special_cases
from tests.sources.packing import PACKERS

ENCRYPTED = special_cases("encrypted")
COMMANDS = [
    ("events", "--format", "json"),
    ("rows", "--format", "json"),
    ("dump", "-vv"),
    ("dump", "--hexdump"),
    ("explain", "--format", "json"),
    ("sql", "--allow-unnamed"),
    ("stats", "--format", "json"),
    ("verify", "--thorough"),
    ("repair", "--to", "made"),
    ("slice", "--to", "made"),
]


def run(command: tuple[str, ...], *more: str) -> tuple[int, str, bytes | None]:
    """The exit code, the output and the file that was made."""
    done: Result = CliRunner().invoke(app, [*command, *more], catch_exceptions=True)
    made = Path("made")
    data = made.read_bytes() if made.exists() else None
    made.unlink(missing_ok=True)
    # Times that a command took are its own.
    return done.exit_code, re.sub(r"[0-9.]+ s\b", "", done.output), data


def key_options(case: Case) -> list[str]:
    keyring = case.folder / "keyring.json"
    return ["--keyring", str(keyring)] if keyring.exists() else ["--key-file", str(case.folder / "keys.txt")]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:2]))
@pytest.mark.parametrize("case", ENCRYPTED, ids=lambda case: case.id)
def test_encrypted(
    case: Case, command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for log, plain in zip(case.logs, case.plain_logs, strict=True):
        Path(log.name).write_bytes(plain.read_bytes())
        expected = run(command, log.name)
        Path(log.name).write_bytes(log.read_bytes())
        assert run(command, *key_options(case), log.name) == expected


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:2]))
@pytest.mark.parametrize("suffix", PACKERS)
def test_packed(
    suffix: str, command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for log in ENCRYPTED[0].plain_logs:
        Path(log.name).write_bytes(log.read_bytes())
        expected = run(command, log.name)
        Path(log.name).write_bytes(PACKERS[suffix](log.read_bytes()))
        assert run(command, log.name) == expected


def test_a_missing_key_is_not_damage() -> None:
    for case in ENCRYPTED:
        code, text, _ = run(("verify",), str(case.logs[0]))
        assert code == 1
        assert "NOT CHECKED: encrypted" in text
        assert "--key" in text
