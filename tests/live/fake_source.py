"""A server of recorded logs, which answers a dump command over a socket pair."""

from __future__ import annotations

import io
import socket
import struct
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from binlog_kaitai.core.framing import Framer
from binlog_kaitai.core.grammar import EventType, header_offset, masks
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.errors import ConnectionLostError
from binlog_kaitai.live.fetching import Fetch
from binlog_kaitai.live.packets import DumpStream
from binlog_kaitai.live.server_session import Server

MAX_PAYLOAD = 0xFFFFFF
END_OF_STREAM = b"\xfe\0\0\2\0"
TORN = b"\xff\xd4\x04#HY000binlog truncated in the middle of event; consider out of disk space on master"


def packet(payload: bytes, sequence: int) -> bytes:
    """A message in wire format: in several packets if it is long."""
    parts = [payload[index : index + MAX_PAYLOAD] for index in range(0, len(payload) + 1, MAX_PAYLOAD)]
    return b"".join(
        len(part).to_bytes(3, "little") + bytes([(sequence + number) % 256]) + part
        for number, part in enumerate(parts)
    )


def wire(payloads: list[bytes]) -> bytes:
    """Consecutive messages, numbered as after a command."""
    found, sequence = [], 1
    for payload in payloads:
        found.append(packet(payload, sequence))
        sequence += len(payload) // MAX_PAYLOAD + 1
    return b"".join(found)


def rotate(name: str, position: int, *, is_checksummed: bool) -> bytes:
    """The ROTATE_EVENT that a server makes up."""
    size = 19 + 8 + len(name) + (4 if is_checksummed else 0)
    head = struct.pack("<IBIIIH", 0, EventType.rotate_event, 1, size, 0, masks.EventHeader.IS_ARTIFICIAL)
    event = head + struct.pack("<Q", position) + name.encode()
    return event + (struct.pack("<I", zlib.crc32(event)) if is_checksummed else b"")


def patched(raw: bytes, field: str, value: int, width: int) -> bytes:
    offset = header_offset(field)
    return raw[:offset] + value.to_bytes(width, "little") + raw[offset + width :]


class Source:
    """The logs of a server, by name."""

    def __init__(self, logs: dict[str, bytes]) -> None:
        self.logs = logs
        self.breaks: list[int] = []  # after so many bytes each connection breaks
        self.tears: set[str] = set()  # logs that end within an event
        self.asked: list[tuple[str, int]] = []
        self.uuid = "6b8d0b3a-0000-1111-2222-333344445555"

    @classmethod
    def of(cls, folder: Path) -> Source:
        return cls({path.name: path.read_bytes() for path in sorted(folder.glob("*.0*"))})

    def messages(self, name: str, position: int) -> Iterator[bytes]:
        """What a dump from a position sends, but for its end."""
        names = sorted(self.logs)
        for one in names[names.index(name or names[0]) :]:
            start = position if one == (name or names[0]) else 4
            yield b"\0" + rotate(one, start, is_checksummed=True)
            for frame in Framer.of_file(io.BytesIO(self.logs[one])):
                raw = frame.raw
                if frame.position == 4:
                    flags = frame.header.flags & ~masks.EventHeader.IS_IN_USE
                    raw = patched(raw, "flags", flags, 2)
                    if start > 4:
                        raw = patched(raw, "next_position", 0, 4)
                    yield b"\0" + raw
                elif frame.position >= start:
                    yield b"\0" + raw
            if one in self.tears:
                yield TORN
                return

    def stream(self, name: str, position: int) -> DumpStream:
        self.asked.append((name, position))
        data = wire([*self.messages(name, position), END_OF_STREAM])
        return stream_of(data[: self.breaks.pop(0)] if self.breaks else data)


def stream_of(data: bytes, timeout: float = 20.0) -> DumpStream:
    """A stream of what comes over a connection; it has begun."""
    stream = raw_stream(data, timeout)
    stream.begin()
    return stream


def raw_stream(data: bytes, timeout: float = 20.0, *, waits: bool = False) -> DumpStream:
    ours, theirs = socket.socketpair()
    ours.settimeout(timeout)

    def send() -> None:
        with theirs:
            theirs.sendall(data)

    threading.Thread(target=send, daemon=True).start()
    return DumpStream(ours, timeout, waits=waits)


class FakeSession:
    """What `Fetch` needs of a session."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.server = Server("9.7.4", source.uuid, 97, is_mariadb=False)

    def __enter__(self) -> FakeSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def dump(self, name: str, position: int, **options: Any) -> DumpStream:
        if name and name not in self._source.logs:
            raise ConnectionLostError("no such log")
        return self._source.stream(name, position)

    def variable(self, name: str) -> str | None:
        return None

    def gtids(self, name: str) -> GtidSet:
        return GtidSet.parse(self.variable(name) or "")

    def logs(self) -> list[tuple[str, int]]:
        return [(name, len(data)) for name, data in sorted(self._source.logs.items())]

    def close(self) -> None:
        pass

    def can_start_far(self) -> bool:
        return False


class FakeFetch(Fetch):
    """A fetch from recorded logs."""

    def __init__(self, source: Source, folder: Path, **options: Any) -> None:
        address: Any = type("Place", (), {"name": "mysql://fake/"})()
        super().__init__([address], folder, **options)
        self.source = source

    def _session(self, address: Any) -> Any:
        return FakeSession(self.source)
