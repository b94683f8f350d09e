"""What tables are, by the statements that made them.

Where a log does not name the columns of its tables (`binlog_row_metadata` is not FULL), the statements in it
do: `Definitions` follows CREATE, ALTER, RENAME and DROP in the order of the log, so that a column has the
name that it had at the time of an event.
"""

from binlog_kaitai.ddl.definitions import Definitions
from binlog_kaitai.ddl.match import DefinitionMismatch
from binlog_kaitai.ddl.model import Charset, ColumnDefinition, TableDefinition
from binlog_kaitai.ddl.store import Session

__all__ = ["Charset", "ColumnDefinition", "DefinitionMismatch", "Definitions", "Session", "TableDefinition"]
