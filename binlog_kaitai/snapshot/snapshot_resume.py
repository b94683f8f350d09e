"""What a server's logs changed since a position: which tables, and which rows of them.

The answer may contain more than what was changed, such as rows of a transaction that was rolled back, but
never less. Whatever cannot be determined counts as changed.
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
from binlog_kaitai.rows.image_walk import MismatchError
from binlog_kaitai.rows.log_pages import RowsPage, RowsPages
from binlog_kaitai.rows.table_maps import Table as LoggedTable
from binlog_kaitai.rows.table_maps import widths_of
from binlog_kaitai.snapshot.snapshot_chunks import ServerTable, SnapshotChunk, Touched, lower
from binlog_kaitai.sources.source import Source
from binlog_kaitai.values.schema import Column
from binlog_kaitai.views.change_batches import table_batches
from binlog_kaitai.views.change_schemas import CHANGE_TYPE, META_FIELDS, own_columns

#: First words of statements, other than definitions, that change no row.
_HARMLESS = re.compile(
    rf"(?:{COMMENT})*(?:BEGIN|START|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|XA|GRANT|REVOKE|FLUSH|ANALYZE|OPTIMIZE)\b",
    re.IGNORECASE | re.DOTALL,
)


def touched_since(sources: list[Source], position: int, tables: Mapping[TableKey, ServerTable]) -> Touched:
    """What the logs have changed since a position of the first of them, in any of the given tables."""
    found, wanted = Touched(), {lower(key): one for key, one in tables.items()}
    try:
        for source in sources:
            filters = Filters(start_position=position)
            for page in RowsPages(source, filters, every_block=True, follows_xa=False, has_rolled_back=True):
                _take_statements(page, position, found, tables)
                _take_rows(page, found, wanted)
                if found.reason:
                    return found
            position = 0  # of the following logs
    except BinlogError as error:
        found.reason = f"the logs since then cannot be read: {error}"
    return found


def _take_statements(page: RowsPage, first: int, found: Touched, tables: Iterable[TableKey]) -> None:
    block = page.block
    if len(block.rows_of(EventType.incident_event)):
        found.reason = "the log has an incident: changes may be missing"
    texts = list(texts_in(block))
    if {*block.rows_of(EventType.query_compressed_event).tolist()} - {row for row, *_ in texts}:
        found.reason = "a compressed statement cannot be read"
    for row, query, _ in texts:
        if int(block.positions[row]) < first:
            continue
        if may_affect_tables(query) and not may_change_rows(query):
            for key in tables:
                if _may_name(query, key[1]):
                    found.all_of(key)
        elif _HARMLESS.match(query.decode("latin-1")) is None:
            found.reason = "statements that may change rows are logged as text (binlog_format)"


def _may_name(query: bytes, name: str) -> bool:
    """Whether a definition may be of a table: its name may be written in any character set."""
    is_plain = name.isascii() and "`" not in name and '"' not in name
    return not is_plain or name.lower().encode() in query.lower()


def _take_rows(page: RowsPage, found: Touched, wanted: Mapping[TableKey, ServerTable]) -> None:
    numbers = page.images.table_of[page.chosen]
    for number in np.unique(numbers).tolist():
        events = page.chosen[numbers == number]
        table = page.images.table(int(events[0]))
        if not isinstance(table, LoggedTable):
            found.reason = "the logs since then have rows that cannot be read"
            return
        one = wanted.get(lower(table.key))
        if one is None or found.of(table.key) is None:
            continue
        column = one.integer_key
        try:
            if column is None:
                found.all_of(table.key)
            else:
                for keys in _keys(page, table, events, column):
                    found.add(table.key, keys)
        except (BinlogError, MismatchError, ValueError):
            found.all_of(table.key)


def _keys(page: RowsPage, table: LoggedTable, events: Ints, column: Column) -> Iterator[list[int]]:
    """The keys in the images of events; raises `ValueError` if one is not there."""
    logged = table.schema.columns[column.index] if column.index < len(table.schema.columns) else None
    if logged is None or logged.type != column.type:
        raise ValueError(f"{table.schema.full_name} has another definition")
    name = next(name for name, one in own_columns(table.schema).items() if one.index == column.index)
    change = next(one for one in META_FIELDS if one.name == CHANGE_TYPE)
    schema = pa.schema([change, pa.field(name, arrow_type(logged, "null"))])
    width = widths_of(table.table_map, table.schema.columns)[column.index]
    assert width is not None  # of an integer
    size = 1 << 8 * width.fixed
    with page.block.held():
        for batch in table_batches(page, table, events, "null", schema):
            keys, changes = batch.column(1), pc.cast(batch.column(0), pa.string())
            # The image after an update lacks a key that is the same as before.
            lacking = pc.and_(pc.is_null(keys), pc.not_equal(changes, "update_postimage"))
            if pc.any(lacking).as_py():
                raise ValueError(f"{table.schema.full_name}: an image lacks the key")
            found = [int(key) for key in pc.unique(keys).drop_null().to_pylist()]
            # Without metadata, the log does not say that numbers are unsigned.
            yield [key % size for key in found] if column.is_unsigned else found


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


def usable(address: Address, logs: dict[str, int], chunks: Iterable[SnapshotChunk]) -> list[SnapshotChunk]:
    """The chunks whose position is in the logs of a server, given with their sizes."""
    ids: dict[str, int | None] = {}
    found = []
    for one in chunks:
        view = one.view
        if view.log not in ids:
            ids[view.log] = log_id(address, view.log) if view.log in logs else None
        known = ids[view.log]
        if known is not None and known == view.log_id and view.position <= logs[view.log]:
            found.append(one)
    return found


def touched(
    address: Address, logs: list[str], chunks: list[SnapshotChunk], tables: Iterable[ServerTable]
) -> Touched:
    """What a server's logs have changed in tables since the first of their chunks.

    Parameters
    ----------
    logs
        The names of the server's logs, up to the newest one to read.
    """
    start, position = min((logs.index(one.view.log), one.view.position) for one in chunks)
    wanted = {one.key for one in chunks}
    sources = sources_of(address, logs[start:])
    return touched_since(sources, position, {one.key: one for one in tables if one.key in wanted})
