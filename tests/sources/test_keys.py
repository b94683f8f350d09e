"""Where keys come from, and where they must not appear."""

from __future__ import annotations

import os
import pickle
from hashlib import pbkdf2_hmac
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.sources import keys
from binlog_kaitai.sources.keys import Keys, bytes_to_key, find_keys
from tests.sources.sealing import old_keyring, write_keyring

HEX = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
KEY = bytes.fromhex(HEX)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_keyring_of_the_plugin(version: str, tmp_path: Path) -> None:
    path = tmp_path / "keyring"
    path.write_bytes(old_keyring({"first": KEY, "a second": KEY * 2, "x": b"odd"}, version))
    assert Keys.of(keyring=path).find("a second") == [KEY * 2]
    assert Keys.of(keyring=path).find("x") == []  # no key of AES
    path.write_bytes(old_keyring({}, version))
    assert Keys.of(keyring=path).find("first") == []


def test_keyring_of_the_component(tmp_path: Path) -> None:
    path = write_keyring(tmp_path / "keyring", {"first": KEY, "second": KEY * 2})
    assert Keys.of(keyring=str(path)).find("second") == [KEY * 2]


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b"\xff\xfe", b'{"elements":[{"data":"zz"}]}'])
def test_what_is_no_keyring(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "keyring"
    path.write_bytes(data)
    with pytest.raises(SourceError, match="not a keyring"):
        Keys.of(keyring=path).find("first")
    path.write_bytes(old_keyring({"first": KEY})[:-20])
    with pytest.raises(SourceError, match="damaged"):
        Keys.of(keyring=path).find("first")


def test_plain_key_file(tmp_path: Path) -> None:
    path = tmp_path / "keys.txt"
    path.write_text(f"# keys\n\n1;{HEX}\n 2 ; {HEX * 2}  # another\n")
    assert Keys.of(key_file=path).find("1") == [KEY]
    assert Keys.of(key_file=path).find("2") == [KEY * 2]
    path.write_text(f" \t# clés\n1;{HEX}\n4;{HEX * 2} --> ignored\n\n")
    assert Keys.of(key_file=path).find("1") == [KEY]
    assert Keys.of(key_file=path).find("4") == [KEY * 2]
    path.write_text(f"1:{HEX}\n")
    with pytest.raises(SourceError, match="not a key file") as caught:
        Keys.of(key_file=path).find("1")
    assert HEX not in str(caught.value)


def encrypted_key_file(made: bytes, salt: bytes) -> bytes:
    """What `openssl enc -aes-256-cbc` writes."""
    text = f"1;{HEX}\n".encode()
    padding = 16 - len(text) % 16
    cipher = Cipher(algorithms.AES(made[:32]), modes.CBC(made[32:])).encryptor()
    return b"Salted__" + salt + cipher.update(text + bytes([padding]) * padding)


SALT = bytes(range(8))


@pytest.mark.parametrize(
    ("made", "rounds"),
    [
        (bytes_to_key("sha1", b"secret", SALT, 48), None),
        (bytes_to_key("sha512", b"secret", SALT, 48), None),
        (pbkdf2_hmac("sha1", b"secret", SALT, 10_000, 48), None),
        (pbkdf2_hmac("sha256", b"secret", SALT, 1234, 48), 1234),
    ],
    ids=["SHA-1", "SHA-512", "PBKDF2 of openssl", "PBKDF2"],
)
def test_encrypted_key_file(made: bytes, rounds: int | None, tmp_path: Path) -> None:
    path, secret = tmp_path / "keys.enc", tmp_path / "secret"
    path.write_bytes(encrypted_key_file(made, SALT))
    secret.write_text("secret\n")
    for text in ("secret", f"FILE:{secret}"):
        given = Keys.of(key_file=path, key_file_secret=text, key_file_pbkdf2=rounds)
        assert given.find("1") == [KEY]
    for wrong in ("another", ""):
        with pytest.raises(SourceError, match="wrong"):
            Keys.of(key_file=path, key_file_secret=wrong, key_file_pbkdf2=rounds).find("1")
    with pytest.raises(SourceError, match="pass its secret"):
        Keys.of(key_file=path).find("1")


def test_the_first_round_of_openssl() -> None:
    # openssl enc -aes-256-cbc -md sha1 -k secret -P -S 0001020304050607
    assert (
        bytes_to_key("sha1", b"secret", SALT, 48)[:20]
        == __import__("hashlib").sha1(b"secret" + SALT).digest()
    )


def test_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keyring = write_keyring(tmp_path / "keyring", {"first": KEY})
    key_file = tmp_path / "keys.txt"
    key_file.write_text(f"1;{HEX}\n")
    assert find_keys(None, "first", "1", "second") == []
    monkeypatch.setenv(keys.KEYRING, os.pathsep.join([str(keyring)]))
    monkeypatch.setenv(keys.KEY_FILE, str(key_file))
    monkeypatch.setenv(keys.KEYS, f"second={HEX * 2}  third={HEX}")
    assert find_keys(None, "first") == find_keys(None, "1") == find_keys(None, "third") == [KEY]
    assert find_keys(Keys(), "second") == [KEY * 2]


@pytest.mark.parametrize("text", ["", HEX, f"={HEX}", "1=", "1=00", f"1={HEX}0", "1=xy"])
def test_what_is_no_key(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        Keys.of(key=[text])
    assert HEX not in str(caught.value)


def test_keys_are_not_shown() -> None:
    given = Keys.of(key={"1": KEY}, key_file="/keys", key_file_secret="hidden")
    for text in (repr(given), str(given)):
        assert HEX not in text
        assert repr(KEY) not in text
        assert "hidden" not in text


def test_keys_do_not_leave_the_process() -> None:
    for given in (Keys.of(key={"1": KEY}), Keys.of(key_file="/keys", key_file_secret="hidden")):
        with pytest.raises(UsageError, match="do not leave the process"):
            pickle.dumps(given)
    given = Keys.of("/keyring", key_file="/keys", key_file_secret="FILE:/secret", key_file_pbkdf2=5)
    assert pickle.loads(pickle.dumps(given)) == given


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(SourceError, match="/no/keyring"):
        Keys.of(keyring="/no/keyring").find("1")
