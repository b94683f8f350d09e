"""The lag of an archive, in bytes and in transactions."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import Any

import pytest

from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.errors import ServerError
from binlog_kaitai.live import fetching
from binlog_kaitai.live.archive import Archive
from binlog_kaitai.live.fetching import Lag, gtids_of
from binlog_kaitai.live.server_session import Server
from tests.corpus_files import case
from tests.live.fake_source import FakeFetch, FakeSession, Source


class AskedSession(FakeSession):
    """A session that also answers what a server has."""

    def __init__(self, source: Source, gtids: str, *, is_mariadb: bool) -> None:
        super().__init__(source)
        self.server = Server("x", source.uuid, 97, is_mariadb=is_mariadb)
        self._gtids = gtids

    def logs(self) -> list[tuple[str, int]]:
        return [(name, len(data)) for name, data in sorted(self._source.logs.items())]

    def variable(self, name: str) -> str | None:
        return {"global.gtid_mode": "ON"}.get(name, self._gtids)

    def close(self) -> None:
        pass


def archived(source: Source, folder: Path) -> tuple[Archive, GtidSet]:
    FakeFetch(source, folder).run()
    archive = Archive(folder)
    return archive, gtids_of(archive)


@pytest.mark.parametrize("flavour", ["mysql-9.7", "mariadb-11.8"])
def test_bytes_and_transactions(flavour: str, tmp_path: Path) -> None:
    source = Source.of(case(flavour, "rotate").folder)
    whole, everything = archived(source, tmp_path / "whole")
    whole.close()
    first, *later = sorted(source.logs)
    archive, mine = archived(Source({first: source.logs[first]}), tmp_path / "first")
    is_mariadb = flavour.startswith("mariadb")
    theirs = str(everything.position()) if is_mariadb else str(everything)
    session: Any = AskedSession(source, theirs, is_mariadb=is_mariadb)
    lag = Lag(archive, lambda: session)
    assert lag.update()
    assert lag.bytes_behind == sum(len(source.logs[name]) for name in later)
    assert lag.gtids_behind == len(everything.without(mine)) > 0
    assert not lag.update()  # it was asked a moment ago
    archive.close()
    archive = Archive(tmp_path / "whole")
    lag = Lag(archive, lambda: session)
    assert lag.update()
    assert (lag.bytes_behind, lag.gtids_behind) == (0, 0)
    archive.close()


def test_transactions_that_came_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fetch that measures: at its first question all is missing, at the end nothing is."""
    monkeypatch.setattr(fetching, "_ASK_SECONDS", 0.0)
    source = Source.of(case("mysql-9.7", "rotate").folder)
    whole, everything = archived(source, tmp_path / "whole")
    whole.close()
    reports: list[tuple[str, dict[str, Any]]] = []

    class Measured(FakeFetch):
        def _session(self, address: Any) -> Any:
            return AskedSession(self.source, str(everything), is_mariadb=False)

    fetch = Measured(
        source, tmp_path / "a", measures=True, report=lambda what, facts: reports.append((what, facts))
    )
    fetch.run()
    progress = [facts for what, facts in reports if what == "progress"]
    assert progress[0]["bytes_behind"] == sum(map(len, source.logs.values()))
    assert progress[0]["gtids_behind"] == len(everything)
    assert fetch._lag is not None
    assert fetch._lag.update()
    assert (fetch._lag.bytes_behind, fetch._lag.gtids_behind) == (0, 0)


def test_a_server_that_does_not_say(tmp_path: Path) -> None:
    source = Source.of(case("mysql-9.7", "rotate").folder)
    archive, _ = archived(source, tmp_path / "a")
    asked = 0

    def refuse() -> Any:
        nonlocal asked
        asked += 1
        raise ServerError("no privilege")

    lag = Lag(archive, refuse)
    assert not lag.update()
    assert not lag.update()
    assert asked == 1
    assert isnan(lag.bytes_behind)
    assert isnan(lag.gtids_behind)
    archive.close()
