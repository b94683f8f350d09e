"""The same log encrypted, and packed: what that adds to `verify` and `read_changes`.

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
from hashlib import sha256, sha512
from pathlib import Path
from typing import Any, BinaryIO
from unittest.mock import patch
from zlib import crc32

import zstandard

from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType, header_struct
from binlog_kaitai.sources.keys import KEYS
from binlog_kaitai.sources.mysql_encryption import HEADER_SIZE
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
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    password, vector = sha256(b"a password").digest(), bytes(16)
    sealed = Cipher(algorithms.AES(_KEY), modes.CBC(vector)).encryptor().update(password)
    name = _MYSQL_ID.encode()
    header = b"\xfdbin\x01\x01" + bytes([len(name)]) + name + b"\x02" + sealed + b"\x03" + vector
    target.write(header.ljust(HEADER_SIZE, b"\0"))
    made = sha512(password).digest()
    stream = Cipher(algorithms.AES(made[:32]), modes.CTR(made[32:40] + bytes(8))).encryptor()
    while data := plain.read(_CHUNK):
        target.write(stream.update(data))


def write_mariadb(plain: BinaryIO, target: BinaryIO) -> None:
    """Encrypt a log with checksums as MariaDB does, with START_ENCRYPTION as its second event."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    aes, block = algorithms.AES(_KEY), Cipher(algorithms.AES(_KEY), modes.ECB()).encryptor()
    events = _events(plain)
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
        vector = _NONCE + struct.pack("<I", position & 0xFFFFFFFF)
        moved = bytes(event[4:9] + event[:4] + event[13:])
        count = len(moved) // 16 * 16
        sealed = Cipher(aes, modes.CBC(vector)).encryptor().update(moved[:count])
        rest = len(moved) - count
        mask = int.from_bytes(block.update(vector)[:rest], "little")
        sealed += (int.from_bytes(moved[count:], "little") ^ mask).to_bytes(rest, "little")
        target.write(sealed[5:9] + sealed[:5] + event[9:13] + sealed[9:])
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
        entries.append(struct.pack("<II", len(frame), len(data)))
    table = b"".join(entries) + struct.pack("<IBI", len(entries), 0, 0x8F92EAB1)
    target.write(struct.pack("<II", 0x184D2A5E, len(table)) + table)


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
