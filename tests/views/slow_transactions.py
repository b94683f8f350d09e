"""The transactions of a log from the event reader, as a simple reference implementation."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import binlog_kaitai as bk
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.log.event_rows import has_rows, rows_of
from binlog_kaitai.values.schema import Schema, is_mariadb

OUTSIDE = {
    "START_EVENT_V3", "STOP_EVENT", "ROTATE_EVENT", "SLAVE_EVENT", "FORMAT_DESCRIPTION_EVENT",
    "HEARTBEAT_LOG_EVENT", "HEARTBEAT_LOG_EVENT_V2", "PREVIOUS_GTIDS_LOG_EVENT", "BINLOG_CHECKPOINT_EVENT",
    "GTID_LIST_EVENT", "START_ENCRYPTION_EVENT",
}  # fmt: skip
GTIDS = {"GTID_LOG_EVENT", "ANONYMOUS_GTID_LOG_EVENT", "GTID_TAGGED_LOG_EVENT", "GTID_EVENT"}
LOADS = {"EXECUTE_LOAD_QUERY_EVENT", "LOAD_EVENT", "NEW_LOAD_EVENT", "EXEC_LOAD_EVENT", "DELETE_FILE_EVENT"}
DEFINES = {
    "CREATE", "ALTER", "DROP", "RENAME", "TRUNCATE", "GRANT", "REVOKE", "ANALYZE", "OPTIMIZE", "REPAIR",
    "FLUSH", "INSTALL", "UNINSTALL",
}  # fmt: skip


def step(event: bk.Event) -> str:
    """``begin``, an outcome, or empty: what the event does to its transaction."""
    if event.type == "XID_EVENT":
        return "commit"
    if event.type == "XA_PREPARE_LOG_EVENT":
        return "commit" if event.body.is_one_phase else "xa_prepare"
    if event.type in LOADS or event.type == "INCIDENT_EVENT":
        return "implicit"
    if has_rows(event):
        # A server that knows GTIDs writes no rows without BEGIN: there it is lost.
        knows_gtids = event.layout.post_header_length_of(33) or event.layout.post_header_length_of(162)
        return "implicit" if event.body.is_statement_end and not knows_gtids else ""
    if event.type not in ("QUERY_EVENT", "QUERY_COMPRESSED_EVENT"):
        return ""
    words = [*event.body.query_text.upper().replace("/*!", " ").split(), "", ""]
    if words[0] == "XA":
        return {"START": "begin", "PREPARE": "xa_prepare", "COMMIT": "commit", "ROLLBACK": "rollback"}.get(
            words[1], "implicit"
        )
    if words[0] in ("BEGIN", "COMMIT"):
        return words[0].lower()
    if words[0] == "ROLLBACK" and words[1] != "TO":
        return "rollback"
    return "ddl" if words[0] in DEFINES else "implicit"


class Transaction:
    """One transaction as its events come in."""

    def __init__(self) -> None:
        self.events: list[bk.Event] = []
        self.is_begun = False
        self.outcome = self.meant = ""
        self.counts: dict[int, int | None] = {}

    def add(self, event: bk.Event, what: str) -> None:
        self.events.append(event)
        if what == "begin" or (event.type == "GTID_EVENT" and not event.body.is_standalone):
            self.is_begun = True
        elif event.type == "GTID_EVENT" and event.body.is_rollback_alter:
            self.outcome = "rollback"
        elif what in ("ddl", "implicit"):
            self.meant = self.meant or what
        elif what:
            self.outcome = what

    @property
    def has_gtid(self) -> bool:
        return self.events[0].type in GTIDS

    def row(self) -> dict[str, Any]:
        first, last = self.events[0], self.events[-1]
        times = [event.fixed_header.timestamp for event in self.events]
        start = min(filter(None, times), default=0)
        row: dict[str, Any] = {
            "position": first.position,
            "end_position": last.end_position,
            "gtid": first.gtid,
            "server_id": first.fixed_header.server_id,
            "start": datetime.fromtimestamp(start, UTC) if start else None,
            "kind": self.outcome or ("open" if self.is_begun else self.meant or "open"),
            "events": len(self.events),
            "bytes": last.end_position - first.position,
            "is_compressed": any("COMPRESSED" in one.type or "PAYLOAD" in one.type for one in self.events),
        }
        body = first.body if self.has_gtid and first.type != "GTID_EVENT" else None
        for name in ("last_committed", "sequence_number"):
            row[name] = getattr(body, name, None)
        for name in ("original_commit_timestamp", "immediate_commit_timestamp"):
            row[name] = moment(getattr(body, name, None))
        committed = (
            int(row["original_commit_timestamp"].timestamp()) if row["original_commit_timestamp"] else 0
        )
        age = next((event.body.execution_time for event in self.events if step(event) == "begin"), 0)
        row["duration"] = timedelta(seconds=max((committed or times[-1]) - start, 0))
        if not start or age >= 86_400:
            row["duration"] = None
        return row | self.statements() | self.rows()

    def statements(self) -> dict[str, Any]:
        queries = [one for one in self.events if "QUERY" in one.type and hasattr(one.body, "thread_id")]
        threads = [query.body.thread_id for query in queries]
        if self.events[0].type == "GTID_EVENT":
            threads.append(self.events[0].body.thread_id)
        xids = [event.body.xid for event in self.events if event.type == "XID_EVENT"]
        found = [event for event in self.events if step(event) in ("ddl", "implicit")]
        is_ddl = bool(found) and step(found[0]) == "ddl"
        text = found[0].body.query.decode("utf-8", "backslashreplace") if is_ddl else None
        return {"thread_id": next(iter(threads), None), "xid": next(iter(xids), None), "statement": text}

    def rows(self) -> dict[str, Any]:
        counts: dict[str, Any] = {"rows_inserted": 0, "rows_updated": 0, "rows_deleted": 0}
        names = []
        for event in filter(has_rows, self.events):
            if event.table_map is not None:
                names.append(f"{event.table_map.schema_name}.{event.table_map.table_name}")
            kind = "inserted" if "WRITE" in event.type else "updated" if "UPDATE" in event.type else "deleted"
            number = self.counts.get(id(event))
            total = counts[f"rows_{kind}"]
            counts[f"rows_{kind}"] = None if None in (number, total) else total + number
        return counts | {"tables": list(dict.fromkeys(names))}


def number_of_rows(event: bk.Event, definitions: Definitions) -> int | None:
    """The number of rows; None if the log does not show where a row ends."""
    table_map = event.table_map
    if "PRE_GA" in event.type or table_map is None:
        return None
    definition = definitions.of(table_map.schema_name, table_map.table_name, table_map)
    schema = Schema.of(table_map, definition, is_mariadb=is_mariadb(event.layout))
    return sum(1 for _ in rows_of(event, schema))


def moment(microseconds: int | None) -> datetime | None:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds) if microseconds else None


def transactions(source: Any) -> Iterator[dict[str, Any]]:
    """The rows of `read_transactions`, without the file; raises like the reader."""
    current: Transaction | None = None
    is_begun = is_alone = is_over = is_stated = False
    definitions = Definitions()
    try:
        for event in bk.open(source):
            what = step(event)
            is_outside = event.type in OUTSIDE
            begins_again = what == "begin" and is_begun and current is not None and not current.has_gtid
            goes_on = not is_alone or what in ("commit", "rollback", "xa_prepare")
            goes_on &= not (is_over or (is_stated and what in ("begin", "ddl", "implicit")))
            if current is not None and (is_outside or event.type in GTIDS or begins_again or not goes_on):
                yield current.row()
                current, is_over, is_stated = None, False, False
            is_alone = False
            if is_outside:
                is_begun = is_over = is_stated = False
                continue
            current = current or Transaction()
            current.add(event, what)
            if "QUERY_" in event.type and hasattr(event.body, "thread_id"):
                definitions.observe_query(event.body)
            elif has_rows(event):
                current.counts[id(event)] = number_of_rows(event, definitions)
            is_alone = what in ("ddl", "implicit") and not is_begun and not current.has_gtid
            is_over = what in ("commit", "rollback", "xa_prepare")
            is_stated |= what in ("ddl", "implicit") and not current.is_begun
            is_begun = what == "begin" if what in ("begin", "commit", "rollback", "xa_prepare") else is_begun
            if event.type in GTIDS:
                is_begun = False
            if not current.has_gtid and what in ("commit", "rollback", "xa_prepare"):
                yield current.row()
                current = None
    finally:
        if current is not None:
            yield current.row()
