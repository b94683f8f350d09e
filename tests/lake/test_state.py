"""State tables have the contents of the server's tables, whatever the batches, and after any kill."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.following.effects import Effect, EffectKind
from binlog_kaitai.lake import delta, iceberg
from binlog_kaitai.lake.batches import Lake, Piece
from binlog_kaitai.lake.files import TableFiles
from binlog_kaitai.lake.lineage import Place
from binlog_kaitai.lake.rules import NO_RULES
from binlog_kaitai.lake.state_tables import State, Updated, _adds, _counted, _last_images
from binlog_kaitai.lake.storage import Storage, table_name
from binlog_kaitai.pipeline.followed_logs import Following
from binlog_kaitai.pipeline.pipeline import Job, Pipeline, _run_update
from binlog_kaitai.pipeline.tasks import Result
from binlog_kaitai.rows.change_schemas import CHANGE_TYPE, SEQUENCE
from tests.corpus_files import Case, cases
from tests.extent import sample
from tests.lake.lakes import KINDS, WORKLOAD, KilledError, OneByOne, dying, fill, opened, rows, table
from tests.lake.reported import LOST, REFUSED, WRONG
from tests.lake.table_log import TableLog
from tests.lake.test_truth import _as_5_7_shows
from tests.rows.truth import OracleTable
from tests.spark.oracle import server_text

CASES = [case for case in cases() if case.tables() and case.folder.name not in LOST]

OF_FORMATS = [
    *(pytest.param("delta", one, id=one.id) for one in sample(CASES, 12)),
    *(
        pytest.param("iceberg", one, id=f"iceberg-{one.id}", marks=pytest.mark.iceberg)
        for one in sample(CASES, 4, 20)
    ),
]


def run(lake: Path, paths: list[Path], size: int, **job: Any) -> dict[str, str]:
    """Load logs with state; returns the tables that have none, and why."""
    refused: dict[str, str] = {}

    def take(updated: Updated) -> None:
        refused.pop(updated.name, None)  # a statement may have emptied the table since
        if updated.reason:
            refused[updated.name] = updated.reason

    following = Following(tuple(map(str, paths)), max_bytes=size, split_size=size // 3)
    Pipeline(Job(following, str(lake), keeps_state=True, **job), on_state=take).run(OneByOne())
    return refused


@pytest.mark.parametrize(("kind", "case"), OF_FORMATS)
def test_state_is_what_the_server_had(kind: str, case: Case, tmp_path: Path) -> None:
    job = {"views": ["changes"], "zero_dates": "text", "format": kind}
    refused = run(tmp_path, list(case.logs), 1 << 14, **job)
    lake = opened(tmp_path, kind)
    for oracle in map(OracleTable.of, case.tables()):
        name = table_name(oracle.name)
        key = f"{case.folder.name}/{'.'.join(oracle.name)}"
        if name in refused:
            assert REFUSED.get(key, "-") in refused[name], (key, refused[name])
            continue
        kept = lake.tables.open(f"state/{name}")
        found = Counter(
            tuple(server_text(row.get(column.name), column) for column in oracle.columns)
            for batch in (() if kept is None else kept.batches())
            for row in batch.to_pylist()
        )
        wanted = Counter(oracle.rows)
        if case.server == "mysql-5.7":
            found, wanted = (Counter(map(_as_5_7_shows, one.elements())) for one in (found, wanted))
        assert found == wanted or WRONG.keys() & {key, f"{case.server}/{key}"}, key


def states(lake: Lake) -> dict[str, Counter[str]]:
    return {name: rows(table(lake, f"state/{name}")) for name in lake.storage.names("state")}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Counter[str]]:
    """The states after the workload in many batches."""
    lake = tmp_path_factory.mktemp("workload") / "lake"
    run(lake, WORKLOAD, 20_000)
    return states(opened(lake))


def with_rows(tables: dict[str, Counter[str]]) -> dict[str, Counter[str]]:
    return {name: counted for name, counted in tables.items() if counted}


@pytest.mark.parametrize("size", sample([1 << 20, 3_000], 1))
def test_state_does_not_depend_on_the_batches(
    size: int, expected: dict[str, Counter[str]], tmp_path: Path
) -> None:
    run(tmp_path, WORKLOAD, size)
    assert with_rows(states(opened(tmp_path))) == with_rows(expected) != {}


def test_state_that_is_asked_for_later(expected: dict[str, Counter[str]], tmp_path: Path) -> None:
    fill(tmp_path, WORKLOAD[:2], 33_000)
    run(tmp_path, WORKLOAD[:2], 33_000)  # nothing is new but the state
    fill(tmp_path, WORKLOAD, 9_000)
    run(tmp_path, WORKLOAD, 33_000)
    assert with_rows(states(opened(tmp_path))) == with_rows(expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("left", sample([5, 0, 1, 2, 3, 4, 8], 2))
def test_killed_around_any_update(
    left: int,
    kind: str,
    expected: dict[str, Counter[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dies = dying(left)
    classes: dict[str, tuple[Any, Any]] = {
        "delta": (delta.DeltaTables, delta.DeltaTable),
        "iceberg": (iceberg.IcebergTables, iceberg.IcebergTable),
    }
    tables, one_table = classes[kind]
    with monkeypatch.context() as patch:
        patch.setattr(one_table, "merge", dies(one_table.merge))
        patch.setattr(tables, "replace", dies(tables.replace))
        with pytest.raises(KilledError):
            run(tmp_path, WORKLOAD, 20_000, format=kind)
    run(tmp_path, WORKLOAD, 20_000, format=kind)
    assert states(opened(tmp_path, kind)) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_an_update_that_is_repeated_changes_nothing(kind: str, tmp_path: Path) -> None:
    """A task runs again if its executor is lost after the commit; equal rows are counted."""
    lake = Lake(str(tmp_path), kind)
    plan, state = lake.open(NO_RULES), State(lake)
    for position in (4, 5):
        change = {
            "_change_type": "insert",
            "_commit_timestamp": datetime(2026, 11, 20, tzinfo=UTC),
            "_sequence": f"{Place(0, 1, position).as_sequence()}0",
            "v": 7,
        }
        files = TableFiles(lake.storage)
        files.write("changes/s.t", pa.RecordBatch.from_pylist([change]))
        files.close()
        facts = [Effect(position, EffectKind.KEYED, "s", "t")]
        piece = Piece("binlog.000001", position, position + 1, files=files.files, effects=facts)
        plan = plan.next(*({"file": piece.log, "position": one} for one in (piece.start, piece.end)))
        lake.begin(plan)
        lake.commit([piece])
        (update,), _ = state.updates(plan, [piece])
        assert update() == update() == Updated("s.t")
    assert update.since is not None
    assert table(lake, "state/s.t").to_pylist() == [{"v": 7}, {"v": 7}]


class _Stale(OneByOne):
    """Tasks of a pipeline that stands still before its n-th update, while another one goes on."""

    def __init__(self, left: int, others: Callable[[], object]) -> None:
        self._left, self._others = left, others

    def run(self, task: Callable[[bytes], Result], inputs: Sequence[bytes]) -> list[Result]:
        if task is _run_update:
            self._left -= 1
            if self._left == 0:
                self._others()
        return super().run(task, inputs)


@pytest.mark.parametrize(
    ("kind", "when"), [("delta", 1), ("delta", 3), pytest.param("iceberg", 3, marks=pytest.mark.iceberg)]
)
@pytest.mark.parametrize("key", ["a", ""], ids=["key", "keyless"])
def test_an_update_of_a_pipeline_that_another_one_has_overtaken(
    key: str, kind: str, when: int, tmp_path: Path
) -> None:
    log = TableLog("ab", key)
    for number in range(6):
        log.insert(number, 7)
        log.insert(number + 50, 7)
        log.delete(number + 50, 7)
    path, lake = log.write(tmp_path), tmp_path / "lake"
    job = Job(Following((str(path),), max_bytes=3), str(lake), keeps_state=True, format=kind)
    with pytest.raises(SourceError, match=r"another pipeline (has written batch|is writing)"):
        Pipeline(job).run(_Stale(when, lambda: run(lake, [path], 3, format=kind)))
    run(lake, [path], 3, format=kind)
    expected = Counter({repr([("a", str(index)), ("b", "7")]): 1 for index in range(6)})
    assert rows(table(opened(lake, kind), "state/s.t")) == expected


def test_a_row_that_was_never_added_cannot_be_removed() -> None:
    own = pa.schema([("n", pa.int64())])
    batch = pa.record_batch({"n": [1, 1, 2], "_change_type": ["insert", "delete", "delete"]})
    with pytest.raises(UsageError, match="remove rows that none has added"):
        list(_counted([batch], own))


def test_every_commit_and_its_files_are_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: set[Path] = set()
    monkeypatch.setattr(delta, "sync", synced.add)
    run(tmp_path, WORKLOAD[:1], 9_000)
    lake = opened(tmp_path)
    names = [f"{kind}/{name}" for kind in ("changes", "state") for name in lake.storage.names(kind)]
    operations = set[str]()
    for name in ("events", "_lineage", "_pipeline", *names):
        for path in (tmp_path / name / "_delta_log").glob("*.json"):
            actions = [json.loads(line) for line in path.read_text().splitlines()]
            files = [tmp_path / name / action["add"]["path"] for action in actions if "add" in action]
            assert {path, path.parent, *files, *(file.parent for file in files)} <= synced
            operations |= {action["commitInfo"]["operation"] for action in actions if "commitInfo" in action}
    assert {"MERGE", "WRITE", "ADD COLUMN"} <= operations


@pytest.mark.parametrize("kind", KINDS)
def test_both_zeros_are_one_key(kind: str, tmp_path: Path) -> None:
    """-0.0 and 0.0 are equal for servers, also in a table that has one of them when the other comes."""
    format_of = delta.DeltaTables if kind == "delta" else iceberg.IcebergTables
    tables, name = format_of(Storage(str(tmp_path)), "application"), "state/s.t"
    known = pa.table({"k": [0.0, 1.0], "v": [1, 1]})
    tables.replace(name, None, known.to_reader(), 0, {}, ["k"])
    for batch, (old, new) in enumerate([(0.0, -0.0), (-0.0, 0.0), (0.0, -0.0)], 1):
        images = pa.table(
            {
                "k": [old, new],
                "v": [batch, batch + 1],
                SEQUENCE: [f"{batch}1", f"{batch}2"],
                CHANGE_TYPE: ["update_preimage", "update_postimage"],
            }
        )
        last = _last_images(images.to_batches(), images.schema, ["k"])
        rows = last.select(["k", "v"]).append_column("there ", _adds(last))
        stored = tables.open(name)
        assert stored is not None
        stored.merge(known.schema, ["k"], rows, "there ", batch, {})
        kept = [str(row) for part in stored.batches() for row in part.to_pylist()]
        assert sorted(kept) == sorted([str({"k": new, "v": batch + 1}), str({"k": 1.0, "v": 1})])
