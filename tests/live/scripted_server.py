"""A server on 127.0.0.1 that follows a script: a greeting, a login, answers to queries, and a dump."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from types import TracebackType
from typing import Any

from tests.live.fake_source import END_OF_STREAM, packet

OK, END = b"\0\0\0\2\0\0\0", b"\xfe\0\0\2\0"
SALT = bytes(range(1, 21))

#: Types of columns in an answer (`field_types.h`).
NUMBER, TEXT, MOMENT = 8, 253, 12

_SSL, _PLAIN = 0x800, 0x8_8200
_QUERY, _DUMP, _DUMP_GTID, _REGISTER = 3, 0x12, 0x1E, 0x15

#: Seconds that it waits for a client which waits for more, too.
_PATIENCE = 3.0


class Raw(bytes):
    """Bytes that are sent as they are, without the header of a packet."""


def greeting(
    method: str = "mysql_native_password", *, version: str = "9.7.4", has_tls: bool = False
) -> bytes:
    flags = _PLAIN | (_SSL if has_tls else 0)
    low, high = flags & 0xFFFF, flags >> 16
    head = b"\x0a" + version.encode() + b"\0" + struct.pack("<I", 7) + SALT[:8] + b"\0"
    middle = struct.pack("<HBHHB", low, 255, 2, high, len(SALT) + 1) + bytes(10)
    return head + middle + SALT[8:] + b"\0" + method.encode() + b"\0"


def switch(method: str, data: bytes = SALT + b"\0") -> bytes:
    """The request to use another authentication method."""
    return b"\xfe" + method.encode() + b"\0" + data


def text(value: object) -> bytes:
    """A value as it is in a row."""
    if value is None:
        return b"\xfb"
    data = value if isinstance(value, bytes) else str(value).encode()
    assert len(data) < 1 << 16
    return (bytes([len(data)]) if len(data) < 251 else b"\xfc" + struct.pack("<H", len(data))) + data


def columns(*kinds: int) -> list[bytes]:
    """What precedes the rows of an answer."""
    fixed = b"\x0c" + struct.pack("<HIBHBxx", 45, 1024, 0, 0, 0)
    described = [
        text("def") + 4 * text("") + text("c") + fixed[:7] + bytes([kind]) + fixed[8:] for kind in kinds
    ]
    return [bytes([len(kinds)]), *described, END]


def answer(kinds: Iterable[int], *rows: tuple[object, ...]) -> list[bytes]:
    return [*columns(*kinds), *(b"".join(map(text, row)) for row in rows), END]


def error(code: int, message: str) -> bytes:
    return b"\xff" + struct.pack("<H", code) + b"#HY000" + message.encode()


class ScriptedServer:
    """A server that reads commands, and answers with payloads of packets.

    Parameters
    ----------
    logs
        Its logs with their sizes.
    dump
        The messages of a dump, with what ends it; or what gives them for the name of a log and a position.
    answers
        Answers to the queries that contain some words; all others have one that fits a server of MySQL.
    login
        The packets of a login, up to the one that ends it.
    tls
        Its certificate.

    Attributes
    ----------
    said : list of bytes
        The packets that it has read; those of the login first.
    packets, size
        How much it has sent: packets, and bytes.
    closes_after : int or None
        It closes a connection after so many packets.
    """

    def __init__(
        self,
        logs: dict[str, int] | None = None,
        dump: Iterable[bytes] | Callable[[str, int], Iterable[bytes]] = (END_OF_STREAM,),
        *,
        answers: dict[str, Iterable[bytes]] | None = None,
        hello: bytes = b"",
        login: Iterable[bytes] = (OK,),
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._dump, self._login, self._tls = dump, login, tls
        self._hello = hello or greeting(has_tls=tls is not None)
        usual: dict[str, Iterable[bytes]] = {
            "@@version": answer([TEXT], ("9.7.4",)),
            "@@log_bin": answer([NUMBER], (1,)),
            "@@server_uuid": answer([TEXT], ("6b8d0b3a-0000-1111-2222-333344445555",)),
            "@@server_id": answer([NUMBER], (97,)),
            "@@global.binlog_checksum": answer([TEXT], ("CRC32",)),
            "@@": answer([TEXT], ("",)),
            "SHOW BINARY LOGS": answer([TEXT, NUMBER], *(logs or {"binlog.000001": 4}).items()),
            "SHOW BINARY LOG STATUS": answer(
                [TEXT, NUMBER, TEXT, TEXT, TEXT], (*list((logs or {"b.000001": 4}).items())[-1], "", "", "")
            ),
        }
        given = answers or {}
        self._answers = given | {words: one for words, one in usual.items() if words not in given}
        self.said: list[bytes] = []
        self.packets = self.size = 0
        self.closes_after: int | None = None
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> ScriptedServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    @property
    def name(self) -> str:
        return f"mysql://u@127.0.0.1:{self._port}/"

    @property
    def url(self) -> str:
        return self.name.replace("u@", "u:sesame@")

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError, EOFError), _Conversation(self, connection) as talk:
            talk.send([self._hello], 0)
            response = talk.read()
            if self._tls is not None and len(response) == 32:
                talk.socket = self._tls.wrap_socket(talk.socket, server_side=True)
                response = talk.read()
            self.said.append(response)
            for one in self._login:
                talk.send([one], talk.sequence + 1)
                if one[:1] not in (b"\0", b"\xff") and one != b"\1\3":
                    self.said.append(talk.read())
            while command := talk.read():
                talk.send(self._answer(command), 1)
                if command[0] in (_DUMP, _DUMP_GTID):
                    return

    def _answer(self, command: bytes) -> Iterable[bytes]:
        self.said.append(command)
        if command[0] == _DUMP and callable(self._dump):
            return self._dump(command[11:].decode(), int.from_bytes(command[1:5], "little"))
        if command[0] in (_DUMP, _DUMP_GTID):
            assert not callable(self._dump)
            return self._dump
        if command[0] != _QUERY:
            return [OK]
        query = command[1:].decode()
        return next((sent for words, sent in self._answers.items() if words in query), [OK])


class _Conversation:
    """A connection of a client."""

    def __init__(self, server: ScriptedServer, connection: socket.socket) -> None:
        self._server = server
        self.socket: Any = connection
        self.socket.settimeout(_PATIENCE)
        self._sent = 0
        self.sequence = 0

    def __enter__(self) -> _Conversation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()

    def send(self, payloads: Iterable[bytes], sequence: int) -> None:
        for payload in payloads:
            if self._sent == self._server.closes_after:
                raise EOFError
            data = payload if isinstance(payload, Raw) else packet(payload, sequence % 256)
            self.sequence = sequence
            sequence += 1 if isinstance(payload, Raw) else len(payload) // 0xFFFFFF + 1
            self.socket.sendall(data)
            self._sent += 1
            self._server.packets += 1
            self._server.size += len(data)

    def read(self) -> bytes:
        head = self._exactly(4)
        self.sequence = head[3]
        return self._exactly(int.from_bytes(head[:3], "little"))

    def _exactly(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            part = self.socket.recv(size - len(found))
            if not part:
                raise EOFError
            found += part
        return found


def forever(*payloads: bytes) -> Iterator[bytes]:
    while True:
        yield from payloads
