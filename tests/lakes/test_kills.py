"""Lakes on a disk and in an object store have each row once, over kills in each phase of a batch."""

from __future__ import annotations

import itertools
import random
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from requests import ConnectionError, PreparedRequest, Response
from requests.adapters import HTTPAdapter

import binlog_kaitai as bk
from binlog_kaitai.errors import SourceError
from binlog_kaitai.lake import FORMATS, STATEMENTS
from binlog_kaitai.lake.batches import Lake
from tests.extent import rounds
from tests.lake.lakes import contents, fill, kill, opened, rows, table
from tests.lake.test_lake import statements_and_keys
from tests.lakes.catalogs import configured, rest_catalog
from tests.lakes.dying_pipeline import Phase, Run
from tests.lakes.recipes import ROOT, WORKLOAD
from tests.object_store import serving

pytestmark = pytest.mark.lakes

KILLS = rounds(30, 6)

#: How many batches are completed before a kill.
BATCHES = range(rounds(3, 1), rounds(6, 3))

#: Bytes of a batch, and how often the logs follow each other.
SIZE, TIMES = 1600, rounds(3, 1)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Logs of many batches: those of a workload, several times."""
    folder = tmp_path_factory.mktemp("logs")
    logs = sorted(WORKLOAD.glob("binlog.0*"))
    copies = itertools.count(1)
    return [str(shutil.copy(log, folder / f"binlog.{next(copies):06}")) for _ in range(TIMES) for log in logs]


@pytest.fixture(scope="module")
def expected(logs: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The contents of a lake that no kill interrupts, by format."""
    found = {}
    for kind in FORMATS:
        folder = tmp_path_factory.mktemp(kind)
        fill(folder, logs, 1 << 20, format=kind, keeps_state=True)
        found[kind] = all_of(opened(folder, kind))
    return found


@pytest.fixture(
    params=[
        "delta-disk",
        "delta-s3",
        "iceberg-disk",
        # With a catalog in a database; the next one has an object store, too.
        pytest.param("iceberg-s3", marks=pytest.mark.thorough),
        "iceberg-rest",
    ]
)
def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, str]]:
    """The format of a lake, and its URL."""
    kind, _, store = request.param.partition("-")
    with ExitStack() as contexts:
        if store == "disk":
            yield kind, str(tmp_path / "lake")
            return
        contexts.enter_context(serving())
        if store == "rest":
            url = contexts.enter_context(rest_catalog(tmp_path))
            contexts.enter_context(configured(monkeypatch, type="rest", uri=url))
        elif kind == "iceberg":
            contexts.enter_context(
                configured(monkeypatch, type="sql", uri=f"sqlite:///{tmp_path}/catalog.db")
            )
        yield kind, f"s3://logs/{request.param}"  # the store outlives its server


def looked_at(url: str, kind: str) -> tuple[int, int, bool]:
    """The batches that are planned and complete, and whether a table has more of them than another."""
    lake = Lake(url, kind)
    if lake.check() is None:
        return -1, -1, False
    assert lake.plan is not None
    statements = lake.tables.open(STATEMENTS)
    complete = -1 if statements is None else statements.batch
    tables = ["events", "transactions", *(f"changes/{name}" for name in lake.storage.names("changes"))]
    batches = [table.batch for table in map(lake.tables.open, tables) if table is not None]
    return lake.plan.batch, complete, max(batches, default=-1) > complete


def all_of(lake: Lake) -> tuple[dict[str, Counter[str]], Any]:
    """The rows of all tables, and the lineage; a state table without rows may as well not be there."""
    states = {f"state/{name}": rows(table(lake, f"state/{name}")) for name in lake.storage.names("state")}
    return contents(lake) | {name: one for name, one in states.items() if one}, statements_and_keys(lake)


def test_each_row_once_over_kills(
    place: tuple[str, str], logs: list[str], expected: dict[str, Any], tmp_path: Path
) -> None:
    kind, url = place
    phases = list(Phase)
    choose, batches, halved = random.Random(url), [], 0
    for number in range(KILLS):
        phase, wanted = phases[number % len(phases)], choose.choice(BATCHES)
        _, before, _ = looked_at(url, kind)
        run = Run(url, logs, kind, SIZE, phase, wanted, number, str(tmp_path / f"worker-{number}"))
        ended(run, tmp_path / "errors")
        planned, complete, is_halved = looked_at(url, kind)
        batches.append(complete - before)
        halved += is_halved
        assert batches[-1] >= wanted
        match phase:
            case Phase.PLANNED | Phase.FILES | Phase.COMMITS:
                assert planned == complete + 1
                assert is_halved or phase != Phase.COMMITS
            case Phase.COMMITTED | Phase.STATE:
                assert planned == complete
            case Phase.WORKER:
                assert Path(run.note).exists()
    assert halved
    print(f"{kind} in {url}: {KILLS} kills, after {batches} batches; {halved} with only some of the commits")
    assert fill(url, logs, 1 << 16, format=kind, keeps_state=True)
    lake = opened(url, kind)
    assert all_of(lake) == expected[kind]
    events = rows(table(lake, "events"))
    assert set(events.values()) == {1}
    assert len(events) == bk.read_events(logs).read_all().num_rows


@pytest.mark.parametrize("is_made", [False, True])
def test_each_row_once_though_connections_to_a_catalog_break_off(
    is_made: bool,
    logs: list[str],
    expected: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before a change is made, or before its answer arrives."""
    url, numbers, send = f"s3://logs/breaks-{is_made}", itertools.count(1), HTTPAdapter.send

    def break_off(adapter: HTTPAdapter, request: PreparedRequest, *given: Any, **named: Any) -> Response:
        breaks = request.method == "POST" and next(numbers) % 5 == 0
        answer = None if breaks and not is_made else send(adapter, request, *given, **named)
        if answer is None or breaks:
            raise ConnectionError("broken off")
        return answer

    with ExitStack() as contexts:
        contexts.enter_context(serving())
        uri = contexts.enter_context(rest_catalog(tmp_path))
        contexts.enter_context(configured(monkeypatch, type="rest", uri=uri))
        failures = 0
        while failures < 1000:
            try:
                with monkeypatch.context() as patch:
                    patch.setattr(HTTPAdapter, "send", break_off)
                    fill(url, logs, 1 << 14, format="iceberg", keeps_state=True)
                break
            except SourceError:
                failures += 1
        assert 5 < failures < 1000
        assert all_of(opened(url, "iceberg")) == expected["iceberg"]


def ended(run: Run, errors: Path) -> None:
    """Run a pipeline until it is killed."""
    with errors.open("w") as file:
        process = subprocess.Popen(
            run.start(), cwd=ROOT, stdin=subprocess.DEVNULL, stderr=file, start_new_session=True
        )
        try:
            assert process.wait(300) == -signal.SIGKILL, errors.read_text()[-3000:]
        finally:
            kill(process)
