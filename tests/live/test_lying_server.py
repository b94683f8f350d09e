"""Servers that lie: whatever they send, the error names the server, and an archive keeps what is right."""

from __future__ import annotations

import random
import struct
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.grammar import EventType, masks
from binlog_kaitai.errors import BinlogError, ConnectionLostError, ServerError
from binlog_kaitai.live import connection, fetch, fetching, packets
from binlog_kaitai.live.address import Address
from binlog_kaitai.live.packets import BUFFER
from binlog_kaitai.live.server_logs import anyone
from binlog_kaitai.live.server_session import ServerSession
from tests.corpus_files import case
from tests.live.fake_source import END_OF_STREAM, Source, packet, patched, rotate
from tests.live.scripted_server import (
    END,
    MOMENT,
    NUMBER,
    OK,
    TEXT,
    Raw,
    ScriptedServer,
    answer,
    columns,
    error,
    forever,
    greeting,
    text,
)
from tests.live.test_archive import contents, same

LOG = "binlog.000001"


@pytest.fixture(autouse=True)
def _no_second_try(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "pause_after", lambda failures: 0.0)
    monkeypatch.setattr(fetching, "TRIES", 1)
    monkeypatch.setattr("binlog_kaitai.live.address.OPTION_FILES", ())


@pytest.fixture
def source() -> Source:
    return Source.of(case("mysql-9.7", "rotate").folder)


def sent(source: Source, name: str = "", position: int = 4) -> list[bytes]:
    """What an honest server sends of its logs."""
    return [*source.messages(name, position), END_OF_STREAM]


def refused(server: ScriptedServer, action: Any, words: str) -> BinlogError:
    with server, pytest.raises(BinlogError, match=words) as caught:
        action()
    assert str(caught.value).startswith(server.name)
    return caught.value


def session(server: ScriptedServer) -> ServerSession:
    return ServerSession(Address.parse(server.url)[0], anyone(), heartbeat=0.1)


def made_up(kind: EventType, size: int = 30) -> bytes:
    """A message with an artificial event."""
    flags = masks.EventHeader.IS_ARTIFICIAL
    return b"\0" + struct.pack("<IBIIIH", 0, kind, 1, size, 0, flags) + bytes(size - 19)


HEARTBEAT = made_up(EventType.heartbeat_log_event)


def rotation(name: str, position: int = 4) -> bytes:
    return b"\0" + rotate(name, position, is_checksummed=True)


def test_an_honest_server(source: Source, tmp_path: Path) -> None:
    with ScriptedServer({name: len(data) for name, data in source.logs.items()}, sent(source)) as server:
        fetch(server.url, tmp_path / "a")
        assert same(contents(tmp_path / "a"), source.logs)
        assert session(server).logs() == [(name, len(data)) for name, data in source.logs.items()]


# -- login and queries

GREETINGS = {
    "nothing": Raw(),
    "half a header": Raw(b"\x50\0"),
    "empty": b"",
    "truncated": greeting()[:20],
    "no version": b"\x0a",
    "a version that is no number": greeting(version="latest"),
    "another protocol": b"\x09" + bytes(40),
    "a method that is not ASCII": greeting("méthode"),
    "an error without text": b"\xff",
    "too many connections": error(1040, "Too many connections"),
    "HTTP": Raw(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
}


@pytest.mark.parametrize("hello", GREETINGS.values(), ids=GREETINGS)
def test_greetings(hello: bytes) -> None:
    server = ScriptedServer(hello=hello or Raw(packet(b"", 0)))
    refused(server, lambda: session(server), "server")


@pytest.mark.parametrize(
    "login", [b"", b"\xfe", b"\1", b"\1\7", b"\2", b"\0", b"\xff\1", b"\xfe\xff\xff\0abc"]
)
def test_logins(login: bytes) -> None:
    server = ScriptedServer(login=[login, OK])
    refused(server, lambda: session(server), "server")


ROW = text(LOG) + text(4)
ANSWERS: dict[str, tuple[Iterable[bytes], str]] = {
    "a size that is no number": (answer([TEXT, TEXT], (LOG, "4 bytes")), "'4 bytes'"),
    "a number that is none": (answer([TEXT, NUMBER], (LOG, "4 bytes")), "invalid literal"),
    "a negative size": (answer([TEXT, NUMBER], (LOG, -4)), "-4 bytes"),
    "no size": (answer([TEXT, NUMBER], (LOG, None)), "None"),
    "no name": (answer([TEXT, NUMBER], (None, 4)), "None"),
    "one column": (answer([TEXT], (LOG,)), "has the row"),
    "no columns at all": ([OK], "lists no logs"),
    "no logs": (answer([TEXT, NUMBER]), "lists no logs"),
    "a log twice": (answer([TEXT, NUMBER], (LOG, 4), (LOG, 5)), "twice"),
    "a path": (answer([TEXT, NUMBER], ("../" + LOG, 4)), "not the name of a"),
    "a control character": (answer([TEXT, NUMBER], ("a\x1b[2J.000001", 4)), "not the name of a file"),
    "a row that is too short": ([*columns(TEXT, NUMBER), text(LOG), END], "has the row"),
    "a value that is too long": ([*columns(TEXT, NUMBER), b"\xfd\xff\xff\xff" + ROW, END], "cannot be read"),
    "a value of 16 EiB": ([*columns(TEXT, NUMBER), b"\xfe" + b"\xff" * 8, END], "cannot be read"),
    "an empty row": ([*columns(TEXT, NUMBER), b"", END], "cannot be read"),
    "bytes that are no text": ([*columns(TEXT, NUMBER), text(b"\xff\xfe") + text(4), END], "cannot be read"),
    "no end": ([*columns(TEXT, NUMBER), ROW], "closed|broke"),
    "no end of columns": ([*columns(TEXT, NUMBER)[:-1], ROW, END], "cannot be read"),
    "an error among columns": ([*columns(TEXT, NUMBER)[:2], error(1105, "so be it")], "cannot be read"),
    "an error among rows": ([*columns(TEXT, NUMBER), ROW, error(1105, "so be it")], "1105: so be it"),
    "a malformed column": ([b"\2", b"\3def", END], "cannot be read"),
    "columns without end": (forever(b"\xfe" + b"\xff" * 8), "too long|cannot be read"),
    "a local file": ([b"\xfb/etc/passwd"], "local file .*refused"),
    "an empty packet": ([b""], "cannot be read"),
    "a packet that is missing": ([Raw(packet(b"\2", 5))], "sequence"),
    "a cut packet": ([Raw(b"\xff\xff\xff\1abc")], "closed|broke"),
    "an end first": ([END], "cannot be read|has the row|lists no logs"),
}  # fmt: skip


@pytest.mark.parametrize(("lies", "words"), ANSWERS.values(), ids=ANSWERS)
def test_answers(lies: Iterable[bytes], words: str) -> None:
    server = ScriptedServer(answers={"SHOW BINARY LOGS": lies})
    refused(server, lambda: bk.open(server.url), words)


@pytest.mark.parametrize(
    ("query", "lie", "ask"),
    [
        ("@@server_id", answer([TEXT], ("first",)), lambda found: found),
        ("@@version", answer([TEXT], ("9",), ("8",)), lambda found: found),
        ("@@version", answer([TEXT]), lambda found: found),
        ("gtid_purged", answer([TEXT], ("all of them",)), lambda found: found.gtids("gtid_purged")),
        ("STATUS", answer([TEXT, NUMBER], (LOG, 4)), lambda it: it.newest_position()),
        ("STATUS", answer([TEXT] * 4, (LOG, "4", "", "")), lambda it: it.newest_position()),
        ("STATUS", answer([TEXT, NUMBER, TEXT, TEXT], ("/a", 4, "", "")), lambda it: it.newest_position()),
        ("UTC", answer([MOMENT], ("noon",)), lambda found: found.ask_one("SELECT UTC", int)),
    ],
)  # fmt: skip
def test_values_of_another_kind(query: str, lie: list[bytes], ask: Any) -> None:
    server = ScriptedServer(answers={query: lie})
    refused(server, lambda: ask(session(server)), "the server")


def test_streamed_rows_of_another_width() -> None:
    for rows in ([text("a")], [text("a") + text("b"), b""], [b"\xfd\xff"]):
        server = ScriptedServer(answers={"FROM t": [*columns(TEXT, TEXT), *rows, END]})
        refused(server, lambda server=server: list(session(server).stream("SELECT * FROM t", 2)), "server")


def test_an_error_ends_a_stream_without_reading_the_rest() -> None:
    rows = forever(text("a"))
    with ScriptedServer(answers={"FROM t": chain(columns(TEXT), rows)}) as server, session(server) as opened:
        stream: Any = opened.stream("SELECT * FROM t", 1)
        assert next(stream) == ("a",)
        stream.close()
        with pytest.raises(ServerError):
            opened.ask("SELECT 1")


def test_answers_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MAX_ANSWER", 1 << 20)
    for rows in (forever(ROW), forever(b"\xfb\xfb"), forever(Raw(b"\xff\xff\xff\1" + bytes(0xFFFFFF)))):
        server = ScriptedServer(answers={"SHOW BINARY LOGS": chain(columns(TEXT, NUMBER), rows)})
        refused(server, lambda server=server: session(server).logs(), "too long|sequence")
        assert server.size < 40 << 20


def test_answers_that_take_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_TIMEOUTS", 0.1)

    def slowly() -> Iterable[bytes]:
        yield from columns(TEXT, NUMBER)
        while True:
            yield ROW
            time.sleep(0.05)

    server = ScriptedServer(answers={"SHOW BINARY LOGS": slowly()})
    refused(server, lambda: session(server).logs(), r"not complete after 0\.52 s")


# -- dumps


@pytest.mark.parametrize(("size", "pause"), [(100_000, 0.0005), (100_000, 0.05), (BUFFER, 0.05)])
def test_a_packet_that_arrives_byte_by_byte(
    size: int, pause: float, source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packets, "_TIMEOUTS", 0.02)
    monkeypatch.setattr(packets, "_LONGEST_BURST", 0.1)

    def slowly() -> Iterable[bytes]:
        first, description, event, *_ = sent(source)
        yield from (first, description)
        yield Raw(
            struct.pack("<I", 1 + size | 3 << 24) + b"\0" + patched(event[1:], "len_event", size, 4)[:19]
        )
        while True:
            time.sleep(pause)
            yield Raw(b"\1")

    server = ScriptedServer(dump=slowly())
    refused(server, lambda: fetch(server.url, tmp_path / "a"), r"less than 4096 bytes/s for 0\.\d+ s")


def lies(source: Source) -> dict[str, tuple[Iterable[bytes], str]]:
    """What a server sends instead of its first log, and what is said of it."""
    first, description, *rest = sent(source)
    name = min(source.logs)
    huge = patched(rest[0][1:], "len_event", 0xFFFFFFFF, 4)
    long = b"\0" + huge + bytes(0xFFFFFE - len(huge))
    cut = long.replace(huge, patched(huge, "len_event", 0x1000005, 4))
    empty = b"\0" + patched(rest[0][1:], "len_event", 0, 4)
    short = made_up(EventType.rotate_event, 20)
    return {
        "a log again and again": (forever(first), "which no server does"),
        "another log before the first event": ([first, rotation("binlog.000002")], "which no server does"),
        "the log itself": ([first, description, *rest[:2], rotation(name)], "which no server does"),
        "the next log, but not its start": ([first, description, rotation("b.02", 99)], "not at its start"),
        "heartbeats": (forever(HEARTBEAT), "events of its own in a row"),
        "heartbeats in a log": ([first, description, *[HEARTBEAT] * 99], "events of its own in a row"),
        "descriptions": ([first, *[description] * 99], "events of its own in a row"),
        "a description in mid-log, and no start": ([first, rest[0], description, END], "not begin with one"),
        "an event of 4 GiB": (chain([first, description], forever_in_parts(long)), "4294967295 bytes"),
        "an event of 4 GiB in a short packet": ([first, description, b"\0" + huge], "4294967295 bytes"),
        "a long event without its end": ([first, description, cut], "needs 7"),
        "a log in the folder above": ([rotation("../../a.000001")], "not the name of a"),
        "a log with an escape sequence": ([rotation("a\x1b[2J.000001")], "not the name of a file"),
        "a log with a name that is not UTF-8": ([b"\0" + rotate_raw(b"\xff\xfe.000001")], "binlog|server"),
        "a rotation that is too short": ([short], "ROTATE_EVENT cannot be read"),
        "nothing of a log": ([END], "before it names a log"),
        "an empty packet": ([first, description, b""], "mysql"),
        "an unknown packet": ([first, description, b"\x17abc"], "mysql"),
        "an error without text": ([first, description, b"\xff"], "mysql"),
        "an event without a header": ([first, description, b"\0abc"], "cannot hold"),
        "an event before its log": ([rest[0]], "ROTATE_EVENT"),
        "an event whose size is 0": ([first, description, empty], "needs 1"),
        "an end in an event": ([first, description, Raw(packet(rest[0], 3)[:-5])], "closed"),
        "a packet that is missing": ([first, description, Raw(packet(rest[0], 77))], "packet 77"),
    }  # fmt: skip


def forever_in_parts(part: bytes) -> Iterable[bytes]:
    """A message that never ends, in packets of the greatest length."""
    sequence = 3
    while True:
        yield Raw(b"\xff\xff\xff" + bytes([sequence % 256]) + part)
        sequence += 1


def rotate_raw(name: bytes) -> bytes:
    return rotate("x" * len(name), 4, is_checksummed=False).replace(b"x" * len(name), name)


def test_connections_that_end_after_any_packet(source: Source, tmp_path: Path) -> None:
    with ScriptedServer(dump=partial(sent, source)) as server:
        for count in range(12):
            server.closes_after = count
            with pytest.raises(ConnectionLostError, match=f"^{server.name}.*(closed|broke)"):
                fetch(server.url, tmp_path / "a")
            with pytest.raises(ConnectionLostError, match=f"^{server.name}.*(closed|broke)"):
                session(server).dump("", 4).read(1 << 20)
        server.closes_after = None
        fetch(server.url, tmp_path / "a")
    assert same(contents(tmp_path / "a"), source.logs)


@pytest.mark.parametrize("seed", range(20))
def test_any_byte_of_a_dump(seed: int, source: Source, tmp_path: Path) -> None:
    """The archive has what the server sent before, and is brought up to date afterwards."""
    choose, messages = random.Random(seed), sent(source)
    number = choose.randrange(len(messages) - 1)
    changed = bytearray(messages[number])
    changed[choose.randrange(len(changed))] ^= 1 << choose.randrange(8)
    messages[number] = bytes(changed)
    with ScriptedServer(dump=messages) as server, suppress(BinlogError):
        fetch(server.url, tmp_path / "a")
    for name, data in contents(tmp_path / "a").items():
        assert not data or same({name: data}, {name: source.logs[name][: len(data)]})
    with ScriptedServer(dump=partial(sent, source)) as honest:
        fetch(honest.url, tmp_path / "a")
    assert same(contents(tmp_path / "a"), source.logs)


def test_a_dump_that_begins_elsewhere(source: Source, tmp_path: Path) -> None:
    """Nothing is missing from an archive: a server that skips a part of a log, or a log, is refused."""
    first, second = sorted(source.logs)[:2]
    ends = [event.position for event in bk.open(source.logs[first])]
    with ScriptedServer(dump=lambda name, position: [*sent(source)[:9], END]) as server:
        fetch(server.url, tmp_path / "a")
    before = contents(tmp_path / "a")
    for name, position in ((first, ends[-1]), (second, 4)):
        server = ScriptedServer(dump=lambda *_, name=name, position=position: sent(source, name, position))
        refused(server, lambda server=server: fetch(server.url, tmp_path / "a"), "which was asked for")
        assert contents(tmp_path / "a") == before


LIES = list(lies(Source.of(case("mysql-9.7", "rotate").folder)))


@pytest.mark.parametrize("what", LIES)
def test_dumps(what: str, source: Source, tmp_path: Path) -> None:
    messages, words = lies(source)[what]
    server = ScriptedServer(dump=messages)
    refused(server, lambda: fetch(server.url, tmp_path / "a"), words)
    assert server.size < 64 << 20
    for name, data in contents(tmp_path / "a").items():
        assert not data or same({name: data}, {name: source.logs[name][: len(data)]})
    with ScriptedServer(dump=partial(sent, source)) as honest:
        fetch(honest.url, tmp_path / "a")
    assert same(contents(tmp_path / "a"), source.logs)
