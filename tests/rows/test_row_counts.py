"""Counting rows agrees with walking over them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from binlog_kaitai.ddl import Definitions
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.payloads import expand
from binlog_kaitai.rows.image_walk import BEFORE, MismatchError, walk
from binlog_kaitai.rows.row_counts import UNKNOWN, row_counts
from binlog_kaitai.rows.row_images import Images
from binlog_kaitai.rows.table_maps import Table, Tables
from tests.corpus_files import CORPUS, LogFile, logs
from tests.extent import sample
from tests.support import blocks, use_plain_kernels

MUTATIONS = 6


def by_walk(images: Images) -> Any:
    """Rows of each event; UNKNOWN where the walk does not get to the event's end."""
    counts = np.full(len(images), UNKNOWN, dtype=np.int64)
    for index in range(len(images)):
        table = images.table(index)
        if isinstance(table, Table) and table.widths is not None:
            try:
                found = list(walk(images, np.array([index]), len(table.widths)))
            except MismatchError:
                continue
            counts[index] = sum(int((part.changes != BEFORE).sum()) for part in found)
    return counts


def damaged(block: Block, images: Images, rng: np.random.Generator) -> None:
    """Change a byte in the second half of each event, which contains its rows."""
    for row in images.rows.tolist():
        start, size = int(block.starts[row]), int(block.sizes[row])
        block.data[start + size // 2 + int(rng.integers(0, size // 2))] ^= 1 << int(rng.integers(0, 8))


def check(images: Images) -> None:
    np.testing.assert_array_equal(row_counts(images), by_walk(images))


@pytest.mark.parametrize("log", sample(logs(), 14), ids=lambda log: log.id)
@pytest.mark.parametrize("is_plain", [False, True], ids=["compiled", "plain"])
def test_counts_are_those_of_the_walk(log: LogFile, is_plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if is_plain:
        use_plain_kernels(monkeypatch)
        monkeypatch.setattr("tests.rows.test_row_counts.MUTATIONS", 1)
    monkeypatch.setattr("binlog_kaitai.rows.row_counts._by_reader", lambda *event: UNKNOWN)
    tables = Tables(Definitions())
    rng = np.random.default_rng(len(log.id))
    for block in blocks(log.path):
        for part in expand(block):
            images = Images(part, tables)
            check(images)
            for _ in range(MUTATIONS):
                damaged(part, images, rng)
                check(images)


@pytest.mark.parametrize("case", ["types_minimal", "types_full", "json_partial"])
def test_programs_are_made_once_for_the_columns_of_an_image(case: str) -> None:
    """Blocks of a few events, and the whole log as one block, have the same number of programs."""
    path = CORPUS / "mysql-9.7" / case / "binlog.000001"
    of_blocks, of_log = (
        {
            id(program): program
            for images in every_images(path, size)
            for program in images.programs()[0]
            if program is not None
        }
        for size in (2000, 1 << 20)
    )
    assert len(list(every_images(path, 2000))) > 3
    assert len(of_blocks) == len(of_log) > 3


def every_images(path: Path, block_size: int) -> Iterator[Images]:
    tables = Tables(Definitions())
    for block in blocks(path, block_size):
        for part in expand(block):
            yield Images(part, tables)
