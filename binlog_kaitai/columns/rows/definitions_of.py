"""Finds the definitions of a table in logs before any of its rows is read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from binlog_kaitai.columns.blocks.payloads import expand
from binlog_kaitai.columns.blocks.reader import BLOCK_SIZE, BlockReader
from binlog_kaitai.columns.rows.tables import Table, Tables
from binlog_kaitai.ddl.series import SeriesDefinitions
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.sources.remote import is_url
from binlog_kaitai.sources.source import Source

#: Block size. With large events, reading a block costs more than decoding its few table maps.
_BLOCK_SIZE = 4 * BLOCK_SIZE


def tables_of(sources: Sequence[Source], name: str, ddl: str | None) -> Iterator[Table]:
    """Every definition of a table, ``schema.table``, in log order, possibly with duplicates.

    Damage ends the search in a log; it is reported when the rows are read.
    """
    definitions = SeriesDefinitions(ddl)
    nothing = np.zeros(0, dtype=np.int64)
    for source in sources:
        tables: Tables | None = None
        seen: set[int] = set()
        try:
            with source.open() as stream:
                # Checksums are verified when the rows are read.
                reader = BlockReader.of_file(stream, source.name, block_size=_BLOCK_SIZE, leaves_checks=1)
                for part in chain.from_iterable(map(expand, reader)):
                    if tables is None:
                        tables = Tables(definitions.of(source.name, part.fixed_header(0).server_id))
                    for table in tables.take(part, nothing, nothing)[0]:
                        if isinstance(table, Table) and table.schema.full_name == name:
                            if id(table) not in seen:
                                yield table
                            seen.add(id(table))
        except (BinlogError, OSError):
            continue


def is_readable_again(source: Source) -> bool:
    """Whether a log can be opened repeatedly; stdin and pipes cannot."""
    if source.path is None:
        return source.name == "<bytes>"
    return is_url(source.path) or os.path.isfile(source.path)
