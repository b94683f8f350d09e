"""The definitions of logs of several servers, which know nothing of each other."""

from __future__ import annotations

from binlog_kaitai.ddl.definitions import Definitions
from binlog_kaitai.sources.source import series_of


class SeriesDefinitions:
    """Gives each log the definitions that the earlier logs of its own series have left.

    Logs are of one series if they lie in one folder, their names differ in the number only, and their first
    events have the same server id. An ALTER on one server says nothing about the tables of another.

    Parameters
    ----------
    ddl
        Text of CREATE TABLE statements, such as mysqldump writes; they hold for every series.
    """

    def __init__(self, ddl: str | None = None) -> None:
        self._given = Definitions()
        if ddl is not None:
            self._given.load(ddl)
        self._known: dict[tuple[tuple[str, str], int], Definitions] = {}

    def of(self, name: str, server_id: int) -> Definitions:
        """Those for the log of a name, by the server id in its first event."""
        key = series_of(name), server_id
        if key not in self._known:
            self._known[key] = self._given.copy()
        return self._known[key]


class OneSeries(SeriesDefinitions):
    """The same where all logs are known to be one server's, and their tables are known."""

    def __init__(self, definitions: Definitions) -> None:
        super().__init__()
        self._definitions = definitions

    def of(self, name: str, server_id: int) -> Definitions:
        return self._definitions
