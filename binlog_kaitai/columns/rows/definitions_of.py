"""The definitions of a table that logs have, found before any of its rows is read."""

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

#: Of large events, each block takes longer than the few table maps in it.
_BLOCK_SIZE = 4 * BLOCK_SIZE


def tables_of(sources: Sequence[Source], name: str, ddl: str | None) -> Iterator[Table]:
    """Every definition of a table, ``schema.table``, in the order of the logs; some may come twice.

    Damage ends the search in a log: whoever reads the rows is told.
    """
    definitions = SeriesDefinitions(ddl)
    nothing = np.zeros(0, dtype=np.int64)
    for source in sources:
        tables: Tables | None = None
        seen: set[int] = set()
        try:
            with source.open() as stream:
                # Checksums are left to whoever reads the rows.
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
    """Whether a log gives the same bytes each time that it is opened; stdin and pipes do not."""
    if source.path is None:
        return source.name == "<bytes>"
    return is_url(source.path) or os.path.isfile(source.path)
