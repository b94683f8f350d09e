"""Classes of events' bodies, for the signatures of functions that take one."""

from __future__ import annotations

from binlog_grammar.annotate_rows_event import AnnotateRowsEvent as AnnotateRowsEvent
from binlog_grammar.append_block_event import AppendBlockEvent as AppendBlockEvent
from binlog_grammar.binlog_checkpoint_event import BinlogCheckpointEvent as BinlogCheckpointEvent
from binlog_grammar.compressed_rows_event import CompressedRowsEvent
from binlog_grammar.delete_file_event import DeleteFileEvent as DeleteFileEvent
from binlog_grammar.execute_load_query_event import ExecuteLoadQueryEvent as ExecuteLoadQueryEvent
from binlog_grammar.gtid_event import GtidEvent
from binlog_grammar.gtid_tagged_event import GtidTaggedEvent
from binlog_grammar.incident_event import IncidentEvent as IncidentEvent
from binlog_grammar.mariadb_gtid_event import MariadbGtidEvent as MariadbGtidEvent
from binlog_grammar.mariadb_gtid_list_event import MariadbGtidListEvent as MariadbGtidListEvent
from binlog_grammar.previous_gtids_event import PreviousGtidsEvent as PreviousGtidsEvent
from binlog_grammar.query_compressed_event import QueryCompressedEvent
from binlog_grammar.query_event import QueryEvent as QueryEvent
from binlog_grammar.rand_event import RandEvent as RandEvent
from binlog_grammar.rotate_event import RotateEvent as RotateEvent
from binlog_grammar.rows_event import RowsEvent as RowsEvent
from binlog_grammar.rows_query_event import RowsQueryEvent as RowsQueryEvent
from binlog_grammar.start_encryption_event import StartEncryptionEvent as StartEncryptionEvent
from binlog_grammar.stop_event import StopEvent as StopEvent
from binlog_grammar.xa_prepare_event import XaPrepareEvent as XaPrepareEvent
from binlog_grammar.xid_event import XidEvent as XidEvent

#: Bodies of events of the same meaning.
QueryBody = QueryEvent | QueryCompressedEvent
StatementBody = QueryBody | ExecuteLoadQueryEvent
RowsBody = RowsEvent | CompressedRowsEvent
GtidBody = GtidEvent | GtidTaggedEvent
