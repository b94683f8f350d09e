"""Blocks with opened payloads, or with hexdumps, are printed as event by event."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from binlog_kaitai.core.context import StoredTableMap
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.dump import block_printer, dump_logs, dump_output, row_comments
from binlog_kaitai.dump.dump_logs import dump
from binlog_kaitai.dump.dump_options import DumpOptions
from binlog_kaitai.dump.row_comments import RowPrograms
from binlog_kaitai.log.event_log import open as open_log
from binlog_kaitai.text import text_kernels
from tests import corpus_files
from tests.dump.dump_ways import CASES, check_one_by_one, make_quick, make_slow, printed
from tests.extent import sample
from tests.log_maker import log_of_statements


@pytest.mark.parametrize("size", [300, 1 << 22])
def test_events_inside_payloads_are_not_left_to_the_reader(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = corpus_files.case("mysql-9.7", "payloads").logs[0]
    with open_log(str(log)) as events:
        count = sum(event.payload_index is not None for event in events)
    shown: list[bool] = []
    print_alone = block_printer.BlockPrinter._print_alone

    def noted(self: Any, event: int, **named: Any) -> None:
        shown.append(self._inside is not None and self._inside.is_inside[event])
        print_alone(self, event, **named)

    monkeypatch.setattr(block_printer.BlockPrinter, "_print_alone", noted)
    make_quick(monkeypatch)
    monkeypatch.setattr(block_printer, "BLOCK_SIZE", size)
    monkeypatch.setattr(dump_logs, "BLOCK_SIZE", size)
    printed(log, tmp_path, verbose=2)
    assert 0 <= sum(shown) < count / 4


def test_payloads_of_transactions_that_are_left_out_stay_closed() -> None:
    """However many of them a block has."""
    log = corpus_files.case("mysql-9.7", "types_payload").logs[0]
    gtid = next(event.gtid for event in open_log(log) if event.type == "TRANSACTION_PAYLOAD_EVENT")
    written = list[bytes]()
    dump([log], written.append, DumpOptions(verbose=1, include_gtids=GtidSet.parse(str(gtid))))
    assert b"".join(written).count(b"\tXid = ") == 1


def test_the_columns_of_a_table_are_described_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many sets of them images have; and again once the programs take too much memory."""
    log = corpus_files.case("mysql-9.7", "types_minimal").logs[0]
    described: list[bytes] = []
    describe = RowPrograms._columns_of

    def noted(programs: RowPrograms, table_map: Any) -> Any:
        described.append(StoredTableMap(table_map).content)
        return describe(programs, table_map)

    monkeypatch.setattr(RowPrograms, "_columns_of", noted)
    make_slow(monkeypatch)
    expected = printed(log, tmp_path, verbose=2)
    count = len(described)
    assert count == len(set(described)) > 3
    monkeypatch.setattr(row_comments, "_MOST_COLUMNS", 0)
    assert printed(log, tmp_path, verbose=2) == expected
    assert len(described) > 2 * count


@pytest.mark.parametrize("name", sample(["crash", "payloads", "mixed", "no_checksum", "many_databases"], 3))
def test_bytes_are_shown_alike(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for case in sample([case for case in CASES if case.id.endswith(f"/{name}") and "10.5" not in case.id], 1):
        for options in ({}, {"rewrite_databases": {"t": "other", "test": "a_longer_name"}, "verbose": 0}):
            given: dict[str, Any] = {"hexdump": True, **options}
            check_one_by_one(case.logs[0], tmp_path, monkeypatch, given)


def test_statements_without_status_variables_are_printed_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "binlog.000001"
    log.write_bytes(log_of_statements(b"BEGIN", b"CREATE TABLE t.a (b INT)", None, b"BEGIN", b"COMMIT"))
    check_one_by_one(log, tmp_path, monkeypatch, {})


@given(st.binary(min_size=19, max_size=200), st.integers(4, 1 << 34))
def test_bytes_in_hexadecimal_are_those_of_python(raw: bytes, position: int) -> None:
    data = np.frombuffer(bytearray(raw), dtype=np.uint8)
    out = np.zeros(text_kernels.room_for(np.array([len(raw)])), dtype=np.uint8)
    for style in (dump_output.MYSQL_STYLE, dump_output.MARIADB_STYLE):
        packed = np.frombuffer(bytearray(b"ahead" + style.packed()), dtype=np.uint8)
        put = text_kernels.put_hexdump.compiled
        end = put(data, 0, len(raw), position, packed, len(b"ahead"), out, 0)
        assert bytes(out[:end]) == b"".join(dump_output.hexdump(style, raw, position, 19))
        assert put(data, 0, len(raw), position, packed, len(b"ahead"), out[:-1], 0) == -1
        assert put(data, 1, len(raw), position, packed, len(b"ahead"), out, 0) == -2
