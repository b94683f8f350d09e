"""Values as digests, with or without a key, and truncated values: what masks put in their place."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.errors import UsageError
from binlog_kaitai.rows.arrow_types import cast

#: The environment variable that holds the key if no key file is given.
KEY_VARIABLE = "BINLOG_KAITAI_MASK_KEY"

#: Minimum length of the key, in bytes; shorter ones can be guessed.
_LEAST_KEY = 16

#: Size of a block of SHA-256, in bytes.
_BLOCK = 64


def is_text(kind: pa.DataType) -> bool:
    """Whether a type is text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_binary(kind: pa.DataType) -> bool:
    """Whether a type is bytes."""
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def truncated(array: Any, length: int) -> Any:
    """The first characters, or bytes, of values."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    return (pc.binary_slice if is_binary(array.type) else pc.utf8_slice_codeunits)(array, 0, length)


def digested(array: Any, digest: Callable[[bytes], str]) -> Any:
    """The digests of values, as text; each distinct value is computed once. NULL remains NULL."""
    codes = array
    if pa.types.is_nested(array.type):
        codes = pa.array([None if one is None else repr(one) for one in array.to_pylist()], pa.string())
    if not pa.types.is_dictionary(codes.type):
        codes = codes.dictionary_encode()
    digests = [None if one is None else digest(one) for one in _contents(codes.dictionary)]
    return pa.array(digests, pa.string()).take(codes.indices)


def _contents(values: Any) -> Iterator[bytes | None]:
    """The bytes that stand for values: of text its UTF-8, of others their text; the same for all integers."""
    if is_binary(values.type):
        yield from values.to_pylist()
        return
    texts = values if is_text(values.type) else cast(values, pa.string())
    yield from texts.cast(pa.binary()).to_pylist()


@lru_cache(16)
def with_key(key_file: str | None, fingerprint: str) -> Callable[[bytes], str]:
    """The function that computes HMAC-SHA-256 with a key.

    Raises
    ------
    UsageError
        The key cannot be read, or is not the one with this fingerprint.
    """
    key = read_key(key_file)
    if fingerprint_of(key) != fingerprint:
        where = key_file or f"the environment variable {KEY_VARIABLE}"
        raise UsageError(f"the mask key in {where} is not the same in all processes")
    # HMAC as RFC 2104 defines it. Copies of the two states take three quarters of the time of `hmac`.
    block = (hashlib.sha256(key).digest() if len(key) > _BLOCK else key).ljust(_BLOCK, b"\0")
    inner, outer = (hashlib.sha256(bytes(byte ^ pad for byte in block)) for pad in (0x36, 0x5C))

    def digest(value: bytes) -> str:
        first, second = inner.copy(), outer.copy()
        first.update(value)
        second.update(first.digest())
        return second.hexdigest()

    return digest


def read_key(key_file: str | None) -> bytes:
    """The key in a file, or in the environment.

    Raises
    ------
    UsageError
        There is none, or it is too short.
    """
    if key_file is None:
        key = os.environ.get(KEY_VARIABLE, "").encode()
        if not key:
            raise UsageError(f"the mask hash needs a key: a file, or the environment variable {KEY_VARIABLE}")
    else:
        try:
            with open(key_file, "rb") as file:
                key = file.read().rstrip(b"\r\n")
        except OSError as error:
            raise UsageError(f"the mask key cannot be read: {key_file}: {error.strerror}") from error
    if len(key) < _LEAST_KEY:
        raise UsageError(f"the mask key has {len(key)} bytes; use at least {_LEAST_KEY}, chosen at random")
    return key


def fingerprint_of(key: bytes) -> str:
    """Identifies a key without revealing it."""
    return hmac.new(key, b"binlog-kaitai mask key", "sha256").hexdigest()[:8]
