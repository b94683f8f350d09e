"""The GTIDs of the columns follow the rule of `core.transactions`, whatever the order of events."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from binlog_kaitai.core.grammar import EventType, Format
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.transactions import GtidTracker, mariadb_gtid
from binlog_kaitai.log.block_reader import frame_all
from binlog_kaitai.log.event_gtids import GtidColumns
from binlog_kaitai.log.gtid_runs import add_gtids
from binlog_kaitai.log.line_arrays import Pool
from tests.columns.support import blocks
from tests.corpus_files import case

TYPES = [
    EventType.gtid_event,
    EventType.query_event,
    EventType.xid_event,
    EventType.rotate_event,
    EventType.stop_event,
    EventType.binlog_checkpoint_event,
    EventType.table_map_event,
]


def format_of_mariadb() -> Format:
    *_, last = blocks(case("mariadb-11.8", "domains").logs[0])
    return Format(4, 19, False, False, last.layout.post_header_lengths)


def event(kind: EventType, number: int) -> bytes:
    """An event of a type; of a GTID event, with a sequence number."""
    body = number.to_bytes(8, "little") + bytes(11)
    head = bytes(4) + bytes([kind.value]) + (7).to_bytes(4, "little") + (19 + len(body)).to_bytes(4, "little")
    return head + bytes(6) + body


def test_columns_follow_the_rule() -> None:
    rng, layout = random.Random(1), format_of_mariadb()
    tracker, columns = GtidTracker(), GtidColumns()
    for _ in range(20):
        kinds = rng.choices(TYPES, weights=[2, 5, 2, 1, 1, 1, 3], k=rng.randrange(1, 30))
        block = frame_all("log", b"".join(event(kind, index + 1) for index, kind in enumerate(kinds)), layout)
        assert block is not None
        pool = Pool()
        gtids = columns.find(block, pool, lambda row, error: None)
        column = gtids.column()
        offsets = zip((-column.first - 1).tolist(), np.asarray(column.second).tolist(), strict=True)
        found = [json.loads(pool.read(place, length)) for place, length in offsets]
        own = [mariadb_gtid(0, 7, index + 1) for index in range(len(kinds))]
        assert found == [tracker.step(kind, own[index]) for index, kind in enumerate(kinds)]
        assert found == gtids.array(gtids.which).to_pylist() == [gtids.texts[which] for which in gtids.which]


@pytest.mark.parametrize("has_short", [True, False])
def test_runs_of_gtids(has_short: bool) -> None:
    """The set of a block: any order, several domains, an event too short for its number."""
    layout = format_of_mariadb()
    numbers = [(0, 1), (0, 2), (1, 7), (0, 3), (1, 8), (1, 6), (0, 9), (0, 1)]
    events = [bytearray(event(EventType.gtid_event, number)) for _, number in numbers]
    for raw, (domain, _) in zip(events, numbers, strict=True):
        raw[27:31] = domain.to_bytes(4, "little")
    short = bytearray(event(EventType.gtid_event, 50)[:30])
    short[9:13] = (30).to_bytes(4, "little")
    between = bytes(short) if has_short else b""
    block = frame_all("log", b"".join(events[:4]) + between + b"".join(events[4:]), layout)
    assert block is not None
    gtids = GtidSet()
    add_gtids(gtids, block)
    assert gtids == GtidSet.parse("0-7-1,0-7-2,0-7-3,0-7-9,1-7-6,1-7-7,1-7-8")


@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-11.8"])
def test_the_set_of_a_block_has_the_gtids_that_the_reader_decodes(server: str) -> None:
    gtids, decoded = GtidSet(), GtidSet()
    for block in blocks(case(server, "mixed").logs[0]):
        add_gtids(gtids, block)
        for row in range(len(block)):
            if (gtid := block.event(row).stated_gtid) is not None:
                decoded.add(gtid)
    assert str(gtids) == str(decoded) != ""
