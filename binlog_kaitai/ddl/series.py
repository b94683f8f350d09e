"""Keeps the definitions of several servers' logs apart."""

from __future__ import annotations

from binlog_kaitai.ddl.definitions import Definitions
from binlog_kaitai.sources.source import series_of


class SeriesDefinitions:
    """Gives each log the definitions left by the earlier logs of its series.

    Logs belong to one series if they are in the same folder, their names differ only in the number, and their
    first events have the same server ID. An ALTER on one server says nothing about the tables of another.

    Parameters
    ----------
    ddl
        CREATE TABLE statements, such as mysqldump writes; they apply to every series.
    """

    def __init__(self, ddl: str | None = None) -> None:
        self._given = Definitions()
        if ddl is not None:
            self._given.load(ddl)
        self._known: dict[tuple[tuple[str, str], int], Definitions] = {}

    def of(self, name: str, server_id: int) -> Definitions:
        """The definitions for a log, by its name and the server ID in its first event."""
        key = series_of(name), server_id
        if key not in self._known:
            self._known[key] = self._given.copy()
        return self._known[key]


class OneSeries(SeriesDefinitions):
    """The same if all logs are known to come from one server, whose tables are known."""

    def __init__(self, definitions: Definitions) -> None:
        super().__init__()
        self._definitions = definitions

    def of(self, name: str, server_id: int) -> Definitions:
        return self._definitions
