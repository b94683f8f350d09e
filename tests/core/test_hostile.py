"""Any bytes yield events or a BinlogError with its position, in bounded time and memory."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import binlog_kaitai as bk
from binlog_kaitai.render.explanation import Explained
from tests.corpus_files import case, logs
from tests.extent import rounds, sample
from tools.costly.inputs import INPUTS

SMALL = [log.path.read_bytes() for log in logs() if log.path.stat().st_size < 8_000]
GENEROUS_SECONDS = 20.0


def read_everything(data: bytes) -> None:
    """Access everything of every event; only a BinlogError with its position may be raised."""
    started = time.monotonic()
    try:
        with bk.open(data, verify_checksums=False) as log:
            for event in log:
                look_at(event)
    except bk.BinlogError as error:
        check_position(error)
    assert time.monotonic() - started < GENEROUS_SECONDS


def check_position(error: bk.BinlogError, event_type: str | None = None) -> None:
    assert error.file == "<bytes>"
    assert error.position is not None
    if event_type is not None:
        assert error.event_type == event_type
        assert error.field


def look_at(event: bk.Event) -> None:
    try:
        assert event.body is not None
    except bk.GrammarError as error:
        check_position(error, event.type)
    explained = Explained.of(event)
    text = explained.json()
    assert text.startswith("[")
    lines = explained.lines()
    assert list(lines)


def events_of(data: bytes) -> list[tuple[int, int]]:
    """Start and end of each event of an undamaged log."""
    with bk.open(data) as log:
        return [(event.position, event.end_position) for event in log if event.payload_index is None]


def cut_out(data: bytes, index: int) -> bytes:
    """A log of the format description and a few events up to one of them, so that examples stay small."""
    offsets = events_of(data)
    kept = [offsets[0], *offsets[max(1, index % len(offsets) - 5) : index % len(offsets) + 1]]
    return data[:4] + b"".join(data[start:end] for start, end in kept)


small_log = st.builds(cut_out, st.sampled_from(SMALL), st.integers(0, 200))
calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@given(small_log, st.data())
@calm
def test_truncated_anywhere(data: bytes, draw: st.DataObject) -> None:
    read_everything(data[: draw.draw(st.integers(0, len(data)))])


@given(small_log, st.data())
@settings(calm, max_examples=rounds(300, 100))
def test_flipped_bits_anywhere(data: bytes, draw: st.DataObject) -> None:
    damaged = bytearray(data)
    for _ in range(draw.draw(st.integers(1, 4))):
        damaged[draw.draw(st.integers(0, len(data) - 1))] ^= 1 << draw.draw(st.integers(0, 7))
    read_everything(bytes(damaged))


@given(
    small_log,
    st.data(),
    st.sampled_from([b"\xff" * 8, b"\x00" * 8, b"\xfe\xff\xff", b"\xfd\xff\xff\xff", b"\x7f"]),
)
@settings(calm, max_examples=rounds(300, 100))
def test_hostile_numbers_anywhere(data: bytes, draw: st.DataObject, number: bytes) -> None:
    at = draw.draw(st.integers(4, len(data) - 1))
    read_everything(data[:at] + number + data[at + len(number) :])


@given(st.sampled_from(SMALL), st.binary(max_size=300), st.integers(0, 255))
@calm
def test_random_bodies_of_every_type(data: bytes, body: bytes, type_code: int) -> None:
    start, end = events_of(data)[0]
    header = bytearray(data[start : start + 19])
    header[4] = type_code
    header[9:13] = (19 + len(body)).to_bytes(4, "little")
    read_everything(data[:end] + bytes(header) + body)


@given(st.binary(max_size=400))
@calm
def test_random_bytes(data: bytes) -> None:
    read_everything(data)
    read_everything(b"\xfebin" + data)


def test_every_single_bit_of_a_format_description_event() -> None:
    data = SMALL[0][: events_of(SMALL[0])[1][1]]
    for bit in sample(range(8 * len(data)), 200):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        read_everything(bytes(damaged))


def in_little_memory(code: str, *arguments: str) -> None:
    """Run Python code in a process of its own that may take only 700 MB of addresses, with libraries."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (700 << 20, 700 << 20))

    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        preexec_fn=limit,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "MemoryError" not in done.stderr


_READ = """
import sys
import binlog_kaitai as bk
try:
    with bk.open(sys.argv[1], verify_checksums=False) as log:
        for event in log:
            event.body
except bk.BinlogError as error:
    print(error)
"""


def test_a_size_of_4_gib_takes_no_memory(tmp_path: Path) -> None:
    data = bytearray(SMALL[0])
    start, _ = events_of(SMALL[0])[1]
    data[start + 9 : start + 13] = b"\xff" * 4
    path = tmp_path / "binlog.000001"
    path.write_bytes(data)
    in_little_memory(_READ, str(path))


@pytest.mark.thorough
@pytest.mark.parametrize("first_size", [0, 0xFFFF_FFFF], ids=["zeros", "an event of 4 GiB"])
def test_a_payload_that_unpacks_to_gigabytes_takes_no_memory(tmp_path: Path, first_size: int) -> None:
    """A payload event of some kilobytes that holds 3 GiB."""
    import zstandard

    compressor = zstandard.ZstdCompressor(level=3).compressobj()
    first = bytes(9) + first_size.to_bytes(4, "little") + bytes(6)
    packed = compressor.compress(first)
    packed += b"".join(compressor.compress(bytes(1 << 20)) for _ in range(3 << 10)) + compressor.flush()
    data = case("mysql-9.7", "payloads").logs[0].read_bytes()
    start, _ = next(place for place in events_of(data) if data[place[0] + 4] == 40)
    size_is_4_gib = b"\x03\x09\xfe" + (1 << 32).to_bytes(8, "little")
    path = tmp_path / "binlog.000001"
    path.write_bytes(data[:start] + event_of(40, b"\x02\x01\x00" + size_is_4_gib + b"\x00" + packed))
    in_little_memory(_READ, str(path))


def compressed_query(declared: int, text: bytes) -> bytes:
    """A log with one QUERY_COMPRESSED event of MariaDB."""
    log = case("mariadb-11.8", "rotate").logs[0].read_bytes()
    _, end = events_of(log)[0]
    packed = b"\x84" + declared.to_bytes(4, "big") + zlib.compress(text)
    return log[:end] + event_of(165, bytes(8) + b"\x01" + bytes(4) + b"t\x00" + packed)


@pytest.mark.parametrize("command", ["events", "rows", "transactions", "stats"])
def test_many_compressed_statements_take_little_memory(command: str, tmp_path: Path) -> None:
    """A log of less than a megabyte with 1 GB of statements."""
    log = case("mariadb-11.8", "rotate").logs[0].read_bytes()
    _, end = events_of(log)[0]
    text = b"x" * (8 << 20)
    event = compressed_query(len(text), text)[end:]
    path = tmp_path / "binlog.000001"
    path.write_bytes(log[:end] + 128 * event)
    code = f"import sys; from binlog_kaitai.cli import main; main(['{command}', sys.argv[1]])"
    in_little_memory(code, str(path))


def test_what_was_parsed_of_damaged_rows_is_not_kept(tmp_path: Path) -> None:
    """Many events with an invalid row of a wide table."""
    path = tmp_path / "binlog.000001"
    path.write_bytes(INPUTS["damaged-rows"]()[:600_000])
    code = "import sys, binlog_kaitai as bk; assert not bk.verify(sys.argv[1], thorough=True).is_ok"
    in_little_memory(code, str(path))


def test_compressed_text_is_as_long_as_it_says() -> None:
    with bk.open(compressed_query(5, b"BEGIN")) as reader:
        assert list(reader)[-1].body.query == b"BEGIN"
    for declared in (4, 6):
        with bk.open(compressed_query(declared, b"BEGIN")) as reader:
            event = list(reader)[-1]
        with pytest.raises(bk.GrammarError, match=f"instead of the declared {declared}"):
            _ = event.body


def test_compressed_text_that_does_not_unpack_is_an_error() -> None:
    data = bytearray(compressed_query(5, b"BEGIN"))
    data[-12] ^= 0xFF
    with bk.open(bytes(data), verify_checksums=False) as reader:
        event = list(reader)[-1]
    with pytest.raises(bk.GrammarError):
        _ = event.body


@pytest.mark.thorough
def test_compressed_text_of_gigabytes_takes_no_memory(tmp_path: Path) -> None:
    packer = zlib.compressobj(9)
    zeros = b"".join(packer.compress(bytes(1 << 20)) for _ in range(2 << 10)) + packer.flush()
    log = case("mariadb-11.8", "rotate").logs[0].read_bytes()
    _, end = events_of(log)[0]
    body = bytes(8) + b"\x01" + bytes(4) + b"t\x00" + b"\x81\x05" + zeros
    path = tmp_path / "binlog.000001"
    path.write_bytes(log[:end] + event_of(165, body))
    in_little_memory(_READ, str(path))


def event_of(type_code: int, body: bytes) -> bytes:
    """An event of a version 4 log with checksums."""
    header = bytes(4) + bytes([type_code]) + bytes(4) + (19 + len(body) + 4).to_bytes(4, "little") + bytes(6)
    return header + body + zlib.crc32(header + body).to_bytes(4, "little")


@pytest.mark.parametrize("columns", [0, 1])
def test_rows_of_no_bytes_come_to_an_end(columns: int) -> None:
    """A table of no columns would have rows of no bytes."""
    data = case("mysql-9.7", "rotate").logs[0].read_bytes()
    _, end = events_of(data)[0]
    table_map = bytes(8) + b"\x01t\0\x01t\0" + bytes([columns]) + b"\x06" * columns + b"\0" + b"\0" * columns
    rows = bytes(8) + b"\x02\0" + bytes([columns]) + b"\0" * columns + bytes(50)
    read_everything(data[:end] + event_of(19, table_map) + event_of(30, rows))
