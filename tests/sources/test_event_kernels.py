"""Events are found, compiled and as Python alike, and decrypted."""

from __future__ import annotations

import numpy as np
import pytest

from binlog_kaitai.sources import event_cipher
from binlog_kaitai.sources.event_cipher import EventCipher, walk, writable
from tests.corpus_files import case
from tests.sources.sealing import MARIADB_KEY, as_mariadb, events_of, with_start

SENT = with_start(case("mariadb-11.8", "xa").logs[0].read_bytes())
SEALED = as_mariadb(SENT)
BEGIN = events_of(SENT)[1][1]
NONCE = SEALED[events_of(SENT)[1][0] + 24 :][:12]

modes = pytest.mark.parametrize("mode", ["plain", "compiled"])


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


def test_events_are_decrypted() -> None:
    cipher = EventCipher(MARIADB_KEY, NONCE, is_percona=False, is_checksummed=True)
    plain = writable(SEALED[BEGIN:])
    cipher.decrypt(plain, BEGIN, *walk(SEALED[BEGIN:]))
    assert bytes(plain) == SENT[BEGIN:]
