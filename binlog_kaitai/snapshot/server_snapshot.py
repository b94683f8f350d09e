"""A snapshot: the contents of a server's tables at one position of its logs.

1. ``FLUSH TABLES WITH READ LOCK`` stops all writes, so position, definitions and contents belong together.
2. Each reader starts a transaction with a consistent snapshot; tables without transactions (MyISAM) are read.
3. The lock is released. The readers read the other tables as they were, in ranges of the primary key.

A snapshot of some tables, for a lake that exists, locks these tables instead. Transactions that changed them
have then ended, and others do not concern them. So does a snapshot of all tables if the user may not flush
them, as on RDS.

A table that is altered in the meantime ends the snapshot with an error of the server. Changes of a prepared
XA transaction are in the log before the position, but not in the tables: no snapshot is taken then.

The snapshot of a transaction ends with its connection, so ranges read before and after an interruption are of
different positions. A snapshot that continues after an interruption therefore takes a new position, and keeps
of the finished ranges only rows that the logs have not changed since (`touched`, `ChunkFiles`). The others
are read again, so that in the end all rows are those of one position. What counts as changed may be more than
what was, such as rows of a transaction that was rolled back, but never less. A complete snapshot is described
by `snapshot.json`, and is never taken again.
"""

from __future__ import annotations

import re
import struct
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import NoneType

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.core.filters import Filters, TableSet
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.lexer import is_harmless, may_affect_tables, may_change_rows
from binlog_kaitai.ddl.store import TableKey
from binlog_kaitai.errors import BinlogError, ConnectionLostError, ServerError
from binlog_kaitai.following.effects import texts_in
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.lake.rules import NO_RULES, Rules
from binlog_kaitai.live.address import Address
from binlog_kaitai.live.causes import DENIED
from binlog_kaitai.live.server_logs import anyone, log_header, sources_of
from binlog_kaitai.live.server_session import ServerSession
from binlog_kaitai.live.server_tables import (
    ListedTable,
    create_statements,
    list_tables,
    quoted,
    script_of,
)
from binlog_kaitai.rows.arrow_types import arrow_type
from binlog_kaitai.rows.builders import plain_value
from binlog_kaitai.rows.change_schemas import CHANGE_TYPE, META_FIELDS, own_columns
from binlog_kaitai.rows.log_pages import RowsPage, RowsPages
from binlog_kaitai.rows.table_maps import Table as LoggedTable
from binlog_kaitai.rows.table_maps import widths_of
from binlog_kaitai.snapshot.snapshot_chunks import (
    ChunkFiles,
    ServerTable,
    SnapshotChunk,
    TableRange,
    Touched,
    bounds_of,
    can_be_kept,
    lower,
)
from binlog_kaitai.snapshot.snapshot_files import Snapshot, completed
from binlog_kaitai.snapshot.snapshot_values import (
    check_readable,
    documents_in,
    schema_of,
    value_of_text,
)
from binlog_kaitai.values.schema import Column, Schema
from binlog_kaitai.views.change_batches import table_batches

#: Maximum number of rows in a batch, and of bytes, except for a single row.
BATCH_ROWS, BATCH_BYTES = 8192, 16 << 20

#: Seconds to wait for the lock, while which other sessions may have to wait, too.
_LOCK_SECONDS = 30

#: Half the seconds that a server may take to return the next row.
_PATIENCE = 1800.0

#: A row as PyMySQL returns it: text, or bytes.
_Row = tuple[str | bytes | None, ...]


def take_snapshot(
    url: str,
    folder: Path,
    *,
    tables: TableSet,
    kind: str = "delta",
    zero_dates: str = "null",
    readers: int = 2,
    rules: Rules = NO_RULES,
    report: Callable[[str], object] = lambda text: None,
    era: int | None = None,
    first_row: int = 0,
) -> Snapshot:
    """Write the contents of a server's tables to a folder, or return the complete snapshot there.

    What an interrupted call has left there is used as far as it is still true.

    `tables`: only these; all if empty.
    `readers`: the number of connections that read.
    `rules`: what is left out, masked and renamed, before anything is written.
    `report`: called with lines that say what an earlier attempt has left to do.
    `era`: lock only these tables, for a lake whose newest changes are of this era.
    `first_row`: see `Snapshot`.
    Raises `UsageError`: the rules do not fit a table, or the complete snapshot was taken with other ones;
    `ServerError`: the server refuses, or a table was altered in the meantime. The snapshot is not complete.
    """

    def take() -> Snapshot:
        address = Address.parse(url)[0]
        files = ChunkFiles(folder, kind, rules, zero_dates)
        files.era, files.first_row = era or 0, first_row
        return _Taking(address, tables, zero_dates, readers, files, report, era is not None).run()

    return completed(folder, rules, take, resumes=True)


@dataclass
class _Taking:
    """One attempt to take a snapshot."""

    _address: Address
    _wanted: TableSet
    _zero_dates: str
    _readers: int
    _files: ChunkFiles
    _report: Callable[[str], object]
    _locks_tables: bool
    _error: BaseException | None = None

    def run(self) -> Snapshot:
        try:
            with ExitStack() as stack:
                sessions = [stack.enter_context(self._session()) for _ in range(self._readers + 1)]
                locking, *reading = sessions
                ddl, tables = self._lock_and_list(locking, reading)
                self._files.log_id = log_id(self._address, self._files.log)
                parts = self._parts(
                    locking, reading[0], [table for table in tables if table.is_transactional]
                )
                for table in tables:
                    if not table.is_transactional:
                        self._files.end(TableRange(table))
                self._read_in_parallel(reading, parts)
        finally:
            self._files.close()
        return self._files.snapshot(ddl)

    def _session(self) -> ServerSession:
        session = ServerSession(self._address, anyone(), heartbeat=_PATIENCE)
        session.run("SET SESSION time_zone = '+00:00', sql_mode = '', net_write_timeout = 3600")
        session.run("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        return session

    # -- under the lock

    def _lock_and_list(
        self, locking: ServerSession, reading: list[ServerSession]
    ) -> tuple[str, list[ServerTable]]:
        """The definitions of all tables; those without transactions are read."""
        locking.run(f"SET SESSION lock_wait_timeout = {_LOCK_SECONDS}")
        lock = self._lock_tables if self._locks_tables else self._lock_all
        try:
            chosen = lock(locking)
            self._files.log, self._files.position = locking.newest_position()
            if {row[:2] for row in self._listed(locking)} != {row[:2] for row in chosen}:
                raise ServerError("a table was created or dropped in the meantime; run this again")
            self._files.server_id = locking.server.server_id
            (moment,) = locking.ask_one("SELECT UTC_TIMESTAMP(6)", datetime)
            self._files.time = moment.replace(tzinfo=UTC)
            for session in reading:
                session.run("START TRANSACTION WITH CONSISTENT SNAPSHOT")
            tables, ddl = self._tables(locking, chosen)
            for table in tables:
                if not table.is_transactional:
                    part = TableRange(table)
                    self._files.begin(part)
                    for batch in self._batches(locking, part):
                        self._files.add(part, batch)
        finally:
            locking.run("UNLOCK TABLES")
        return ddl, tables

    def _lock_all(self, session: ServerSession) -> list[ListedTable]:
        try:
            session.ask("FLUSH TABLES WITH READ LOCK", what="a snapshot (RELOAD)")
        except ServerError as error:
            if error.cause != DENIED or not self._listed(session):
                raise
            self._report("snapshot: the user lacks RELOAD, so each table is locked (LOCK TABLES)")
            return self._lock_tables(session)
        if prepared := session.ask("XA RECOVER", what="a snapshot (XA_RECOVER_ADMIN)"):
            reason = f"{len(prepared)} XA transactions are prepared, so that the tables lack changes "
            raise ServerError(f"{reason}that the log has; commit them or roll them back, and run this again")
        return self._listed(session)

    def _lock_tables(self, session: ServerSession) -> list[ListedTable]:
        # With autocommit, older servers do not wait for transactions that have changed an InnoDB table.
        session.run(f"SET SESSION autocommit = 0, innodb_lock_wait_timeout = {_LOCK_SECONDS}")
        if not (listed := self._listed(session)):
            raise ServerError("the server has no such table")
        locks = ", ".join(f"{quoted(schema_name, name)} READ" for schema_name, name, *_ in listed)
        session.ask(f"LOCK TABLES {locks}", what="a snapshot (LOCK TABLES)")
        return listed

    def _listed(self, session: ServerSession) -> list[ListedTable]:
        """The tables to read."""
        listed = list_tables(session)
        return [row for row in listed if not self._wanted or f"{row[0]}.{row[1]}" in self._wanted]

    def _tables(self, session: ServerSession, chosen: list[ListedTable]) -> tuple[list[ServerTable], str]:
        optional = str, NoneType
        engines = session.ask("SELECT engine, transactions FROM information_schema.engines", str, optional)
        transactional = {engine for engine, transactions, *_ in engines if transactions == "YES"}
        keys = [(schema_name, name) for schema_name, name, *_ in chosen]
        statements = create_statements(session, keys, "a snapshot (SELECT)")
        self._files.tables = [(*key, text) for key, text in statements.items()]
        ddl = script_of(statements)
        definitions = Definitions("file")
        definitions.load(ddl)
        tables = []
        for schema_name, name, engine, rows in chosen:
            unreadable = ServerError(f"the definition of {schema_name}.{name} cannot be read")
            if (known := definitions.of(schema_name, name)) is None:
                raise unreadable
            try:
                schema = schema_of(known, is_mariadb=session.server.is_mariadb)
            except ValueError as error:
                raise unreadable from error
            withheld = self._files.withheld(schema)
            check_readable(schema, withheld, shows_all_doubles=session.server.shows_all_doubles)
            statement = statements[schema_name, name]
            tables.append(ServerTable(schema, engine in transactional, rows or 0, withheld, statement))
        names = [table.schema.full_name for table in tables if documents_in(table.schema, table.withheld)]
        if names and not session.server.shows_all_doubles:
            self._report(
                "snapshot: warning: MySQL 5.7 shows doubles without a fraction as integers, and byte strings "
                f"in base64; documents may therefore differ from those of the log: {', '.join(names)}"
            )
        return tables, ddl

    # -- after it

    def _parts(
        self, asking: ServerSession, reading: ServerSession, tables: list[ServerTable]
    ) -> list[TableRange]:
        """What is left to read: first the ranges that only need to be brought up to date."""
        kept = self._kept(asking, tables)
        parts = [part for ranges in kept.values() for part in ranges]
        for table in tables:
            mine = kept.get(table.key)
            bounds = mine[0].bounds if mine else bounds_of(reading, table)
            done = {part.number for part in mine or ()}
            numbers = (number for number in range(len(bounds) + 1) if number not in done)
            parts += [TableRange(table, bounds, number) for number in numbers]
        return parts

    def _kept(self, session: ServerSession, tables: list[ServerTable]) -> dict[TableKey, list[TableRange]]:
        """What earlier attempts have read, as far as the logs show that it is still true."""
        earlier = self._files.earlier
        if not earlier:
            return {}
        logs, reason = dict(session.logs()), unlogged(session)
        keepable = {table.key for table in tables if can_be_kept(table)}
        known = [] if reason else usable(self._address, logs, earlier)
        chunks = [chunk for chunk in known if chunk.key in keepable]
        changes = Touched(
            reason or "the server no longer has the log at its position, or its tables are others"
        )
        if chunks:
            names = list(logs)
            changes = touched(self._address, names[: names.index(self._files.log) + 1], chunks, tables)
        kept = self._files.keep(chunks, tables, changes)
        count = sum(map(len, kept.values()))
        again = sum(len(part.keys) for ranges in kept.values() for part in ranges)
        line = f"snapshot: {count} of {len(earlier)} ranges from before the interruption are kept"
        self._report(
            f"{line}, {again} of their rows are read again" if count else f"{line}: {changes.reason}"
        )
        return kept

    def _read_in_parallel(self, sessions: list[ServerSession], parts: list[TableRange]) -> None:
        todo, writing = iter(parts), threading.Lock()

        def read(session: ServerSession) -> None:
            try:
                while self._error is None:
                    with writing:
                        if (part := next(todo, None)) is None:
                            return
                        self._files.begin(part)
                    for batch in self._batches(session, part):
                        with writing:
                            self._files.add(part, batch)
                    with writing:
                        self._files.end(part)
            except BaseException as error:
                self._fail(error, sessions)

        threads = [threading.Thread(target=read, args=(session,), daemon=True) for session in sessions]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except BaseException as error:  # such as KeyboardInterrupt
            self._fail(error, sessions)
            for thread in threads:
                thread.join()
        if self._error is not None:
            raise self._error

    def _fail(self, error: BaseException, sessions: list[ServerSession]) -> None:
        """Record the first error, and end all readers: closed connections do not send the rest of a table."""
        self._error = self._error or error
        for session in sessions:
            session.close()

    def _batches(self, session: ServerSession, part: TableRange) -> Iterator[list[pa.Array]]:
        """The rows of a range, as Arrow arrays for the columns of its table."""
        columns = part.table.schema.columns
        kinds = [arrow_type(column, self._zero_dates) for column in columns]
        for query in part.queries:
            streamed = session.stream(query, len(columns), "a snapshot (SELECT)")
            for rows in _in_batches(streamed):
                yield [
                    self._array(part.table.schema, column, kind, values)
                    for column, kind, values in zip(columns, kinds, zip(*rows, strict=True), strict=True)
                ]

    def _array(self, schema: Schema, column: Column, kind: pa.DataType, values: _Row) -> pa.Array:
        try:
            plain = (
                plain_value(value_of_text(value, column), column, kind, self._zero_dates) for value in values
            )
            return pa.array(list(plain), kind)
        except (BinlogError, ValueError, TypeError, ArithmeticError, struct.error) as error:
            refused = self._files.error(schema, column, error)
            raise refused from refused.__cause__


def _in_batches(rows: Iterator[_Row]) -> Iterator[list[_Row]]:
    """Rows in lists of limited length and size."""
    batch: list[_Row] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += sum(len(value) for value in row if value is not None)
        if len(batch) == BATCH_ROWS or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


# -- what the logs have changed since an interruption


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
    for row, query, _ in texts_in(block):
        if int(block.positions[row]) < first:
            continue
        if may_affect_tables(query) and not may_change_rows(query):
            is_database = re.search(rb"(?i)\b(?:DATABASE|SCHEMA)\b", query) is not None
            for key in tables:
                if _may_name(query, key[1]) or (is_database and _may_name(query, key[0])):
                    changes.all_of(key)
        elif not is_harmless(query):
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
                for keys in _changed_keys(page, table, events, column):
                    changes.add(table.key, keys)
        except (BinlogError, ValueError):
            changes.all_of(table.key)


def _changed_keys(page: RowsPage, table: LoggedTable, events: Ints, column: Column) -> Iterator[list[int]]:
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
