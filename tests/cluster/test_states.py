"""State tables that tasks on a cluster bring up to date; an executor is killed between their batches."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.standalone import Cluster
from tests.cluster.test_standalone import end_with_a_killed_executor, start_pipeline
from tests.lake.lakes import KINDS, WORKLOAD, contents, fill, opened, rows, table

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize("kind", KINDS)
def test_states(kind: str, workplace: Path, cluster: Cluster, tmp_path: Path) -> None:
    fill(tmp_path, WORKLOAD, format=kind, keeps_state=True)
    expected = opened(tmp_path, kind)
    names = expected.storage.names("state")
    assert len(names) == 3
    place = cluster.writable / f"states-{kind}"
    options = f"{place} --state --format {kind} --batch-size 12k"
    job = start_pipeline(cluster, f"states-{kind}", workplace, WORKLOAD, options)
    end_with_a_killed_executor(cluster, job, f"states-{kind}", (place / "state").exists)
    lake = opened(place, kind)
    assert contents(lake) == contents(expected)
    assert {name: rows(table(lake, f"state/{name}")) for name in names} == {
        name: rows(table(expected, f"state/{name}")) for name in names
    }
