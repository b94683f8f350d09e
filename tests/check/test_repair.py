"""Repair: the result is an undamaged log of all transactions that the damage did not affect."""

from __future__ import annotations

import random
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.check.log_start import read_log_start
from binlog_kaitai.check.repair import Repair, repair
from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType, header_offset
from binlog_kaitai.errors import BinlogError, ChecksumError, UsageError
from binlog_kaitai.sources.source import Source
from tests.check.damage import random_damage, transactions_of
from tests.core.test_pieces import in_pieces
from tests.corpus_files import CORPUS, Case, LogFile, case, logs, special_cases
from tests.extent import sample
from tests.log_maker import LogMaker, events_of, log_of_statements, statement

#: Logs that are read in no time.
_SMALL = [log for log in logs() if log.path.stat().st_size < 40_000]

#: Types that say something of the log, and are in no transaction.
_OF_THE_LOG = {
    EventType.format_description_event,
    EventType.previous_gtids_log_event,
    EventType.gtid_list_event,
    EventType.binlog_checkpoint_event,
    EventType.rotate_event,
}


def _has_checksums(log: LogFile) -> bool:
    """Whether nothing in a log can change unseen; clients print no checksum of some first events."""
    described = EventType.format_description_event
    return all(one.crc32 is not None or one.type_code == described for one in log.case.oracle(log.path))


def _has_transactions(log: LogFile) -> bool:
    return not {one.type_code for one in log.case.oracle(log.path)} <= _OF_THE_LOG


_CHECKED = [log for log in _SMALL if _has_checksums(log)]

#: Damages to each log.
_TIMES = 2


def _repair(data: bytes, folder: Path, *, keep_partial: bool = False) -> Repair:
    damaged, target = folder / "damaged", folder / "repaired"
    damaged.write_bytes(data)
    return repair(Source.of_path(str(damaged)), str(target), overwrite=True, keep_partial=keep_partial)


def _ids(log: LogFile) -> str:
    return log.id


@pytest.mark.parametrize("log", _SMALL, ids=_ids)
def test_a_log_without_damage_stays_as_it_is(log: LogFile, tmp_path: Path) -> None:
    good = log.path.read_bytes()
    done = _repair(good, tmp_path)
    whole = {transaction.content for transaction in transactions_of(log.path)}
    assert {transaction.content for transaction in transactions_of(tmp_path / "repaired")} == whole
    if log in _CHECKED and not done.dropped:
        kept = (tmp_path / "repaired").read_bytes()
        assert [a == b for a, b in zip(kept, good, strict=True)].count(False) <= 1  # the in-use flag


_TYPE_AT = header_offset("type_code")


@pytest.mark.parametrize("log", sample([log for log in _CHECKED if _has_transactions(log)], 12), ids=_ids)
def test_random_damage(log: LogFile, tmp_path: Path) -> None:
    good = log.path.read_bytes()
    chance = random.Random(log.id)
    transactions = transactions_of(log.path)
    first = transactions[0].start  # what precedes it describes the following events
    for _ in range(_TIMES):
        damage = random_damage(good, chance, first)
        _repair(damage.data, tmp_path)
        kept = {transaction.content for transaction in transactions_of(tmp_path / "repaired")}
        outside = [one.content for one in transactions if one.end <= damage.start or one.start >= damage.end]
        # After damage, an incident event may belong to the transaction before it.
        assert {one for one in outside if one[0][_TYPE_AT] != EventType.incident_event} <= kept, damage.what
        if "incident" not in log.id:  # an incident event follows a transaction that is complete without it
            assert kept <= {transaction.content for transaction in transactions}, damage.what


@pytest.mark.parametrize("case", special_cases("damaged"), ids=lambda case: case.id)
def test_damaged_logs_of_the_corpus(case: Case, tmp_path: Path) -> None:
    path = case.folder / "binlog.000001"
    target = tmp_path / "repaired"
    if not _has_head(path):
        reason = "not a binary log" if "not_a_log" in case.id else "--format-from"
        with pytest.raises(BinlogError, match=reason):
            repair(Source.of_path(str(path)), str(target))
        assert not list(tmp_path.iterdir())
        return
    done = repair(Source.of_path(str(path)), str(target))
    assert done.result.damage_count == 0
    assert done.result.end is not None
    assert done.result.end.kind.value == "clean"


def _has_head(path: Path) -> bool:
    with path.open("rb") as stream:
        try:
            return read_log_start(stream).end > len(MAGIC) or path.stat().st_size == len(MAGIC)
        except BinlogError:
            return False


def _bad_head(log: Path) -> bytes:
    good = log.read_bytes()
    return good[:9] + bytes(20) + good[29:]


def test_the_first_event_from_another_log(tmp_path: Path) -> None:
    first, second = CORPUS / "mysql-9.7/rotate/binlog.000001", CORPUS / "mysql-9.7/rotate/binlog.000002"
    damaged, target = tmp_path / "damaged", tmp_path / "repaired"
    damaged.write_bytes(_bad_head(first)[:120])
    with pytest.raises(BinlogError, match="--format-from"):
        repair(Source.of_path(str(damaged)), str(target))
    damaged.write_bytes(_bad_head(first))
    repair(Source.of_path(str(damaged)), str(target), format_from=Source.of_path(str(second)))
    assert transactions_of(target)[1:] == transactions_of(first)[1:]


@pytest.mark.parametrize("name", ["mysql-9.7/xa", "mysql-5.6/crash", "mariadb-10.11/crash"])
def test_a_wrong_byte_of_the_first_event_is_put_right(name: str, tmp_path: Path) -> None:
    good = (CORPUS / name / "binlog.000001").read_bytes()
    whole = _repair(good, tmp_path)
    expected = (tmp_path / "repaired").read_bytes()
    assert whole.corrected is None
    sizes = range(len(MAGIC) + 9, len(MAGIC) + 13)  # of another size it would be another event
    end = len(MAGIC) + int.from_bytes(good[sizes.start : sizes.stop], "little")
    for at in [*random.Random(name).sample(range(len(MAGIC), end), 12), end - 5, end - 1]:
        if at in sizes:
            continue
        bad = good[:at] + bytes([good[at] ^ 0xA6]) + good[at + 1 :]
        done = _repair(bad, tmp_path)
        assert (tmp_path / "repaired").read_bytes() == expected
        assert (done.corrected, done.damage_count) == (at, whole.damage_count + 1)
        assert done.damages[0].position == len(MAGIC)


def test_two_wrong_bytes_of_the_first_event_are_not_put_right(tmp_path: Path) -> None:
    good = (CORPUS / "mysql-9.7/xa/binlog.000001").read_bytes()
    index = good.index(b"9.7")
    done = _repair(good[:index] + b"8.4" + good[index + 3 :], tmp_path)
    assert done.corrected is None
    assert isinstance(done.damages[0], ChecksumError)


@pytest.mark.parametrize("lost", range(4))
@pytest.mark.parametrize("is_cut", [False, True], ids=["changed", "cut"])
def test_pieces_of_a_rows_event_that_is_not_whole_are_left_out(
    lost: int, is_cut: bool, tmp_path: Path
) -> None:
    good = in_pieces(4)
    pieces = [event for event in bk.open(good) if event.type_code == EventType.partial_row_data_event]
    position = pieces[lost].position
    after = b"" if is_cut else bytes([good[position + 30] ^ 1]) + good[position + 31 :]
    done = _repair(good[: position + 30] + after, tmp_path, keep_partial=True)
    left = lost if is_cut else len(pieces) - 1
    assert sum(part.events for part in done.dropped) == left
    assert done.result.damage_count == 0
    types = [event.type for event in bk.open(tmp_path / "repaired")]
    assert "PARTIAL_ROW_DATA_EVENT" not in types


@pytest.mark.parametrize("keep_partial", [False, True])
def test_pieces_after_the_end_of_a_transaction_do_not_take_it_along(
    keep_partial: bool, tmp_path: Path
) -> None:
    events = list(bk.open(in_pieces(4)))
    kinds = [event.type for event in events]
    piece, end = kinds.index("PARTIAL_ROW_DATA_EVENT"), kinds.index("XID_EVENT")
    log = LogMaker(events[1].layout)
    log.add_all(event.raw for event in (*events[:piece], events[end], events[piece]))
    done = _repair(bytes(log.data), tmp_path, keep_partial=keep_partial)
    assert [(part.events, part.size) for part in done.dropped] == [(1, len(events[piece].raw))]
    assert [event.type for event in bk.open(tmp_path / "repaired")] == [*kinds[:piece], "XID_EVENT"]


def test_partial_transactions_on_request(tmp_path: Path) -> None:
    path = CORPUS / "mysql-9.7/rotate/binlog.000001"
    middle = next(event for event in bk.open(path) if event.type == "TABLE_MAP_EVENT")
    good = path.read_bytes()
    at = middle.position + 25
    bad = good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :]
    without = _repair(bad, tmp_path)
    assert sum(part.events for part in without.dropped) > 0
    kept = _repair(bad, tmp_path, keep_partial=True)
    (rows,) = kept.dropped
    assert (rows.position, rows.reason) == (middle.end_position, "the table map of these rows is lost")
    assert (
        kept.result.events == without.result.events + sum(one.events for one in without.dropped) - rows.events
    )
    assert not scan(Source.of_path(kept.target), is_thorough=True).damage_count


def test_rows_whose_table_map_is_lost_do_not_belong_to_the_statement_before_them(tmp_path: Path) -> None:
    events = list(bk.open(case("mysql-5.6", "types_v1_rows").logs[0]))
    table_map, rows = next(pair for pair in pairwise(events) if pair[1].type == "WRITE_ROWS_EVENT_V1")
    log = LogMaker(rows.layout)
    log.add(events[0].raw)
    position = len(log.data)
    log.add(table_map.raw + b"\1\xff")  # metadata that ends early
    log.add(statement(b"CREATE DATABASE t", rows.layout))
    log.add(rows.raw)
    log.add(statement(None, rows.layout))
    log.add_all([statement(b"BEGIN", rows.layout), statement(None, rows.layout)])
    done = _repair(bytes(log.data), tmp_path)
    assert [gap.start for gap in done.lost] == [position]
    reasons = ["the table map of these rows is lost", "the start of their transaction may be lost"]
    assert [part.reason for part in done.dropped] == reasons
    kept = [event.type for event in bk.open(tmp_path / "repaired")]
    assert kept == ["FORMAT_DESCRIPTION_EVENT", "QUERY_EVENT", "QUERY_EVENT", "XID_EVENT"]


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    path = CORPUS / "mysql-9.7/rotate/binlog.000001"
    target = tmp_path / "there"
    target.write_bytes(b"mine")
    with pytest.raises(UsageError, match="--overwrite"):
        repair(Source.of_path(str(path)), str(target))
    assert target.read_bytes() == b"mine"


def test_a_stream_cannot_be_repaired(tmp_path: Path) -> None:
    good = (CORPUS / "mysql-9.7/rotate/binlog.000001").read_bytes()
    with pytest.raises(UsageError, match="stream"):
        repair(Source("pipe", lambda: _Pipe(good)), str(tmp_path / "new"))
    assert not list(tmp_path.iterdir())


class _Pipe(BytesIO):
    def seekable(self) -> bool:
        return False


def test_after_a_gap_temporary_tables_begin_nothing(tmp_path: Path) -> None:
    """They are made and dropped inside of transactions; other definitions are not."""
    texts = [
        *(b"BEGIN", b"INSERT INTO a VALUES (1)", b"CREATE TEMPORARY TABLE t (a INT)", b"COMMIT"),
        *(b"BEGIN", b"INSERT INTO a VALUES (2)"),
        b"DROP /*!40005 TEMPORARY */ TABLE IF EXISTS t",
        *(b"INSERT INTO a VALUES (3)", b"ALTER TABLE a ADD b INT", b"BEGIN", b"DELETE FROM a", b"COMMIT"),
    ]
    data = log_of_statements(*texts)
    starts = [event.position for event in bk.open(data)][1:]

    def kept_after(index: int) -> list[bytes]:
        """What is left where an event is lost."""
        size = starts[index] + header_offset("len_event")
        done = _repair(data[:size] + b"\1" + data[size + 1 :], tmp_path)
        return [event.body.query for event in bk.open(done.target) if event.type == "QUERY_EVENT"]

    assert kept_after(1) == texts[4:]
    assert kept_after(5) == [*texts[:4], *texts[8:]]


def test_the_last_format_description_says_whether_events_have_checksums(tmp_path: Path) -> None:
    """The log has none; then a format description says that they have some."""
    plain, _ = events_of(case("mysql-9.7", "no_checksum").logs[0])
    first, *rest = (event.raw for event in bk.open(case("mysql-9.7", "no_checksum").logs[0]))
    other = next(iter(bk.open(case("mysql-9.7", "types_metadata").logs[0]))).raw
    log = LogMaker(plain)
    log.add(first, as_is=True)
    log.add(other, as_is=True)
    log.add_all(rest)
    done = _repair(bytes(log.data), tmp_path)
    assert done.lost_bytes == sum(map(len, rest))
    assert done.result.events == 2


def test_pieces_of_rows_whose_table_map_is_lost_are_left_out(tmp_path: Path) -> None:
    good = in_pieces(4)
    first = next(event for event in bk.open(good) if event.type == "PARTIAL_ROW_DATA_EVENT")
    at = (
        max(event.position for event in bk.open(good[: first.position]) if event.type == "TABLE_MAP_EVENT")
        + 25
    )
    done = _repair(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :], tmp_path, keep_partial=True)
    assert not scan(Source.of_path(done.target), is_thorough=True).damage_count
    assert [(part.position, part.events) for part in done.dropped] == [(first.position, 4)]


def test_a_format_description_that_stood_elsewhere_gets_its_own_position(tmp_path: Path) -> None:
    first, *rest = bk.open(CORPUS / "mysql-9.7/rotate/binlog.000001")
    log = LogMaker(first.layout)
    log.add_all(event.raw for event in (rest[0], first, *rest[1:]))
    done = _repair(bytes(log.data), tmp_path)
    assert done.result.events == len(rest)


def test_a_damaged_note_of_encryption_is_left_out(tmp_path: Path) -> None:
    """A server sends a log in plain text, with the event that says where encryption begins."""
    path = CORPUS / "encrypted/mariadb-10.11/plain/binlog.000001"
    note = next(event for event in bk.open(path) if event.type == "START_ENCRYPTION_EVENT")
    data = bytearray(path.read_bytes())
    data[note.end_position - CHECKSUM_SIZE - 1] ^= 1
    done = _repair(bytes(data), tmp_path)
    assert [(gap.start, gap.stop) for gap in done.lost] == [(note.position, note.end_position)]
    assert done.result.events == len(list(bk.open(path))) - 1
