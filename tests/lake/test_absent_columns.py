"""Columns that images leave out: unchanged, computed by the server, the default of an INSERT, or not known.

The logs in `logs`, each of one table `w.t`, are of MySQL 9.7.4, MariaDB 10.11.19 and 11.8.6:

- `minimal`, `full`: a primary key, generated columns `v` and `s`, literal defaults; INSERTs that name few
  columns, UPDATEs of `a`, `n` and the key; binlog_row_image MINIMAL and FULL, in MySQL with names
- `keyless`: a virtual column and no key; FULL
- `replace`: as `minimal`, then a REPLACE that an update is logged for
- `cascade`, also of MySQL 8.0.15: `p` (id PRIMARY KEY, k UNIQUE, n), `t` (id, p, k) with the foreign keys p,
  REFERENCES p (id) ON DELETE CASCADE, and k, REFERENCES p (k) ON UPDATE CASCADE; an UPDATE of `n` (of `t` in
  `delete`), then what the name says: a DELETE, an UPDATE of the key, or of `n`

The contents are the server's SELECT.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from binlog_kaitai.values.defaults import UnknownDefaultError, default_of
from binlog_kaitai.values.schema import Column
from tests.lake.lakes import opened, table
from tests.lake.test_state import run
from tests.refusals import events_in, log_of

LOGS = Path(__file__).parent / "logs"

DEFAULTS = {"d": 5, "x": "it's", "y": Decimal("1.500"), "e": "y", "n": None, "u": None}
ROWS = [
    {"id": 1, "a": 50, "v": 51, "s": 100, **DEFAULTS},
    {"id": 2, "a": 2, "v": 3, "s": 4, **DEFAULTS, "n": "new"},
    {"id": 4, "a": 4, "v": 5, "s": 8, **DEFAULTS, "d": 9, "u": 4},
    {"id": 30, "a": 3, "v": 4, "s": 6, **DEFAULTS},
]


def without(rows: list[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in names} for row in rows]


def state(lake: Path, name: str = "w.t") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table(opened(lake), f"state/{name}").to_pylist()
    return sorted(rows, key=lambda row: tuple(row.values()))


@pytest.mark.parametrize("size", [300, 1 << 20], ids=["many batches", "one batch"])
@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("minimal-mysql-9.7", ROWS),
        ("minimal-mariadb-10.11", without(ROWS, "v")),  # which leaves out virtual columns
        ("minimal-mariadb-11.8", without(ROWS, "v", "s")),
        ("full-mariadb-11.8", without([ROWS[0], ROWS[1], ROWS[3]], "v", "s")),
        ("keyless-mariadb-11.8", [{"a": 2}, {"a": 3}]),
    ],
)
def test_the_state_has_what_the_server_has_or_says_what_it_lacks(
    log: str, expected: list[dict[str, Any]], size: int, tmp_path: Path
) -> None:
    assert not run(tmp_path, [LOGS / f"{log}.000001"], size, views=["changes"])
    assert state(tmp_path) == expected
    kept = opened(tmp_path).private.open("state/w.t")
    assert kept is not None
    left_out = ", ".join(name for name in ("v", "s") if name in ROWS[0] and name not in kept.columns)
    if log.startswith("keyless"):
        left_out = "v"
    said = "without columns that the server computes, since its log leaves out their values: "
    assert (kept.handle.metadata().description or "") == (f"{said}{left_out}" if left_out else "")


def test_defaults_are_in_the_changes(tmp_path: Path) -> None:
    run(tmp_path, [LOGS / "minimal-mysql-9.7.000001"], 1 << 20, views=["changes"])
    changes = table(opened(tmp_path), "changes/w.t").sort_by("_sequence").to_pylist()
    first, update = changes[0], changes[5]
    assert {name: first[name] for name in DEFAULTS} == DEFAULTS
    assert first["_absent"] is None
    assert (update["_change_type"], update["a"], update["d"]) == ("update_postimage", 50, None)
    assert update["_absent"] == ["id", "d", "x", "y", "e", "n", "u"]


def test_a_replace_is_not_taken_for_an_update(tmp_path: Path) -> None:
    """Its image has only `a` and `u`: the server set all others to their defaults, even the key."""
    refused = run(tmp_path, [LOGS / "replace-mariadb-11.8.000001"], 1 << 20, views=["changes"])
    assert "images of an update lack id, d, x, y, e, n, and may be those of a REPLACE" in refused["w.t"]


@pytest.mark.parametrize("log", ["minimal-mysql-9.7", "minimal-mariadb-11.8", "full-mariadb-11.8"])
def test_without_a_definition(log: str, tmp_path: Path) -> None:
    """Only MySQL's images show by themselves that a column is unchanged."""
    events = events_in((LOGS / f"{log}.000001").read_bytes())
    path, later = tmp_path / "log.000001", [event for event in events if b"CREATE TABLE" not in event]
    path.write_bytes(log_of(later, is_checksummed=True))
    (reason,) = run(tmp_path / "lake", [path], 1 << 20, views=["changes"]).values()
    assert {
        "minimal-mysql-9.7": "and values of d, x, y, e, n, u are not known: an INSERT left them out",
        "minimal-mariadb-11.8": "images of updates lack c2, c3, c4, c5, c6, c7, c8, c9, c10; whether the",
        "full-mariadb-11.8": "images of updates lack c3, c4; whether the server computes these columns",
    }[log] in reason


CHILDREN = [{"id": 1, "p": 1, "k": 1}, {"id": 2, "p": 2, "k": 2}, {"id": 3, "p": 2, "k": 3}]
CASCADES = {"delete": CHILDREN[:1], "key": [*CHILDREN[:2], {"id": 3, "p": 2, "k": 30}], "other": CHILDREN}


@pytest.mark.parametrize("tables", [(), ("w.t",)], ids=["all tables", "without the parent"])
@pytest.mark.parametrize("change", CASCADES)
@pytest.mark.parametrize("server", ["mysql-9.7", "mysql-8.0", "mariadb-11.8"])
def test_what_foreign_keys_change(server: str, change: str, tables: tuple[str, ...], tmp_path: Path) -> None:
    """MySQL logs it since 9.6; with other servers, the state of a table depends on changes of its parent."""
    log = LOGS / f"cascade_{change}-{server}.000001"
    refused = run(tmp_path, [log], 300, views=["changes"], tables=tables)
    if server == "mysql-9.7" or change == "other":
        assert not refused
        assert state(tmp_path) == CASCADES[change]
    else:
        reason = "a foreign key changes its rows with those of w.p, and the server does not log it"
        assert refused == {"w.t": reason}


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ({"default": "NULL"}, None),
        ({"default": ""}, None),
        ({"default": "'7'"}, 7),
        ({"default": "TRUE"}, 1),
        ({"default": "1.0"}, 1),
        # A value that the server would convert, choose by its mode, or compute.
        ({"default": "1.5"}, UnknownDefaultError),
        ({"default": "'x'"}, UnknownDefaultError),
        ({"default": "", "is_nullable": False}, UnknownDefaultError),
        ({"default": None}, UnknownDefaultError),
        ({"default": "5", "is_generated": None}, UnknownDefaultError),
    ],
)
def test_values_of_defaults(definition: dict[str, Any], expected: object) -> None:
    facts = {"is_generated": False, **definition}
    column = Column(0, "a", True, 3, **facts)
    if expected is UnknownDefaultError:
        with pytest.raises(UnknownDefaultError):
            default_of(column)
    else:
        assert default_of(column) == expected
