"""Encrypted logs read like the plain ones that the server sends."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.errors import BinlogError, EncryptedError
from binlog_kaitai.log.gaps import Gap
from binlog_kaitai.sources import event_cipher
from binlog_kaitai.sources.keys import Keys
from binlog_kaitai.sources.source import Source, state_of
from binlog_kaitai.views.skip_damage import read_around
from binlog_kaitai.views.splits import divide, list_files, plan, read_split
from tests.corpus_files import Case, case, special_cases
from tests.earlier_logs import files_before
from tests.extent import sample
from tests.sources.sealing import (
    MARIADB_KEY,
    MYSQL_ID,
    MYSQL_KEY,
    PERCONA_KEY,
    as_mariadb,
    as_mysql,
    events_of,
    with_start,
)

ENCRYPTED = special_cases("encrypted")
KEYS = Keys.of(key={MYSQL_ID: MYSQL_KEY, "1": MARIADB_KEY, "percona_binlog:1": PERCONA_KEY})

#: Logs with positions and without, with checksums and without, of relays and of large events.
PLAIN = [
    case("mysql-9.7", "payloads").logs[0],
    case("mysql-5.6", "no_checksum").logs[0],
    case("mariadb-10.11", "types_full").logs[0],
    case("mariadb-10.11", "no_checksum").logs[0],
    case("mariadb-10.11", "relay-of-mysql-5.6").logs[0],
    case("mariadb-11.8", "xa").logs[0],
]


def keys_of(case: Case) -> Keys:
    """The keys of a case of the corpus."""
    keyring, key_file = case.folder / "keyring.json", case.folder / "keys.txt"
    return Keys.of(keyring=keyring) if keyring.exists() else Keys.of(key_file=key_file)


def sealed(path: Path) -> list[tuple[bytes, bytes]]:
    """The log encrypted in every way, each with the expected result."""
    plain = path.read_bytes()
    sent = with_start(plain)
    is_mariadb = "mariadb" in str(path)
    key = MARIADB_KEY if is_mariadb else PERCONA_KEY
    return [(as_mysql(plain), plain), (as_mariadb(sent, key, is_percona=not is_mariadb), sent)]


@pytest.mark.parametrize("case", ENCRYPTED, ids=lambda case: case.id)
def test_real_logs_are_what_the_server_sends(case: Case) -> None:
    for log, plain in zip(case.logs, case.plain_logs, strict=True):
        with Source.of_path(str(log), keys_of(case)).open() as stream:
            assert stream.read() == plain.read_bytes()
        assert state_of(str(log)).size == plain.stat().st_size


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: f"{path.parent.name}")
def test_logs_of_the_corpus(path: Path) -> None:
    for data, plain in sealed(path):
        with Source.of_bytes(data, keys=KEYS).open() as stream:
            assert stream.read() == plain


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: f"{path.parent.name}")
@pytest.mark.parametrize("near", [1 << 20, 64])
def test_any_part_can_be_read(path: Path, near: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_cipher, "_NEAR", near)
    monkeypatch.setattr(event_cipher, "_SEARCHED_BACK", (1 << 9, 1 << 12))
    chance = random.Random(path.parent.name)
    for data, plain in sealed(path):
        source = Source.of_bytes(data, keys=KEYS)
        with source.open() as kept:
            for _ in range(50):
                at, size = chance.randrange(len(plain) + 2), chance.randrange(1 << chance.randrange(1, 16))
                for stream in (kept, source.open()):
                    stream.seek(at)
                    assert stream.read(size) == plain[at : at + size]
                    assert stream.tell() == max(at, min(at + size, len(plain)))
            assert kept.seek(0, 2) == len(plain)


class Pipe:
    """A stream that cannot seek."""

    name = "<pipe>"

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def read(self, size: int = -1) -> bytes:
        part = self._data[self._at :][: min(size, 1000) if size >= 0 else None]
        self._at += len(part)
        return part


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: f"{path.parent.name}")
def test_pipes(path: Path) -> None:
    for data, plain in sealed(path):
        with bk.open(Pipe(data), keys=KEYS) as log:  # type: ignore[arg-type]
            assert b"".join(event.raw for event in log if event.payload_index is None) == plain[len(MAGIC) :]


def rows(splits: list, view: str) -> list[dict]:
    found = []
    for split in splits:
        for batch in read_split(split, view, earlier=files_before(splits, split)):
            found += batch.to_pylist()
    return found


@pytest.mark.parametrize("path", sample(PLAIN, 2), ids=lambda path: f"{path.parent.name}")
def test_splits_of_any_size(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_cipher, "_NEAR", 64)
    monkeypatch.chdir(tmp_path)
    for data, plain in sealed(path):
        for view in ("events", "changes"):
            Path("binlog.000001").write_bytes(plain)
            expected = rows(plan("binlog.000001", 0), view)
            Path("binlog.000001").write_bytes(data)
            for size in (0, len(plain) // 2, len(plain) // 7):
                assert rows(plan("binlog.000001", size, KEYS), view) == expected


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: f"{path.parent.name}")
def test_missing_and_wrong_keys(path: Path) -> None:
    names = MYSQL_ID, "1" if "mariadb" in str(path) else "percona_binlog:1"
    for (data, _), name in zip(sealed(path), names, strict=True):
        wrong = Keys.of(key={name: bytes(32)})
        for keys, reason in ((None, "was not given"), (wrong, "does not decrypt")):
            with pytest.raises(EncryptedError, match=reason) as caught, bk.open(data, keys=keys) as log:
                for _ in log:
                    pass
            assert repr(name) in str(caught.value)
            assert caught.value.position is not None
            with pytest.raises(EncryptedError):
                bk.read_changes(data, keys=keys).read_all()


def test_the_right_one_of_several_keys_is_found() -> None:
    for data, plain in sealed(PLAIN[2]):
        keys = Keys.of(key=[f"{name}={'ab' * 16}" for name in (MYSQL_ID, "1")])
        both = Keys(_values=keys._values + KEYS._values)
        with Source.of_bytes(data, keys=both).open() as stream:
            assert stream.read() == plain


def test_a_copy_that_a_server_sent_is_plain() -> None:
    sent = with_start(PLAIN[2].read_bytes())
    assert len(list(bk.open(sent))) == len(events_of(sent))


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    for data, _ in sealed(PLAIN[2]):
        monkeypatch.setitem(__import__("sys").modules, "cryptography.hazmat.primitives.ciphers", None)
        with pytest.raises(EncryptedError, match='pip install "cryptography>='):
            list(bk.open(data, keys=KEYS))


def damaged_rows(path: str, keys: Keys) -> tuple[list[tuple[int, str]], list[Gap]]:
    """Position and type of all events that can be read, and the damage."""
    events: list[tuple[int, str]] = []
    damages: list[Gap] = []
    ((split,),) = divide(list_files(path, keys), 0)
    for one in read_around(split, "events", columns=["position", "type"]):
        if isinstance(one, Gap):
            damages.append(one)
        else:
            events += zip(*(one.column(name).to_pylist() for name in ("position", "type")), strict=True)
    return events, damages


def test_damage_costs_just_the_event_that_it_is_in(tmp_path: Path) -> None:
    chance = random.Random(18)
    path = tmp_path / "binlog.000001"
    for log in (PLAIN[2], PLAIN[5]):
        for kind, (data, plain) in enumerate(sealed(log)):
            path.write_bytes(plain)
            whole, _ = damaged_rows(str(path), KEYS)
            begins = events_of(plain)
            for _ in range(15):
                begin, end = chance.choice(begins[2:])
                place = chance.randrange(begin, end)
                changed = bytearray(data)
                changed[place + 512 * (kind == 0)] ^= 1 << chance.randrange(8)
                path.write_bytes(changed)
                found, damages = damaged_rows(str(path), KEYS)
                assert [one for one in whole if one[0] != begin] == [one for one in found if one[0] != begin]
                assert [damage.start for damage in damages] == [begin]


def error_of(data: bytes) -> BinlogError | None:
    """What reading a log ends with."""
    try:
        list(bk.open(data, keys=KEYS))
    except BinlogError as error:
        return error
    return None


def test_any_damage_gives_events_or_an_error_with_a_position() -> None:
    chance = random.Random(19)
    for log in PLAIN[1:5]:
        for data, _ in sealed(log):
            for _ in range(10):
                changed = bytearray(data)
                for _ in range(chance.choice([1, 1, 1, 4, 60])):
                    changed[chance.randrange(len(changed))] = chance.randrange(256)
                if chance.random() < 0.2:
                    del changed[chance.randrange(len(changed)) :]
                error = error_of(bytes(changed))
                assert error is None or (error.file, error.position is None) == ("<bytes>", False)
