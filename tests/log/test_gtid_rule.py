"""Which GTID applies to an event: the same in both readers, however a log is divided into blocks."""

from __future__ import annotations

import io
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.core.event_types import QUERY_TYPES
from binlog_kaitai.core.grammar import EventType, Format, header_offset
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.log.block_reader import BlockReader, frame_all
from binlog_kaitai.log.event_gtids import GtidColumns
from binlog_kaitai.log.gtid_runs import add_gtids
from binlog_kaitai.sources.source import Source
from binlog_kaitai.text.line_arrays import Pool
from tests.corpus_files import case
from tests.extent import sample
from tests.log_maker import LogMaker, events_of, statement
from tests.support import blocks


def format_of_mariadb() -> Format:
    *_, last = blocks(case("mariadb-11.8", "domains").logs[0])
    return Format(4, 19, False, False, last.layout.post_header_lengths)


def event(kind: EventType, number: int) -> bytes:
    """An event of a type; of a GTID event, with a sequence number."""
    body = number.to_bytes(8, "little") + bytes(11)
    head = bytes(4) + bytes([kind.value]) + (7).to_bytes(4, "little") + (19 + len(body)).to_bytes(4, "little")
    return head + bytes(6) + body


def without_gtid_event(path: Path, number: int) -> bytes:
    """A log in which a transaction has no GTID event."""
    layout, (head, *transactions) = events_of(path)
    log = LogMaker(layout)
    log.add(head[0])
    for index, events in enumerate(transactions):
        log.add_all(events[index == number :])
    return bytes(log.data)


def listed(data: bytes, block_size: int) -> list[str | None]:
    """The GTID of each event, from the column path."""
    columns, found = GtidColumns(), list[str | None]()
    for part in BlockReader.of_file(io.BytesIO(data), "log", block_size=block_size):
        gtids = columns.find(part, Pool(), lambda row, error: None)
        found += gtids.array(gtids.which).to_pylist()
    return found


TYPE_AT = header_offset("type_code")
GTID_EVENTS = ("GTID_LOG_EVENT", "GTID_EVENT")

LOGS = [
    *("mysql-5.6/mixed", "mysql-8.0/statement", "mysql-9.7/mixed", "mysql-9.7/xa"),
    *("mariadb-10.2/statement", "mariadb-10.11/xa", "mariadb-11.8/mixed", "mariadb-11.8/types_compressed"),
]


@pytest.mark.parametrize("name", LOGS)
def test_a_transaction_without_gtid_event_does_not_inherit_the_gtid_before(name: str) -> None:
    """After a commit, by XID or a statement, an XA PREPARE, or a statement without BEGIN.

    There, what is no statement belongs to the transaction before, as the rows of CREATE TABLE ... SELECT do.
    """
    path = case(*name.split("/")).logs[0]
    rows_gtids = [row.gtid for row in bk.read_rows(path)]
    events = list(bk.open(path))
    lost = [event.gtid for event in events if event.type in GTID_EVENTS]
    _, (_, *transactions) = events_of(path)
    for number in sample(range(1, len(lost)), 8):
        if len(transactions[number - 1]) == 2 and transactions[number][1][TYPE_AT] not in QUERY_TYPES:
            continue
        data = without_gtid_event(path, number)
        gtids = [event.gtid for event in bk.open(data)]
        remaining = [event for event in events if event.gtid != lost[number] or event.type not in GTID_EVENTS]
        expected = [None if event.gtid == lost[number] else event.gtid for event in remaining]
        assert gtids == expected[-len(gtids) :]
        assert listed(data, 300) == listed(data, 1 << 22) == gtids
        expected = [None if gtid == lost[number] else gtid for gtid in rows_gtids]
        assert [row.gtid for row in bk.read_rows(data)] == expected
        rows = bk.read_transactions(data).read_all().to_pylist()
        # Without the event that stands for a BEGIN in MariaDB, each statement is a transaction.
        listed_gtids = [gtid for gtid, _ in groupby(row["gtid"] for row in rows)]
        assert listed_gtids == [*lost[:number], None, *lost[number + 1 :]]
        assert scan(Source.of_bytes(data)).transactions == len(rows)


@pytest.mark.parametrize(
    "text", [b"XA COMMIT X'61',X'',1", b"XA ROLLBACK X'61',X'',1", b"ROLLBACK", b"FLUSH LOGS"]
)
def test_rows_directly_after_a_statement(text: bytes) -> None:
    """If it ends the transaction, they have no GTID; nothing else needs the text of a statement."""
    layout, (head, *transactions) = events_of(case("mysql-9.7", "mixed").logs[0])
    changes = next(one for one in transactions if EventType.write_rows_event in [raw[TYPE_AT] for raw in one])
    log = LogMaker(layout)
    log.add_all([head[0], changes[0], statement(text, layout), *changes[-3:]])
    gtids = [event.gtid for event in bk.open(bytes(log.data))]
    assert (gtids[-2] is None) == (text != b"FLUSH LOGS")
    assert listed(bytes(log.data), 1 << 22) == gtids
    assert {row.gtid for row in bk.read_rows(bytes(log.data))} == {gtids[-2]}


@pytest.mark.parametrize("after", ["xid", "begin", "statement", "rows"])
@pytest.mark.parametrize(
    "text", [b"XA ROLLBACK X'61',X'',1", b"ROLLBACK", b"FLUSH LOGS", b"SAVEPOINT a", b"FLUSH LOGS -- \0BEGIN"]
)
@pytest.mark.parametrize("is_begun", [False, True])
def test_any_event_after_a_statement(text: bytes, after: str, is_begun: bool) -> None:
    """Both readers take the same statements for a BEGIN or the end of a transaction."""
    layout, (head, *transactions) = events_of(case("mysql-9.7", "mixed").logs[0])
    changes = next(one for one in transactions if EventType.write_rows_event in [raw[TYPE_AT] for raw in one])
    follow: dict[str, list[bytes | None]] = {
        "xid": [None],
        "begin": [b"BEGIN"],
        "statement": [b"TRUNCATE t", b"FLUSH LOGS"],
    }
    log = LogMaker(layout)
    log.add_all([head[0], *changes[: 1 + is_begun]])
    log.add_all(statement(one, layout) for one in (text, *follow.get(after, [])))
    log.add_all(changes[-3:])
    gtids = [event.gtid for event in bk.open(bytes(log.data))]
    assert listed(bytes(log.data), 1 << 22) == listed(bytes(log.data), 300) == gtids


@pytest.mark.parametrize("name", ["mysql-9.7/mixed", "mariadb-11.8/mixed"])
def test_rows_followed_from_a_checkpoint_have_the_same_gtids(name: str, tmp_path: Path) -> None:
    path = case(*name.split("/")).logs[0]
    for number in sample(range(1, len(events_of(path)[1]) - 1), 5):
        data, log = without_gtid_event(path, number), tmp_path / f"binlog.{number:06}"
        position = [event.position for event in bk.open(data) if event.gtid is None][1]
        followed = list[tuple[int, str | None]]()
        checkpoint: Any = "earliest"
        for size in (position, len(data)):
            log.write_bytes(data[:size])
            with bk.follow_rows(log, start=checkpoint, idle_timeout=0) as rows:
                followed += [(row.position, row.gtid) for row in rows]
                checkpoint = rows.checkpoint
        assert followed == [(row.position, row.gtid) for row in bk.read_rows(data)]


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
