"""Reading from the start of a transaction gives the same events as reading the whole file."""

from __future__ import annotations

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.grammar import ROWS_TYPES
from binlog_kaitai.log import event_log
from binlog_kaitai.sources.source import Source
from tests.corpus_files import LogFile, logs

LOGS = [log for log in logs() if 2_000 < log.path.stat().st_size < 30_000]
CHOSEN = [pytest.param(log, id=log.id) for log in LOGS[::3]]


@pytest.mark.parametrize("log", CHOSEN)
def test_the_event_and_its_context_are_the_same(log: LogFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_log, "_LARGE", 0)
    source = Source.of_path(str(log.path))
    with bk.open(log.path) as reader:
        events = [event for event in reader if event.payload_index is None]
    for wanted in events[:: max(1, len(events) // 12)]:
        stops = event_log.stops_before(source, wanted.position)
        with bk.open(log.path) as reader:
            found = next(e for e in reader.read_from(source, stops) if e.position == wanted.position)
        assert (found.raw, found.gtid, found.layout) == (wanted.raw, wanted.gtid, wanted.layout)
        if wanted.type_code in ROWS_TYPES:
            assert (found.table_map is None) == (wanted.table_map is None)
            if found.table_map is not None and wanted.table_map is not None:
                assert found.table_map.table_name == wanted.table_map.table_name
