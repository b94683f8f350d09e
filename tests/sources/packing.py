"""Packs logs like the usual tools."""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
from collections.abc import Callable

import pyarrow as pa
import zstandard


def _lz4(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "lz4") as stream:
        stream.write(data)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def seekable_zstd(data: bytes, size: int = 1000) -> bytes:
    """Frames of some bytes each, and a seek table."""
    packed, entries = b"", b""
    for index in range(0, len(data), size):
        frame = zstandard.compress(data[index : index + size])
        packed += frame
        entries += struct.pack("<II", len(frame), len(data[index : index + size]))
    footer = struct.pack("<IBI", len(entries) // 8, 0, 0x8F92EAB1)
    return packed + struct.pack("<II", 0x184D2A5E, len(entries) + len(footer)) + entries + footer


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".zst": zstandard.compress,
    ".xz": lzma.compress,
    ".lzma": lambda data: lzma.compress(data, lzma.FORMAT_ALONE),
    ".bz2": bz2.compress,
    ".lz4": _lz4,
}
