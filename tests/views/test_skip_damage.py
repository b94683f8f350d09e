"""Skipping damage: every row outside the damaged bytes is returned, for any splits."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import header_length
from binlog_kaitai.log import split_points
from binlog_kaitai.log.gaps import TO_THE_END, Gap
from binlog_kaitai.views.skip_damage import read_around
from binlog_kaitai.views.splits import plan
from tests.corpus_files import case, special_cases
from tests.earlier_logs import files_before
from tests.extent import rounds, sample
from tests.log_maker import LogMaker, events_of

Row = dict[str, Any]


class Damage(NamedTuple):
    """A gap, and why, in words."""

    start: int
    stop: int
    reason: str


WHOLE: dict[str, Callable[..., Any]] = {"events": bk.read_events, "changes": bk.read_changes}
#: What a row lacks that follows the loss of its transaction's GTID event.
OF_GTID = ("gtid", "_gtid", "_commit_timestamp")


def around(view: str, path: Path, size: int) -> tuple[list[Row], list[Damage]]:
    found: list[Row] = []
    damages = []
    splits = plan(str(path), size)
    for split in splits:
        for item in (
            read_around(split, view, earlier=files_before(splits, split))
            if view == "changes"
            else (read_around(split, view))
        ):
            if isinstance(item, Gap):
                damages.append(Damage(item.start, item.stop, item.error.reason))
            else:
                found += item.to_pylist()
    return found, damages


def many(server: str, name: str) -> LogMaker:
    layout, (head, *transactions) = events_of(case(server, name).logs[0])
    log = LogMaker(layout)
    log.add_all(head)
    for number in range(24):
        log.add_all(transactions[number % len(transactions)])
    return log


def place(row: Row) -> int:
    return int(row["position"] if "position" in row else row["_position"])


def comparable(rows: list[Row], has_names: bool) -> list[Row]:
    left_out = (*OF_GTID, *(() if has_names else ("before", "after")))
    return [{key: value for key, value in row.items() if key not in left_out} for row in rows]


@pytest.fixture(autouse=True)
def far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split_points, "NEAR", 1200)
    monkeypatch.setattr(split_points, "LOOK_BACK", 1000)


@pytest.mark.filterwarnings("ignore::binlog_kaitai.DefinitionWarning")
@pytest.mark.parametrize("view", WHOLE)
@pytest.mark.parametrize(
    ("server", "name"), [("mysql-9.7", "rotate"), ("mysql-9.7", "types_metadata"), ("mariadb-11.8", "rotate")]
)
def test_rows_outside_of_the_damage_are_those_of_the_whole_log(
    tmp_path: Path, server: str, name: str, view: str
) -> None:
    log, rng = many(server, name), random.Random(name + view)
    has_names = name == "types_metadata"  # else a statement that is damaged costs names
    path = log.write(tmp_path / "binlog.000001")
    whole = [row for batch in WHOLE[view](str(path)) for row in batch.to_pylist()]
    for _ in range(rounds(6, 1)):
        data = bytearray(log.data)
        at, length = rng.randrange(300, len(data) - 20), rng.choice([1, 1, 4, 100, 900])
        data[at : at + length] = bytes(byte ^ 0x55 for byte in data[at : at + length])
        path.write_bytes(data)
        found, damages = around(view, path, 0)
        assert damages
        lost = [(damage.start, min(damage.stop, len(data))) for damage in damages]
        assert any(start <= at < stop for start, stop in lost)
        kept = [row for row in whole if not any(start <= place(row) < stop for start, stop in lost)]
        assert comparable(found, has_names) == comparable(kept, has_names)
        for one, other in zip(found, kept, strict=True):
            assert all(one[key] in (other[key], None) for key in OF_GTID[:2] if key in one)
        for size in (900, 2500):
            assert around(view, path, size) == (found, damages)


@pytest.mark.parametrize("view", WHOLE)
@pytest.mark.parametrize("server", sample(["mariadb-11.8", "mysql-9.7"], 1))
def test_rows_after_lost_or_inserted_bytes_are_read(tmp_path: Path, server: str, view: str) -> None:
    log, rng = many(server, "types_metadata"), random.Random(server + view)
    path = log.write(tmp_path / "binlog.000001")
    whole = [row for batch in WHOLE[view](str(path)) for row in batch.to_pylist()]
    for change in sample((-700, -3, 5, 900), 2):
        at = rng.randrange(300, len(log.data) // 2)
        data = log.data[:at] + rng.randbytes(max(change, 0)) + log.data[at + max(-change, 0) :]
        path.write_bytes(data)
        found, damages = around(view, path, 0)
        # Where rows are now; those whose bytes were taken out are nowhere.
        offsets = [place(row) + (change if place(row) > at else 0) for row in whole]
        kept = [
            row
            for row, now in zip(whole, offsets, strict=True)
            if not at < place(row) < at - change and not any(one.start <= now < one.stop for one in damages)
        ]
        assert len(kept) > len(whole) / 2
        assert comparable(placeless(found), True) == comparable(placeless(kept), True)
        for size in (900, 2500):
            assert around(view, path, size) == (found, damages)


def placeless(rows: list[Row]) -> list[Row]:
    offsets = ("position", "end_position", "_position", "_sequence")
    return [{key: value for key, value in row.items() if key not in offsets} for row in rows]


def test_one_damaged_event_in_a_transaction_costs_just_its_rows(tmp_path: Path) -> None:
    log = many("mysql-9.7", "types_metadata")
    path = log.write(tmp_path / "binlog.000001")
    whole = [row for batch in bk.read_changes(str(path)) for row in batch.to_pylist()]
    position = whole[len(whole) // 2]["_position"]
    data = bytearray(log.data)
    data[position + 40] ^= 1
    path.write_bytes(data)
    found, (damage,) = around("changes", path, 0)
    assert damage.start == position
    assert damage.reason == "checksum mismatch"
    assert found == [row for row in whole if row["_position"] != position]


@pytest.mark.parametrize("size", [0, 900])
def test_all_of_a_log_is_damaged_if_its_format_description_cannot_be_read(tmp_path: Path, size: int) -> None:
    log = many("mysql-9.7", "types_metadata")
    data = bytearray(log.data)
    after_version_and_time = 2 + 50 + 4
    data[len(MAGIC) + header_length(4) + after_version_and_time] = 3
    path = tmp_path / "binlog.000001"
    path.write_bytes(data)
    reason = "declares event headers of 3 bytes"
    assert around("changes", path, size) == ([], [Damage(len(MAGIC), TO_THE_END, reason)])


@pytest.mark.parametrize("one", special_cases("damaged"), ids=lambda one: one.id)
def test_every_damaged_log_is_read_as_far_as_it_goes(one: Any) -> None:
    path = one.logs[0]
    kept: list[Row] = []
    error = None
    try:
        for batch in bk.read_events(str(path)):
            kept += batch.to_pylist()
    except bk.BinlogError as caught:
        error = caught
    found, damages = around("events", path, 0)
    assert found[: len(kept)] == kept
    assert bool(damages) == (error is not None)
    if error is not None:
        assert damages[0].start == (error.position or 0)
        assert damages[0].reason in (error.reason, "incomplete event")


def test_transactions_that_are_not_damaged_stay_as_they_are(tmp_path: Path) -> None:
    log = many("mysql-9.7", "rotate")
    path = log.write(tmp_path / "binlog.000001")
    whole = [row for batch in bk.read_transactions(str(path)) for row in batch.to_pylist()]
    hit = whole[10]
    data = bytearray(log.data)
    data[hit["end_position"] - 10] ^= 1
    path.write_bytes(data)
    found, (damage,) = around("transactions", path, 0)
    assert hit["position"] < damage.start < hit["end_position"]
    assert [row for row in found if row["position"] != hit["position"]] == whole[:10] + whole[11:]
    assert around("transactions", path, 1500) == (found, [damage])
