"""Small dumps as the tools write them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from binlog_kaitai.core.filters import TableSet
from binlog_kaitai.core.spans import LogHeader
from binlog_kaitai.lake.rules import NO_RULES, Rules
from binlog_kaitai.snapshot.dump_snapshot import snapshot_of_dump
from binlog_kaitai.snapshot.snapshot_files import Snapshot

HEADER = """\
-- MySQL dump 10.13  Distrib 9.7.4, for Linux (x86_64)
--
-- Host: 127.0.0.1    Database: d
-- ------------------------------------------------------
-- Server version	9.7.4

/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!50503 SET NAMES utf8mb4 */;
/*!40103 SET TIME_ZONE='+00:00' */;
"""
POSITION = "-- CHANGE REPLICATION SOURCE TO SOURCE_LOG_FILE='binlog.000007', SOURCE_LOG_POS=158;\n"
END = "\n-- Dump completed on 2026-11-23 18:08:20\n"


def table(name: str, columns: str, rows: str = "", options: str = "ENGINE=InnoDB") -> str:
    """The definition of a table, and the INSERT of its rows."""
    insert = f"INSERT INTO `{name}` VALUES {rows};\n" if rows else ""
    create = f"CREATE TABLE `{name}` (\n  {columns}\n) {options} DEFAULT CHARSET=utf8mb4;\n"
    comment = f"--\n-- Dumping data for table `{name}`\n--\n\n"
    return f"{create}{comment}LOCK TABLES `{name}` WRITE;\n{insert}UNLOCK TABLES;\n"


def script(*parts: str, header: str = HEADER, position: str = POSITION, end: str = END) -> bytes:
    """A script of mysqldump."""
    return "".join((header, position, *parts, end)).encode()


def loaded(
    dump: bytes | Path,
    folder: Path,
    *tables: str,
    warns: str | None = None,
    header: LogHeader | None = None,
    rules: Rules = NO_RULES,
) -> Snapshot:
    """The snapshot of a dump, which gives a warning if one is expected."""
    folder.mkdir(exist_ok=True)
    path = dump if isinstance(dump, Path) else folder / "dump.sql"
    if isinstance(dump, bytes):
        path.write_bytes(dump)
    with warnings.catch_warnings() if warns is None else pytest.warns(UserWarning, match=warns):
        return snapshot_of_dump(
            path,
            folder / "snapshot",
            tables=TableSet.of(tables),
            rules=rules,
            header_of=lambda log: header,
        )


def rows_of(folder: Path, name: str) -> list[tuple[Any, ...]]:
    """The rows of a table, in order, without metadata."""
    files = sorted((folder / "snapshot" / "changes" / name).rglob("*.parquet"))
    found = [row for path in files for row in pq.ParquetFile(path).read().to_pylist()]
    found.sort(key=lambda row: row["_row"])
    return [tuple(value for key, value in row.items() if not key.startswith("_")) for row in found]
