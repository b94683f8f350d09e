"""Row changes as lines of JSON: the columns write what the reader writes, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.columns.views.row_objects import write_rows
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.reader.rows import row_objects, to_json
from binlog_kaitai.values.schema import Schema, is_mariadb
from tests.columns.support import all_files, use_plain_kernels
from tests.columns.test_rows_corpus import observe

FILES = all_files()


def lines_by_columns(path: Path) -> Iterator[bytes]:
    try:
        for lines in write_rows(path):
            yield from bytes(lines).split(b"\n")[:-1]
    except bk.BinlogError as error:
        yield str(error).encode("utf-8", "backslashreplace")


def lines_by_reader(path: Path) -> Iterator[bytes]:
    definitions = Definitions()
    try:
        for event in bk.open(path):
            observe(definitions, event)
            schema = None
            if (body := event.table_map) is not None:
                definition = definitions.of(body.schema_name, body.table_name, body)
                schema = Schema.of(body, definition, is_mariadb=is_mariadb(event.layout))
            for found in list(row_objects(event, schema)):
                yield to_json(found).encode("utf-8", "backslashreplace")
    except bk.BinlogError as error:
        yield str(error).encode("utf-8", "backslashreplace")


@pytest.mark.parametrize(
    "path", FILES, ids=lambda path: f"{path.parent.parent.name}/{path.parent.name}/{path.name}"
)
def test_lines_are_those_of_the_reader(path: Path) -> None:
    found, expected = list(lines_by_columns(path)), list(lines_by_reader(path))
    for one, other in zip(found, expected, strict=False):
        assert one == other
    assert len(found) == len(expected)


def test_plain_kernels_write_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = {path: list(lines_by_columns(path)) for path in FILES[::9]}
    use_plain_kernels(monkeypatch)
    for path, lines in compiled.items():
        assert list(lines_by_columns(path)) == lines
