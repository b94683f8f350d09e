"""`dump` prints the same as the servers' clients, byte for byte."""

from __future__ import annotations

import base64
import re
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from binlog_grammar.table_map_event import TableMapEvent

import binlog_kaitai as bk
from binlog_kaitai.cli import main
from binlog_kaitai.dump import flashback
from binlog_kaitai.dump.client_values import metadata_lines, second_of, timestamp
from binlog_kaitai.dump.dump_logs import dump
from binlog_kaitai.dump.dump_options import Base64Output, DumpOptions
from binlog_kaitai.errors import BinlogError, UsageError
from tests import corpus_files
from tests.core.test_old_versions import VERSION_1, VERSION_3
from tests.dump.dump_cases import CASES, DumpCase, normalised
from tests.grammar.row_bytes import YearBits, field, table_map, table_map_bytes
from tests.grammar.vectors import parse
from tests.log_maker import LogMaker, carrier, events_of

_DECODED = DumpOptions(verbose=2, base64_output=Base64Output.DECODE_ROWS)
#: The client stops in these: of the one it refuses the rows, in the other it ends without a word.
_CLIENT_STOPS = {"mysql-5.6/types_v1_rows", "mariadb-10.11/types_old_temporal"}
PRINTED = [case for case in corpus_files.cases() if case.vv() is not None and case.id not in _CLIENT_STOPS]


@pytest.fixture(autouse=True)
def _in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    timestamp.cache_clear()
    second_of.cache_clear()
    yield
    monkeypatch.undo()
    time.tzset()


def printed(path: Path | str, options: DumpOptions, folder: Path) -> bytes:
    pieces: list[bytes] = []
    dump(str(path), pieces.append, DumpOptions(**{**vars(options), "local_load": str(folder)}))
    return normalised(b"".join(pieces))


@pytest.mark.parametrize("case", PRINTED, ids=lambda case: case.id)
def test_each_log_of_the_corpus_reads_as_its_client_prints_it(
    case: corpus_files.Case, tmp_path: Path
) -> None:
    ours = b"".join(f"### {log.name}\n".encode() + printed(log, _DECODED, tmp_path) for log in case.logs)
    assert ours == normalised((case.vv() or "").encode("utf-8", "surrogateescape"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_options_print_what_they_print_in_the_client(
    case: DumpCase, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["dump", f"--local-load={tmp_path}", *case.arguments, *case.paths])
    assert normalised(capfdbinary.readouterr().out) == case.expected
    assert ended.value.code == 0


def test_times_are_local(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    log = corpus_files.case("mysql-9.7", "crash").logs[0]
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    timestamp.cache_clear()
    second_of.cache_clear()
    text = printed(log, _DECODED, tmp_path)
    assert b"#261120 14:" in text
    assert b" EST)\n/*!80001 SET" in text


def test_a_user_variable_that_is_empty(tmp_path: Path) -> None:
    layout, transactions = events_of(corpus_files.case("mariadb-10.11", "mixed").logs[0])
    log, empty = LogMaker(layout), (b"\x01\0\0\0\xe9", b"\0\0\0\0")
    log.add_all(raw.replace(*empty) for events in transactions for raw in events)
    text = printed(log.write(tmp_path / "binlog.000001"), _DECODED, tmp_path)
    assert b'SET @`l1`:=_latin1 "" COLLATE `latin1_swedish_ci`/*!*/;' in text


def test_damage_ends_the_text_properly(tmp_path: Path) -> None:
    log = corpus_files.case("damaged", "mysql-9.7-huge_size").logs[0]
    pieces: list[bytes] = []
    with pytest.raises(BinlogError):
        dump(str(log), pieces.append, DumpOptions(local_load=str(tmp_path)))
    text = b"".join(pieces)
    assert b"ROLLBACK /* added by mysqlbinlog */ /*!*/;\n" in text
    assert text.endswith(b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=0*/;\n")


def test_rows_that_a_log_leaves_open_go_out_with_those_of_the_next(tmp_path: Path) -> None:
    """`mysqlbinlog` keeps them, since one relay log may continue where another ends."""
    cut, whole = tmp_path / "binlog.000001", corpus_files.case("mysql-9.7", "crash").logs[0]
    begin, end = 4067, 4113  # a rows event in the middle of a statement
    data = corpus_files.case("mysql-9.7", "ddl").logs[0].read_bytes()
    cut.write_bytes(data[:end])
    pieces: list[bytes] = []
    dump([str(cut), str(whole)], pieces.append, DumpOptions(local_load=str(tmp_path)))
    first, _, second = b"".join(pieces).rpartition(b"\tStart: binlog v 4")
    rows = base64.encodebytes(data[begin:end])
    assert rows not in first
    assert rows in second


def test_rows_are_not_printed_without_base64_nor_comments(tmp_path: Path) -> None:
    log = corpus_files.case("mysql-9.7", "crash").logs[0]
    with pytest.raises(UsageError, match="base64-output=never"):
        dump(str(log), lambda _: None, DumpOptions(base64_output=Base64Output.NEVER))


@pytest.mark.parametrize(("options", "is_after"), [(DumpOptions(), True), (_DECODED, False)])
def test_a_log_from_before_8_runs_on_its_own_server(options: DumpOptions, is_after: bool) -> None:
    """What only newer servers know is an empty statement there, which it refuses before the GTID is set."""
    pieces: list[bytes] = []
    dump(str(corpus_files.case("mysql-5.6", "crash").logs[0]), pieces.append, options)
    named = re.compile(
        rb"^(?:/\*!80\d+ SET @@session\.\w+?_(\w+)=0|SET @@SESSION\.(GTID_NEXT)= ')", re.MULTILINE
    )
    order = [found[1] or found[2] for found in named.finditer(b"".join(pieces))][:4]
    newer = [b"commit_timestamp", b"server_version", b"server_version"]
    assert order == ([b"GTID_NEXT", *newer] if is_after else [*newer, b"GTID_NEXT"])


def test_what_is_not_logged_as_rows_is_refused_on_demand(tmp_path: Path) -> None:
    log = corpus_files.case("mysql-9.7", "statement").logs[0]
    pieces: list[bytes] = []
    with pytest.raises(UsageError, match="position 1001: --require-row-format"):
        dump(str(log), pieces.append, DumpOptions(require_row_format=True))
    assert b"ROLLBACK /* added by mysqlbinlog */ /*!*/;\n" in b"".join(pieces)
    of_mariadb = corpus_files.case("mariadb-11.8", "crash").logs[0]
    with pytest.raises(UsageError, match="on MySQL logs only"):
        dump(str(of_mariadb), lambda _: None, DumpOptions(require_row_format=True))


@pytest.mark.parametrize(
    ("log", "error"),
    [("mysql-9.7/crash", "on MariaDB logs only"), ("mariadb-10.11/types_noblob", "requires full row images")],
)
def test_not_all_can_be_taken_back(log: str, error: str) -> None:
    path = corpus_files.case(*log.split("/")).logs[0]
    with pytest.raises(UsageError, match=error):
        dump(str(path), lambda _: None, DumpOptions(flashback=True))


def test_a_damaged_log_is_not_taken_back() -> None:
    """Its end would have to be reverted first; the client prints none of the rows either."""
    log = corpus_files.case("damaged", "mariadb-10.11-cut_in_body").logs[0]
    pieces: list[bytes] = []
    with pytest.raises(BinlogError):
        dump(str(log), pieces.append, DumpOptions(flashback=True))
    text = b"".join(pieces)
    assert b"# Number of rows: 1\n" in text
    assert text.count(b"BINLOG '") == 1
    assert b"\nCOMMIT\n" not in text


def test_what_is_taken_back_waits_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = corpus_files.case("mariadb-10.11", "types_full").logs[0]
    options = DumpOptions(flashback=True, verbose=1)
    in_memory = printed(log, options, tmp_path)
    monkeypatch.setattr(flashback, "_CHUNK", 1)
    monkeypatch.setattr(flashback, "_ROWS", 2)
    assert printed(log, options, tmp_path) == in_memory


@pytest.mark.parametrize(
    "option", [["-R"], ["-h", "db"], ["--host=db"], ["-psecret"], ["--stop-never"], ["-u", "x"]]
)
def test_no_server_is_read(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["dump", *option, "binlog.000001"])
    assert ended.value.code == 2
    assert "connects to none" in capsys.readouterr().err


def test_files_of_load_data_are_written(tmp_path: Path) -> None:
    log = corpus_files.case("mysql-5.6", "statement").logs[0]
    pieces: list[bytes] = []
    dump(str(log), pieces.append, DumpOptions(local_load=str(tmp_path)))
    text = b"".join(pieces)
    files = re.findall(rb"LOAD DATA LOCAL INFILE '(.*?)'", text)
    assert [Path(file.decode()).stat().st_size for file in files] == [20, 29495, 20, 20]


def test_later_logs_follow(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    logs = corpus_files.case("mysql-9.7", "rotate").logs
    with pytest.raises(SystemExit):
        main(["dump", "--to-last-log", str(logs[2])])
    following = capfdbinary.readouterr().out
    with pytest.raises(SystemExit):
        main(["dump", *map(str, logs[2:])])
    assert following == capfdbinary.readouterr().out


def test_old_rows_of_version_1_are_printed_too(tmp_path: Path) -> None:
    log = corpus_files.case("mysql-5.6", "types_v1_rows").logs[0]
    text = printed(log, _DECODED, tmp_path)
    theirs = (corpus_files.case("mysql-5.6", "types_v1_rows").vv() or "").encode("utf-8", "surrogateescape")
    # Of GEOMETRY `mysqlbinlog` shows nothing; the text in the corpus is `mariadb-binlog`'s.
    ours = [line for line in text.split(b"\n") if line.startswith(b"###   @1=")]
    rest = iter(line for line in theirs.split(b"\n") if line.startswith(b"###   @1="))
    assert len(ours) > 50
    assert all(line in rest for line in ours)


#: As `mariadb-binlog` 10.5 prints them; it reads logs of version 3, but not of version 1.
_OLD_LOAD = (
    b" INTO TABLE `t` FIELDS TERMINATED BY '\\t' OPTIONALLY  ENCLOSED BY '\"' ESCAPED BY '\\\\'"
    b" LINES TERMINATED BY '\\n' STARTING BY '' (`a`)/*!*/;\n"
)


def test_load_data_of_old_servers(tmp_path: Path) -> None:
    pieces: list[bytes] = []
    dump(VERSION_3, pieces.append, DumpOptions(local_load=str(tmp_path)))
    text = b"".join(pieces)
    file = tmp_path / "x.txt-9-0"
    assert b"\n# LOAD DATA INFILE '/tmp/x.txt'" + _OLD_LOAD in text
    assert f"\nLOAD DATA LOCAL INFILE '{file}'".encode() + _OLD_LOAD in text
    assert b"\nLOAD DATA INFILE '/tmp/x.txt'" + _OLD_LOAD in text
    assert file.read_bytes() == b"1\n2\n3\n"


def test_logs_of_version_1(tmp_path: Path) -> None:
    pieces: list[bytes] = []
    dump(VERSION_1, pieces.append, DumpOptions(local_load=str(tmp_path)))
    assert b"\nSET INSERT_ID=5/*!*/;\n" in b"".join(pieces)
    assert b"\nLOAD DATA INFILE '/tmp/x.txt' INTO TABLE `t` FIELDS TERMINATED BY '\\t' " in b"".join(pieces)


@pytest.mark.parametrize(("position", "ends"), [(0, 1), (127, 2)])
def test_a_description_that_a_replica_made_ends_no_transaction(
    position: int, ends: int, tmp_path: Path
) -> None:
    log = corpus_files.case("mysql-9.7", "relay-of-mysql-9.7").logs[1]
    of_server = next(event for event in bk.open(log) if event.type_code == 15 and event.position > 4)
    made = bytearray(of_server.raw[:-4])
    made[13:17] = position.to_bytes(4, "little")
    path = tmp_path / "relay.000002"
    path.write_bytes(log.read_bytes() + made + zlib.crc32(made).to_bytes(4, "little"))
    assert printed(path, _DECODED, tmp_path).count(b"'AUTOMATIC' /* added by mysqlbinlog */") == ends


def test_a_table_map_without_metadata_shows_no_columns() -> None:
    data = bytes.fromhex("00000000 0000 04 74657374 00 02 7431 00 02 03fe")
    of_5_1 = parse(TableMapEvent, data, 6, YearBits.undetermined)
    assert metadata_lines(of_5_1, is_mariadb=False) == b""


def test_control_characters_of_documents_are_numbers(tmp_path: Path) -> None:
    layout, groups = events_of(corpus_files.case("mysql-9.7", "no_checksum").logs[0])
    maker = LogMaker(layout)
    maker.add_all(groups[0])
    head = bytes(4) + b"%c" + (1).to_bytes(4, "little") + bytes(10)
    maker.add(head % 19 + table_map_bytes([245], "04"))
    for text in (b"\0\x1f\f\n", b"a"):
        document = b"\x0c" + bytes([len(text)]) + text
        row = b"\0" + len(document).to_bytes(4, "little") + document
        maker.add(head % 30 + bytes.fromhex("070000000000 0100 0200 01 ff") + row)
    text = printed(maker.write(tmp_path / "binlog.000001"), _DECODED, tmp_path)
    assert re.findall(rb"@1=(\S*)", text) == [rb"'\x00\x1f\f\n'", b"'a'"]


@pytest.mark.parametrize(("is_mariadb", "name"), [(False, b"`a``b`"), (True, b"`a`b`")])
def test_a_backtick_in_the_name_of_a_column(is_mariadb: bool, name: bytes) -> None:
    named = table_map([3], optional=field(4, "03 616062"))
    assert metadata_lines(named, is_mariadb=is_mariadb).startswith(b"# Columns(" + name + b" INT")


@pytest.mark.parametrize("number", [0, 1])
def test_a_tag_that_no_server_writes_is_damage(number: int, tmp_path: Path) -> None:
    data = corpus_files.case("mysql-9.7", "gtid_tags").logs[number].read_bytes()
    (path := tmp_path / "binlog.000001").write_bytes(data.replace(b"tag1", b"ta\xff1"))
    with pytest.raises(BinlogError, match=r"invalid tag 'ta\\xff1'"):
        printed(path, _DECODED, tmp_path)


def _log_with(found: tuple[str, str], kind: int, flags: int, body: bytes, folder: Path) -> Path:
    """A log with an additional event after its first transaction."""
    layout, groups = events_of(corpus_files.case(*found).logs[0])
    maker = LogMaker(layout)
    maker.add_all([*groups[0], *groups[1]])
    header = bytes(4) + bytes([kind]) + (1).to_bytes(4, "little") + bytes(8) + flags.to_bytes(2, "little")
    maker.add(header + body + bytes(4 * layout.is_checksummed))
    return maker.write(folder / "binlog.000001")


@pytest.mark.parametrize(
    ("kind", "name"), [(28, b"Ignorable log event"), (29, b"MySQL Rows_query"), (99, b"Unknown")]
)
def test_mariadb_names_events_of_mysql_that_it_skips(kind: int, name: bytes, tmp_path: Path) -> None:
    """As `mariadb-binlog` 10.11 does."""
    log = _log_with(("mariadb-10.11", "rotate"), kind, 0x80, b"\5a = 1", tmp_path)
    text = printed(log, DumpOptions(), tmp_path)
    assert b"\tIgnorable\n# Ignorable event type %d (%s)\n" % (kind, name) in text


def test_a_payload_that_is_not_compressed_has_one_size(tmp_path: Path) -> None:
    """Type 255 means no compression; `mysqlbinlog` 9.7 then prints no uncompressed size."""
    body = bytes.fromhex("02 03 fcff00  03 01 00  01 01 00  00")
    text = printed(_log_with(("mysql-9.7", "rotate"), 40, 0, body, tmp_path), DumpOptions(), tmp_path)
    assert b"\tTransaction_Payload\t\tpayload_size=0\tcompression_type=NONE\n# Start of" in text


def test_every_line_of_a_statement_and_hidden_columns_are_printed_as_in_the_client(tmp_path: Path) -> None:
    """MySQL 9.7.4: an empty line inside a statement, and after its character set INVISIBLE of a column."""
    log = Path(__file__).parent / "logs" / "hidden_columns-mysql-9.7.000001"
    options = DumpOptions(verbose=2, base64_output=Base64Output.DECODE_ROWS, print_table_metadata=True)
    text = printed(log, options, tmp_path)
    assert b"\tRows_query\n# INSERT INTO u.hidden (id)\n# \n# VALUES (1)\n# at 863\n" in text
    assert (
        b"# Columns(`id` INT,\n"
        b"#         `v` VARCHAR(9) CHARSET latin1 COLLATE latin1_swedish_ci INVISIBLE,\n"
        b"#         `n` INT NOT NULL INVISIBLE,\n"
        b"#         `e` ENUM('\\0x', '\\0y') CHARSET ucs2 COLLATE ucs2_general_ci INVISIBLE)\n"
    ) in text


@pytest.mark.parametrize("few", [True, False], ids=["one by one", "by shapes"])
def test_lines_of_statements(few: bool, tmp_path: Path) -> None:
    """As `mysqlbinlog` 9.7.4 prints them: each newline begins a line, also the first and the last one."""
    texts = {
        b"\n": b"# \n# \n", b"a\n": b"# a\n# \n", b"\na": b"# \n# a\n", b"a\n\n\nb": b"# a\n# \n# \n# b\n",
        b"a\r\nb": b"# a\\r\n# b\n", b"a\0b\n\n": b"# a\\0b\n# \n# \n",
    }  # fmt: skip
    layout, [[head, *_], [model, *_], *_] = events_of(corpus_files.case("mysql-9.7", "mixed").logs[0])
    log = LogMaker(layout)
    log.add(head)
    log.add_all(carrier(model, text, layout) for text in [*texts] * (1 if few else 2000))
    options = DumpOptions(verbose=2, base64_output=Base64Output.DECODE_ROWS)
    text = printed(log.write(tmp_path / "binlog.000001"), options, tmp_path)
    lines = [part.partition(b"# at ")[0] for part in text.split(b"\tRows_query\n")[1:]]
    assert lines[: len(texts) - 1] == list(texts.values())[:-1]
    assert len(lines) == len(texts) * (1 if few else 2000)
