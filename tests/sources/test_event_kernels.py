"""The kernels around the cipher of events: equal compiled and as Python, and never out of bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from binlog_kaitai.sources import event_cipher
from binlog_kaitai.sources.event_cipher import EventCipher, walk, with_room
from binlog_kaitai.sources.keys import BLOCK
from tests.corpus_files import case
from tests.sources.sealing import MARIADB_KEY, as_mariadb, events_of, with_start

SENT = with_start(case("mariadb-11.8", "xa").logs[0].read_bytes())
SEALED = as_mariadb(SENT)
BEGIN = events_of(SENT)[1][1]
NONCE = SEALED[events_of(SENT)[1][0] + 24 :][:12]

modes = pytest.mark.parametrize("mode", ["plain", "compiled"])


def int64(*values: int) -> Any:
    return np.array(values, dtype=np.int64)


@modes
def test_events_are_found_by_their_lengths(mode: str) -> None:
    run = getattr(event_cipher.find_events, mode)
    data, starts = np.frombuffer(SEALED[BEGIN:], dtype=np.uint8), np.zeros(1000, dtype=np.int64)
    expected = [begin - BEGIN for begin, _ in events_of(SENT)[2:]] + [len(data)]
    assert run(data, starts) == len(expected) - 1
    assert starts[: len(expected)].tolist() == expected
    assert run(data[:-1], starts) == len(expected) - 2
    assert run(data, starts[:3]) == 2
    assert run(data[:18], starts) == 0
    for size in (0, 18, 1 << 31, (1 << 32) - 1):
        damaged = data.copy()
        damaged[expected[1] :][9:13] = np.frombuffer(size.to_bytes(4, "little"), dtype=np.uint8)
        assert run(damaged, starts) == 1


@modes
def test_events_are_decrypted(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for kernel in (event_cipher.collect_blocks, event_cipher.put_blocks):
        monkeypatch.setattr(type(kernel), "run", property(lambda self: getattr(self, mode)))
    cipher = EventCipher(MARIADB_KEY, NONCE, is_percona=False, is_checksummed=True)
    plain = with_room(SEALED[BEGIN:])
    cipher.decrypt(plain, BEGIN, *walk(SEALED[BEGIN:]))
    assert bytes(plain[: len(SENT) - BEGIN]) == SENT[BEGIN:]


@modes
def test_nothing_outside_is_read_or_written(mode: str) -> None:
    collect = getattr(event_cipher.collect_blocks, mode)
    put = getattr(event_cipher.put_blocks, mode)
    data, nonce = np.arange(100, dtype=np.uint8), np.zeros(12, dtype=np.uint8)
    blocks, vectors = np.zeros(3 * BLOCK, dtype=np.uint8), np.zeros(BLOCK, dtype=np.uint8)
    for start, size in ((-1, 40), (0, 18), (90, 19), (0, 1 << 40), (0, 68)):
        found = collect(data, int64(start), int64(size), 0, nonce, blocks, vectors)
        assert found == -1
    assert collect(data, int64(0, 40), int64(19, 19), 0, nonce, blocks, vectors) == -1
    data = np.arange(100, dtype=np.uint8)
    assert collect(data, int64(0), int64(67), 0, nonce, blocks, vectors) == 3 * BLOCK
    before = data.copy()
    one, short = (blocks, blocks, vectors, vectors), (blocks[:-1], blocks[:-1], vectors[:-1], vectors[:-1])
    for index in range(len(one)):
        put(data, int64(0), int64(67), *one[:index], short[index], *one[index + 1 :])
    for start, size in ((-1, 40), (0, 18), (90, 19), (0, 1 << 40)):
        put(data, int64(start), int64(size), *one)
    assert data.tolist() == before.tolist()
