"""Statement and control events: given these bytes after the header, these fields."""

from __future__ import annotations

import struct

import pytest
from binlog_grammar.append_block_event import AppendBlockEvent
from binlog_grammar.create_file_event import CreateFileEvent
from binlog_grammar.delete_file_event import DeleteFileEvent
from binlog_grammar.exec_load_event import ExecLoadEvent
from binlog_grammar.execute_load_query_event import ExecuteLoadQueryEvent
from binlog_grammar.heartbeat_event import HeartbeatEvent
from binlog_grammar.heartbeat_event_v2 import HeartbeatEventV2
from binlog_grammar.ignorable_event import IgnorableEvent
from binlog_grammar.incident_event import IncidentEvent
from binlog_grammar.intvar_event import IntvarEvent
from binlog_grammar.large_transaction_header_event import LargeTransactionHeaderEvent
from binlog_grammar.load_event import LoadEvent
from binlog_grammar.query_event import QueryEvent
from binlog_grammar.rand_event import RandEvent
from binlog_grammar.rotate_event import RotateEvent
from binlog_grammar.rows_query_event import RowsQueryEvent
from binlog_grammar.slave_event import SlaveEvent
from binlog_grammar.start_event_v3 import StartEventV3
from binlog_grammar.stop_event import StopEvent
from binlog_grammar.user_var_event import UserVarEvent
from binlog_grammar.xid_event import XidEvent

from tests.grammar.vectors import Vector, assert_fields, assert_nothing_is_dropped, vector

LOAD_FIXED = struct.pack("<IIIBBI", 7, 2, 1, 1, 4, 2)
LOAD_NAMES = b"\x02\x01id\0v\0t\0test\0"
LONG_SEPARATORS = b"\x02||\x01\x22\x02\r\n\x00\x01\\\x06"

CONTROL = [
    vector(
        "start of a 4.0 log",
        StartEventV3,
        b"\x03\x00" + b"4.0.27-log".ljust(50, b"\0") + bytes.fromhex("8071b03e"),
        binlog_version=3,
        server_version="4.0.27-log",
        create_timestamp=1051750784,
    ),
    vector("stop", StopEvent, ""),
    vector(
        "rotation, real of MySQL 9.7",
        RotateEvent,
        "040000000000000062696e6c6f672e303030303032",
        4,
        8,
        position=4,
        next_log="binlog.000002",
    ),
    vector(
        "rotation in a 3.23 log has no position", RotateEvent, b"host-bin.002", 1, 0, next_log="host-bin.002"
    ),
    vector(
        "rotation with a longer fixed part",
        RotateEvent,
        b"\x04" + bytes(7) + b"\xaa\xbblog.2",
        4,
        10,
        position=4,
        unknown_post_header=b"\xaa\xbb",
        next_log="log.2",
    ),
    vector(
        "slave",
        SlaveEvent,
        b"\x10\x27" + bytes(6) + b"\xea\x0cdb1.example\0master-bin.004",
        source_position=10000,
        source_port=3306,
        source_host="db1.example",
        source_log="master-bin.004",
    ),
    vector("incident", IncidentEvent, b"\x01\x00\x05sorry", incident="lost_events", message="sorry"),
    # The test file of the server's bug 40482: an incident that no server knows.
    vector("incident of an unknown number", IncidentEvent, "020000", incident=2, message=""),
    vector("heartbeat", HeartbeatEvent, b"binlog.000041", has_position=False, log="binlog.000041"),
    vector("heartbeat with a short name", HeartbeatEvent, b"b.1", has_position=False, log="b.1"),
    vector(
        "heartbeat of MariaDB past 4 GiB",
        HeartbeatEvent,
        struct.pack("<Q", 5_000_000_000) + b"binlog.000041",
        position=5_000_000_000,
        log="binlog.000041",
    ),
    vector(
        "heartbeat, version 2",
        HeartbeatEventV2,
        b"\x01\x0dbinlog.000041\x02\x09\xfe" + struct.pack("<Q", 5_000_000_000) + b"\x00",
        fields__0__value__log="binlog.000041",
        fields__1__value__position__value=5_000_000_000,
        fields__2__is_end=True,
    ),
    vector(
        "heartbeat, version 2, with a field of the future",
        HeartbeatEventV2,
        b"\x09\x02\xaa\xbb\x02\x03\xfc\x10\x27\x00",
        fields__0__value__data=b"\xaa\xbb",
        fields__1__value__position__value=10000,
    ),
    vector("ignorable", IgnorableEvent, "0102", unknown_data=b"\x01\x02"),
    vector(
        "large transaction header",
        LargeTransactionHeaderEvent,
        b"\x01" + struct.pack("<Q", 6_000_000_000) + b"\x10" + bytes(5),
        version=1,
        ofs_terminating_event=6_000_000_000,
        terminating_event_type="xid_event",
        padding=bytes(5),
    ),
]

CONTEXT = [
    vector("insert id, real of MySQL 9.7", IntvarEvent, "020100000000000000", variable="insert_id", value=1),
    vector("last insert id", IntvarEvent, "01" + "ff" * 8, variable="last_insert_id", value=2**64 - 1),
    vector(
        "rand, real of MySQL 9.7",
        RandEvent,
        "dfe83e2400000000c90c380600000000",
        seed1=608102623,
        seed2=104336585,
    ),
    vector("xid, real of MySQL 9.7", XidEvent, "1600000000000000", xid=22),
    vector(
        "rows query, real of MySQL 5.6",
        RowsQueryEvent,
        "20494e5345525420494e544f2061202876292056414c554553202827302d302729",
        len_query=32,
        query_text="INSERT INTO a (v) VALUES ('0-0')",
    ),
    vector("rows query longer than its length byte", RowsQueryEvent, b"\xff" + b"x" * 300, query=b"x" * 300),
]

USER_VARIABLES = [
    vector(
        "integer, real of MySQL 9.7",
        UserVarEvent,
        "01000000690002ff00000008000000d6ffffffffffffff00",
        name="i",
        is_null=0,
        value_type="int",
        collation_id=255,
        value__number=-42,
        is_unsigned=False,
    ),
    vector(
        "unsigned integer, real of MariaDB 11.8",
        UserVarEvent,
        "010000007500020800000008000000ffffffffffffffff01",
        name="u",
        value__unsigned_number=2**64 - 1,
        is_unsigned=True,
    ),
    vector(
        "integer before 5.5, without flags",
        UserVarEvent,
        "01000000690002080000000800000005" + "00" * 7,
        value__number=5,
        has_attributes=False,
        first_attribute=None,
        is_unsigned=False,
    ),
    vector(
        "real number",
        UserVarEvent,
        "01000000720001ff00000008000000000000000000f83f",
        value_type="real",
        value__number=1.5,
    ),
    vector(
        "decimal -123.4500",
        UserVarEvent,
        "030000006465630004ff0000000600000007047f84ee6b",
        value_type="decimal",
        value__precision=7,
        value__scale=4,
        value__digits=bytes.fromhex("7f84ee6b"),
    ),
    vector(
        "text",
        UserVarEvent,
        "030000007374720000ff0000000500000068c3a9c3a9",
        value_type="string",
        value__text="héé",
    ),
    vector(
        "bytes",
        UserVarEvent,
        "0300000068657800003f0000000200000000ff",
        collation_id=63,
        value__data=b"\0\xff",
    ),
    vector("NULL", UserVarEvent, "030000006e756c01", name="nul", is_null=1),
    vector(
        "a value with the name of its type, as MariaDB has them",
        UserVarEvent,
        b"\x01\0\0\0a\0\x00\x3f\0\0\0\x04\0\0\0\x7f\0\0\x01\x02\x05inet4",
        first_attribute__kind="data_type_name",
        first_attribute__data_type_name__name="inet4",
    ),
    vector(
        "a sign and the name of a type",
        UserVarEvent,
        b"\x01\0\0\0a\0\x00\x3f\0\0\0\x04\0\0\0\x7f\0\0\x01\x01\x02\x05inet4",
        is_unsigned=True,
        second_attribute__kind="data_type_name",
        second_attribute__data_type_name__name="inet4",
        unknown_tail=None,
    ),
    vector(
        "bytes after two attributes",
        UserVarEvent,
        "01000000690002080000000800000005" + "00" * 7 + "000000",
        first_attribute__kind="signed",
        second_attribute__kind="signed",
        unknown_tail=b"\0",
    ),
    vector(
        "an attribute of the future",
        UserVarEvent,
        "01000000690002080000000800000005" + "00" * 7 + "01" + "07aabb",
        is_unsigned=True,
        second_attribute__kind=7,
        second_attribute__unknown=b"\xaa\xbb",
    ),
]

FILES = [
    vector("append block", AppendBlockEvent, "05000000312c610a", file_id=5, block=b"1,a\n"),
    vector(
        "begin load query, real of MySQL 9.7",
        AppendBlockEvent,
        "01000000313b2261223b302e350a323b2262223b312e350a",
        file_id=1,
        block=b'1;"a";0.5\n2;"b";1.5\n',
    ),
    vector("exec load", ExecLoadEvent, "05000000", file_id=5),
    vector("delete file", DeleteFileEvent, "05000000", file_id=5),
    vector(
        "load of 3.23: separators of one byte, of which the flags say what is empty",
        LoadEvent,
        LOAD_FIXED + b",\x22\n\x00\\\x02\x0a" + LOAD_NAMES + b"/tmp/f.csv",
        18,
        False,
        thread_id=7,
        execution_time=2,
        skipped_lines=1,
        num_fields=2,
        target__short_separators__field_terminator=b",",
        target__short_separators__enclosure=b'"',
        target__short_separators__line_terminator=b"\n",
        target__short_separators__line_start=b"\0",
        target__short_separators__escape=b"\\",
        target__short_separators__empty_flags=0x0A,
        target__short_separators__is_field_terminator_empty=False,
        target__short_separators__is_enclosure_empty=True,
        target__short_separators__is_line_terminator_empty=False,
        target__short_separators__is_line_start_empty=True,
        target__short_separators__is_escape_empty=False,
        target__is_optionally_enclosed=True,
        target__field_names__0__name="id",
        target__field_names__1__name="v",
        target__table_name="t",
        target__schema_name="test",
        file_name="/tmp/f.csv",
    ),
    vector(
        "new load: separators of any length",
        LoadEvent,
        LOAD_FIXED + LONG_SEPARATORS + LOAD_NAMES + b"f.csv",
        18,
        True,
        target__long_separators__field_terminator__value=b"||",
        target__long_separators__line_terminator__value=b"\r\n",
        target__long_separators__line_start__value=b"",
        target__is_replace=True,
        target__is_ignore=False,
        target__len_field_names=[2, 1],
        file_name="f.csv",
    ),
    vector(
        "create file: a load with a number, and the first block after the name",
        CreateFileEvent,
        LOAD_FIXED + b"\x05\0\0\0" + LONG_SEPARATORS + LOAD_NAMES + b"f.csv\x001||a\r\n",
        file_id=5,
        target__table_name="t",
        file_name="f.csv",
        block=b"1||a\r\n",
    ),
    vector(
        "execute load query",
        ExecuteLoadQueryEvent,
        struct.pack("<IIBHHIIIB", 9, 0, 1, 0, 5, 3, 10, 22, 2)
        + bytes(5)
        + b"t\0LOAD DATA INFILE 'f' INTO TABLE t",
        26,
        thread_id=9,
        file_id=3,
        ofs_file_name=10,
        ofs_file_name_end=22,
        duplicate_handling="replace",
        status_vars__variables__0__key="flags2",
        schema_name="t",
        query_text="LOAD DATA INFILE 'f' INTO TABLE t",
    ),
]

# The dumps of MySQL 9.7 and MariaDB 11.8 begin alike; each then has variables of its own.
QUERIES = [
    vector(
        "a definition, real of MySQL 9.7",
        QueryEvent,
        "09000000000000000100002c000000000000010000004000000000060373746404ff00ff00ff000c01740011110000000000"
        "000012ff001400740043524541544520444154414241534520607460",
        13,
        thread_id=9,
        execution_time=0,
        error_code=0,
        len_status_vars=44,
        schema_name="t",
        query_text="CREATE DATABASE `t`",
        status_vars__variables__0__value__flags=0,
        status_vars__variables__1__value__modes=0x40000000,
        status_vars__variables__2__value__name="std",
        status_vars__variables__3__value__client=255,
        status_vars__variables__4__value__names=["t"],
        status_vars__variables__5__value__xid=17,
        status_vars__variables__6__value__collation_id=255,
        status_vars__variables__7__value__is_on=0,
    ),
    vector(
        "a definition, real of MariaDB 11.8: key 131 comes before key 4",
        QueryEvent,
        "05000000000000000100003000000000000101000000400000000006037374648305210000082300000a2d0000093600000b"
        "3c00000c04000900090009740043524541544520444154414241534520607460",
        13,
        status_vars__variables__3__key="mariadb_character_set_collations",
        status_vars__variables__3__value__num_collations=5,
        status_vars__variables__3__value__collations__0__charset_id=33,
        status_vars__variables__3__value__collations__0__collation_id=2048,
        status_vars__variables__3__value__collations__4__collation_id=3072,
        status_vars__variables__4__value__server=2304,
        schema_name="t",
        query_text="CREATE DATABASE `t`",
    ),
    vector(
        "before 5.0 there are no status variables",
        QueryEvent,
        struct.pack("<IIBH", 3, 1, 4, 1062) + b"test\0INSERT INTO t VALUES (1)",
        11,
        thread_id=3,
        execution_time=1,
        error_code=1062,
        schema_name="test",
        query_text="INSERT INTO t VALUES (1)",
    ),
    vector(
        "a longer fixed part, and bytes that are not UTF-8",
        QueryEvent,
        struct.pack("<IIBHH", 3, 1, 0, 0, 0) + b"\xcc\0SELECT '\xff'",
        14,
        unknown_post_header=b"\xcc",
        schema_name="",
        query=b"SELECT '\xff'",
        query_text="SELECT '\udcff'",
    ),
]

VECTORS = CONTROL + CONTEXT + USER_VARIABLES + FILES + QUERIES


@pytest.mark.parametrize("case", VECTORS, ids=str)
def test_the_fields(case: Vector) -> None:
    assert_fields(case)


@pytest.mark.parametrize("case", VECTORS, ids=str)
def test_truncated_or_with_trailing_bytes(case: Vector) -> None:
    assert_nothing_is_dropped(case)
