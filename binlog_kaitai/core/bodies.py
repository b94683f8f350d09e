"""Classes of events' bodies, for the signatures of functions that take one."""

from __future__ import annotations

from binlog_grammar.annotate_rows_event import AnnotateRowsEvent
from binlog_grammar.append_block_event import AppendBlockEvent
from binlog_grammar.binlog_checkpoint_event import BinlogCheckpointEvent
from binlog_grammar.compressed_rows_event import CompressedRowsEvent
from binlog_grammar.delete_file_event import DeleteFileEvent
from binlog_grammar.execute_load_query_event import ExecuteLoadQueryEvent
from binlog_grammar.gtid_event import GtidEvent
from binlog_grammar.gtid_tagged_event import GtidTaggedEvent
from binlog_grammar.incident_event import IncidentEvent
from binlog_grammar.mariadb_gtid_event import MariadbGtidEvent
from binlog_grammar.mariadb_gtid_list_event import MariadbGtidListEvent
from binlog_grammar.previous_gtids_event import PreviousGtidsEvent
from binlog_grammar.query_compressed_event import QueryCompressedEvent
from binlog_grammar.query_event import QueryEvent
from binlog_grammar.rand_event import RandEvent
from binlog_grammar.rotate_event import RotateEvent
from binlog_grammar.rows_event import RowsEvent
from binlog_grammar.rows_query_event import RowsQueryEvent
from binlog_grammar.stop_event import StopEvent
from binlog_grammar.xa_prepare_event import XaPrepareEvent
from binlog_grammar.xid_event import XidEvent

__all__ = [
    "AnnotateRowsEvent",
    "AppendBlockEvent",
    "BinlogCheckpointEvent",
    "CompressedRowsEvent",
    "DeleteFileEvent",
    "ExecuteLoadQueryEvent",
    "GtidBody",
    "GtidEvent",
    "GtidTaggedEvent",
    "IncidentEvent",
    "MariadbGtidEvent",
    "MariadbGtidListEvent",
    "PreviousGtidsEvent",
    "QueryBody",
    "QueryCompressedEvent",
    "QueryEvent",
    "RandEvent",
    "RotateEvent",
    "RowsBody",
    "RowsEvent",
    "RowsQueryEvent",
    "StatementBody",
    "StopEvent",
    "XaPrepareEvent",
    "XidEvent",
]

#: Bodies of events of the same meaning.
QueryBody = QueryEvent | QueryCompressedEvent
StatementBody = QueryBody | ExecuteLoadQueryEvent
RowsBody = RowsEvent | CompressedRowsEvent
GtidBody = GtidEvent | GtidTaggedEvent
