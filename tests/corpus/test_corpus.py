"""The corpus fits itself: each oracle describes the bytes that lie beside it, and nothing is missing."""

from __future__ import annotations

import struct
from collections.abc import Iterable

import pytest

from tests.corpus_files import (
    CORPUS,
    SPECIAL,
    Case,
    LogFile,
    OracleEvent,
    cases,
    logs,
    packets,
    representative,
    special_cases,
)

MEGABYTES = 15


def _described(data: bytes, event: OracleEvent) -> tuple[object, ...]:
    """What the bytes at an oracle event's position say, in the order of the oracle's fields."""
    timestamp, type_code, server_id, size, end_log_pos, flags = struct.unpack_from(
        "<IBIIIH", data, event.position
    )
    end = event.position + size
    crc32 = None if event.crc32 is None else int.from_bytes(data[end - 4 : end], "little")
    return timestamp, type_code, server_id, size, end_log_pos, flags, crc32


def _check(data: bytes, oracle: tuple[OracleEvent, ...], until: int) -> None:
    position = 4
    for event in oracle:
        assert event.position == position
        assert event[2:9] == _described(data, event)
        position += event.size
    assert position == until


@pytest.mark.parametrize("log", logs(), ids=lambda log: log.id)
def test_oracle_describes_every_byte(log: LogFile) -> None:
    data = log.path.read_bytes()
    _check(data, log.case.oracle(log.path), len(data))


@pytest.mark.parametrize("case", special_cases("encrypted"), ids=lambda case: case.id)
def test_oracle_of_encrypted_logs_describes_the_plain_ones(case: Case) -> None:
    for log, plain in zip(case.logs, case.plain_logs, strict=True):
        data = plain.read_bytes()
        assert log.read_bytes() != data
        _check(data, case.oracle(plain), len(data))


@pytest.mark.parametrize("case", special_cases("galera"), ids=lambda case: case.id)
def test_oracle_describes_every_byte_of_write_sets(case: Case) -> None:
    for log in case.logs:
        data = log.read_bytes()
        _check(data, case.oracle(log), len(data))


@pytest.mark.parametrize("case", special_cases("damaged"), ids=lambda case: case.id)
def test_oracle_of_a_damaged_log_ends_where_it_is_whole(case: Case) -> None:
    (log,) = case.logs
    events = case.oracle(log)
    _check(log.read_bytes(), events, case.info["whole_until"] or 4)
    assert case.info["end"] in ("in_use", "clean", "error", "positions")


@pytest.mark.parametrize("case", special_cases("network"), ids=lambda case: case.id)
def test_streams_carry_the_log(case: Case) -> None:
    log = case.folder / "binlog.000001"
    registration, *stream = packets(case.folder / "server.bin")
    assert registration.raw[0] == 0
    sent = b"".join(packet.raw for packet in stream)
    if case.info["until"] != "error packet":
        data = log.read_bytes()
        # MariaDB sends annotate events (160) only where bit 1 of the flags asks for them.
        left_out = () if case.info["flags"] & 2 else (160,)
        for event in (event for event in case.oracle(log)[1:] if event.type_code not in left_out):
            assert data[event.position : event.position + event.size] in sent


def test_every_case_says_what_it_is() -> None:
    every = [
        *cases(),
        *(case for kind in SPECIAL for case in special_cases(kind)),
    ]
    folders = {path for path in CORPUS.glob("*/*") if path.is_dir() and path.name != "__pycache__"}
    assert {case.folder for case in every} == folders
    for case in every:
        assert case.logs
        assert {"server", "version", "date", "provenance", "oracle"} <= case.info.keys()


def test_the_corpus_stays_small() -> None:
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < MEGABYTES * 1_000_000


def test_the_representative_logs_have_every_event_of_every_server() -> None:
    def written(some: Iterable[LogFile]) -> set[tuple[str, int, bool]]:
        return {
            (log.case.server, event.type_code, event.inner)
            for log in some
            for event in (*log.case.oracle(log.path), *log.case.inner_oracle(log.path))
        }

    assert representative() <= {log.id for log in logs()} | {case.id for case in cases()}
    assert written(log for log in logs() if log.id in representative()) == written(logs())
