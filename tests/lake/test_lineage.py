"""The changes that make up a table after TRUNCATE and RENAME."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from binlog_kaitai.following.effects import Effect, EffectKind
from binlog_kaitai.lake import batches
from binlog_kaitai.lake.lineage import (
    Entry,
    Lineage,
    Moves,
    Place,
    Segment,
    entries_as_batch,
    entries_of,
    naming,
)
from binlog_kaitai.pipeline.followed_logs import Following
from binlog_kaitai.pipeline.pipeline import Job, Pipeline
from tests.corpus_files import CORPUS
from tests.lake.lakes import OneByOne, fill, opened

A, B, OLD, NEW = ("d", "a"), ("d", "b"), ("d", "old"), ("d", "new")


def keyed(log: int, position: int, table: str, *key: str) -> Entry:
    return Entry(position, EffectKind.KEYED, "d", table, log=log, key=key)


def effect(log: int, position: int, kind: EffectKind, table: str, **others: Any) -> Entry:
    return Entry.of(Effect(position, kind, "d", table, **others), 0, log)


def emptied(log: int, position: int, table: str) -> Entry:
    return effect(log, position, EffectKind.EMPTIED, table)


def renamed(log: int, position: int, old: str, new: str) -> Entry:
    return effect(log, position, EffectKind.RENAMED, old, new_schema_name="d", new_table_name=new)


def columns_moved(log: int, position: int, table: str, *names: tuple[str, str]) -> Entry:
    return effect(log, position, EffectKind.COLUMNS_MOVED, table, columns=names)


def columns_renamed(log: int, position: int, table: str, **names: str) -> Entry:
    return effect(log, position, EffectKind.COLUMNS_MOVED, table, columns=tuple(names.items()))


def test_a_table_is_all_its_changes() -> None:
    lineage = Lineage([keyed(1, 4, "a", "id"), keyed(2, 4, "b")])
    assert lineage.tables() == [A, B]
    assert lineage.segments(A) == [Segment(A)]
    assert lineage.keys == {A: ["id"], B: []}


def test_an_emptied_table_begins_there() -> None:
    lineage = Lineage([keyed(1, 4, "a"), keyed(1, 4, "b"), emptied(1, 50, "a"), emptied(2, 70, "")])
    assert lineage.segments(A) == [Segment(A, after=Place(0, 2, 71))]
    assert lineage.segments(B) == [Segment(B, after=Place(0, 2, 71))]


def test_a_renamed_table_keeps_its_rows() -> None:
    first, second = Place(0, 2, 11), Place(0, 2, 21)
    steps = keyed(1, 4, "a", "id"), keyed(2, 4, "new", "id"), renamed(2, 10, "a", "old")
    lineage = Lineage([*steps, renamed(2, 20, "new", "a")])
    assert lineage.segments(OLD) == [Segment(A, before=first), Segment(OLD, after=first)]
    assert lineage.segments(A) == [Segment(NEW, before=second), Segment(A, after=second)]
    assert lineage.segments(NEW) == [Segment(NEW, after=second)]
    assert lineage.keys[OLD] == ["id"]


def test_renamed_columns_follow_their_table() -> None:
    steps = (
        keyed(1, 4, "a", "id"),
        columns_renamed(2, 10, "a", id="key", X="y"),
        renamed(2, 20, "a", "b"),
        columns_renamed(2, 30, "b", y="_file"),
    )
    lineage = Lineage(steps)
    first, second = lineage.moves(B)
    assert first == (Place(0, 2, 11), {"id": "key", "x": "y"}, frozenset())
    assert second == (Place(0, 2, 31), {"y": "_file_"}, frozenset())
    assert lineage.moves(A) == []
    assert lineage.keys[B] == ["key"]
    assert naming(["id", "x"], lineage.moves(B)).names == {"id": "key", "x": "_file_"}
    assert Lineage([columns_renamed(1, 9, "a", id="k"), emptied(1, 10, "a")]).moves(A) == []


def test_what_the_changes_do_not_show() -> None:
    partial = effect(1, 4, EffectKind.UNCLEAR, "a", reason="parts of JSON")
    moved = effect(2, 9, EffectKind.UNCLEAR, "b", reason="partitions")
    assert Lineage([partial, moved]).unclear == {A: "parts of JSON", B: "partitions"}
    assert Lineage([partial, emptied(2, 9, "a")]).unclear == {}
    assert Lineage([partial, renamed(2, 9, "a", "b")]).unclear == {B: "parts of JSON"}


def test_prepared_transactions_count_once_they_are_committed() -> None:
    def xa(position: int, kind: EffectKind, xid: str) -> Entry:
        return Entry.of(Effect(position, kind, "", xid, start=position - 40), 0, 1)

    steps = [
        xa(50, EffectKind.PREPARED, "1"),
        xa(100, EffectKind.PREPARED, "2"),
        xa(150, EffectKind.PREPARED, "3"),
    ]
    lineage = Lineage([*steps, xa(160, EffectKind.COMMITTED, "1"), xa(170, EffectKind.ROLLED_BACK, "2")])
    assert lineage.undone == [
        (Place(0, 1, 60), Place(0, 1, 100)),
        (Place(0, 1, 110), Place(0, 1, 150)),
    ]


def test_entries_come_back_from_their_table_in_the_order_of_the_logs() -> None:
    entries = [
        keyed(1, 4, "a", "id", "n"),
        effect(1, 4, EffectKind.UNCLEAR, "a", reason="why"),
        columns_renamed(1, 90, "a", id="key"),
        emptied(10, 4, "b"),
        renamed(10, 100, "a", "b"),
    ]
    assert entries_of([entries_as_batch(entries[::-1])]) == entries


def test_a_place_is_the_beginning_of_a_sequence() -> None:
    assert Place(0, 7, 1234567890).as_sequence() == "10.17.A1234567890."
    assert Place(0, 7, 99).as_sequence() < "10.17.299.10.1" < Place(0, 7, 100).as_sequence()


def test_a_pipeline_reads_the_lineage_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = sorted((CORPUS / "mysql-9.7" / "workload").glob("binlog.0*"))
    fill(tmp_path, logs[:1])
    reading = Mock(side_effect=entries_of)
    monkeypatch.setattr(batches, "entries_of", reading)
    pipeline = Pipeline(Job(Following(tuple(map(str, logs)), max_bytes=30_000), str(tmp_path)))
    pipeline.run(OneByOne())
    assert reading.call_count == 1
    assert pipeline.lake.plan is not None
    assert pipeline.lake.plan.batch > 3
    assert vars(pipeline.lake.lineage) == vars(opened(tmp_path).lineage)


def test_a_dropped_column_is_not_the_new_one_of_its_name() -> None:
    steps = (
        columns_moved(1, 10, "a", ("x", "")),
        renamed(1, 15, "a", "b"),
        columns_moved(1, 20, "b", ("", "X")),
    )
    moves = Lineage([*steps, columns_moved(1, 30, "b", ("", "y"))]).moves(B)
    assert moves == [Moves(Place(0, 1, 11), {"x": ""}), Moves(Place(0, 1, 21), {}, frozenset({"x"}))]
    names = {"id": "id", "x": "x"}
    assert naming(names, moves) == (names, {"x"}, set())
    assert naming(names, moves, 1) == (names, set(), {"x"})
    assert naming(names, moves, 2) == (names, set(), set())


def test_a_column_that_has_changed_its_type_is_renamed_with_what_it_was() -> None:
    moves = [Moves(Place(0, 1, 10), {"c": "b", "d": ""})]
    own = ["c", "c_", "d", "d_", "b"]
    before = {"c": "b", "c_": "b_", "d": "d", "d_": "d_", "b": "b"}
    assert naming(own, moves) == (before, {"d", "d_"}, {"b"})
    assert naming(own, moves, 1) == ({name: name for name in own}, set(), {"c", "c_", "d", "d_"})
