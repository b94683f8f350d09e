"""A block with its transactions, which are built as rows on request."""

from __future__ import annotations

from binlog_kaitai.arrow import pa
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.boundaries import Roles, Segments
from binlog_kaitai.log.event_gtids import GtidColumns
from binlog_kaitai.log.line_arrays import Pool, TextColumn
from binlog_kaitai.rows.row_counts import row_counts
from binlog_kaitai.rows.row_images import Images
from binlog_kaitai.views.transaction_parts import Changes, Parts, parts_of


class TransactionsPage:
    """All events of a block, and the parts of transactions that they form.

    Parameters
    ----------
    gtids
        The GTID of each event, as text in `pool`; None if GTIDs are only needed for rows.

    Attributes
    ----------
    row_counts : int64 array
        Row count of each rows event, see `row_counts.row_counts`.
    parts : Parts
        The transactions; for one that continues in another block, the part in this block.
    """

    def __init__(
        self,
        block: Block,
        gtids: TextColumn | None,
        pool: Pool,
        images: Images,
        roles: Roles,
        segments: Segments,
    ) -> None:
        self.block, self.gtids, self.pool = block, gtids, pool
        self.images, self.roles, self.segments = images, roles, segments
        self.parts = Parts(block, segments)
        self.row_counts = row_counts(images)
        self.changes = Changes.of(images, self.row_counts)

    def rows(
        self, begin: int, end: int, *, types: list[int] | None = None, with_schemas: bool = False
    ) -> pa.RecordBatch:
        """Some of the transactions as rows; see `parts.parts_of`."""
        if (begin, end) == (0, len(self.parts)) and self.gtids is not None:
            events = self.block, self.roles, self.parts, self.gtids, self.pool, self.changes
            return parts_of(*events, types=types or [], with_schemas=with_schemas)
        first, after = int(self.parts.first[begin]), int(self.parts.last[end - 1]) + 1
        block = self.block.part(first, after)
        parts = Parts(block, self.parts.part(begin, end))
        roles = self.roles.part(first, after)
        gtids, pool = self._gtids(block, first)
        changes = self.changes.part(first, after)
        return parts_of(
            block, roles, parts, gtids, pool, changes, types=types or [], with_schemas=with_schemas
        )

    def _gtids(self, block: Block, first: int) -> tuple[TextColumn, Pool]:
        if self.gtids is None:
            # A transaction with a GTID begins with it; one from an earlier block has its GTID from there.
            pool = Pool()
            return GtidColumns().column(block, pool, lambda row, error: None), pool
        some = slice(first, first + len(block))
        return self.gtids._replace(first=self.gtids.first[some], second=self.gtids.second[some]), self.pool
