"""Tables selected by names, globs and regular expressions."""

from __future__ import annotations

import pickle

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.filters import Filters, TableSet
from tests.corpus_files import case

NAMES = ["shop.orders", "shop.orders_1", "shop.orders_22", "shop.tmp_a", "hr.people", "s[1].odd*name"]


@pytest.mark.parametrize(
    ("items", "wanted"),
    [
        (["shop.orders"], ["shop.orders"]),
        (["shop.*"], NAMES[:4]),
        (["shop.orders_?", "hr.*"], ["shop.orders_1", "hr.people"]),
        ([r"/shop\.orders_[0-9]{1,2}/"], ["shop.orders_1", "shop.orders_22"]),
        (["/orders/"], []),
        (["!shop.tmp_*"], [name for name in NAMES if "tmp" not in name]),
        (["shop.*", "!shop.orders", r"!/.*_\d\d/"], ["shop.orders_1", "shop.tmp_a"]),
        (["*.*"], NAMES),
        # Names that look like globs are names first.
        (["s[1].odd*name"], ["s[1].odd*name"]),
        (["SHOP.*"], []),
    ],
)
def test_what_is_in_a_set(items: list[str], wanted: list[str]) -> None:
    tables = TableSet.of(items)
    for _ in range(2):
        assert [name for name in NAMES if name in tables] == wanted
    again = pickle.loads(pickle.dumps(tables))
    assert again == tables == TableSet.of([*reversed(items), items[0]])
    assert hash(again) == hash(tables)
    assert not TableSet.of([])
    assert TableSet.of(["!a.b"])


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("orders", "'orders' is not a qualified table name; use schema.table"),
        ("!orders", "'!orders' is not a qualified table name"),
        ("shop.", "qualified"),
        ("/a(/", "not a valid regular expression"),
        ("/a", "put it between slashes"),
        ("//", "put it between slashes"),
    ],
)
def test_items_that_are_none(item: str, message: str) -> None:
    with pytest.raises(bk.UsageError, match=message.replace("(", r"\(")):
        Filters.of(table=item)


def test_readers_take_sets() -> None:
    logs = case("mysql-9.7", "types_metadata").logs
    rows = bk.read_changes(logs).read_all().to_pylist()
    names = {f"{row['schema']}.{row['table']}" for row in rows}
    wanted = {name for name in names if name.startswith("t.") and name != "t.ints"}
    assert wanted
    chosen = bk.read_changes(logs, tables=["t.*", "!t.ints"]).read_all().to_pylist()
    assert chosen == [row for row in rows if f"{row['schema']}.{row['table']}" in wanted]
    rows_of = {row.schema.full_name for row in bk.read_rows(logs, table=["t.*", "!t.ints"])}
    assert rows_of == wanted
    transactions = bk.read_transactions(logs, table="t.*").read_all()["tables"].to_pylist()
    assert {name for transaction in transactions for name in transaction} >= wanted
    with pytest.warns(bk.FilterWarning, match=r"table t\.nothing\*: not found"):
        assert not bk.read_changes(logs, tables=["t.nothing*"]).read_all().num_rows
