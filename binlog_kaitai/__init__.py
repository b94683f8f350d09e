"""MySQL and MariaDB binary logs, read by one grammar.

::

    import binlog_kaitai as bk

    with bk.open("mysql-bin.000066") as log:
        for event in log:
            print(event.position, event.type, event.body)
"""

from binlog_kaitai.errors import (
    BinlogError,
    ChecksumError,
    DamagedError,
    EncryptedError,
    FramingError,
    GrammarError,
    NotABinlogError,
    SourceError,
    TruncatedError,
    UsageError,
)
from binlog_kaitai.reader import End, EndKind, Event, LogReader, open

__version__ = "0.1.0"

__all__ = [
    "BinlogError",
    "ChecksumError",
    "DamagedError",
    "EncryptedError",
    "End",
    "EndKind",
    "Event",
    "FramingError",
    "GrammarError",
    "LogReader",
    "NotABinlogError",
    "SourceError",
    "TruncatedError",
    "UsageError",
    "open",
]
