"""Repair of logs whose format description event is damaged, and of logs without checksums."""

from __future__ import annotations

import random
import zlib
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

import binlog_kaitai as bk
from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.check.log_start import read_log_start
from binlog_kaitai.check.repair import Repair, repair
from binlog_kaitai.cli.app import app
from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType, header_offset
from binlog_kaitai.core.known_formats import known_formats
from binlog_kaitai.sources.source import Source
from tests.check.damage import transactions_of
from tests.check.test_repair import _CHECKED, _has_transactions
from tests.corpus_files import CORPUS, LogFile, case, logs
from tests.extent import sample

_LOGS = [log for log in _CHECKED if _has_transactions(log)]
_XA = CORPUS / "mysql-9.7/xa/binlog.000001"


def _repair(data: bytes, folder: Path) -> Repair:
    damaged = folder / "damaged"
    damaged.write_bytes(data)
    return repair(Source.of_path(str(damaged)), str(folder / "repaired"), overwrite=True)


def _without_flag(data: bytes) -> bytes:
    """A log as if it had been closed."""
    return data[:21] + bytes([data[21] & ~1]) + data[22:]


@pytest.mark.parametrize("log", logs(), ids=lambda log: log.id)
def test_the_known_tables_are_those_of_real_logs(log: LogFile) -> None:
    with log.path.open("rb") as stream:
        layout = read_log_start(stream).context.layout
    version = next(iter(bk.open(log.path))).body.server_version
    tables = [known.post_header_lengths for known in known_formats(version)]
    assert tables.count(bytes(layout.post_header_lengths)) == 1


@pytest.mark.parametrize("log", sample(_LOGS, 8), ids=lambda log: log.id)
def test_damage_at_the_start_takes_no_whole_transaction(log: LogFile, tmp_path: Path) -> None:
    good = log.path.read_bytes()
    chance = random.Random(f"start of {log.id}")
    transactions = transactions_of(log.path)
    for kind in chance.sample(("overwrite", "insert", "remove"), 2):
        start, size = chance.randrange(200), chance.randint(1, 40)
        end = start if kind == "insert" else start + size
        bad = good[:start] + (b"" if kind == "remove" else chance.randbytes(size)) + good[end:]
        done = _repair(bad, tmp_path)
        kept = {transaction.content for transaction in transactions_of(tmp_path / "repaired")}
        whole = {one.content for one in transactions if one.end <= start or one.start >= end}
        assert done.damage_count > 0
        assert whole <= kept or done.lacks_format, (kind, start, size)
        assert kept <= {one.content for one in transactions} or done.doubtful, (kind, start, size)


@pytest.mark.parametrize(
    ("start", "removed", "inserted"),
    [(109, 0, 11), (74, 13, 13), (80, 6, 0), (9, 16, 16), (0, 4, 4), (0, 0, 7), (2, 9, 0)],
)
def test_what_the_checksum_proves_is_as_it_was(
    start: int, removed: int, inserted: int, tmp_path: Path
) -> None:
    good = _XA.read_bytes()
    garbage = random.Random(start).randbytes(inserted)
    done = _repair(good[:start] + garbage + good[start + removed :], tmp_path)
    assert (tmp_path / "repaired").read_bytes() == _without_flag(good)
    assert done.damage_count > 0
    assert done.rebuilt is None or done.rebuilt.is_proven
    assert not done.doubtful


@pytest.mark.parametrize(
    ("start", "removed", "inserted"), [(148, 1, 0), (136, 0, 2), (248, 9, 0), (90, 0, 8)]
)
def test_events_without_positions_do_not_hide_those_before(
    start: int, removed: int, inserted: int, tmp_path: Path
) -> None:
    """MariaDB 11.8 states no positions inside transactions; those of GTID events are off by the damage."""
    log = case("mariadb-11.8", "no_checksum").logs[0]
    good = log.read_bytes()
    garbage = random.Random(start).randbytes(inserted)
    done = _repair(good[:start] + garbage + good[start + removed :], tmp_path)
    assert done.result.events == len(list(bk.open(log)))
    assert transactions_of(tmp_path / "repaired") == transactions_of(log)


def test_lost_events_after_the_first_one_are_reported(tmp_path: Path) -> None:
    log = case("mariadb-11.8", "no_checksum").logs[0]
    good, events = log.read_bytes(), list(bk.open(log))
    # Two GTID events and the first bytes of a third are gone: the next intact event states no position.
    first, rest = events[0].end_position, events[7].position + 9
    done = _repair(good[: first - 4] + bytes(4) + good[first : first + 5] + good[rest:], tmp_path)
    assert [(gap.start, gap.stop) for gap in done.lost] == [(first, first + 5 + events[8].position - rest)]


def test_a_version_that_is_lost_is_named_as_a_guess(tmp_path: Path) -> None:
    good = _XA.read_bytes()
    index = good.index(b"9.7")
    done = _repair(good[:index] + random.Random(1).randbytes(30) + good[index + 30 :], tmp_path)
    assert done.rebuilt is not None
    assert not done.rebuilt.is_proven
    assert "server_version" in done.rebuilt.doubtful
    assert transactions_of(tmp_path / "repaired") == transactions_of(_XA)


def test_nothing_kept_is_no_success(tmp_path: Path) -> None:
    good = _XA.read_bytes()
    end = next(iter(bk.open(_XA))).end_position
    damaged = tmp_path / "damaged"
    damaged.write_bytes(good[:end] + random.Random(1).randbytes(300))
    target = str(tmp_path / "repaired")
    result = CliRunner().invoke(app, ["repair", str(damaged), "--to", target])
    assert result.exit_code == 1
    assert "300 bytes of the damaged log were not recovered" in result.output
    assert "without damage" not in result.output


def test_a_lost_gtid_takes_its_transaction_along(tmp_path: Path) -> None:
    """The only GTID event of a log is lost, with the event before that says that there are any."""
    path = CORPUS / "mysql-9.7/gtid_modes/binlog.000001"
    events = list(bk.open(path))
    good = path.read_bytes()
    assert [event.type for event in events[1:3]] == ["PREVIOUS_GTIDS_LOG_EVENT", "GTID_LOG_EVENT"]
    start, end = events[1].position, events[2].end_position
    done = _repair(good[:start] + bytes(end - start) + good[end:], tmp_path)
    assert [event.type for event in bk.open(done.target)] == ["FORMAT_DESCRIPTION_EVENT", "ROTATE_EVENT"]
    assert sum(part.events for part in done.dropped) == len(events) - 4


def _unchecked() -> list[LogFile]:
    found = []
    for log in logs():
        events = list(bk.open(log.path)) if "no_checksum" in log.case.folder.name else []
        plain = [event for event in events if event.type_code != EventType.format_description_event]
        if plain and all(event.checksum_status == "none" for event in plain) and _has_transactions(log):
            found.append(log)
    return [log for log in found if "relay" not in log.id]


@pytest.mark.parametrize("log", _unchecked(), ids=lambda log: log.id)
def test_shifted_bytes_are_left_out_or_named(log: LogFile, tmp_path: Path) -> None:
    good = log.path.read_bytes()
    transactions = transactions_of(log.path)
    if not transactions:
        pytest.skip("has no transaction")
    counts: Counter[bool] = Counter()
    chance = random.Random(log.id)
    for _ in range(12):
        at, size = chance.randrange(transactions[0].start, len(good)), chance.randint(1, 30)
        bad = good[:at] + (chance.randbytes(size) + good[at:] if chance.random() < 0.5 else good[at + size :])
        done = _repair(bad, tmp_path)
        kept = {transaction.content for transaction in transactions_of(tmp_path / "repaired")}
        is_right = kept <= {transaction.content for transaction in transactions}
        counts[is_right] += 1
        assert is_right or done.doubtful, (at, size)
    assert counts[True] > counts[False]


def test_a_first_event_that_cannot_be_read_is_named_where_it_stands(tmp_path: Path) -> None:
    """Bytes are missing in it, and neither a checksum nor following events prove its original content."""
    good = case("mysql-5.6", "no_checksum").logs[-1].read_bytes()
    path = tmp_path / "binlog.000001"
    path.write_bytes(good[:90] + good[130:227])
    with pytest.raises(bk.BinlogError) as error:
        repair(Source.of_path(str(path)), str(tmp_path / "new"))
    damage = scan(Source.of_path(str(path))).damages[0]
    assert (error.value.position, error.value.event_type) == (len(MAGIC), "FORMAT_DESCRIPTION_EVENT")
    assert (damage.position, damage.event_type) == (error.value.position, error.value.event_type)


def test_a_log_without_its_first_event_is_refused_by_name(tmp_path: Path) -> None:
    """No byte of the format description is left, so nothing can be rebuilt from it."""
    source = case("mariadb-11.8", "domains").logs[2]
    second = bytearray(list(bk.open(source))[1].raw)
    offset = header_offset("next_position")
    second[offset : offset + 4] = (1 << 16).to_bytes(4, "little")
    second[-CHECKSUM_SIZE:] = zlib.crc32(second[:-CHECKSUM_SIZE]).to_bytes(CHECKSUM_SIZE, "little")
    log = tmp_path / "log"
    log.write_bytes(MAGIC + second)
    with pytest.raises(bk.BinlogError, match="--format-from"):
        repair(Source.of_path(str(log)), str(tmp_path / "repaired"))
