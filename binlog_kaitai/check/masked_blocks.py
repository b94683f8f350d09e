"""Masks the values of a log that is written from another one.

Strategy
--------
1. A column that is masked or left out is NULL in every image: its bytes are not in the new log.
2. A statement may contain any value. Of QUERY_EVENT, only texts that begin or end transactions and savepoints
   stay; any other becomes a comment. Other events that may have values are left out.
3. Compressed transactions and rows are written without compression, pieces of a rows event as one event.
4. What cannot be masked completely is refused; nothing is masked in part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType, header_offset
from binlog_kaitai.core.transactions import BETWEEN
from binlog_kaitai.errors import GrammarError, UsageError
from binlog_kaitai.kernels.arrays import Bools, Bytes, Ints
from binlog_kaitai.kernels.byte_kernels import PENDING
from binlog_kaitai.kernels.groups import distinct_values
from binlog_kaitai.log.block import Block, Frames
from binlog_kaitai.log.gather import take_ranges
from binlog_kaitai.log.transaction_roles import SAVEPOINT, Role, meaning_of
from binlog_kaitai.rows.column_cells import Cells
from binlog_kaitai.rows.image_walk import ABSENT, NULL, LocatedRows, MismatchError, walk
from binlog_kaitai.rows.log_pages import RowsPage, RowsPages
from binlog_kaitai.rows.row_masks import WITHOUT_VALUES, Masks
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.sources.source import Source
from binlog_kaitai.values.decoders import len_null_bits

#: Types of events that stay, with the identifiers of XA transactions and the server's message on an incident.
_KEPT = [
    int(kind)
    for kind in {*WITHOUT_VALUES, *BETWEEN, EventType.xa_prepare_log_event, EventType.incident_event}
]

#: Texts without values: those of servers, since a comment may have any.
_BOUNDARY = re.compile(
    rb"BEGIN|COMMIT|ROLLBACK|START TRANSACTION|(?:SAVEPOINT|ROLLBACK TO) `(?:[^`]|``)+`"
    rb"|XA (?:START|END|PREPARE|COMMIT|ROLLBACK) X'[0-9a-f]*',X'[0-9a-f]*',[0-9]+(?: ONE PHASE)?"
)

_COMMENT = b"/* left out */"

#: Where the text of a statement begins.
_TEXTS = {EventType.query_event: "query", EventType.query_compressed_event: "compressed_query.method"}

#: The types of events without compression.
_PLAIN = {
    int(kind): int(getattr(EventType, kind.name.replace("_compressed", "")))
    for kind in EventType
    if "_compressed" in kind.name
}


class MaskedBlocks:
    """Masks the blocks of logs, which are read once, in order.

    `statements`: number of statements that became comments, or were left out with other events that may have
    values.
    """

    def __init__(self, masks: Masks, sources: list[Source], ddl: str | None) -> None:
        options: dict[str, Any] = {"every_block": True, "follows_xa": False, "has_rolled_back": True}
        pages = RowsPages(sources, Filters(), ddl=ddl, masks=masks, **options)
        self._pages = iter(pages)
        self._next: RowsPage | None = None
        self._masks, self._seen = masks, set[str]()
        self.statements = 0

    def parts(self, source: Source, choose: Callable[[Block], Bools]) -> Iterator[tuple[Block, Ints, int]]:
        """The masked blocks of the next log, the numbers of the chosen events, and where each block ends.

        Raises `UsageError`: a value cannot be masked. Raises `BinlogError`: rows or a statement are invalid.
        """
        for page in self._pages_of(source):
            chosen, end = choose(page.block), int(page.block.end_positions[-1])
            if page.block.is_special:
                yield page.block, np.flatnonzero(chosen), end
            else:
                block = self._masked(page, chosen)
                yield block, np.arange(len(block)), end

    def _pages_of(self, source: Source) -> Iterator[RowsPage]:
        while (page := self._next or next(self._pages, None)) is not None:
            self._next = None if page.block.file == source.name else page
            if self._next is not None:
                return
            yield page

    def warn(self) -> None:
        """Warn of rules that are about no table; see `Masks.warn_unseen`."""
        self._masks.warn_unseen(self._seen)

    def _masked(self, page: RowsPage, chosen: Bools) -> Block:
        """The chosen events of a page, masked; sizes and positions in headers are the old ones."""
        block = page.block
        is_payload = block.types == EventType.transaction_payload_event
        is_kept = chosen & np.isin(block.types, _KEPT) & ~is_payload
        is_query = np.isin(block.types, [int(kind) for kind in _TEXTS])
        is_piece = block.types == EventType.partial_row_data_event
        self.statements += int((chosen & ~is_kept & ~is_query & ~is_payload & ~is_piece).sum())
        rows = np.flatnonzero(is_kept | (chosen & is_query))
        ends, codes, tails = block.body_ends(np.arange(len(block))), block.codes.copy(), dict[int, bytes]()
        for row, start, text in (*self._statements(block, chosen), *self._rows(page, is_kept)):
            ends[row], tails[row] = start, text
            codes[row] = _PLAIN.get(int(codes[row]), codes[row])
        room = bytes(CHECKSUM_SIZE * block.layout.is_checksummed)
        texts = [tails.get(row, b"") + room for row in rows.tolist()]
        lengths = np.array([len(text) for text in texts], dtype=np.int64)
        every = np.concatenate((block.data, np.frombuffer(b"".join(texts), dtype=np.uint8)))
        starts = np.column_stack((block.starts[rows], len(block.data) + np.cumsum(lengths) - lengths))
        sizes = np.column_stack((ends[rows] - block.starts[rows], lengths))
        data, offsets = take_ranges(every, starts.reshape(-1), sizes.reshape(-1))
        limits = offsets[::2]
        data[limits[:-1] + header_offset("type_code")] = codes[rows]
        checksums = np.full(len(rows), PENDING, dtype=block.checksums.dtype)
        frames = Frames(limits[:-1], np.diff(limits), codes[rows], checksums, block.closes[rows])
        return Block(block.file, data, 0, frames, block.layout)

    def _statements(self, block: Block, chosen: Bools) -> Iterator[tuple[int, int, bytes]]:
        """The events whose text becomes a comment: number, offset of the text, and the comment."""
        for kind, path in _TEXTS.items():
            rows = block.rows_of(kind)
            rows = rows[chosen[rows]]
            body = block.gather(kind, rows)
            for row in rows[~body.matches].tolist():
                raise block.locate(row, GrammarError("the statement cannot be located"))
            places = rows.tolist(), body.positions(path).tolist(), block.body_ends(rows).tolist()
            for row, start, end in zip(*places, strict=True):
                # Servers compress long texts only.
                text = bytes(block.data[start:end]) if kind == EventType.query_event else b""
                if may_have_values(block, row, text):
                    self.statements += 1
                    yield row, start, _COMMENT

    def _rows(self, page: RowsPage, is_kept: Bools) -> Iterator[tuple[int, int, bytes]]:
        """The rows events with masked columns: number, offset of their images, and the new images."""
        images = page.images
        events = np.flatnonzero(is_kept[images.rows])
        for number in distinct_values(images.table_of[events]).tolist():
            own = events[images.table_of[events] == number]
            table = images.table(int(own[0]))
            if not isinstance(table, Table):
                raise page.refuse(int(own[0]))
            self._seen.add(table.schema.full_name)
            try:
                treatments = self._masks.treatments(table.schema)
            except UsageError as error:
                raise page.block.locate(int(images.rows[own[0]]), error) from None
            columns = [field.index for field in table.schema.columns if treatments.get(field.name, (0,))[0]]
            if not columns:
                continue
            kinds = page.block.types[images.rows[own]]
            if (partial := kinds == EventType.partial_update_rows_event).any():
                reason = "partial updates of JSON (PARTIAL_JSON) cannot be masked"
                raise page.block.locate(int(images.rows[own[partial]][0]), UsageError(reason))
            parts: dict[int, list[bytes]] = {int(event): [] for event in own}
            try:
                for located in walk(images, own, len(table.schema.columns)):
                    data, limits = _masked_images(table, located, columns)
                    firsts = np.flatnonzero(np.diff(located.events, prepend=-1))
                    for first, last in zip(firsts, [*firsts[1:], len(located.events)], strict=True):
                        piece = data[limits[first] : limits[last]].tobytes()
                        parts[int(located.events[first])].append(piece)
            except MismatchError as error:
                raise page.refuse(error.index, error.reason) from None
            for event, pieces in parts.items():
                yield int(images.rows[event]), int(images.starts[event]), b"".join(pieces)


def may_have_values(block: Block, row: int, text: bytes) -> bool:
    """Whether the statement of an event is more than the beginning or end of a transaction or savepoint.

    Raises `UsageError`: it is one of those, with another text than servers write.
    """
    if _BOUNDARY.fullmatch(text) is not None:
        return False
    if meaning_of(text)[0] != Role.STATEMENT or re.match(SAVEPOINT, text):
        reason = "the text of a statement that begins or ends a transaction cannot be masked"
        raise block.locate(row, UsageError(reason))
    return True


def null_masks(*rules: str | Iterable[str]) -> Masks:
    """The masks of `MaskOptions`, which a log and a script can have.

    Raises `UsageError`: a value would need another type or length, or a rule is invalid.
    """
    include, exclude, mask = ((rule,) if isinstance(rule, str) else tuple(rule) for rule in rules)
    for text in mask:
        if not text.endswith("=null"):
            raise UsageError(f"mask {text}: masked values are NULL here; use the method null")
    return Masks.of(include, exclude, mask)


def _masked_images(table: Table, located: LocatedRows, masked: list[int]) -> tuple[Bytes, Ints]:
    """Images with some columns NULL, and the limits of each."""
    columns, count = table.schema.columns, len(located.events)
    starts = np.array([located.starts_of(column.index) for column in columns])
    is_there, is_null = starts != ABSENT, starts == NULL
    is_null[masked] = is_there[masked]
    sizes = np.array([Cells.of(table, column, located).sizes(np.arange(count)) for column in columns])
    lengths = len_null_bits(is_there.sum(axis=0))
    bases = np.cumsum(lengths) - lengths
    bits = np.zeros(8 * int(lengths.sum()), dtype=np.bool_)
    bits[(8 * bases + np.cumsum(is_there, axis=0) - 1)[is_null]] = True
    every = np.concatenate((located.data, np.packbits(bits, bitorder="little")))
    ranges = np.vstack((len(located.data) + bases, starts)), np.vstack((lengths, np.where(is_null, 0, sizes)))
    data, offsets = take_ranges(every, *(np.maximum(numbers.T.reshape(-1), 0) for numbers in ranges))
    return data, offsets[:: len(columns) + 1]
