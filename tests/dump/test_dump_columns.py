"""What `dump` prints of columns that table maps do not name, and of rows without columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.dump.client_values import metadata_lines
from binlog_kaitai.dump.dump_logs import dump
from binlog_kaitai.dump.dump_options import DumpOptions
from tests.rows.test_dummy_rows import KINDS, log, table_map
from tests.rows.test_rows_without_columns import INSERTS, without_columns
from tests.rows.test_schema import with_generated_key


def test_a_key_that_mysql_made_has_its_name() -> None:
    lines = metadata_lines(with_generated_key(), is_mariadb=False)
    assert b"`my_row_id` BIGINT NOT NULL INVISIBLE" in lines
    assert lines.endswith(b"\n# Primary Key(my_row_id)\n")


@pytest.mark.parametrize("kind", KINDS.keys() - {*INSERTS})
def test_changes_without_columns_have_no_rows(kind: EventType, tmp_path: Path) -> None:
    path = log(tmp_path / "binlog.000001", table_map(), without_columns(kind))
    written = list[bytes]()
    dump([path], written.append, DumpOptions(verbose=1))
    assert b"###" not in b"".join(written)
