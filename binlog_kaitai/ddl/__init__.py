"""Table definitions, followed from the DDL statements of a log.

If a log has no column names (`binlog_row_metadata` is not FULL), its statements provide them: `Definitions`
follows CREATE, ALTER, RENAME and DROP in log order, so that each column has the name it had at the time of an
event.
"""

from binlog_kaitai.ddl.definition_match import DefinitionMismatch
from binlog_kaitai.ddl.definitions import Definitions
from binlog_kaitai.ddl.store import Session
from binlog_kaitai.values.table_definition import Charset, ColumnDefinition, TableDefinition

__all__ = ["Charset", "ColumnDefinition", "DefinitionMismatch", "Definitions", "Session", "TableDefinition"]
