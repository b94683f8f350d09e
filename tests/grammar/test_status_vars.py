"""Status variables of a statement: a one-byte key, and a value whose layout depends on it."""

from __future__ import annotations

import pytest
from binlog_grammar.binlog_enums import BinlogEnums
from binlog_grammar.query_status_vars import QueryStatusVars
from kaitaistruct import KaitaiStructError

from tests.grammar.vectors import Vector, assert_fields, assert_nothing_is_dropped, field, parse, vector


def variable(key: str, data: str | bytes, **value: object) -> Vector:
    """A block that holds one variable: its name, its bytes, the fields of its value."""
    expected = {f"variables__0__value__{name}": content for name, content in value.items()}
    return vector(key, QueryStatusVars, data, variables__0__key=key, **expected)


VARIABLES = [
    variable(
        "flags2",
        "000040080c",
        flags=0x0C084000,
        is_sql_auto_is_null=True,
        is_autocommit_off=True,
        is_foreign_key_checks_off=True,
        is_unique_checks_off=True,
        is_sql_if_exists=False,
    ),
    variable(
        "sql_mode",
        "010400004003000000",
        modes=0x3_4000_0004,
        is_ansi_quotes=True,
        is_no_backslash_escapes=False,
        is_no_engine_substitution=True,
        is_pad_char_to_full_length=False,
        is_time_truncate_fractional=True,
        is_simultaneous_assignment=True,
        is_time_round_fractional=False,
    ),
    variable("catalog_with_terminator", b"\x02\x03std\x00", name="std", terminator=0),
    variable("auto_increment", "030a000200", increment=10, offset=2),
    variable("charset", "04210021000800", client=33, connection=33, server=8),
    variable("time_zone", b"\x05\x06SYSTEM", name="SYSTEM"),
    variable("catalog", b"\x06\x03std", name="std"),
    variable("lc_time_names", "070400", number=4),
    variable("charset_database", "080800", collation_id=8),
    variable("table_map_for_update", "090300000000000000", tables=3),
    variable("source_data_written", "0a64000000", len_event=100),
    variable("invoker", b"\x0b\x04root\x09localhost", user="root", host="localhost"),
    variable("updated_schema_names", b"\x0c\x02a\x00b\x00", num_names=2, names=["a", "b"]),
    variable("microseconds", "0d3f420f", microseconds=999_999),
    variable("commit_timestamp", "0e0500000000000000", sequence=5),
    variable("commit_timestamp_2", "0f05000000000000000600000000000000", last_committed=5, sequence_number=6),
    variable("explicit_defaults_for_timestamp", "1001", is_on=1),
    variable("ddl_xid", "111100000000000000", xid=17),
    variable("default_collation_for_utf8mb4", "12ff00", collation_id=255),
    variable("sql_require_primary_key", "1301", is_on=1),
    variable("default_table_encryption", "1400", is_on=0),
    variable("enable_cascade_triggers", "1501", is_on=1),
    variable("mariadb_microseconds", "8040e201", microseconds=123_456),
    variable("mariadb_xid", "811100000000000000", xid=17),
    variable(
        "mariadb_gtid_flags3",
        "82 04 0400000000000000",
        flags=4,
        is_commit_alter=True,
        start_sequence_number=4,
    ),
    variable(
        "mariadb_character_set_collations",
        "8302 2100 0008 2d00 0009",
        num_collations=2,
        collations__0__charset_id=33,
        collations__0__collation_id=2048,
        collations__1__charset_id=45,
        collations__1__collation_id=2304,
    ),
    variable("mariadb_dummy", "ff"),
]


@pytest.mark.parametrize("case", VARIABLES, ids=str)
def test_one_variable(case: Vector) -> None:
    assert_fields(case)
    assert len(case.parse().variables) == 1


@pytest.mark.parametrize("case", VARIABLES, ids=str)
def test_one_variable_truncated_or_with_trailing_bytes(case: Vector) -> None:
    assert_nothing_is_dropped(case)
    for end in range(1, len(case.data)):
        with pytest.raises(KaitaiStructError):
            case.parse(case.data[:end])


def test_every_key_has_a_vector() -> None:
    assert {str(case) for case in VARIABLES} == {key.name for key in BinlogEnums.QueryStatusKey}


def test_no_variables() -> None:
    assert parse(QueryStatusVars, b"").variables == []


def test_all_variables_in_a_row() -> None:
    parsed = parse(QueryStatusVars, b"".join(case.data for case in VARIABLES))
    assert [entry.key.name for entry in parsed.variables] == [str(case) for case in VARIABLES]


def test_more_schemas_than_the_list_holds() -> None:
    # 254 schemas are never named: the next byte is the next key.
    parsed = parse(QueryStatusVars, bytes.fromhex("0cfe 1301"))
    assert parsed.variables[0].value.has_too_many
    assert parsed.variables[0].value.names == []
    assert field(parsed, "variables.1.key") == "sql_require_primary_key"


def test_the_start_of_a_two_phase_alter_has_no_sequence_number() -> None:
    # As MariaDB 10.11 writes it, case alter_two_phase.
    parsed = parse(QueryStatusVars, bytes.fromhex("8202 810100000000000000"))
    assert parsed.variables[0].value.is_start_alter
    assert parsed.variables[0].value.start_sequence_number is None
    assert parsed.variables[1].value.xid == 1


def test_all_bits_of_a_mode_are_in_its_number() -> None:
    # Halves, since not every language has whole numbers of 64 bits.
    modes = parse(QueryStatusVars, bytes.fromhex("01 efcdab8967452301")).variables[0].value
    assert (modes.modes, modes.modes_low, modes.modes_high) == (0x0123456789ABCDEF, 0x89ABCDEF, 0x01234567)


def test_an_unknown_key_keeps_everything_after_it() -> None:
    parsed = parse(QueryStatusVars, bytes.fromhex("1301 63 0102 1301"))
    assert [field(parsed, f"variables.{i}.key") for i in (0, 1)] == ["sql_require_primary_key", 0x63]
    assert parsed.variables[1].value.data == bytes.fromhex("01021301")
    assert len(parsed.variables) == 2
