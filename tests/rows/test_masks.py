"""Masked columns: each method, for each type, and rules that must not stop working in silence."""

from __future__ import annotations

import hashlib
import hmac
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.rows.change_schemas import table_schema
from binlog_kaitai.rows.log_pages import RowsPages
from binlog_kaitai.rows.row_masks import KEY_VARIABLE, Masks, Method
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.values.schema import NameSource
from binlog_kaitai.views.changes_view import typed_batches
from tests.corpus_files import case

NAMED = case("mysql-9.7", "types_full")
KEY = "sixteen bytes at least"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)


def read(table: str, masks: Masks, paths: Any = NAMED.logs) -> pa.Table:
    """The changes of a table, masked; the schema is that of its first definition."""
    chosen = Filters.of(table=table)
    tables = [one for page in RowsPages(paths, chosen) for one, _ in page.runs() if isinstance(one, Table)]
    schema = masks.schema([table.schema for table in tables], table_schema(tables[0]))
    batches = typed_batches(RowsPages(paths, chosen), schema, "null", masks=masks)
    return pa.Table.from_batches(batches, schema)


def plain(table: str, paths: Any = NAMED.logs) -> pa.Table:
    return bk.read_changes(paths, table=table).read_all()


def with_key(value: bytes) -> str:
    return hmac.new(KEY.encode(), value, "sha256").hexdigest()


@pytest.mark.parametrize("table", ["strs", "ints", "decs", "temps", "misc", "geo", "vec", "js", "nokey"])
def test_no_value_remains(table: str) -> None:
    """All columns of all types, hashed and nulled; equal values have equal hashes, and NULL remains NULL."""
    raw = plain(f"t.{table}")
    own = [name for name in raw.column_names if not name.startswith("_")]
    hashed = read(f"t.{table}", Masks.of(mask=[f"t.{table}.*=hash"]))
    nulled = read(f"t.{table}", Masks.of(mask=["*.*.*=null"]))
    assert hashed.num_rows == nulled.num_rows == raw.num_rows
    for name in own:
        assert hashed.schema.field(name).type == pa.string()
        assert nulled.schema.field(name).type == raw.schema.field(name).type
        assert nulled.column(name).null_count == raw.num_rows
        pairs = list(
            zip(map(repr, raw.column(name).to_pylist()), hashed.column(name).to_pylist(), strict=True)
        )
        assert len({*pairs}) == len({one for one, _ in pairs}) == len({other for _, other in pairs})
        assert all((one == "None") == (other is None) for one, other in pairs)
    for name in set(raw.column_names) - {*own}:
        assert hashed.column(name).equals(raw.column(name)), name


def test_what_is_hashed_is_the_text_of_the_value() -> None:
    raw, found = plain("t.ints"), read("t.ints", Masks.of(mask=["t.ints.id|b=hash", "t.ints.i=sha256"]))
    assert found["id"].to_pylist() == [with_key(str(value).encode()) for value in raw["id"].to_pylist()]
    texts = [None if value is None else str(value).encode() for value in raw["i"].to_pylist()]
    assert found["i"].to_pylist() == [text and hashlib.sha256(text).hexdigest() for text in texts]
    raw, found = plain("t.strs"), read("t.strs", Masks.of(mask=["T.STRS.C10|Bin5=hash"]))
    digests = [None if value is None else with_key(value.encode()) for value in raw["c10"].to_pylist()]
    data = [None if value is None else with_key(value) for value in raw["bin5"].to_pylist()]
    assert (found["c10"].to_pylist(), found["bin5"].to_pylist()) == (digests, data)


def test_truncated_and_left_out() -> None:
    rules = ["t.strs.c10|v3000=truncate:2", "t.strs.bin5=truncate:3", "t.strs.c10=truncate:1"]
    raw, found = plain("t.strs"), read("t.strs", Masks.of(exclude=["t.strs.c1*"], mask=rules))
    assert [name for name in raw.column_names if name not in found.column_names] == ["c1", "c10"]
    for name, length in (("v3000", 2), ("bin5", 3)):
        assert found[name].to_pylist() == [value and value[:length] for value in raw[name].to_pylist()]
    kept = read("t.strs", Masks.of(include=["t.strs.id|c63"], exclude=["*.*.c63"]))
    assert [name for name in kept.column_names if not name.startswith("_")] == ["id"]
    with pytest.raises(bk.UsageError, match=r"t\.ints, column i: truncate is for text and binary columns"):
        read("t.ints", Masks.of(mask=["t.ints.i=truncate:2"]))


def test_the_strictest_rule_applies() -> None:
    rules = ["*.*.c=truncate:9", "a.b.c=hash", "*.b.c=truncate:3", "a.*.*=sha256"]
    for mask in (rules, rules[::-1]):
        masks = Masks.of(mask=mask)
        assert masks.treatment("a.b", "C").method is Method.HASHED
        assert masks.treatment("a.x", "c").method is Method.SHA256
        assert masks.treatment("x.b", "c") == (Method.TRUNCATED, 3)
        assert masks.treatment("x.y", "d").method is Method.KEPT


def test_rules_do_not_stop_working_in_silence() -> None:
    with pytest.raises(bk.UsageError, match=r"t\.strs has no column mail; if it was renamed"):
        read("t.strs", Masks.of(mask=["t.strs.mail=null"]))
    assert read("t.strs", Masks.of(mask=["*.*.mail=null"])).num_rows
    assert (
        read("t.strs", Masks.of(mask=["t.strs.mail|c10=null"]))["c10"].null_count == plain("t.strs").num_rows
    )


def test_columns_without_names_are_refused() -> None:
    """Otherwise `c1` would have the values of the column to mask."""
    page = next(iter(RowsPages(NAMED.logs, Filters.of(table="t.ints"))))
    table = next(one for one, _ in page.runs())
    assert isinstance(table, Table)
    schema = replace(table.schema, names_from=NameSource.NONE)
    assert Masks.of(mask=["s.*.email=null"]).treatments(schema) == {}
    with pytest.raises(
        bk.UsageError, match=r"t\.ints: .* so those to mask are unknown; give its CREATE TABLE"
    ):
        Masks.of(mask=["*.*.email=null"]).treatments(schema)
    whole = Masks.of(mask=["*.*.*=hash", "t.*.*=null"]).treatments(schema)
    assert {one.method for one in whole.values()} == {Method.NULL}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mask": ["a.b.c"]}, "is not valid; use schema.table.column=METHOD"),
        ({"mask": ["a.b.c=truncate:0"]}, "is not valid"),
        ({"mask": ["b.c=null"]}, "does not name columns"),
        ({"exclude": ["a.b.c|"]}, "does not name columns"),
        ({"mask": ["a.b.c=hash"], "key_file": "/nonexistent"}, "cannot be read"),
        ({"mask": ["a.b.c=null"], "key_file": "/nonexistent"}, "no mask uses the method hash"),
    ],
)
def test_invalid_rules(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(bk.UsageError, match=message):
        Masks.of(**arguments)


def test_the_key_stays_in_its_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is not in what travels to tasks, and must be the same there."""
    masks = Masks.of(mask=["t.ints.id=hash"])
    expected = read("t.ints", masks)["id"].to_pylist()
    assert KEY.encode() not in pickle.dumps(masks)
    assert KEY not in repr(masks)
    assert KEY not in str(masks.as_dict())
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    of_file = Masks.of(mask=["t.ints.id=hash"], key_file=str(file))
    assert read("t.ints", Masks.of_dict(of_file.as_dict()))["id"].to_pylist() == expected
    other = tmp_path / "other"
    other.write_text("another key of sixteen bytes")
    moved = Masks(mask=("t.ints.id=hash",), key_file=str(other), fingerprint=masks.fingerprint)
    with pytest.raises(bk.UsageError, match="is not the same in all processes"):
        read("t.ints", moved)
    monkeypatch.setenv(KEY_VARIABLE, "short")
    with pytest.raises(bk.UsageError, match="has 5 bytes; use at least 16"):
        Masks.of(mask=["t.ints.id=hash"])
    monkeypatch.delenv(KEY_VARIABLE)
    with pytest.raises(bk.UsageError, match="the mask hash needs a key"):
        Masks.of(mask=["t.ints.id=hash"])


def test_renames_that_would_uncover_values() -> None:
    masks = Masks.of(mask=["shop.customers.email=null"], exclude=["shop.customers.note*"])
    masks.check_rename(("shop.customers", "name"), ("shop.customers", "email"))
    masks.check_rename(("shop.customers", "note"), ("shop.customers", "note2"))
    with pytest.raises(bk.UsageError, match=r"renames it to shop\.customers\.mail, which is not; add a rule"):
        masks.check_rename(("shop.customers", "email"), ("shop.customers", "mail"))
    with pytest.raises(bk.UsageError, match=r"renames it to shop\.clients; add the same rules"):
        masks.check_table_rename("shop.customers", "shop.clients")
    masks.check_table_rename("shop.clients", "shop.customers")


def test_a_later_run_has_the_masks_of_the_first() -> None:
    first = Masks.of(mask=["s.t.email=hash"], exclude=["s.t.x"])
    Masks.of(mask=["s.t.mail|email=hash", "s.u.a=null"], exclude=["s.t.x"]).check_follows(first)
    with pytest.raises(bk.UsageError, match=r"the lake has the exclude s\.t\.x, which this run lacks"):
        Masks.of(mask=["s.t.email=hash"]).check_follows(first)
    with pytest.raises(bk.UsageError, match=r"the lake has the mask s\.t\.email=hash"):
        Masks.of(mask=["s.t.email=null"], exclude=["s.t.x"]).check_follows(first)
    other = Masks(first.include, first.exclude, first.mask, fingerprint="00000000")
    with pytest.raises(bk.UsageError, match="another mask key"):
        other.check_follows(first)
