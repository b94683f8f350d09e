"""Damage to encrypted logs: every command reports the same as for the plain log."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from click.testing import CliRunner

import binlog_kaitai as bk
from binlog_kaitai.cli.app import app
from binlog_kaitai.core.grammar import EventType, header_offset
from binlog_kaitai.errors import BinlogError, DamagedError, EncryptedError
from binlog_kaitai.sources.encryption import HEADER_SIZE
from binlog_kaitai.sources.source import Source
from tests.corpus_files import CORPUS
from tests.extent import sample
from tests.sources.sealing import MARIADB_KEY, MYSQL_ID, MYSQL_KEY, PERCONA_KEY, events_of
from tests.sources.test_commands import COMMANDS
from tests.sources.test_encrypted import KEYS, PLAIN, damaged_rows, sealed

#: Damaged logs for the test of commands, and for the test of rows that remain; others were run by hand.
DAMAGES, MORE_DAMAGES = 12, 60

_OPTIONS = [
    option
    for name, key in ((MYSQL_ID, MYSQL_KEY), ("1", MARIADB_KEY), ("percona_binlog:1", PERCONA_KEY))
    for option in ("--key", f"{name}={key.hex()}")
]


def damaged(data: bytes, chance: random.Random) -> bytes:
    """A log with a damage of any kind: bits, bytes, bytes that are lost, or put in, or cut off."""
    changed = bytearray(data)
    place = chance.randrange(len(changed))
    match chance.randrange(6):
        case 0 | 1:
            changed[place] ^= 1 << chance.randrange(8)
        case 2:
            count = chance.randrange(1, 200)
            changed[place : place + count] = chance.randbytes(len(changed[place : place + count]))
        case 3:
            del changed[place : place + chance.randrange(1, 100)]
        case 4:
            changed[place:place] = chance.randbytes(chance.randrange(1, 100))
        case 5:
            del changed[place:]
    return bytes(changed)


def said(command: tuple[str, ...], path: Path, *options: str) -> tuple[object, ...]:
    """What a command prints and makes; an error as its kind, message and position."""
    made = path.with_name("made")
    made.unlink(missing_ok=True)
    done = CliRunner().invoke(app, [*command, *options, path.name])
    error: object = done.exception
    if isinstance(error, BinlogError):
        assert error.position is not None or not isinstance(error, (DamagedError, EncryptedError))
        error = type(error), str(error)
    elif isinstance(error, UnicodeEncodeError):
        error = error.reason  # names that are not UTF-8, which the runner's stdout refuses
    elif error is not None:
        assert isinstance(error, SystemExit), error
        error = error.code
    lines = [line for line in done.output.splitlines() if " s," not in line and not line.endswith(" s")]
    return lines, error, made.read_bytes() if made.exists() else None


def check_commands(number: int, folder: Path) -> str:
    """One damage, every command; what became of it."""
    chance = random.Random(number)
    data, _ = sealed(chance.choice(PLAIN))[number % 2]
    changed = damaged(data, chance)
    path = folder / "binlog.000001"
    path.write_bytes(changed)
    try:
        with Source.of_path(str(path), KEYS).open() as stream:
            plain = stream.read()
    except BinlogError as error:
        # Nothing can be decrypted: each command says so, or does without the bytes.
        for command in COMMANDS:
            said(command, path, *_OPTIONS)
        return type(error).__name__
    header_size = HEADER_SIZE * (changed.startswith(b"\xfdbin"))
    for command in COMMANDS:
        # Positions in `explain` differ; another test is about those.
        if command[0] == "explain" and header_size:
            continue
        path.write_bytes(plain)
        expected = said(command, path)
        path.write_bytes(changed)
        assert said(command, path, *_OPTIONS) == expected, (number, command)
    return "as the plain log"


def check_rows(number: int, folder: Path) -> str:
    """One damage of a byte: just the event that it is in is lost."""
    chance = random.Random(number)
    kind = number % 2
    data, plain = sealed(chance.choice(PLAIN))[kind]
    at, changed = chance.randrange(len(data)), bytearray(data)
    changed[at] ^= 1 << chance.randrange(8)
    path = folder / "binlog.000001"
    path.write_bytes(plain)
    whole, _ = damaged_rows(str(path), KEYS)
    path.write_bytes(changed)
    at -= HEADER_SIZE * (kind == 0)
    # What everything after them needs: MySQL's header, the format description, START_ENCRYPTION.
    needed = events_of(plain)[kind][1]
    try:
        found, gaps = damaged_rows(str(path), KEYS)
    except BinlogError as error:
        assert at < needed, number
        return type(error).__name__
    if at < needed:
        assert set(found) <= set(whole), number
        return "in what everything needs"
    ((begin, end),) = [bounds for bounds in events_of(plain) if bounds[0] <= at < bounds[1]]
    assert [one for one in whole if one[0] != begin] == [one for one in found if one[0] != begin], number
    if not gaps:  # in a log without checksums, or in a field that they do not cover
        return "one event that nothing verifies"
    # Without checksums, the first bytes of an event can pass for a shorter one.
    assert [begin <= gap.start < end for gap in gaps] == [True], number
    return "one event lost"


@pytest.mark.parametrize("number", sample(range(DAMAGES), 5))
def test_commands(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    check_commands(number, tmp_path)


def test_rows_that_remain(tmp_path: Path) -> None:
    found = {check_rows(number, tmp_path) for number in range(MORE_DAMAGES)}
    assert "one event lost" in found


@pytest.mark.parametrize("size", [0, 7, 18])
def test_a_start_of_encryption_shorter_than_its_header(size: int) -> None:
    data = bytearray((CORPUS / "encrypted/mariadb-11.8/binlog.000001").read_bytes())
    begin = events_of(bytes(data))[0][1]
    assert data[begin + header_offset("type_code")] == EventType.start_encryption_event
    at = begin + header_offset("len_event")
    data[at : at + 4] = size.to_bytes(4, "little")
    with pytest.raises(BinlogError) as caught:
        list(bk.open(bytes(data), keys=KEYS))
    assert caught.value.position == begin
    (report,) = bk.verify(bytes(data), keys=KEYS)
    assert [error.position for error in report.damages] == [begin]
