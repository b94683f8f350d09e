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

from binlog_kaitai import sources
from binlog_kaitai.errors import (
    BinlogError,
    ChecksumError,
    DamagedError,
    DamagedStartError,
    DataLossWarning,
    DefinitionWarning,
    EncryptedError,
    FilterWarning,
    FramingError,
    GrammarError,
    IncompleteScriptWarning,
    NotABinlogError,
    RolledBackWarning,
    SourceError,
    TornLogWarning,
    TruncatedError,
    UsageError,
)

if TYPE_CHECKING:
    from binlog_kaitai.check.damage_scan import verify
    from binlog_kaitai.check.finding import find
    from binlog_kaitai.check.repair import Repair, repair
    from binlog_kaitai.check.slices import Slice, slice
    from binlog_kaitai.check.verify_report import LogReports, Report
    from binlog_kaitai.core.filters import Filters
    from binlog_kaitai.core.gtids import GtidSet
    from binlog_kaitai.following.checkpoints import Start
    from binlog_kaitai.following.events import EventFollower, RowFollower, follow, follow_rows
    from binlog_kaitai.following.feed import Feed
    from binlog_kaitai.log.event_log import Event, LogReader, open
    from binlog_kaitai.log.event_rows import Change, Row
    from binlog_kaitai.log.gtid_runs import gtids
    from binlog_kaitai.log.log_end import End, EndKind
    from binlog_kaitai.render.sql.sql_script import sql_script
    from binlog_kaitai.sources.keys import Keys
    from binlog_kaitai.sources.source import Source
    from binlog_kaitai.statistics.counting import stats
    from binlog_kaitai.statistics.stats_model import Stats
    from binlog_kaitai.values.json_documents import JsonText
    from binlog_kaitai.values.schema import Column, Schema
    from binlog_kaitai.values.temporal import ZeroDate
    from binlog_kaitai.views.changes_view import read_changes
    from binlog_kaitai.views.ddl_view import read_ddl
    from binlog_kaitai.views.events_view import read_events
    from binlog_kaitai.views.logged_rows import LoggedRow, read_rows
    from binlog_kaitai.views.transactions_view import read_transactions

__version__ = "0.1.0"

__all__ = [
    "BinlogError",
    "Change",
    "ChecksumError",
    "Column",
    "DamagedError",
    "DamagedStartError",
    "DataLossWarning",
    "DefinitionWarning",
    "EncryptedError",
    "End",
    "EndKind",
    "Event",
    "EventFollower",
    "FilterWarning",
    "Filters",
    "FramingError",
    "GrammarError",
    "GtidSet",
    "IncompleteScriptWarning",
    "JsonText",
    "Keys",
    "LogReader",
    "LogReports",
    "LoggedRow",
    "NotABinlogError",
    "Repair",
    "Report",
    "RolledBackWarning",
    "Row",
    "RowFollower",
    "Schema",
    "Slice",
    "SourceError",
    "Stats",
    "TornLogWarning",
    "TruncatedError",
    "UsageError",
    "ZeroDate",
    "find",
    "follow",
    "follow_rows",
    "gtids",
    "open",
    "read_changes",
    "read_ddl",
    "read_events",
    "read_rows",
    "read_transactions",
    "repair",
    "slice",
    "sql_script",
    "stats",
    "verify",
]

#: The modules of the other names; each is imported when one of its names is first used.
_MODULES = {
    "core.gtids": ("GtidSet",),
    "log.event_log": ("Event", "LogReader", "open"),
    "core.filters": ("Filters",),
    "log.gtid_runs": ("gtids",),
    "log.log_end": ("End", "EndKind"),
    "sources.keys": ("Keys",),
    "log.event_rows": ("Change", "Row"),
    "values.schema": ("Column", "Schema"),
    "values.json_documents": ("JsonText",),
    "values.temporal": ("ZeroDate",),
    "views.events_view": ("read_events",),
    "check.damage_scan": ("verify",),
    "check.finding": ("find",),
    "check.repair": ("Repair", "repair"),
    "check.slices": ("Slice", "slice"),
    "check.verify_report": ("Report", "LogReports"),
    "views.changes_view": ("read_changes",),
    "views.ddl_view": ("read_ddl",),
    "views.logged_rows": ("LoggedRow", "read_rows"),
    "views.transactions_view": ("read_transactions",),
    "following.events": ("EventFollower", "RowFollower", "follow", "follow_rows"),
    "render.sql.sql_script": ("sql_script",),
    "statistics.counting": ("stats",),
    "statistics.stats_model": ("Stats",),
}
_HOME = {name: f"{__name__}.{module}" for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value


def _logs_of_server(url: str) -> list[Source]:
    from binlog_kaitai.live.server_logs import resolve

    return resolve(url)


def _definitions_of_server(url: str) -> str:
    from binlog_kaitai.live.server_tables import definitions_of

    return definitions_of(url)


def _feed_of_server(url: str, start: Start, is_bounded: bool) -> Feed:
    from binlog_kaitai.live.log_spool import TemporarySpool

    return TemporarySpool(url, start, is_bounded=is_bounded)


sources.register(
    ("mysql", "mariadb"), sources.Servers(_logs_of_server, _definitions_of_server, _feed_of_server)
)


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
