"""What the fuzzer found, each kind in the smallest log that shows it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from binlog_kaitai.columns.text.printed_values import put_integer
from binlog_kaitai.grammar import EventType, header_offset
from tests.columns.log_maker import LogMaker, events_of
from tests.corpus_files import case
from tests.render.dump_ways import make_quick, make_slow, printed


def _with_type(raw: bytes, kind: EventType) -> bytes:
    at = header_offset("type_code")
    return raw[:at] + bytes([kind]) + raw[at + 1 :]


def test_rows_from_before_5_1_16_are_refused_by_both_printers(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout, groups = events_of(case("mysql-5.6", "rotate").logs[0])
    log = LogMaker(layout)
    at = header_offset("type_code")
    for raw in (raw for group in groups for raw in group):
        is_rows = raw[at] == EventType.write_rows_event
        log.add(_with_type(raw, EventType.pre_ga_delete_rows_event) if is_rows else raw)
    path = log.write(tmp_path / "binlog.000001")
    make_slow(monkeypatch)
    _, slow = printed(path, tmp_path, verbose=2)
    make_quick(monkeypatch)
    _, quick = printed(path, tmp_path, verbose=2)
    assert slow == quick
    assert "rows from before 5.1.16" in slow


@pytest.mark.parametrize("way", ["plain", "compiled"])
@pytest.mark.parametrize("value", [-(1 << 63), -(1 << 63) + 1, -10, -9, -1, 0, (1 << 63) - 1])
def test_an_integer_of_eight_bytes_is_printed_without_overflow(way: str, value: int) -> None:
    data = np.frombuffer(value.to_bytes(8, "little", signed=True), dtype=np.uint8)
    out = np.zeros(60, dtype=np.uint8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        size = getattr(put_integer, way)(data, 0, 8, out, 0)
    unsigned = f" ({value + (1 << 64)})" if value < 0 else ""
    assert bytes(out[:size]).decode() == f"{value}{unsigned}"
