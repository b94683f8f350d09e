"""Reads the files in which servers store their keys."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

from binlog_kaitai.core.grammar import KeyringFile, parse_structure, sizes
from binlog_kaitai.errors import BinlogError, SourceError, reading
from binlog_kaitai.sources.ciphers import KEY_LENGTHS, bytes_to_key, decrypt_chain, stretched_key

#: The constant that keyring_file XORs its keys with (`obfuscate_str`, plugin/keyring/common/keyring_key.cc).
_OBFUSCATION = b"*305=Ljt0*!@$Hnm(*-9-w;:"

#: The prefix that `openssl enc` writes before a salt of 8 bytes.
_SALTED, _SALT_SIZE, _BLOCK = b"Salted__", 8, 16

#: Values of file_key_management_digest; the first is the default, and the only one before MariaDB 12.0.
_DIGESTS = ("sha1", "sha224", "sha256", "sha384", "sha512")

#: Rounds of `openssl enc -pbkdf2` without `-iter`.
_ROUNDS = 10_000

#: Maximum number of bytes that the server reads from a file with a secret.
_LONGEST_SECRET = 256

#: A line of a key file. Like the server, it ignores any text after the key.
_LINE = re.compile(rb"\s*([0-9]+)\s*;\s*([0-9A-Fa-f]+)")

#: A line without a key.
_COMMENT = re.compile(rb"\s*(#|$)")

#: Pairs of name and key, in file order.
Entries = list[tuple[str, bytes]]


def read_keyring(path: str) -> Entries:
    """The keys in a file of MySQL's component_keyring_file or of its plugin keyring_file.

    Raises
    ------
    SourceError
        The file cannot be read, or is not a keyring.
    """
    with reading(path):
        data = Path(path).read_bytes()
        if data.startswith(sizes.KeyringFile.MAGIC):
            return _of_plugin(data, path)
        try:
            return [(one["data_id"], bytes.fromhex(one["data"])) for one in json.loads(data)["elements"]]
        except (ValueError, TypeError, KeyError):
            # The cause would reveal the content of the file.
            reason = "not a keyring: neither component_keyring_file nor keyring_file wrote it"
            raise SourceError(reason, file=path) from None


def _of_plugin(data: bytes, path: str) -> Entries:
    try:
        found = parse_structure(KeyringFile, data)
    except BinlogError:
        raise SourceError("the keyring of keyring_file is damaged", file=path) from None
    return [(one.key_id, _deobfuscated(one.obfuscated_key)) for one in found.entries or []]


def _deobfuscated(data: bytes) -> bytes:
    return bytes(one ^ mask for one, mask in zip(data, cycle(_OBFUSCATION), strict=False))


def read_key_file(path: str, secret: str | None, rounds: int | None) -> Entries:
    """The keys in a file of MariaDB's file_key_management.

    Parameters
    ----------
    secret
        The secret that the file is encrypted with, as for `file_key_management_filekey`: the text, or
        ``FILE:`` and the path of a file that contains it.
    rounds
        Value of `file_key_management_use_pbkdf2`.

    Raises
    ------
    SourceError
        The file cannot be read, is not a key file, or the secret is wrong.
    EncryptedError
        The package required for decryption is not installed.
    """
    with reading(path):
        data = Path(path).read_bytes()
        if not data.startswith(_SALTED):
            if (found := _entries(data)) is None:
                raise SourceError("not a key file: expected lines of ID;KEY in hexadecimal", file=path)
            return found
        if secret is None:
            raise SourceError("the key file is encrypted; pass its secret with --key-file-secret", file=path)
        for plain in _decrypted(data, _secret_of(secret), rounds):
            if found := _entries(plain):
                return found
        raise SourceError("wrong secret for the key file, or wrong number of PBKDF2 rounds", file=path)


def _secret_of(given: str) -> bytes:
    if not given.startswith("FILE:"):
        return given.encode("utf-8", "surrogateescape")
    path = given.removeprefix("FILE:")
    with reading(path), open(path, "rb") as file:
        return file.read(_LONGEST_SECRET).rstrip(b"\r\n")


def _decrypted(data: bytes, secret: bytes, rounds: int | None) -> Iterator[bytes]:
    """The possible contents of the file, one for each way to derive a key from the secret."""
    salt, sealed = data[len(_SALTED) :][:_SALT_SIZE], data[len(_SALTED) + _SALT_SIZE :]
    if len(sealed) % _BLOCK or not sealed:
        return
    size = KEY_LENGTHS[-1] + _BLOCK
    ways = [] if rounds else [bytes_to_key(digest, secret, salt, size) for digest in _DIGESTS]
    ways += [stretched_key(digest, secret, salt, rounds or _ROUNDS, size) for digest in _DIGESTS]
    for made in ways:
        plain = decrypt_chain(made[: KEY_LENGTHS[-1]], made[KEY_LENGTHS[-1] :], sealed)
        padding = plain[-1]
        if 1 <= padding <= _BLOCK and plain.endswith(bytes([padding]) * padding):
            yield plain[:-padding]


def _entries(data: bytes) -> Entries | None:
    """The keys of an unencrypted file; None if it is not a key file."""
    found: Entries = []
    for line in data.split(b"\n"):
        if _COMMENT.match(line):
            continue
        match = _LINE.match(line)
        if match is None or len(match[2]) not in [2 * length for length in KEY_LENGTHS]:
            return None
        found.append((str(int(match[1])), bytes.fromhex(match[2].decode())))
    return found
