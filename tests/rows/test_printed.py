"""Values equal those printed by `mysqlbinlog -vv`, for the clients' texts in the corpus."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import binlog_kaitai as bk
from binlog_kaitai.log.event_rows import Change, Row, rows_of
from tests import corpus_files
from tests.rows.printed import agrees, images_of, is_change, read_printed, unprinted_tables

_VERBS = {Change.INSERT: "INSERT", Change.UPDATE: "UPDATE", Change.DELETE: "DELETE"}

#: Where a client stops without a word.
STOPS = {"types_old_temporal"}

CASES = [
    case
    for case in corpus_files.cases()
    if "\n### SET" in (case.vv() or "") and case.folder.name not in STOPS
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_values_are_as_the_client_prints_them(case: corpus_files.Case) -> None:
    text = case.vv() or ""
    left_out = unprinted_tables(text)
    printed = [row for row in read_printed(text) if row.table not in left_out]
    ours = [row for row in _rows(case) if row.schema.full_name not in left_out]
    assert len(printed) == len(ours)
    for theirs, row in zip(printed, ours, strict=True):
        assert (theirs.verb, theirs.table) == (_VERBS[row.change], row.schema.full_name)
        for cells, image in zip(theirs.images, images_of(row), strict=True):
            for number, text in cells.items():
                if is_change(text):
                    assert row.diffs
                    continue
                column, value = image[number]
                assert agrees(text, column, value), (row.schema.full_name, column.name, text, value)


def _rows(case: corpus_files.Case) -> Iterator[Row]:
    with bk.open(case.logs) as log:
        for event in log:
            yield from rows_of(event)
