"""Given logs of incidents, `sql --undo` reverts the selected changes, and says what else the script does.

The logs in `logs`, `undo-mysql-9.7` and `undo-mariadb-11.8`, are of the same statements on MySQL 9.7.4 and
MariaDB 11.8.6: changes of all rows of five tables, then later changes of some of these rows. One table is
referenced by a foreign key with ON DELETE CASCADE, and one has a trigger.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

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
