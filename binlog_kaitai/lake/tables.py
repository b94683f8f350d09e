"""The interface of a table format.

A format opens and creates tables; a table has columns and a last batch, and takes files. Everything else is
the same for all formats: tasks write Parquet files with the columns that `lake.types` chooses (`lake.files`),
and the driver fits them to the columns of their table and commits them (`lake.batches`).

Each commit carries the name of the pipeline (`application`) and the number of a batch, so a table knows the
last batch that it has. A table takes the files of a batch in one commit, together with this number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.lake.files import DataFile
from binlog_kaitai.lake.lineage import Moves


class Table(Protocol):
    """A table of a lake."""

    @property
    def columns(self) -> dict[str, pa.DataType]:
        """Its columns, without the partition column."""

    @property
    def batch(self) -> int:
        """The last batch that it has; -1 if it has none of this pipeline."""

    def append(
        self, columns: pa.Schema, files: Sequence[DataFile], batch: int, moves: Sequence[Moves] = ()
    ) -> None:
        """Add the columns that it lacks, then commit the files with the number of their batch.

        `moves`: what statements did to the columns, up to the end of the batch; a format may rename them.
        Raises `SourceError`: another process has committed this batch meanwhile, or the store fails.
        """

    def batches(
        self, where: pc.Expression | None = None, columns: Sequence[str] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Its rows that meet a condition, in no particular order, with all or some of these columns."""


class Format(Protocol):
    """The tables of a lake in one format."""

    def open(self, name: str) -> Table | None:
        """A table as it is now, by its folder; None if there is none."""

    def create(
        self,
        name: str,
        columns: pa.Schema,
        files: Sequence[DataFile],
        batch: int,
        moves: Sequence[Moves] = (),
        *,
        has_dates: bool,
    ) -> Table:
        """A new table with the files of its first batch, partitioned by date or not."""
