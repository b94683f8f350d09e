"""Signs of numbers beside YEAR columns: not all servers write a bit for YEAR in a table map's signedness.

The logs are those of a server that does not (`mysql-8.0/year_signedness`).
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.known_formats import artificial_event, known_formats
from binlog_kaitai.ddl import DefinitionMismatch
from tests.corpus_files import case
from tests.ddl.test_definitions import define
from tests.grammar.row_bytes import YearBits, field, table_map
from tests.log_maker import LogMaker, events_of

CASE = case("mysql-8.0", "year_signedness")
WITH_DDL, FULL, MINIMAL = CASE.logs
Y7 = (
    "USE t; CREATE TABLE y7 (y YEAR, a TINYINT UNSIGNED, b TINYINT, c SMALLINT UNSIGNED, d SMALLINT,"
    " e MEDIUMINT UNSIGNED, f MEDIUMINT, g INT UNSIGNED);"
)


def by_reader(log: Path, ddl: str | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Table and last image of each changed row, event by event."""
    with bk.open(log, ddl=ddl) as events:
        for event in events:
            for row in event.rows():
                yield row.schema.table_name, dict(row.after or {})


def by_columns(log: Path, ddl: str | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
    """The same by columns; raises the warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", bk.DefinitionWarning)
        changes = bk.read_changes(log, ddl=ddl).read_all().to_pylist()
    for change in changes:
        yield change["table"], json.loads(change["after"])


READERS = pytest.mark.parametrize("read", [by_reader, by_columns])


def contents(images: Iterator[tuple[str, dict[str, Any]]]) -> set[tuple[str, ...]]:
    return {(table, *map(str, image.values())) for table, image in images}


@READERS
def test_signs_are_those_of_the_tables(read: Any) -> None:
    after = {(table["table"], *row) for table in CASE.tables() for row in map(tuple, table["rows"])}
    assert contents(read(MINIMAL)) == after
    assert len(after) == 8


@READERS
def test_signs_where_the_table_map_has_the_names(read: Any) -> None:
    images = dict(read(WITH_DDL)) | {f"{table} later": image for table, image in read(FULL)}
    signed_and_unsigned = {"t": "é"} | {name: 4294967295 - number for number, name in enumerate("abcdefgh")}
    signed_and_unsigned |= {"y": 1999} | {name: -9 - number for number, name in enumerate("ijklmnop")}
    assert images["y17"] == signed_and_unsigned | {"q": 4294967279}
    assert images["y17 later"] == signed_and_unsigned | {"q": 4294967278}
    assert images["y15"] == dict(zip("abcdefyzxghijklmno", [
        -1, -2, -3, -4, -5, -6, 2001, 2002, 2003, 4294967289, 4294967288, -9, -10, -11, -12, -13, -14,
        18446744073709551601,
    ], strict=True))  # fmt: skip


@READERS
def test_without_names_a_definition_with_these_signs_provides_them(read: Any) -> None:
    found = [image for table, image in read(MINIMAL, Y7) if table == "y7"]
    assert found[0] == {
        "y": 2025, "a": 255, "b": -1, "c": 65535, "d": -1, "e": 16777215, "f": -1, "g": 4294967294,
    }  # fmt: skip


@READERS
def test_in_a_relay_log_the_source_decides(read: Any, tmp_path: Path) -> None:
    layout, (start, *_) = events_of(case("mysql-9.7", "metadata").logs[0])
    log = LogMaker(layout)
    log.add(start[0])
    log.add_all(raw for group in events_of(MINIMAL)[1] for raw in group)
    assert contents(read(log.write(tmp_path / "relay.000002"))) == contents(read(MINIMAL))


def of_version(server_version: str, source: Path, folder: Path) -> Path:
    """The log as if another server had written it."""
    layout, groups = events_of(source)
    log = LogMaker(layout)
    log.add(artificial_event(known_formats(server_version)[0], server_version, is_checksummed=True))
    log.add_all(raw for group in groups for raw in group[group is groups[0] :])
    return log.write(folder / "binlog.000001")


def test_a_server_that_may_do_either_leaves_only_signs_open_that_depend_on_it(tmp_path: Path) -> None:
    log = of_version("8.0.22", MINIMAL, tmp_path)
    signed = "y7", "2025", "-1", "-1", "-1", "-1", "-1", "-1", "-2"
    assert contents(by_reader(log)) - contents(by_reader(MINIMAL)) == {signed}
    open_signs = r"position \d+: table t\.y7: .* whether c2, c3, c4, c5, c6, c7, c8 is unsigned"
    with pytest.raises(bk.DefinitionWarning, match=open_signs):
        list(by_columns(log))


def test_a_definition_decides_for_such_a_server(tmp_path: Path) -> None:
    log = of_version("8.0.22", MINIMAL, tmp_path)
    for read in (by_reader, by_columns):
        assert contents(read(log, Y7)) == contents(read(MINIMAL))


#: The width of each column of `y7` in a row image.
WIDTHS = 1, 1, 1, 2, 2, 3, 3, 4

#: The signedness of its table map without a bit for YEAR, and as other servers write it.
WITHOUT_YEAR, WITH_YEAR = bytes.fromhex("0101aa"), bytes.fromhex("0101d5")

#: The columns in the images of three changes, as `binlog_row_image=MINIMAL` logs them, by number.
CHANGES: list[tuple[dict[int, int], dict[int, int]]] = [
    ({1: 255}, {7: 4294967294}),
    ({1: 254, 2: -2}, {5: 16777214, 6: -3}),
    ({0: 2024, 3: 65534, 4: -4}, {0: 2155, 1: 253, 2: -5}),
]


def image(values: dict[int, int]) -> bytes:
    """A row image without NULL, of some columns of `y7`."""
    stored = {number: value - 1900 if number == 0 else value for number, value in values.items()}
    return b"\0" + b"".join(
        value.to_bytes(WIDTHS[number], "little", signed=value < 0) for number, value in stored.items()
    )


def bitmap(values: dict[int, int]) -> bytes:
    return bytes([sum(1 << number for number in values)])


def log_of_minimal_images(version: str, folder: Path, *, is_relay: bool) -> Path:
    """Updates of `y7` by a server, in its log or in a relay log of MySQL 9.7."""
    layout, (_, (*_, table, update, _), *_) = events_of(MINIMAL)
    assert WITHOUT_YEAR in table
    is_mariadb = "MariaDB" in version
    log = LogMaker(layout)
    if is_relay:
        log.add(events_of(case("mysql-9.7", "metadata").logs[0])[1][0][0])
    log.add(artificial_event(known_formats(version)[0], version, is_checksummed=True))
    signs = WITHOUT_YEAR if version.startswith("8.0.") else WITH_YEAR
    for before, after in CHANGES:
        log.add(table.replace(WITHOUT_YEAR, signs))
        head = bytearray(update[: 19 + (8 if is_mariadb else 10)])  # MariaDB's rows events have no extra data
        head[4] = 24 if is_mariadb else 31
        images = image(before) + image(after)
        log.add(bytes(head) + bytes([len(WIDTHS)]) + bitmap(before) + bitmap(after) + images + bytes(4))
    return log.write(folder / "binlog.000001")


def images_by_reader(log: Path, ddl: str | None) -> list[tuple[Any, Any]]:
    with bk.open(log, ddl=ddl) as events:
        return [(row.before, row.after) for event in events for row in event.rows()]


def images_by_columns(log: Path, ddl: str | None) -> list[tuple[Any, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", bk.DefinitionWarning)
        changes = bk.read_changes(log, ddl=ddl).read_all().to_pylist()
    return [(json.loads(change["before"]), json.loads(change["after"])) for change in changes]


def named(names: str) -> list[tuple[dict[str, int], dict[str, int]]]:
    """The changes with columns by name."""
    columns = names.split()
    return [
        ({columns[number]: value for number, value in before.items()},
         {columns[number]: value for number, value in after.items()})
        for before, after in CHANGES
    ]  # fmt: skip


@pytest.mark.parametrize("is_relay", [False, True], ids=["log", "relay"])
@pytest.mark.parametrize("version", ["8.0.15", "9.7.0", "11.8.3-MariaDB", "10.5.29-MariaDB"])
@pytest.mark.parametrize("read", [images_by_reader, images_by_columns])
def test_signs_in_images_that_lack_columns(read: Any, version: str, is_relay: bool, tmp_path: Path) -> None:
    log = log_of_minimal_images(version, tmp_path, is_relay=is_relay)
    assert read(log, None) == named("c1 c2 c3 c4 c5 c6 c7 c8")
    assert read(log, Y7) == named("y a b c d e f g")


@pytest.mark.parametrize("is_relay", [False, True], ids=["log", "relay"])
def test_images_that_lack_columns_of_a_server_that_may_do_either(is_relay: bool, tmp_path: Path) -> None:
    log = log_of_minimal_images("8.0.22", tmp_path, is_relay=is_relay)
    for read in (images_by_reader, images_by_columns):
        assert read(log, Y7) == named("y a b c d e f g")
    with pytest.raises(bk.DefinitionWarning, match="whether c2, c3, c4, c5, c6, c7, c8 is unsigned"):
        images_by_columns(log, None)


#: YEAR, INT, INT with the bits 100: two signed numbers after a YEAR with a bit, or UNSIGNED and signed.
EITHER = table_map([13, 3, 3], optional=field(1, "80"), year_bits=YearBits.undetermined)


@pytest.mark.parametrize("signs", [("INT UNSIGNED", "INT"), ("INT", "INT")])
def test_definitions_that_match_one_way_of_reading_the_bits(signs: tuple[str, str]) -> None:
    found = define("CREATE TABLE a (y YEAR, a {}, b {})".format(*signs)).of("t", "a", EITHER)
    assert found is not None
    assert [column.is_unsigned for column in found.columns[1:]] == ["UNSIGNED" in sign for sign in signs]


def test_a_definition_that_matches_neither_way() -> None:
    table = table_map([13, 3, 3, 3], optional=field(1, "a0"), year_bits=YearBits.undetermined)
    definitions = define("CREATE TABLE a (y YEAR, a INT UNSIGNED, b INT UNSIGNED, c INT)")
    mismatch = definitions.match("t", "a", table)
    assert isinstance(mismatch, DefinitionMismatch)
    assert mismatch.reason == "the numbers after its YEAR columns have other signs in the log"
