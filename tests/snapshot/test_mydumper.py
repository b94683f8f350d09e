"""Directories of mydumper as snapshots."""

from __future__ import annotations

import gzip
import shutil
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
import zstandard

from binlog_kaitai.errors import BinlogError
from tests.snapshot.building import loaded, rows_of

WRITTEN = Path(__file__).parent / "mydumper-0.10.0"

pytestmark = pytest.mark.filterwarnings("ignore:d.a. the dump lacks g")

#: As mydumper 0.15 and newer write it.
METADATA = """\
# Started dump at: 2026-11-23 18:08:24
[config]
quote-character = BACKTICK

[myloader_session_variables]
SQL_MODE='NO_AUTO_VALUE_ON_ZERO' /*!40101

[source]
# Channel_Name = '' # It can be use to setup replication FOR CHANNEL
File = binlog.000003
Position = 197
Executed_Gtid_Set = cd684a90-e768-11f1-ab26-02fc00000001:1-21

[replication]
SOURCE_LOG_FILE = "other.000001"
SOURCE_LOG_POS = 4

[`shop`.`t`]
real_table_name=t
rows = 3

[`shop`]
schema_checksum = 12
# Finished dump at: 2026-11-23 18:08:24
"""
OLD = (WRITTEN / "metadata").read_text()
SETTINGS = """\
/*!40101 SET NAMES utf8mb4*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;
/*!40103 SET TIME_ZONE='+00:00' */;
"""


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    folder = tmp_path / "dump"
    folder.mkdir()
    write(folder / "metadata", METADATA)
    write(folder / "shop-schema-create.sql", "CREATE DATABASE /*!32312 IF NOT EXISTS*/ `shop`;\n")
    write(folder / "shop.t-schema.sql.gz", f"{SETTINGS}CREATE TABLE `t` (\n  `v` text\n) ENGINE=InnoDB;\n")
    write(folder / "shop.t.00000.sql.zst", f'{SETTINGS}INSERT INTO `t` VALUES("a")\n,("it\\\'s")\n;\n')
    write(folder / "shop.t.00001.sql", f"{SETTINGS}INSERT INTO `t` (`v`) VALUES('b');\n")
    write(
        folder / "shop.t-schema-triggers.sql", "CREATE TRIGGER `x` BEFORE INSERT ON `t` FOR EACH ROW DO 1;\n"
    )
    write(
        folder / "shop.empty-schema.sql", f"{SETTINGS}CREATE TABLE `empty` (\n  `i` int\n) ENGINE=InnoDB;\n"
    )
    return folder


def write(path: Path, text: str) -> None:
    data = text.encode()
    if path.suffix == ".gz":
        data = gzip.compress(data)
    path.write_bytes(zstandard.compress(data) if path.suffix == ".zst" else data)


def test_a_dump_of_mydumper(tmp_path: Path) -> None:
    found = loaded(WRITTEN, tmp_path, warns="d.m is a table of MyISAM")
    assert (found.log, found.position) == ("binlog.000001", 5769)
    assert sorted(name for _, name, _ in found.keys) == ["a", "m", "vec"]
    assert "empty" in found.ddl
    assert "seq" not in found.ddl
    assert "`v`(" not in found.ddl
    first, second, third = rows_of(tmp_path, "d.a")
    assert first == (
        1, 'it\'s; \\ \n\r\t\0\x1a "x" ß', b"\0'\\;\nxff", b"\xff\xfe\0", 257, 16777200.0, 0.1,
        Decimal("-1.500"), 2024, datetime(2024, 1, 1, microsecond=123_000), first[10], -10 * 3_600_000_000,
        "ß", "x,y", '{"a": "q\'"}', bytes.fromhex("000000000101000000000000000000F03F0000000000000040"), None,
    )  # fmt: skip
    assert first[10] == datetime(2023, 12, 31, 18, 30, microsecond=500_000, tzinfo=UTC)
    assert second == (2, *[None] * 16)
    assert third[:5] == (3, "", b"", b"", 0)
    ((vector, _, *addresses),) = rows_of(tmp_path, "d.vec")
    assert (vector, addresses) == ([1.0, 2.0], ["::1", "1.2.3.4"])


def test_chunks_and_compression(dump: Path, tmp_path: Path) -> None:
    found = loaded(dump, tmp_path)
    assert (found.log, found.position) == ("binlog.000003", 197)
    assert rows_of(tmp_path, "shop.t") == [("a",), ("it's",), ("b",)]
    assert [table for *table, _ in found.keys] == [["shop", "t"]]
    assert found.ddl.count("CREATE") == 2


def test_names_that_files_cannot_have(dump: Path, tmp_path: Path) -> None:
    for path in list(dump.glob("shop*")):
        path.rename(path.with_name(path.name.replace("shop", "mydumper_0.x")))
    write(dump / "mydumper_0.x-schema-create.sql", "CREATE DATABASE `a.b/``c`;\n")
    write(dump / "metadata", METADATA.replace("`shop`.`t`", "`x`.`t`"))
    assert [table for *table, _ in loaded(dump, tmp_path).keys] == [["a.b/`c", "t"]]


@pytest.mark.parametrize(
    "position",
    [
        'SOURCE_LOG_FILE = "binlog.000009"\nSOURCE_LOG_POS = 5\n#SOURCE_AUTO_POSITION = {0|1}',
        '#SOURCE_LOG_FILE = "binlog.000009"\n#SOURCE_LOG_POS = 5\nSOURCE_AUTO_POSITION = 1',
    ],
)
def test_positions_for_change_source(position: str, dump: Path, tmp_path: Path) -> None:
    write(dump / "metadata", METADATA.replace("File = binlog.000003\nPosition = 197", position))
    found = loaded(dump, tmp_path)
    assert (found.log, found.position) == ("binlog.000009", 5)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"metadata": None, "metadata.partial": METADATA}, "is incomplete: mydumper leaves"),
        ({"metadata": None}, "is not a directory of mydumper"),
        ({"metadata": METADATA.rpartition("#")[0]}, "has no line 'Finished dump at'"),
        ({"metadata": METADATA.replace("Position = 197", "")}, "has no position of the server's log"),
        ({"metadata": METADATA.replace("[source]", "[other]")}, "has no position .* --source-data"),
        ({"shop.t.00001.sql": None}, "shop.t had 3 rows, but its files have 2"),
        (
            {"metadata": OLD, "shop.t.00000.sql.zst": None, "shop.t.00001.sql": None},
            "has no rows of any table; dump without --no-data",
        ),
        ({"shop.t.dat": ""}, "LOAD DATA is not supported"),
        ({"metadata": None, "x.txt": ""}, "is a dump of mysqldump --tab, which is not supported"),
        ({"metadata": None, "@.json": ""}, "MySQL Shell"),
        ({"metadata": None, "backup-my.cnf": ""}, "physical backup"),
        ({"shop.t-schema.sql.gz": None}, r"shop.t.00000.sql.zst, .*no CREATE TABLE before"),
        (
            {"shop.t.00001.sql": f"{SETTINGS}INSERT INTO `t` VALUES('b'"},
            r"shop.t.00001.sql, position \d+: line 4: the dump ends within a statement",
        ),
    ],
)
def test_refusals(files: dict[str, str | None], words: str, dump: Path, tmp_path: Path) -> None:
    """Files that are changed, or removed."""
    for name, text in files.items():
        if text is None:
            (dump / name).unlink()
        else:
            write(dump / name, text)
    with pytest.raises(BinlogError, match=words):
        loaded(dump, tmp_path / "out")


def test_missing_data_of_old_versions(tmp_path: Path) -> None:
    """They do not note the number of rows, and write no file for an empty table."""
    folder = tmp_path / "dump"
    shutil.copytree(WRITTEN, folder)
    (folder / "d.vec.sql").unlink()
    assert "vec" not in [name for _, name, _ in loaded(folder, tmp_path, warns="MyISAM").keys]
