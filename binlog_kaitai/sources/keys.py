"""Finds the keys of encrypted logs: in keyrings, key files, options, and the environment.

Keys are read when a log needs one, and are not cached. AES in the modes that the servers use comes from the
package `cryptography`, which is imported when needed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import cycle
from operator import xor
from typing import TYPE_CHECKING, Union

import numpy as np

from binlog_kaitai.core.extras import pip_install
from binlog_kaitai.core.filters import whole_number
from binlog_kaitai.core.grammar import KeyringFile, parse_structure, sizes
from binlog_kaitai.errors import BinlogError, EncryptedError, SourceError, UsageError, reading
from binlog_kaitai.kernels.arrays import Array, Bytes, view_of
from binlog_kaitai.sources.disk import content_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
    from cryptography.hazmat.primitives.ciphers.modes import CBC, CTR, ECB

#: Lengths of AES keys, in bytes.
KEY_LENGTHS = (16, 24, 32)

#: Size of a block in bytes.
BLOCK = 16

#: The constant that keyring_file XORs its keys with (`obfuscate_str`, plugin/keyring/common/keyring_key.cc).
_OBFUSCATION = b"*305=Ljt0*!@$Hnm(*-9-w;:"

#: The prefix that `openssl enc` writes before a salt of 8 bytes.
_SALTED, _SALT_SIZE = b"Salted__", 8

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

    Raises `SourceError`: the file cannot be read, or is not a keyring.
    """
    with reading(path):
        data = content_of(path)
        if data.startswith(sizes.KeyringFile.MAGIC):
            return _of_plugin(data, path)
        try:
            return [
                (entry["data_id"], bytes.fromhex(entry["data"])) for entry in json.loads(data)["elements"]
            ]
        except (ValueError, TypeError, KeyError):
            # The cause would reveal the content of the file.
            reason = "not a keyring file of component_keyring_file or keyring_file"
            raise SourceError(reason, file=path) from None


def _of_plugin(data: bytes, path: str) -> Entries:
    try:
        keyring = parse_structure(KeyringFile, data)
    except BinlogError:
        raise SourceError("the keyring of keyring_file is damaged", file=path) from None
    return [
        (entry.key_id, bytes(map(xor, entry.obfuscated_key, cycle(_OBFUSCATION))))
        for entry in keyring.entries or []
    ]


def read_key_file(path: str, secret: str | None, rounds: int | None) -> Entries:
    """The keys in a file of MariaDB's file_key_management.

    `secret`: the secret that the file is encrypted with, as for `file_key_management_filekey`: the text, or
    ``FILE:`` and the path of a file that contains it.
    `rounds`: value of `file_key_management_use_pbkdf2`.
    Raises `SourceError`: the file cannot be read, is not a key file, or the secret is wrong;
    `EncryptedError`: the package required for decryption is not installed.
    """
    with reading(path):
        data = content_of(path)
        if not data.startswith(_SALTED):
            if (entries := _entries(data)) is None:
                raise SourceError("not a key file: expected lines of ID;KEY in hexadecimal", file=path)
            return entries
        if secret is None:
            raise SourceError("the key file is encrypted; pass its secret with --key-file-secret", file=path)
        for plain in _decrypted(data, _secret_of(secret), rounds):
            if entries := _entries(plain):
                return entries
        raise SourceError("wrong secret for the key file, or wrong number of PBKDF2 rounds", file=path)


def _secret_of(secret: str) -> bytes:
    if not secret.startswith("FILE:"):
        return secret.encode("utf-8", "surrogateescape")
    path = secret.removeprefix("FILE:")
    with reading(path), open(path, "rb") as file:
        return file.read(_LONGEST_SECRET).rstrip(b"\r\n")


def _decrypted(data: bytes, secret: bytes, rounds: int | None) -> Iterator[bytes]:
    """The possible contents of the file, one for each way to derive a key from the secret."""
    salt, sealed = data[len(_SALTED) :][:_SALT_SIZE], data[len(_SALTED) + _SALT_SIZE :]
    if len(sealed) % BLOCK or not sealed:
        return
    from hashlib import pbkdf2_hmac

    size = KEY_LENGTHS[-1] + BLOCK
    ways = [] if rounds else [bytes_to_key(digest, secret, salt, size) for digest in _DIGESTS]
    ways += [pbkdf2_hmac(digest, secret, salt, rounds or _ROUNDS, size) for digest in _DIGESTS]
    for derived in ways:
        plain = decrypt_chain(derived[: KEY_LENGTHS[-1]], derived[KEY_LENGTHS[-1] :], sealed)
        padding = plain[-1]
        if 1 <= padding <= BLOCK and plain.endswith(bytes([padding]) * padding):
            yield plain[:-padding]


def _entries(data: bytes) -> Entries | None:
    """The keys of an unencrypted file; None if it is not a key file."""
    entries: Entries = []
    for line in data.split(b"\n"):
        if _COMMENT.match(line):
            continue
        match = _LINE.match(line)
        if match is None or len(match[2]) not in [2 * length for length in KEY_LENGTHS]:
            return None
        entries.append((str(int(match[1])), bytes.fromhex(match[2].decode())))
    return entries


#: Environment variables that every process uses, after the keys given to it.
KEYRING, KEYS = "BINLOG_KAITAI_KEYRING", "BINLOG_KAITAI_KEYS"
KEY_FILE, SECRET = "BINLOG_KAITAI_KEY_FILE", "BINLOG_KAITAI_KEY_FILE_SECRET"
ROUNDS = "BINLOG_KAITAI_KEY_FILE_PBKDF2"

Paths = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]]]


@dataclass(frozen=True)
class Keys:
    """Where to find keys, created by :meth:`of`. Can be pickled only if it contains no key itself.

    Attributes
    ----------
    keyrings : tuple of str
        Files of MySQL's component_keyring_file or keyring_file.
    key_files : tuple of str
        Files of MariaDB's file_key_management.
    rounds : int or None
        Value of `file_key_management_use_pbkdf2`.
    """

    keyrings: tuple[str, ...] = ()
    key_files: tuple[str, ...] = ()
    rounds: int | None = None
    _secret: str | None = field(default=None, repr=False)
    _values: tuple[tuple[str, bytes], ...] = field(default=(), repr=False)

    @classmethod
    def of(
        cls,
        keyring: Paths = (),
        key: Mapping[str, str | bytes] | Iterable[str] = (),
        key_file: Paths = (),
        key_file_secret: str | None = None,
        key_file_pbkdf2: int | None = None,
    ) -> Keys:
        """Specify where keys are.

        Parameters
        ----------
        keyring
            Keyring file or files of a MySQL server.
        key
            Keys by id, as bytes or in hexadecimal; or strings ``ID=HEX``. MariaDB's key for logs has the id
            ``1``, or ``1:VERSION`` if it has several versions.
        key_file
            File or files of MariaDB's file_key_management.
        key_file_secret
            The secret that the key file is encrypted with: the text, or ``FILE:`` and the path of a file with
            it.
        key_file_pbkdf2
            Value of `file_key_management_use_pbkdf2`, if that is set.

        Raises
        ------
        UsageError
            A key is invalid.
        """
        pairs = (
            key.items() if isinstance(key, Mapping) else map(_pair, [key] if isinstance(key, str) else key)
        )
        values = tuple((str(name), _key(str(name), value)) for name, value in pairs)
        return cls(_paths(keyring), _paths(key_file), key_file_pbkdf2, key_file_secret, values)

    @classmethod
    def of_environment(cls) -> Keys:
        """The keys specified by the environment variables."""
        look = os.environ.get
        rounds = look(ROUNDS)
        return cls.of(
            [path for path in look(KEYRING, "").split(os.pathsep) if path],
            look(KEYS, "").split(),
            [path for path in look(KEY_FILE, "").split(os.pathsep) if path],
            look(SECRET),
            whole_number(rounds) if rounds else None,
        )

    def find(self, *names: str) -> list[bytes]:
        """All distinct keys that have one of the ids.

        Raises
        ------
        SourceError
            A keyring or key file cannot be read.
        """
        wanted = [key for name, key in self._entries() if name in names]
        return list(dict.fromkeys(key for key in wanted if len(key) in KEY_LENGTHS))

    def _entries(self) -> Iterator[tuple[str, bytes]]:
        yield from self._values
        for path in self.keyrings:
            yield from read_keyring(path)
        for path in self.key_files:
            yield from read_key_file(path, self._secret, self.rounds)

    def __reduce__(self) -> tuple[object, ...]:
        if self._values or (self._secret is not None and not self._secret.startswith("FILE:")):
            raise UsageError(
                "keys do not leave the process that they are given to: name a file that holds them, or set"
                f" {KEYS} in the other processes"
            )
        return Keys, (self.keyrings, self.key_files, self.rounds, self._secret)


_NONE = Keys()
_of_process = _NONE


def use(keys: Keys | None) -> None:
    """Set where this process finds keys for logs without their own."""
    global _of_process
    _of_process = keys or _NONE


def find_keys(keys: Keys | None, *names: str) -> list[bytes]:
    """The keys with one of these ids: from those given with the log, the process, or the environment."""
    own = (keys or _of_process).find(*names)
    return own + [key for key in Keys.of_environment().find(*names) if key not in own]


def _paths(paths: Paths) -> tuple[str, ...]:
    several = (paths,) if isinstance(paths, (str, os.PathLike)) else paths
    return tuple(os.fspath(path) for path in several)


def _pair(text: str) -> tuple[str, str]:
    name, mark, value = text.rpartition("=")
    if not mark or not name:
        raise UsageError("invalid key; use ID=HEX, such as 1=00112233445566778899aabbccddeeff")
    return name, value


def _key(name: str, value: str | bytes) -> bytes:
    # Errors contain only the id.
    if isinstance(value, str):
        value = bytes.fromhex(value) if re.fullmatch(r"([0-9A-Fa-f]{2})+", value) else b""
    if len(value) not in KEY_LENGTHS:
        raise UsageError(f"the key {name!r} is not valid; use 16, 24 or 32 bytes in hexadecimal")
    return bytes(value)


# -- AES


def _cipher(key: bytes, mode: str, *arguments: bytes) -> Cipher[CBC | CTR | ECB]:
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError:
        reason = f"decrypting needs the package cryptography: {pip_install('encryption')}"
        raise EncryptedError(reason) from None
    return Cipher(algorithms.AES(key), getattr(modes, mode)(*arguments))


def counter_decryptor(key: bytes, counter_block: bytes) -> CipherContext:
    """Counter mode, starting from a counter block; `update` returns the next bytes."""
    return _cipher(key, "CTR", counter_block).decryptor()


def decrypt_chain(key: bytes, vector: bytes, data: bytes | memoryview) -> bytes:
    """Complete blocks in CBC mode, without padding."""
    return bytes(_cipher(key, "CBC", vector).decryptor().update(data))


def block_ciphers(key: bytes) -> tuple[CipherContext, CipherContext]:
    """Decrypt and encrypt single blocks (ECB)."""
    cipher = _cipher(key, "ECB")
    return cipher.decryptor(), cipher.encryptor()


def updated(cipher: CipherContext, data: Array) -> Bytes:
    """What a cipher makes of the bytes of a contiguous array of any shape, which must be whole blocks."""
    blocks = data.reshape(-1)
    result = np.empty(len(blocks) + BLOCK - 1, dtype=np.uint8)  # it asks for the spare bytes
    cipher.update_into(view_of(blocks), view_of(result))
    return result[: len(blocks)]


def bytes_to_key(digest: str, secret: bytes, salt: bytes, size: int) -> bytes:
    """OpenSSL's EVP_BytesToKey with one round."""
    from hashlib import new as new_hash

    derived = last = b""
    while len(derived) < size:
        last = new_hash(digest, last + secret + salt, usedforsecurity=False).digest()
        derived += last
    return derived[:size]
