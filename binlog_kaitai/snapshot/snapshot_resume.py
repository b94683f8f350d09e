"""Continues a snapshot that was interrupted: finds out what the logs have changed since.

A row that the logs have not changed since it was read is the same in the new consistent snapshot. The other
rows are read again, so that in the end all rows are those of one position. What counts as changed may be more
than what was, such as rows of a transaction that was rolled back, but never less.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.ddl.lexer import COMMENT, may_affect_tables, may_change_rows
from binlog_kaitai.ddl.store import TableKey
from binlog_kaitai.errors import BinlogError, ConnectionLostError, ServerError
from binlog_kaitai.following.effects import texts_in
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.live.address import Address
from binlog_kaitai.live.server_logs import log_header, sources_of
from binlog_kaitai.live.server_session import ServerSession
from binlog_kaitai.rows.arrow_types import arrow_type
from binlog_kaitai.rows.log_pages import RowsPage, RowsPages
from binlog_kaitai.rows.table_maps import Table as LoggedTable
from binlog_kaitai.rows.table_maps import widths_of
from binlog_kaitai.snapshot.snapshot_chunks import ServerTable, SnapshotChunk, Touched, lower
from binlog_kaitai.values.schema import Column
from binlog_kaitai.views.change_batches import table_batches
from binlog_kaitai.views.change_schemas import CHANGE_TYPE, META_FIELDS, own_columns

#: First words of statements, other than definitions, that change no row.
_HARMLESS = re.compile(
    rf"(?:{COMMENT})*(?:BEGIN|START|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|XA|GRANT|REVOKE|FLUSH|ANALYZE|OPTIMIZE)\b",
    re.IGNORECASE | re.DOTALL,
)


def touched(
    address: Address, logs: list[str], chunks: list[SnapshotChunk], tables: Iterable[ServerTable]
) -> Touched:
    """What a server's logs have changed in the tables of chunks since the first of them.

    `logs`: the names of the server's logs, up to the newest one to read.
    """
    start, position = min((logs.index(chunk.log), chunk.position) for chunk in chunks)
    keys = {chunk.key for chunk in chunks}
    wanted = {lower(table.key): table for table in tables if table.key in keys}
    changes = Touched()
    try:
        for source in sources_of(address, logs[start:]):
            filters = Filters(start_position=position)
            for page in RowsPages(source, filters, every_block=True, follows_xa=False, has_rolled_back=True):
                _add_statements(page, position, changes, wanted)
                _add_rows(page, changes, wanted)
                if changes.reason:
                    return changes
            position = 0  # of the following logs
    except BinlogError as error:
        changes.reason = f"the logs since then cannot be read: {error}"
    return changes


def _add_statements(page: RowsPage, first: int, changes: Touched, tables: Iterable[TableKey]) -> None:
    block = page.block
    if len(block.rows_of(EventType.incident_event)):
        changes.reason = "the log has an incident: changes may be missing"
    texts = list(texts_in(block))
    if {*block.rows_of(EventType.query_compressed_event).tolist()} - {row for row, *_ in texts}:
        changes.reason = "a compressed statement cannot be read"
    for row, query, _ in texts:
        if int(block.positions[row]) < first:
            continue
        if may_affect_tables(query) and not may_change_rows(query):
            for key in tables:
                if _may_name(query, key[1]):
                    changes.all_of(key)
        elif _HARMLESS.match(query.decode("latin-1")) is None:
            changes.reason = "statements that may change rows are logged as text (binlog_format)"


def _may_name(query: bytes, name: str) -> bool:
    """Whether a definition may be of a table: its name may be written in any character set."""
    is_plain = name.isascii() and "`" not in name and '"' not in name
    return not is_plain or name.lower().encode() in query.lower()


def _add_rows(page: RowsPage, changes: Touched, wanted: Mapping[TableKey, ServerTable]) -> None:
    numbers = page.images.table_of[page.chosen]
    for number in np.unique(numbers).tolist():
        events = page.chosen[numbers == number]
        table = page.images.table(int(events[0]))
        if not isinstance(table, LoggedTable):
            changes.reason = "the logs since then have rows that cannot be read"
            return
        wanted_table = wanted.get(lower(table.key))
        if wanted_table is None or changes.of(table.key) is None:
            continue
        column = wanted_table.integer_key
        try:
            if column is None:
                changes.all_of(table.key)
            else:
                for keys in _keys(page, table, events, column):
                    changes.add(table.key, keys)
        except (BinlogError, ValueError):
            changes.all_of(table.key)


def _keys(page: RowsPage, table: LoggedTable, events: Ints, column: Column) -> Iterator[list[int]]:
    """The keys in the images of events; raises `ValueError` if one is not there."""
    logged = table.schema.columns[column.index] if column.index < len(table.schema.columns) else None
    if logged is None or logged.type != column.type:
        raise ValueError(f"{table.schema.full_name} has another definition")
    name = next(name for name, own in own_columns(table.schema).items() if own.index == column.index)
    change_type = next(meta for meta in META_FIELDS if meta.name == CHANGE_TYPE)
    schema = pa.schema([change_type, pa.field(name, arrow_type(logged, "null"))])
    width = widths_of(table.table_map, table.schema.columns)[column.index]
    assert width is not None  # of an integer
    size = 1 << 8 * width.fixed
    for batch in table_batches(page, table, events, lambda _: schema, "null"):
        keys, changes = batch.column(1), pc.cast(batch.column(0), pa.string())
        # The image after an update lacks a key that is the same as before.
        lacking = pc.and_(pc.is_null(keys), pc.not_equal(changes, "update_postimage"))
        if pc.any(lacking).as_py():
            raise ValueError(f"{table.schema.full_name}: an image lacks the key")
        numbers = [int(key) for key in pc.unique(keys).drop_null().to_pylist()]
        # Without metadata, the log does not say that numbers are unsigned.
        yield [key % size for key in numbers] if column.is_unsigned else numbers


def log_id(address: Address, log: str) -> int | None:
    """Identifies a log of a server; None if it cannot be read."""
    try:
        header = log_header(address, log)
    except BinlogError:
        return None
    return None if header is None else header.log_id


def unlogged(session: ServerSession) -> str:
    """Why the logs of a server may lack changes of its tables; empty if they do not."""
    if any(session.log_status()[2:4]):
        return "the server logs the changes of some databases only"
    # The name since MySQL 8.0.26, and the one of older servers and of MariaDB.
    values = (session.variable(f"global.{name}") for name in ("log_replica_updates", "log_slave_updates"))
    try:
        is_lost = "1" not in values and session.is_replica()
    except ConnectionLostError:
        raise
    except ServerError as error:
        return f"whether the server is a replica is not known: {error.reason}"
    return "the server does not log what it replicates" if is_lost else ""


def usable(address: Address, logs: dict[str, int], chunks: list[SnapshotChunk]) -> list[SnapshotChunk]:
    """The chunks whose position is in the logs of a server, given with their sizes."""
    names = {chunk.log for chunk in chunks} & logs.keys()
    ids = {name: log_id(address, name) for name in names}
    return [
        chunk
        for chunk in chunks
        if chunk.log_id is not None
        and chunk.log_id == ids.get(chunk.log)
        and chunk.position <= logs[chunk.log]
    ]
