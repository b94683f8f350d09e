"""Slices to send to others: no value of a masked column and no statement is in any byte of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.errors import FilterWarning, UsageError
from binlog_kaitai.log.event_rows import Row
from binlog_kaitai.sources.source import Source
from tests.corpus_files import LogFile, case, logs
from tests.extent import sample

#: With PARTIAL_JSON.
_PARTIAL = ("json_partial", "odd_values")
_SMALL = [log for log in logs() if log.path.stat().st_size < 100_000 and log.case.folder.name not in _PARTIAL]
_NAMED = case("mysql-9.7", "types_metadata").logs[0]
_ALL = "*.*.*=null"
_OF_VALUES = (
    EventType.user_var_event,
    EventType.rows_query_log_event,
    EventType.annotate_rows_event,
    EventType.append_block_event,
    EventType.begin_load_query_event,
    EventType.execute_load_query_event,
)


def images(row: Row) -> Iterator[dict[str, Any]]:
    yield from (image for image in (row.before, row.after) if image is not None)


def secrets_of(path: Path) -> set[bytes]:
    """The bytes of values that are long enough to occur nowhere else, and the texts of statements.

    The members of ENUM and SET are in table maps, and stay.
    """
    found = set[bytes]()
    for row in bk.read_rows(path):
        members = {member for column in row.schema.columns for member in column.members or ()}
        for value in (value for image in images(row) for value in image.values()):
            if isinstance(value, str) and value not in members:
                value = value.encode("utf-8", "surrogateescape")
            if isinstance(value, bytes) and len(value) >= 8 and value.strip(b"\0"):
                found.add(value)
    for event in bk.open(path):
        query = getattr(event.body, "query", None)
        if isinstance(query, bytes) and not re.match(rb"BEGIN|COMMIT|ROLLBACK|SAVEPOINT|XA ", query):
            found.add(query)
        if event.type_code in _OF_VALUES:
            found.add(event.raw[19:-4])
    return found


@pytest.mark.parametrize("log", sample(_SMALL, 30, 60), ids=lambda log: log.id)
def test_no_value_and_no_statement_remains(log: LogFile, tmp_path: Path) -> None:
    target = tmp_path / "masked"
    (done,) = bk.slice(log.path, target, mask=_ALL)
    report = scan(Source.of_path(str(target)), is_thorough=True)
    assert not report.damages
    assert (report.events, report.size) == (done.events, done.bytes)
    data = target.read_bytes()
    assert not [secret for secret in secrets_of(log.path) if secret in data]
    rows, masked = list(bk.read_rows(log.path)), list(bk.read_rows(target))
    assert [(row.change, row.schema.full_name, row.gtid) for row in masked] == [
        (row.change, row.schema.full_name, row.gtid) for row in rows
    ]
    for row, other in zip(rows, masked, strict=True):
        for image, nulls in zip(images(row), images(other), strict=True):
            assert list(nulls.values()) == [None] * len(image)
    gtids = [bk.read_transactions(path).read_all()["gtid"] for path in (log.path, target)]
    assert gtids[0].equals(gtids[1])


def test_other_columns_remain_as_they_are(tmp_path: Path) -> None:
    """In images of each kind; a column that is left out is NULL, too."""
    target = tmp_path / "masked"
    bk.slice(_NAMED, target, mask=["t.strs.c10|v10=null"], exclude_columns="t.ints.*u")
    hidden = {"strs": {"c10", "v10"}, "ints": {"tu", "su", "mu", "iu", "bu"}}
    found = 0
    for row, masked in zip(bk.read_rows(_NAMED), bk.read_rows(target), strict=True):
        names = hidden.get(row.schema.table_name, set())
        for image, other in zip(images(row), images(masked), strict=True):
            assert other == {name: None if name in names else value for name, value in image.items()}
            found += not names.isdisjoint(image)
    assert found > 10


def test_only_the_selected_transactions(tmp_path: Path) -> None:
    """A table of another transaction need not have the columns of a rule."""
    target = tmp_path / "masked"
    bk.slice(_NAMED, target, table="t.ints", include_columns="t.ints.id")
    assert {row.schema.table_name for row in bk.read_rows(target)} == {"ints"}
    for image in (image for row in bk.read_rows(target) for image in images(row)):
        assert image.pop("id") is not None
        assert {*image.values()} == {None}


@pytest.mark.parametrize(
    ("log", "mask", "reason"),
    [
        (_NAMED, "t.strs.c10=hash", "masked values are NULL here; use the method null"),
        (_NAMED, "t.strs.nosuch=null", "t.strs has no column nosuch"),
        (case("mysql-9.7", "json_partial").logs[0], _ALL, "PARTIAL_JSON) cannot be masked"),
        (case("mysql-9.7", "rotate").logs[3], "*.*.email=null", "give its CREATE TABLE by ddl"),
    ],
)
def test_what_cannot_be_masked_is_refused(log: Path, mask: str, reason: str, tmp_path: Path) -> None:
    target = tmp_path / "masked"
    with pytest.raises(UsageError, match=re.escape(reason)):
        bk.slice(log, target, mask=mask)
    assert not target.exists()


def test_another_text_of_a_boundary_is_refused(tmp_path: Path) -> None:
    """It may have a comment with anything, and without it transactions would be others."""
    log = tmp_path / "binlog.000001"
    log.write_bytes(case("mysql-9.7", "no_checksum").logs[0].read_bytes().replace(b"BEGIN", b"Begin"))
    with pytest.raises(UsageError, match="begins or ends a transaction cannot be masked"):
        bk.slice(log, tmp_path / "masked", mask=_ALL)


def test_a_rule_for_no_table_is_named(tmp_path: Path) -> None:
    with pytest.warns(FilterWarning, match=r"no table has the columns t\.strz\.a=null"):
        bk.slice(_NAMED, tmp_path / "masked", mask=["t.strz.a=null", _ALL])
