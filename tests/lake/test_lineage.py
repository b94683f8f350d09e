"""The changes that make up a table after TRUNCATE and RENAME."""

from __future__ import annotations

from typing import Any

from binlog_kaitai.lake.lineage import Lineage, Place, Segment


def record(batch: int, *table_effects: dict[str, Any], **keys: list[str]) -> dict[str, Any]:
    named = {f"d.{name}": key for name, key in keys.items()}
    return {
        "batch": batch,
        "pieces": [{"keys": named, "incomplete": {}, "table_effects": list(table_effects)}],
    }


def emptied(position: int, table: str) -> dict[str, Any]:
    return {"position": position, "kind": "emptied", "schema_name": "d", "table_name": table}


def renamed(position: int, old: str, new: str) -> dict[str, Any]:
    names = {"schema_name": "d", "table_name": old, "new_schema_name": "d", "new_table_name": new}
    return {"position": position, "kind": "renamed", **names}


def test_a_table_is_all_its_changes() -> None:
    lineage = Lineage.of([record(0, a=["id"]), record(3, a=["id"], b=[])])
    assert lineage.tables() == ["d.a", "d.b"]
    assert lineage.segments("d.a") == [Segment("d.a")]
    assert lineage.keys == {"d.a": ["id"], "d.b": []}
    assert lineage.newest == {"d.a": 3, "d.b": 3}


def test_an_emptied_table_begins_there() -> None:
    lineage = Lineage.of([record(0, emptied(50, "a"), a=["id"], b=["id"]), record(1, emptied(70, ""))])
    assert lineage.segments("d.a") == [Segment("d.a", after=Place(1, 0, 70))]
    assert lineage.segments("d.b") == [Segment("d.b", after=Place(1, 0, 70))]


def test_a_renamed_table_keeps_its_rows() -> None:
    steps = (renamed(10, "a", "old"), renamed(20, "new", "a"))
    lineage = Lineage.of([record(0, a=["id"]), record(1, *steps, a=["id"], new=["id"])])
    first, second = Place(1, 0, 10), Place(1, 0, 20)
    assert lineage.segments("d.old") == [Segment("d.a", before=first), Segment("d.old", after=first)]
    assert lineage.segments("d.a") == [Segment("d.new", before=second), Segment("d.a", after=second)]
    assert lineage.segments("d.new") == [Segment("d.new", after=second)]
    assert lineage.keys["d.old"] == ["id"]


def columns_renamed(position: int, table: str, **names: str) -> dict[str, Any]:
    key = {"schema_name": "d", "table_name": table}
    return {"position": position, "kind": "columns_renamed", "columns": [*names.items()], **key}


def test_renamed_columns_follow_their_table() -> None:
    steps = (
        columns_renamed(10, "a", id="key", X="y"),
        renamed(20, "a", "b"),
        columns_renamed(30, "b", y="_file"),
    )
    lineage = Lineage.of([record(0, a=["id"]), record(1, *steps, b=[])])
    first, second = lineage.renames("d.b")
    assert first == (Place(1, 0, 10), {"id": "key", "x": "y"})
    assert second == (Place(1, 0, 30), {"y": "_file_"})
    assert lineage.renames("d.a") == []
    assert lineage.newest["d.b"] == 1
    early = Lineage.of([record(0, columns_renamed(9, "a", id="key"), a=["id"])])
    assert early.keys == {"d.a": ["key"]}
    assert Lineage.of([record(0, columns_renamed(9, "a", id="k"), emptied(10, "a"))]).renames("d.a") == []


def test_statements_after_a_moment_do_not_count() -> None:
    lineage = Lineage.of([record(0, emptied(50, "a"), a=["id"])], until=Place(0, 0, 40))
    assert lineage.segments("d.a") == [Segment("d.a")]


def test_what_the_changes_do_not_show() -> None:
    partial = record(0, a=["id"])
    partial["pieces"][0]["incomplete"] = {"d.a": "parts of JSON"}
    moved = {"position": 9, "kind": "unclear", "schema_name": "d", "table_name": "b", "reason": "partitions"}
    lineage = Lineage.of([partial, record(1, moved, b=[])])
    assert "JSON" in lineage.unclear["d.a"]
    assert "partitions" in lineage.unclear["d.b"]
    assert not Lineage.of([partial, record(1, emptied(9, "a"))]).unclear


def test_a_copy_of_a_table_is_continued_unless_a_later_statement_emptied_or_renamed_it() -> None:
    steps = (emptied(50, "a"), renamed(60, "b", "old"), renamed(70, "new", "b"))
    lineage = Lineage.of([record(0, a=["id"], b=["id"], c=["id"]), record(3, *steps), record(5, a=["id"])])
    for table in ("d.a", "d.b", "d.old"):
        assert [lineage.is_continued(table, batch) for batch in (0, 2, 3, 5)] == [False, False, True, True]
    assert lineage.is_continued("d.c", 0)


def test_a_copy_of_a_table_lacks_what_was_prepared_before_and_committed_since() -> None:
    def xa(kind: str, position: int) -> dict[str, Any]:
        return {"position": position, "start": 4, "kind": kind, "schema_name": "", "table_name": "1,x,"}

    lineage = Lineage.of([record(1, xa("prepared", 50), a=["id"]), record(4, xa("committed", 60))])
    assert [lineage.is_continued("d.a", batch) for batch in (0, 1, 3, 4)] == [True, False, False, True]
