"""The stream of a dump: given these packets, these bytes of logs."""

from __future__ import annotations

import io
import random
import socket
import struct
from contextlib import suppress

import pytest

from binlog_kaitai.core.framing import Framer
from binlog_kaitai.core.grammar import EventType, header_offset, masks
from binlog_kaitai.errors import BinlogError, ConnectionLostError, FramingError, ServerError
from binlog_kaitai.live.packets import DumpStream, StreamState, Wire, checked_name
from tests.corpus_files import Case, case, special_cases
from tests.live.fake_source import END_OF_STREAM, TORN, Source, raw_stream, rotate, stream_of, wire

FLAGS_AT = 4 + header_offset("flags")


def not_in_use(data: bytes) -> bytes:
    return data[:FLAGS_AT] + bytes([data[FLAGS_AT] & ~masks.EventHeader.IS_IN_USE]) + data[FLAGS_AT + 1 :]


def everything(stream: DumpStream, step: int = 1 << 16) -> dict[str, bytes]:
    """The logs that come, until the stream ends."""
    found: dict[str, bytes] = {}
    while True:
        data = stream.read(step) or b""
        found[stream.log_name] = found.get(stream.log_name, b"") + data
        if stream.state is StreamState.IDLE:
            stream.wait()
        elif stream.state is StreamState.NEXT_LOG:
            stream.begin_next()
        elif stream.state is StreamState.ENDED:
            return found


def all_that_was_recorded(stream: DumpStream) -> bytes:
    """The bytes up to the end of the stream, or of the recording."""
    found = b""
    with suppress(ConnectionLostError):
        while stream.state is not StreamState.ENDED and not stream.ack_wanted:
            found += stream.read(1 << 16) or b""
            if stream.state is StreamState.IDLE and not stream.ack_wanted:
                stream.wait()
    return found


def without_annotations(log: bytes) -> bytes:
    frames = Framer.of_file(io.BytesIO(log))
    kept = [one.raw for one in frames if one.header.type_code != EventType.annotate_rows_event]
    return log[:4] + b"".join(kept)


@pytest.mark.parametrize("one", special_cases("network"), ids=lambda one: one.id)
def test_a_recorded_stream_is_the_log(one: Case) -> None:
    data = (one.folder / "server.bin").read_bytes()
    data = data[4 + int.from_bytes(data[:3], "little") :]  # after the answer to the registration
    if one.folder.name.endswith("error"):
        with pytest.raises(ServerError, match="does not have this log") as caught:
            stream_of(data)
        assert caught.value.cause == "purged"
        return
    found = all_that_was_recorded(stream_of(data))
    log = not_in_use(one.logs[0].read_bytes())
    if one.id.startswith("network/mariadb") and not one.info["flags"]:
        log = without_annotations(log)  # which were not asked for
    assert len(found) > 200
    assert found == log[: len(found)]
    if one.folder.name.endswith("to_the_end"):
        assert found == log


@pytest.mark.parametrize("step", [1, 7, 100, 1 << 20])
def test_however_much_is_read_at_a_time(step: int) -> None:
    source = Source.of(case("mysql-9.7", "rotate").folder)
    found = everything(source.stream("", 4), step)
    assert found == {name: not_in_use(data) for name, data in source.logs.items()}


def test_from_the_middle_of_a_log() -> None:
    source = Source.of(case("mysql-9.7", "rotate").folder)
    (name, data), *_ = source.logs.items()
    position = 4 + struct.unpack_from("<I", data, 4 + header_offset("len_event"))[0]
    stream = source.stream(name, position)
    assert stream.position == position
    assert everything(stream)[name] == data[position:]
    assert stream.description == b""


@pytest.mark.parametrize("size", [1000, 0xFFFFFE, 0xFFFFFF, 0x1000000, 40_000_000])
def test_events_of_any_length(size: int) -> None:
    raw = struct.pack("<IBIIIH", 1, 2, 1, size, 4 + size, 0) + random.Random(size).randbytes(size - 19)
    stream = stream_of(
        wire([b"\0" + rotate("b.000001", 4, is_checksummed=False), b"\0" + raw, END_OF_STREAM])
    )
    assert everything(stream, 1 << 20) == {"b.000001": b"\xfebin" + raw}
    assert stream.position == 4 + size


def test_what_is_wrong_on_the_wire() -> None:
    first = b"\0" + rotate("b.000001", 4, is_checksummed=True)
    event = b"\0" + struct.pack("<IBIIIH", 1, 2, 1, 30, 34, 0) + bytes(11)
    whole = wire([first, event, event, END_OF_STREAM])
    second = len(wire([first])) + len(wire([event]))
    missing = wire([first]) + whole[second:]
    for data, kind, words in (
        (missing, ConnectionLostError, "expected packet 2, received packet 3"),
        (whole[: second - 3], ConnectionLostError, "closed"),
        (
            wire([first, event[:-1], event]),
            FramingError,
            "a packet has 30 bytes, and the event in it needs 31",
        ),
        (wire([first, b"\0abc"]), FramingError, "cannot hold"),
        (wire([event]), ServerError, "cannot be read: the stream does not begin with"),
        (wire([b"\0abc"]), ServerError, "cannot be read: .* cannot hold"),
        (wire([b""]), ServerError, "cannot be read: ends early"),
        (wire([first, b"\xff\xd4\x04#HY000bogus data in log event"]), ServerError, "no event begins"),
        (wire([TORN]), ServerError, "is torn"),
        (wire([first, b"\xff\x1d\x04#08S01Server shutdown"]), ConnectionLostError, "1053"),
        (wire([first, b"\x42"]), BinlogError, "not any of|valid"),
    ):
        with pytest.raises(kind, match=words):
            everything(stream_of(data))


def test_silence_is_the_end_of_a_connection() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(ConnectionLostError, match=r"no data .* for 0\.1 s"):
        DumpStream(ours, 0.1).begin()


def test_heartbeats_go_on_forever_only_where_a_stream_waits_in_a_log() -> None:
    first = b"\0" + rotate("b.000001", 4, is_checksummed=True)
    head = struct.pack("<IBIIIH", 0, EventType.heartbeat_log_event, 1, 30, 0, masks.EventHeader.IS_ARTIFICIAL)
    heartbeats = [b"\0" + head + bytes(11)] * 100
    for waits, messages, is_accepted in (
        (True, [first, *heartbeats], True),
        (False, [first, *heartbeats], False),
        (True, [*heartbeats, first], False),
    ):
        stream = raw_stream(wire([*messages, END_OF_STREAM]), waits=waits)
        if is_accepted:
            assert begun(stream) == {"b.000001": b"\xfebin"}
        else:
            with pytest.raises(ServerError, match="has sent 17 events of its own in a row"):
                begun(stream)


def begun(stream: DumpStream) -> dict[str, bytes]:
    stream.begin()
    return everything(stream)


@pytest.mark.parametrize(
    "name",
    [
        "../x.000001",
        "a\x1b.000001",
        "a\u2028.000001",
        "a/b.000001",
        "binlog",
        ".000001",
        "b.00x",
        "",
        "a\0.000001",
        ".x.1",
        "-rf.000001",
    ],
)
def test_names_that_would_lead_elsewhere(name: str) -> None:
    with pytest.raises(ServerError):
        checked_name(name)
    if name:
        with pytest.raises(BinlogError):
            raw_stream(wire([b"\0" + rotate(name, 4, is_checksummed=True)])).begin()


def test_a_burst_is_received_without_waiting_and_the_timeout_stays() -> None:
    ours, theirs = socket.socketpair()
    ours.settimeout(20)
    wire = Wire(ours, 20)
    theirs.sendall(b"first")
    wire.receive()
    theirs.sendall(b"second")
    wire.receive()
    assert bytes(wire.view[: wire.end]) == b"firstsecond"
    assert ours.gettimeout() == 20
    theirs.sendall(b"last")
    theirs.close()
    wire.receive()  # what came before the end of the connection counts
    assert bytes(wire.view[: wire.end]) == b"firstsecondlast"
    with pytest.raises(ConnectionLostError):
        wire.receive()
    assert ours.gettimeout() == 20
    ours.close()
