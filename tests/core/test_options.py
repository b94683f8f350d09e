"""Filters in the form of user input."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from binlog_kaitai.core.filters import Filters, whole_number
from binlog_kaitai.errors import UsageError

UUID = "5b6a28a6-3005-11f0-8be8-0242ac150002"


def test_no_filter_takes_everything() -> None:
    filters = Filters.of()
    assert not filters
    assert filters.takes_gtid(None)
    assert filters.takes_names(None, None)


@pytest.mark.parametrize("name", ["QUERY_EVENT", "query", "query-event"])
def test_types_by_any_spelling(name: str) -> None:
    assert Filters.of(event_type=name).event_types == {"QUERY_EVENT"}


def test_log_event_may_be_left_out() -> None:
    assert Filters.of(event_type=["gtid-tagged", "anonymous_gtid"]).event_types == {
        "GTID_TAGGED_LOG_EVENT",
        "ANONYMOUS_GTID_LOG_EVENT",
    }


def test_a_time_with_a_zone_is_that_moment_and_one_without_is_local() -> None:
    assert Filters.of(start_datetime="2026-11-20T10:00:00Z").start_timestamp == int(
        datetime(2026, 11, 20, 10, tzinfo=UTC).timestamp()
    )
    local = datetime(2026, 11, 20, 10)
    assert Filters.of(stop_datetime="2026-11-20 10:00:00").stop_timestamp == int(local.timestamp())


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("2026-11-20 10:00 UTC", 0),
        ("2026-11-20 10:00:00 utc", 0),
        ("2026-11-20 10:00Z", 0),
        ("2026-11-20 10:00:00.75 Z", 0),
        ("2026-11-20T10:00+02:00", 2),
        ("2026-11-20 10:00 +02:00", 2),
        ("2026-11-20 10:00:00 -0530", -5.5),
        ("2026-11-20 10:00 +02", 2),
    ],
)
def test_zones_are_accepted_as_people_write_them(text: str, hours: float) -> None:
    zone = timezone(timedelta(hours=hours))
    expected = int(datetime(2026, 11, 20, 10, tzinfo=zone).timestamp())
    assert Filters.of(start_datetime=text).start_timestamp == expected


@pytest.mark.parametrize(
    ("zone", "local", "utc"),
    [
        # Skipped hours, and times that occur twice; all values are those of mysqlbinlog 9.7.
        ("Europe/Berlin", "2026-03-29 01:50", "2026-03-29 00:50"),
        ("Europe/Berlin", "2026-03-29 02:10", "2026-03-29 01:00"),
        ("Europe/Berlin", "2026-03-29 02:50", "2026-03-29 01:00"),
        ("Europe/Berlin", "2026-03-29 03:10", "2026-03-29 01:10"),
        ("Europe/Berlin", "2026-10-25 01:50", "2026-10-24 23:50"),
        ("Europe/Berlin", "2026-10-25 02:10", "2026-10-25 01:10"),
        ("Europe/Berlin", "2026-10-25 02:50", "2026-10-25 01:50"),
        ("Europe/Berlin", "2026-10-25 03:10", "2026-10-25 02:10"),
        ("America/New_York", "2026-03-08 02:30", "2026-03-08 07:00"),
        ("America/New_York", "2026-11-01 01:30", "2026-11-01 06:30"),
        ("America/Havana", "2026-03-08 00:30", "2026-03-08 05:00"),
        # Half an hour
        ("Australia/Lord_Howe", "2026-10-04 02:15", "2026-10-03 15:45"),
        ("Australia/Lord_Howe", "2026-04-05 01:45", "2026-04-04 15:15"),
    ],
)
def test_local_times_when_the_clock_is_set_are_those_of_mysqlbinlog(zone: str, local: str, utc: str) -> None:
    code = (
        "from binlog_kaitai.core.filters import Filters; "
        f"print(Filters.of(start_datetime={local!r}).start_timestamp)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "TZ": zone}, capture_output=True, check=True
    )
    assert datetime.fromtimestamp(int(done.stdout), UTC) == datetime.fromisoformat(f"{utc}Z")


def test_gtids_of_a_set_are_taken_or_left() -> None:
    only = Filters.of(include_gtids=f"{UUID}:1-5")
    assert only.takes_gtid(f"{UUID}:5")
    assert not only.takes_gtid(f"{UUID}:6")
    assert not only.takes_gtid(None)
    without = Filters.of(exclude_gtids=f"{UUID}:1-5")
    assert not without.takes_gtid(f"{UUID}:5")
    assert without.takes_gtid(f"{UUID}:6")
    assert without.takes_gtid(None)


def test_names_of_schemas_and_tables() -> None:
    by_schema = Filters.of(database="shop")
    assert by_schema.takes_names("shop", None)
    assert not by_schema.takes_names("other", "orders")
    by_table = Filters.of(table=["shop.orders", "shop.items"])
    assert by_table.takes_names("shop", "items")
    assert not by_table.takes_names("shop", "users")
    assert not by_table.takes_names("shop", None)


@pytest.mark.parametrize(
    "wrong",
    [
        {"table": "orders"},
        {"table": "shop."},
        {"event_type": "no_such_event"},
        {"start_datetime": "yesterday"},
        {"include_gtids": "1-2"},
        {"include_gtids": f"{UUID}:{'1' * 5000}"},
        {"include_gtids": f"0-1-{'1' * 5000}"},
        {"exclude_gtids": f"{UUID}:1-{'1' * 5000}"},
        {"include_gtids": f"{UUID}:\u0661"},  # Arabic-Indic 1
        {"include_gtids": f"{UUID}:\u00b9"},  # superscript 1
        {"include_gtids": "0-\uff11-5"},  # a 1 of full width
        {"include_gtids": f"{UUID}:\u212a:1"},  # the sign of Kelvin, which is k without its case
        {"start_datetime": "\u0662026-11-20"},
        {"start_datetime": "2026-11-20 UTC"},  # a zone without a time of day
        {"start_datetime": "2026-11-20 10:00 CET"},
        {"start_datetime": "0001-01-01 00:00:00"},
        {"start_position": 1 << 63},
        {"start_position": "4"},
        {"server_id": -1},
        {"server_id": 1 << 32},
        {"server_id": "12"},
        {"server_id": 10**5000},
    ],
)
def test_nonsense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as error:
        Filters.of(**wrong)
    assert len(str(error.value)) < 200


@pytest.mark.parametrize("text", ["", "x", "\u0661", "\u00b9", "1_000", "1.0", "0x10", "1" * 5000])
def test_what_is_no_whole_number(text: str) -> None:
    with pytest.raises(UsageError, match="is not a valid integer") as error:
        whole_number(text)
    assert len(str(error.value)) < 200


def test_whole_numbers() -> None:
    assert list(map(whole_number, ("0", " 12 ", "-3", str(2**64 - 1)))) == [0, 12, -3, 2**64 - 1]
