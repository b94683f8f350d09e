"""Given logs of incidents, `sql --undo` reverts the selected changes, and says what else the script does.

The logs in `logs`, `undo-mysql-9.7` and `undo-mariadb-11.8`, are of the same statements on MySQL 9.7.4 and
MariaDB 11.8.6: changes of all rows of five tables, then later changes of some of these rows. One table is
referenced by a foreign key with ON DELETE CASCADE, and one has a trigger.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.errors import UsageError
from tests.log_maker import LogMaker, events_of, statement
from tests.render.test_sql import after_definitions, sql

LOGS = {
    name: Path(__file__).parent / "logs" / f"undo-{name}.000001" for name in ("mysql-9.7", "mariadb-11.8")
}
every_server = pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)

ORDERS = "CREATE TABLE u.orders (id INT PRIMARY KEY, total INT, due {}, changed {})"


def updates(log: Path, **options: Any) -> list[str]:
    """The statements that revert the update of all orders, without their WHERE."""
    text = sql(log, undo=True, where="total > 0 AND total < 40", operation=["update"], **options)
    return [
        line.partition(" WHERE")[0] for line in text.split("\n") if line.startswith("UPDATE `u`.`orders`")
    ]


@every_server
def test_an_update_sets_what_changed_and_holds_what_would_update_itself(log: Path) -> None:
    sets = "UPDATE `u`.`orders` SET `total`="
    assert updates(log) == [f"{sets}{total}, `changed`=`changed`" for total in (30, 20, 10)]


@pytest.mark.parametrize(
    ("due", "changed", "held"),
    [
        ("DATETIME", "TIMESTAMP NULL", []),
        ("DATETIME", "TIMESTAMP NULL DEFAULT NULL ON UPDATE NOW()", ["changed"]),
        ("DATETIME ON UPDATE NOW() DEFAULT NOW()", "TIMESTAMP DEFAULT 0", ["due"]),
        ("DATETIME DEFAULT NOW()", "TIMESTAMP NOT NULL", ["changed"]),  # implicitly, on some servers
        ("DATETIME", "TIMESTAMP AS (due) STORED", []),
    ],
)
def test_a_definition_tells_which_columns_update_themselves(
    due: str, changed: str, held: list[str], tmp_path: Path
) -> None:
    log = after_definitions(LOGS["mysql-9.7"], tmp_path)
    expected = "".join(f", `{column}`=`{column}`" for column in held)
    assert [one.partition("30")[2] for one in updates(log, ddl=ORDERS.format(due, changed))[:1]] == [expected]
    # The current definition counts.
    found = updates(
        log, ddl=ORDERS.format("DATETIME", "TIMESTAMP NULL"), for_table=ORDERS.format(due, changed)
    )
    assert found[0].partition("30")[2] == expected


def test_without_a_definition_every_column_with_a_date_and_time_is_held(tmp_path: Path) -> None:
    log = after_definitions(LOGS["mysql-9.7"], tmp_path)
    text = sql(log, undo=True, operation=["update"])
    assert "UPDATE `u`.`orders` SET `c2`=10, `c3`=`c3`, `c4`=`c4` WHERE" in text


def test_a_column_that_was_added_since_is_held() -> None:
    today = ORDERS.format("DATETIME", "TIMESTAMP NULL, added DATETIME ON UPDATE NOW(), n INT")
    found = updates(LOGS["mysql-9.7"], for_table=today)
    assert found[0] == "UPDATE `u`.`orders` SET `total`=30, `added`=`added`"


#: The incident: updates of orders, notes and parents, a delete of a parent, an update of the watched table.
INCIDENT = {"mysql-9.7": (3965, 6000), "mariadb-11.8": (3200, 4600)}


def incident(log: Path, **filters: Any) -> dict[str, Any]:
    start, stop = INCIDENT["mysql-9.7" if "mysql" in log.name else "mariadb-11.8"]
    return {"start_position": start, "stop_position": stop, **filters}


def again(said: list[str]) -> list[str]:
    return [one.replace(str(Path(__file__).parent), "") for one in said if "changed again" in one]


@every_server
def test_rows_that_were_changed_again_later_are_counted_in_logs_read_past_the_stop(log: Path) -> None:
    """Of three orders, two notes, two parents, a watched and a seen row; MySQL logs a child, too."""
    said: list[str] = []
    text = sql(log, said, undo=True, filters=incident(log))
    (warning,) = again(said)
    rows = 10 if "mysql" in log.name else 9
    assert f"3 of {rows} rows were changed again, the first at " in warning
    (position,) = [
        row.position
        for row in bk.read_rows(log)
        if row.change.value == "delete" and row.schema.table_name == "orders"
    ]
    assert f"{log.name}:{position} (u.orders)" in warning
    assert warning.split(":")[0][:40] in text[: text.index("BEGIN;")]


@pytest.mark.parametrize(
    ("options", "filters", "expected"),
    [
        # Everything is reverted, so nothing is changed again by others.
        ({}, {}, None),
        ({"operation": ["insert", "update", "delete"]}, {}, None),
        # What comes before, or concerns other rows, does not count.
        ({"where": "id = 3"}, {"table": "u.orders"}, None),
        ({"where": "id = 2 AND total = 0"}, {"table": "u.orders", "stop_position": 6000}, "1 of 1"),
        # The second order was deleted; of the first, another column was changed, which --check compares.
        ({"where": "id < 3", "column": ["total"], "operation": ["update"]}, {"table": "u.orders"}, "1 of 2"),
        (
            {"where": "id < 3", "column": ["total"], "operation": ["update"], "check": True},
            {"table": "u.orders"},
            "2 of 2",
        ),
        # All columns of a row that the script deletes count.
        ({"where": "id < 4", "operation": ["insert"]}, {"table": "u.orders"}, "3 of 3"),
        ({"operation": ["delete"]}, {"table": "u.parents"}, "1 of 1"),  # a new row has the key
        # Without a key: a row with other values is another row, an equal new one is no change.
        ({"where": "n = 2", "operation": ["update"]}, {"table": "u.notes"}, None),
        ({"where": "v = 'lost'"}, {"table": "u.notes", "stop_position": 6000}, "1 of 2"),
    ],
)
def test_which_rows_were_changed_again(
    options: dict[str, Any], filters: dict[str, Any], expected: str | None
) -> None:
    said: list[str] = []
    sql(LOGS["mysql-9.7"], said, undo=True, filters=filters, **options)
    assert [one.partition(" rows")[0] for one in again(said)] == ([] if expected is None else [expected])


def test_damage_after_the_stop_is_no_error(tmp_path: Path) -> None:
    log = tmp_path / "binlog.000001"
    data = bytearray(LOGS["mysql-9.7"].read_bytes())
    data[-300] ^= 1
    log.write_bytes(data)
    said: list[str] = []
    text = sql(log, said, undo=True, filters={"start_position": 3965, "stop_position": 4400})
    assert "SET `total`=30" in text
    assert any("it is unknown whether rows were changed again after this: " in one for one in said)
    with pytest.raises(bk.BinlogError):
        sql(log, undo=True, filters={"start_position": 3965})


def test_the_memory_for_rows_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("binlog_kaitai.render.sql.later_changes.MOST_ROWS", 2)
    said: list[str] = []
    sql(LOGS["mysql-9.7"], said, undo=True, filters=incident(LOGS["mysql-9.7"]))
    assert "of more than 2 rows or values, it is unknown whether they were changed again" in said


@every_server
def test_a_later_truncate_of_a_table_is_named(log: Path) -> None:
    layout, groups = events_of(log)
    maker = LogMaker(layout)
    maker.add_all(raw for group in groups for raw in group)
    maker.add(statement(b"TRUNCATE TABLE u.orders", layout))
    said: list[str] = []
    sql(bytes(maker.data), said, undo=True, operation=["update"])
    assert [one for one in said if "must have its earlier rows: TRUNCATE TABLE u.orders" in one]


@every_server
def test_a_trigger_fires_again(log: Path) -> None:
    for undo in (True, False):
        said: list[str] = []
        sql(log, said, undo=undo, operation=["update"])
        expected = "the trigger u.watch fires again, by UPDATE of u.watched"
        assert [one for one in said if one.startswith(expected)]
        sql(log, said := [], undo=undo, operation=["insert"])
        assert not [one for one in said if "trigger" in one]


CREATE_TRIGGER = "CREATE DEFINER=`r`@`h` TRIGGER u.other BEFORE DELETE ON u.notes FOR EACH ROW SET @a = 1"
DROPS = {
    "DROP TRIGGER u.watch": False,
    "DROP TRIGGER IF EXISTS u.watch": False,
    "DROP TABLE u.watched, u.notes": False,
    "DROP DATABASE u": False,
    "DROP TRIGGER u.other": True,
    "DROP TABLE u.seen": True,
    CREATE_TRIGGER: True,
}


@pytest.mark.parametrize(("text", "remains"), DROPS.items())
def test_a_trigger_that_was_dropped_later_does_not_fire(text: str, remains: bool) -> None:
    layout, groups = events_of(LOGS["mysql-9.7"])
    maker = LogMaker(layout)
    maker.add_all(raw for group in groups for raw in group)
    maker.add(statement(text.encode(), layout))
    said: list[str] = []
    sql(bytes(maker.data), said, undo=True, operation=["update"])
    assert any("the trigger u.watch fires again" in one for one in said) == remains
    sql(bytes(maker.data), said := [], operation=["update"])  # repeated while it was there
    assert any("the trigger u.watch fires again" in one for one in said)


def test_marias_table_maps_tell_of_triggers_that_the_log_does_not_define(tmp_path: Path) -> None:
    log = after_definitions(LOGS["mariadb-11.8"], tmp_path)
    said: list[str] = []
    sql(log, said, undo=True, operation=["update"])
    assert [one for one in said if "table map" in one] == [
        "u.watched has triggers, by its table map, which may change more with the script"
    ]


@pytest.mark.parametrize(
    ("operation", "is_concerned"), [("delete", True), ("insert", True), ("update", False)]
)
def test_cascades_that_are_not_in_the_log_are_named(operation: str, is_concerned: bool) -> None:
    said: list[str] = []
    sql(LOGS["mariadb-11.8"], said, undo=True, operation=[operation])
    assert any(
        one.startswith("a foreign key of u.children changes its rows with u.parents") for one in said
    ) == (is_concerned)
    for options in ({"undo": False}, {"undo": True, "log": LOGS["mysql-9.7"]}):  # MySQL logs them since 9.6
        said.clear()
        sql(options.pop("log", LOGS["mariadb-11.8"]), said, operation=[operation], **options)
        assert not [one for one in said if "foreign key" in one]


def test_checked_statements_require_all_values_that_the_log_left() -> None:
    text = sql(LOGS["mysql-9.7"], undo=True, check=True, where="id = 1", filters={"table": "u.orders"})
    found = [line for line in text.split("\n") if "`orders`" in line]
    of_others = "`due` <=> '2026-01-01 00:00:00' AND `changed` <=> '2026-02-01 00:00:00';"
    assert [line.partition(" WHERE ")[2] for line in found] == [
        "`id` = 1 AND `total` <=> 0 AND `due` <=> '2027-01-01 00:00:00' AND `changed` <=> "
        "'2026-11-28 18:11:56';",
        "`id` = 1 AND `total` <=> 0 AND " + of_others,
        "`id` = 1 AND `total` <=> 10 AND " + of_others,
    ]
    checks = "SET @binlog_kaitai_ok = @binlog_kaitai_ok AND ROW_COUNT() = 1;"
    assert text.count(checks) == len(found)
    assert "COMMIT;" not in text


@pytest.mark.parametrize(
    "options", [{"undo": False}, {"extended_insert": True}, {"replace": True}, {"insert_ignore": True}]
)
def test_check_excludes_other_options(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="--check"):
        sql(LOGS["mysql-9.7"], **{"undo": True, "check": True, **options})
