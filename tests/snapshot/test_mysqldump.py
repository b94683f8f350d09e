"""Scripts of mysqldump and mariadb-dump as snapshots."""

from __future__ import annotations

import gzip
import io
import lzma
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import zstandard

from binlog_kaitai.core.filters import TableSet
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.spans import LogHeader
from binlog_kaitai.errors import BinlogError, SourceError, TruncatedError
from binlog_kaitai.lake.rules import Rules
from binlog_kaitai.rows.row_masks import Masks
from binlog_kaitai.snapshot import dump_script as scripts
from binlog_kaitai.snapshot import dump_snapshot as loading
from binlog_kaitai.snapshot.dump_script import DumpScript, PieceKind
from binlog_kaitai.snapshot.dump_snapshot import snapshot_of_dump
from binlog_kaitai.snapshot.snapshot_files import Snapshot
from tests.snapshot.building import END, HEADER, POSITION, loaded, rows_of, script, table

#: Text that looks like SQL, as mysqldump escapes it.
HOSTILE = [
    rb"\');\nINSERT INTO `t` VALUES (9,\'x\');\n-- ",
    rb"/* ",
    rb"*/ # \\",
    rb"\"`;;\r\n",
    b"\xc3\x9f -- \xf0\x9f\x98\x80",
    rb"),(1,\'",
    rb"\0\Z\\\\",
    b"",
    b"DELIMITER ;;",
]
HOSTILE_ROWS = ",".join(f"({number},'{text.decode()}')" for number, text in enumerate(HOSTILE))
TRIGGER = """\
DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`%`*/ /*!50003 TRIGGER `tr` BEFORE INSERT ON `t` FOR EACH ROW BEGIN
  -- it's; not the end
  INSERT INTO t VALUES (1, ';;');
END */;;
DELIMITER ;
"""
VIEW = """\
/*!50001 CREATE VIEW `v` AS SELECT
 1 AS `one`*/;
/*!50001 CREATE TABLE `old_view` (
  `one` tinyint
) ENGINE=MyISAM */;
"""


@pytest.fixture
def hostile() -> bytes:
    return script(
        table("t", "`id` int, `v` text", HOSTILE_ROWS), TRIGGER, VIEW, table("u", "id int", "(1),(2)")
    )


def check_hostile(folder: Path) -> None:
    rows = rows_of(folder, "d.t")
    assert [number for number, _ in rows] == list(range(len(HOSTILE)))
    assert rows[0][1] == "');\nINSERT INTO `t` VALUES (9,'x');\n-- "
    assert [rows[at][1] for at in (3, 6)] == ['"`;;\r\n', "\0\x1a\\\\"]
    assert rows_of(folder, "d.u") == [(1,), (2,)]


def test_hostile_texts(hostile: bytes, tmp_path: Path) -> None:
    found = loaded(hostile, tmp_path)
    check_hostile(tmp_path)
    assert (found.log, found.position) == ("binlog.000007", 158)
    assert found == Snapshot.load(tmp_path / "snapshot")
    assert "CREATE TABLE `t`" in found.ddl
    assert "view" not in found.ddl


@pytest.mark.parametrize("size", [1, 7, 64])
def test_pieces_do_not_depend_on_how_a_script_is_divided_for_reading(
    size: int, hostile: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pieces() -> list[object]:
        found: list[object] = []
        reader = DumpScript(io.BytesIO(hostile), "x")
        for piece in reader:
            found.append(piece)
            if piece.kind is PieceKind.INSERT:
                found += [
                    (reader.position, reader.line, row)
                    for row in reader.rows(2 if b"`t`" in piece.text else 1)
                ]
        return found

    whole = pieces()
    assert sum(isinstance(one, tuple) and len(one) == 3 for one in whole) == len(HOSTILE) + 2
    monkeypatch.setattr(scripts, "_CHUNK", size)
    assert pieces() == whole


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, zstandard.compress])
def test_compressed(pack: object, hostile: bytes, tmp_path: Path) -> None:
    assert callable(pack)
    loaded(pack(hostile), tmp_path)
    check_hostile(tmp_path)


def test_truncated_anywhere(hostile: bytes, tmp_path: Path) -> None:
    begin = hostile.index(b"CREATE TABLE")
    for at in (*range(begin, len(hostile) - len(END), 23), len(hostile) - 40):
        for number, dump in enumerate((hostile[:at], gzip.compress(hostile[:at]))):
            with pytest.raises(TruncatedError, match=r"dump\.sql, position .*truncated"):
                loaded(dump, tmp_path / str(number))
            assert Snapshot.load(tmp_path / str(number) / "snapshot") is None
    with pytest.raises(TruncatedError, match="gzip file is truncated"):
        loaded(gzip.compress(hostile)[:-30], tmp_path / "x")


def test_forms_of_insert(tmp_path: Path) -> None:
    name = "we``ird; `` \\' (x"
    dump = script(
        table(name, "`a,b` int, `v``` varchar(9) DEFAULT 'a;b', `c)` int", "\n(1,'x',2),\n(3,NULL , 4)"),
        f"INSERT  IGNORE INTO `{name}` (`c)`, `a,b`, `v```) VALUES (5,6,'y');\n",
        f"REPLACE INTO `d`.`{name}` VALUES (7,'z',8);\n",
        "CREATE TABLE plain (a int) ENGINE=InnoDB;\n",
        "INSERT INTO plain VALUES (1);\nINSERT INTO plain (a) VALUES (2);\n",
    )
    loaded(dump, tmp_path)
    folders = sorted(path.name for path in (tmp_path / "snapshot" / "changes").iterdir())
    assert rows_of(tmp_path, folders[1]) == [(1, "x", 2), (3, None, 4), (6, "y", 5), (7, "z", 8)]
    assert rows_of(tmp_path, "d.plain") == [(1,), (2,)]


def test_several_databases(tmp_path: Path) -> None:
    dump = script(
        "USE `a`;\n", table("t", "i int", "(1)"),
        "USE `b``c`;\n", table("t", "i int", "(2)"),
        "USE mysql;\n", table("user", "i int", "(3)"),
    )  # fmt: skip
    found = loaded(dump, tmp_path)
    assert (rows_of(tmp_path, "a.t"), rows_of(tmp_path, "b~60c.t")) == ([(1,)], [(2,)])
    assert sorted(table for *table, _ in found.keys) == [["a", "t"], ["b`c", "t"]]
    some = loaded(dump, tmp_path / "some", "a.*")
    assert ([table for *table, _ in some.keys], some.ddl.count("CREATE")) == ([["a", "t"]], 1)


def test_generated_columns(tmp_path: Path) -> None:
    columns = "`a` int, `g` int GENERATED ALWAYS AS (`a` + 1) STORED"
    dump = script(
        table("t", columns).replace("UNLOCK", "INSERT INTO `t` (`a`) VALUES (1);\nUNLOCK"),
        table("k", columns + ", PRIMARY KEY (`a`)").replace(
            "UNLOCK", "INSERT INTO `k` (`a`) VALUES (1);\nUNLOCK"
        ),
        table("m", columns, "(1,2)"),
    )
    found = loaded(dump, tmp_path, warns="the dump lacks g: NULL in its rows")
    assert [rows_of(tmp_path, f"d.{name}") for name in "tkm"] == [[(1, None)], [(1, None)], [(1, 2)]]
    assert found.incomplete == [("d", "t", "it has no primary key, and a dump lacks g")]


def test_rounded_values_of_tables_without_a_key(tmp_path: Path) -> None:
    dump = script(table("t", "`f` float", "(1)"), table("k", "`f` float, `i` int PRIMARY KEY", "(1,2)"))
    reason = "it has no primary key, and a dump rounds FLOAT (f)"
    assert loaded(dump, tmp_path).incomplete == [("d", "t", reason)]


@pytest.mark.parametrize(
    "position",
    [
        "CHANGE MASTER TO MASTER_LOG_FILE='b.000007', MASTER_LOG_POS=158;\n",
        "-- CHANGE MASTER TO MASTER_LOG_FILE='b.000007', MASTER_LOG_POS=158;\n",
        "CHANGE REPLICATION SOURCE TO SOURCE_LOG_FILE='b.000007', SOURCE_LOG_POS=158;\n",
        "CHANGE MASTER TO MASTER_USE_GTID=slave_pos;\n\n"
        "-- CHANGE MASTER TO MASTER_LOG_FILE='b.000007', MASTER_LOG_POS=158;\n",
    ],
)
def test_positions(position: str, tmp_path: Path) -> None:
    found = loaded(script(table("t", "i int", "(1)"), position=position), tmp_path)
    assert (found.log, found.position) == ("b.000007", 158)


T = table("t", "i int", "(1)")


@pytest.mark.parametrize(
    ("dump", "words"),
    [
        (script(T, position=""), r"line 18: the dump has no position; take it with --source-data=2"),
        (script(position=""), "no position"),
        (
            script(T, position="SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ 'aa:1-5';\n"),
            "has GTIDs, but not the position of its rows in the log; take it with --source-data=2",
        ),
        (script(POSITION.replace("158", "200"), T), "has two positions"),
        (script(T, header="USE d;\n"), "the comment at its start that names the tool is missing"),
        (b'<?xml version="1.0"?>\n<mysqldump>', r"--xml\), which is not supported"),
        (b"-- Dump created by MySQL pump utility, version: 8.0.30\n", "mysqlpump"),
        (script(T, end=""), "does not end with '-- Dump completed'"),
        (
            script("-- WHERE:  id>1\n", T),
            rf"position {len(HEADER + POSITION)}: line 11: .*only some rows \(--where id>1\)",
        ),
        (
            script("CREATE TABLE t (i int) ENGINE=InnoDB;\n"),
            "definition of d.t, but no data: dump without --no-data",
        ),
        (script("INSERT INTO `t` VALUES (1);\n"), "rows of d.t, but no CREATE TABLE before"),
        (
            script("CREATE TABLE t (i whatever) ENGINE=InnoDB;\n"),
            "line 11: the definition of d.t cannot be read: unknown type whatever",
        ),
        (script("CREATE TABLE t (i xmltype) ENGINE=InnoDB;\n"), "line 11: d.t.i has the type xmltype"),
        (
            script(table("t", "i int", "(1,2)")),
            "line 19: the row has 2 values, but its table or its list of columns 1",
        ),
        (
            script(table("t", "i int, j int", "(1)")),
            "the row has 1 values, but its table or its list of columns 2",
        ),
        (script(table("t", "i int", "(1),(f(x))")), r"value 1 of the row is not a literal: f\(x\)"),
        (script(table("t", "i int", "(1) (2)")), "after a row, expected a comma or a semicolon"),
        (script(table("t", "i int", "(1),('x')")), r"position \d+: row of d.t, column i: invalid literal"),
        (script(T.replace("INSERT INTO `t`", "INSERT INTO `t` (j)")), "d.t has no column j"),
        (
            script(T, "INSERT INTO t SELECT 1;\n"),
            "this form of INSERT is not supported: INSERT INTO t SELECT",
        ),
        (script(T, 'INSERT INTO "t" VALUES (1);\n'), "this form of INSERT is not supported"),
        (script("CREATE TABLE t LIKE u;\n"), "the definition of d.t cannot be read"),
        (
            script("/*M!101100 SET @@system_versioning_insert_history=1*/;\n", T),
            r"line 11: the dump has the history of tables \(--dump-history\)",
        ),
        (script(T, "LOAD DATA LOCAL INFILE 'x' INTO TABLE t;\n"), "LOAD DATA is not supported"),
        (
            script(table("t", "i int, j int INVISIBLE", "(1)")),
            "column j of d.t is not in the dump; dump with a newer version",
        ),
        (
            script(
                table("t", "i timestamp", "('2026-01-01 00:00:00')"), header=HEADER.replace("TIME_ZONE", "x")
            ),
            r"TIMESTAMP columns of d.t are not in UTC.*; dump with --tz-utc",
        ),
        (script(T, header=HEADER.replace("SET NAMES", "SET x")), "no SET NAMES before its rows"),
        (script(T, header=HEADER.replace("Database: d", "Database:")), "does not name the database"),
    ],
)
def test_refusals(dump: bytes, words: str, tmp_path: Path) -> None:
    with pytest.raises(BinlogError, match=words) as caught:
        loaded(dump, tmp_path)
    assert caught.value.file == str(tmp_path / "dump.sql")
    assert Snapshot.load(tmp_path / "snapshot") is None


def test_tables_that_are_read_outside_of_transactions(tmp_path: Path) -> None:
    loaded(script(table("t", "i int", "(1)", "ENGINE=MyISAM")), tmp_path, warns="d.t is a table of MyISAM")


def test_a_snapshot_is_read_once(tmp_path: Path) -> None:
    found = loaded(script(T), tmp_path)
    assert loaded(b"", tmp_path) == found


def test_single_rows_share_files_and_large_batches_are_divided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    single = "".join(f"INSERT INTO `t` VALUES ({number});\n" for number in range(20))
    found = loaded(script(table("t", "i int"), single), tmp_path)
    assert list(found.files.values()) == [20]
    monkeypatch.setattr("binlog_kaitai.snapshot.dump_snapshot.BATCH_ROWS", 7)
    loaded(script(table("t", "i int"), single), tmp_path / "b")
    assert rows_of(tmp_path / "b", "d.t") == [(number,) for number in range(20)]


def test_the_log_of_the_position(tmp_path: Path) -> None:
    """Rows have its time and server; if GTIDs show that it is another server's, the dump is refused."""
    source = "cd684a90-e768-11f1-ab26-02fc00000001"
    purged = (
        f"SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ 'aa684a90-e768-11f1-ab26-02fc00000001:1,\n{source}:1-21';\n"
    )
    dump = script(T, position=purged + POSITION)
    own, other = (
        LogHeader(
            log_id=1,
            previous=GtidSet.parse(f"{source}:1-{last}"),
            is_in_use=True,
            begun=86400,
            server_id=7,
        )
        for last in (20, 22)
    )
    loaded(dump, tmp_path, header=own)
    (path,) = (tmp_path / "snapshot").rglob("*.parquet")
    (row,) = pq.ParquetFile(path).read().to_pylist()
    assert (row["_server_id"], row["_timestamp"].isoformat()) == (7, "1970-01-02T00:00:00+00:00")
    assert path.parent.name == "log_date=1970-01-02"
    with pytest.raises(SourceError, match=rf"another server than binlog.000007.* {source}:22, which are in"):
        loaded(dump, tmp_path / "x", header=other)


def test_masks_and_renames(tmp_path: Path) -> None:
    columns = "`i` int PRIMARY KEY, `v` text, `d` date"
    dump = script(table("t", columns, "(1,'secret','2026-01-01')"))
    rules = Rules.of(Masks.of([], ["d.t.d"], ["d.t.v=null"], None), ["d.t=e.u"])
    assert all(name.startswith("changes/e.u/") for name in loaded(dump, tmp_path, rules=rules).files)
    assert rows_of(tmp_path, "e.u") == [(1, None)]
    wrong = script(table("t", columns, "('secret','',NULL)"))
    with pytest.raises(SourceError, match=r"row of d\.t, column i: ValueError$"):
        loaded(wrong, tmp_path / "x", rules=rules)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="No such file"):
        loaded(tmp_path / "none.sql", tmp_path)


def test_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines have the bytes read, of how many if the script is not compressed, and the tables so far."""
    monkeypatch.setattr(loading, "SECONDS", 0.0)
    monkeypatch.setattr(loading, "_MEGABYTE", 1)
    monkeypatch.setattr(loading, "BATCH_ROWS", 2)
    dump = script(table("t", "`id` int", "(1),(2),(3),(4)"), table("u", "`id` int", "(5),(6),(7)"))
    lines: list[str] = []
    for name, data in (("dump.sql", dump), ("dump.sql.gz", gzip.compress(dump))):
        (tmp_path / name).write_bytes(data)
        snapshot_of_dump(
            tmp_path / name,
            tmp_path / f"of {name}",
            tables=TableSet.of(()),
            report=lines.append,
        )
    positions = [dump.index(text) for text in (b"(2),", b"(4);", b"(6),")]
    expected = [
        f"{position} {{}}MB read, {tables}"
        for position, tables in zip(positions, ("1 table", "1 table", "2 tables"), strict=True)
    ]
    assert lines == [
        *(f"dump: {line.format(f'of {len(dump)} ')}" for line in expected),
        *(f"dump: {line.format('')}" for line in expected),
    ]
