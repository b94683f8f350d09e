"""A log encrypted and compressed: what that adds to `verify` and `read_changes`.

python -m tools.bench.sealed LOG measures one log alone; `python -m tools.bench` measures some of its logs so.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO
from unittest.mock import patch
from zlib import crc32

import zstandard

from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType, header_struct
from binlog_kaitai.live.closed_logs import seek_table
from binlog_kaitai.sources.keys import KEYS
from tools.bench.report import NAMES, Figure

#: Logs of these shapes are measured so.
SHAPES = (
    "one-row transactions",
    "bulk rows",
    "one-row transactions, MariaDB",
    "bulk rows, MariaDB",
)

TASKS = ("verify", "changes")

_KEY = sha256(b"a key for measurements").digest()
_MYSQL_ID, _NONCE = "MySQLReplicationKey_bench_1", bytes(range(12))
_HEADER = header_struct(4)
_CHUNK = 1 << 20


def write_mysql(plain: BinaryIO, target: BinaryIO) -> None:
    """Encrypt a log as MySQL does."""
    from tools.sealing import mysql_cipher, mysql_header

    password = sha256(b"a password").digest()
    target.write(mysql_header(_MYSQL_ID, _KEY, password, bytes(16)))
    cipher = mysql_cipher(password)
    while data := plain.read(_CHUNK):
        target.write(cipher.update(data))


def write_mariadb(plain: BinaryIO, target: BinaryIO) -> None:
    """Encrypt a log with checksums as MariaDB does, with START_ENCRYPTION as its second event."""
    from tools.sealing import EventSealer

    events, seal = _events(plain), EventSealer(_KEY, _NONCE)
    first = next(events)
    header = _HEADER.unpack_from(first)
    size = _HEADER.size + 17 + CHECKSUM_SIZE
    position = len(MAGIC) + len(first) + size
    start = _HEADER.pack(header[0], EventType.start_encryption_event, header[2], size, position, 0)
    start += struct.pack("<BI", 1, 1) + _NONCE
    target.write(MAGIC + first + start + struct.pack("<I", crc32(start)))
    for raw in events:
        event = bytearray(raw)
        struct.pack_into("<I", event, 13, (position + len(event)) & 0xFFFFFFFF)
        struct.pack_into("<I", event, len(event) - CHECKSUM_SIZE, crc32(event[:-CHECKSUM_SIZE]))
        target.write(seal(bytes(event), position))
        position += len(event)


def _events(plain: BinaryIO) -> Iterator[bytes]:
    plain.seek(len(MAGIC))
    while head := plain.read(_HEADER.size):
        yield head + plain.read(_HEADER.unpack(head)[3] - _HEADER.size)


def write_seekable(plain: BinaryIO, target: BinaryIO) -> None:
    """Pack a log as zstd frames of 4 MiB, with a seek table."""
    entries = []
    while data := plain.read(4 << 20):
        frame = zstandard.ZstdCompressor(3).compress(data)
        target.write(frame)
        entries.append((len(frame), len(data)))
    target.write(seek_table(entries))


def _packed(pack: Callable[[BinaryIO], Any]) -> Callable[[BinaryIO, BinaryIO], None]:
    def write(plain: BinaryIO, target: BinaryIO) -> None:
        with pack(target) as file:
            while data := plain.read(_CHUNK):
                file.write(data)

    return write


def _lz4(target: BinaryIO) -> Any:
    import pyarrow as pa

    return pa.CompressedOutputStream(pa.PythonFile(target, "w"), "lz4")


WAYS: dict[str, Callable[[BinaryIO, BinaryIO], None]] = {
    "encrypted": write_mysql,
    "gzip": _packed(lambda target: gzip.GzipFile(fileobj=target, mode="wb")),
    "zstd": write_seekable,
    "xz": _packed(lambda target: lzma.LZMAFile(target, "wb", preset=1)),  # noqa: SIM115 - the caller closes it
    "bzip2": _packed(lambda target: bz2.BZ2File(target, "wb")),
    "lz4": _packed(_lz4),
}


def sealed_table(path: Path, runs: int, run: Callable[[str, Path], Figure]) -> str:
    """A table of a log in all ways: CPU seconds, and what part of the plain log's speed is left.

    Parameters
    ----------
    run
        Measures a task on a log.
    """
    with path.open("rb") as file:
        is_mariadb = b"MariaDB" in file.read(100)
    lines = ["|  | " + " | ".join(f"{NAMES[task]}, CPU s | of plain" for task in TASKS) + " |"]
    lines.append("|---|" + "---:|" * (2 * len(TASKS)))
    plain: list[float] = []
    with tempfile.TemporaryDirectory(prefix="binlog-bench-", dir=path.parent) as folder:
        for name, write in {"plain": None, **WAYS}.items():
            log = path
            if write is not None:
                log = Path(folder, path.name)
                with path.open("rb") as source, log.open("wb") as target:
                    (write_mariadb if is_mariadb and name == "encrypted" else write)(source, target)
            with patch.dict("os.environ", {KEYS: f"{_MYSQL_ID}={_KEY.hex()} 1={_KEY.hex()}"}):
                spent = [min(run(task, log).cpu for _ in range(runs)) for task in TASKS]
            plain = plain or spent
            cells = (f"{cpu:.1f} | {base / cpu:.2f}" for cpu, base in zip(spent, plain, strict=True))
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    from tools.bench.__main__ import run

    print(sealed_table(Path(sys.argv[1]), 3, run))


if __name__ == "__main__":
    main()
