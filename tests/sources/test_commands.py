"""Commands print the same for encrypted and packed logs as for the plain ones."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from binlog_kaitai.cli.app import app
from binlog_kaitai.errors import EncryptedError
from binlog_kaitai.sources.encryption import HEADER_SIZE
from binlog_kaitai.text.output_text import to_json
from tests.corpus_files import CORPUS, Case, special_cases
from tests.extent import sample
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
    if command[0] == "dump":
        # The names of the files that it makes of LOAD DATA depend on those that are there.
        shutil.rmtree("loads", ignore_errors=True)
        Path("loads").mkdir()
        command = (*command, "--local-load", "loads")
    done: Result = CliRunner().invoke(app, [*command, *more], catch_exceptions=True)
    made = Path("made")
    data = made.read_bytes() if made.exists() else None
    made.unlink(missing_ok=True)
    # Times that a command took are its own.
    return done.exit_code, re.sub(r"[0-9.]+ s\b", "", done.output), data


def without_headers(output: str) -> str:
    """Convert the JSON that `explain` prints for encrypted MySQL logs to that for plain ones."""
    lines = []
    for line in output.splitlines():
        leaves = json.loads(line)
        if leaves[0]["path"] == "magic":
            assert sum(leaf["size"] for leaf in leaves) == HEADER_SIZE
            continue
        # Offsets inside a compressed transaction count from the event's own first byte.
        if leaves[0]["offset"]:
            leaves = [{**leaf, "offset": leaf["offset"] - HEADER_SIZE} for leaf in leaves]
        lines.append(to_json(leaves) + "\n")
    return "".join(lines)


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
        code, output, data = run(command, *key_options(case), log.name)
        if command[0] == "explain" and case.server.startswith("mysql"):
            output = without_headers(output)
        assert (code, output, data) == expected


def test_explain_shows_the_header_of_an_encrypted_log() -> None:
    case = next(one for one in ENCRYPTED if one.server.startswith("mysql"))
    log, data = str(case.logs[0]), case.logs[0].read_bytes()
    _, text, _ = run(("explain",), *key_options(case), log)
    header, first, *_ = text.split("\n\n")
    assert header.startswith("at 0 of the file  header of an encrypted log  512 bytes\n")
    assert re.search(r"fields\[0\].value.name +'MySQLReplicationKey_", header)
    assert "encrypted_password" in header
    assert first.startswith("at 4  offset 516 in the file  FORMAT_DESCRIPTION_EVENT")
    _, text, _ = run(("explain", "--format", "json"), *key_options(case), log)
    leaves = [leaf for line in text.splitlines() for leaf in json.loads(line)]
    assert [leaf["offset"] for leaf in leaves[:2]] == [0, 4]
    assert max(leaf["offset"] + leaf["size"] for leaf in leaves) == len(data)
    _, text, _ = run(("explain", "--at", "4"), *key_options(case), log)
    assert text.startswith("at 4  offset 516 in the file")


def test_explain_shows_the_header_without_the_key(tmp_path: Path) -> None:
    case = next(one for one in ENCRYPTED if one.server.startswith("mysql"))
    done = CliRunner().invoke(app, ["explain", str(case.logs[0])])
    assert "initialization_vector" in done.output
    assert isinstance(done.exception, EncryptedError)
    damaged = tmp_path / "binlog.000001"
    damaged.write_bytes(case.logs[0].read_bytes()[:80])
    done = CliRunner().invoke(app, ["explain", str(damaged)])
    assert "fields[0].value.name" in done.output
    assert "the file ends inside the header" in str(done.exception)


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


@pytest.fixture(scope="module")
def samples() -> dict[str, bytes]:
    """The logs that `make run` verifies, as names and contents."""
    makefile = (CORPUS.parents[1] / "Makefile").read_text()
    cases = re.search(r"^SAMPLES := .*\\\n\s*(.*?)\)\)\)$", makefile, re.MULTILINE)
    assert cases is not None
    paths = [path for case in cases[1].split() for path in sorted((CORPUS / case).glob("binlog.0*"))]
    assert len(paths) > 5
    return {f"{number:02}-{path.name}": path.read_bytes() for number, path in enumerate(paths)}


@pytest.mark.parametrize("suffix", sample(list(PACKERS), 1))
def test_samples_packed(
    suffix: str, samples: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    commands = [("verify",), ("events", "--format", "json"), ("rows", "--format", "json"), ("stats",)]
    for name, data in samples.items():
        Path(name).write_bytes(data)
    expected = [run(command, *samples) for command in commands]
    for name, data in samples.items():
        Path(name).write_bytes(PACKERS[suffix](data))
    assert [run(command, *samples) for command in commands] == expected


def test_a_missing_key_is_not_damage() -> None:
    for case in ENCRYPTED:
        code, text, _ = run(("verify",), str(case.logs[0]))
        assert code == 2
        assert "NOT CHECKED: encrypted" in text
        assert "--key" in text
        assert "damage" not in text.lower()
        _, text, _ = run(("verify", "--format", "json"), str(case.logs[0]))
        report = json.loads(text.splitlines()[0])
        assert not report["ok"]
        assert (report["damage_count"], report["damages"]) == (0, [])
        assert report["not_checked"]["kind"] == "EncryptedError"
