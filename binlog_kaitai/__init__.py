"""MySQL and MariaDB binary logs, read by one grammar.

::

    import binlog_kaitai as bk

    with bk.open("mysql-bin.000066") as log:
        for event in log:
            print(event.position, event.type, event.body)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from binlog_kaitai.errors import (
    BinlogError,
    ChecksumError,
    DamagedError,
    DamagedStartError,
    DefinitionWarning,
    EncryptedError,
    FilterWarning,
    FramingError,
    GrammarError,
    NotABinlogError,
    RolledBackWarning,
    SourceError,
    TruncatedError,
    UsageError,
)
from binlog_kaitai.reader import End, EndKind, Event, LogReader, open

if TYPE_CHECKING:
    from binlog_kaitai.columns.batches import read_events
    from binlog_kaitai.columns.changes import read_changes
    from binlog_kaitai.columns.transactions.batches import read_transactions

__version__ = "0.1.0"

__all__ = [
    "BinlogError",
    "ChecksumError",
    "DamagedError",
    "DamagedStartError",
    "DefinitionWarning",
    "EncryptedError",
    "End",
    "EndKind",
    "Event",
    "FilterWarning",
    "FramingError",
    "GrammarError",
    "LogReader",
    "NotABinlogError",
    "RolledBackWarning",
    "SourceError",
    "TruncatedError",
    "UsageError",
    "open",
    "read_changes",
    "read_events",
    "read_transactions",
]

#: NumPy and PyArrow are loaded by whoever asks for columns, not by `import binlog_kaitai`.
_COLUMNS = {
    "read_changes": "binlog_kaitai.columns.changes",
    "read_events": "binlog_kaitai.columns.batches",
    "read_transactions": "binlog_kaitai.columns.transactions.batches",
}


def __getattr__(name: str) -> Any:
    if name not in _COLUMNS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_COLUMNS[name]), name)
