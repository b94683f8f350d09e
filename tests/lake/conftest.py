"""Lakes that several tests compare with, each filled once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lake.lakes import DDL, fill


@pytest.fixture(scope="session")
def ddl_lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake of statements of all kinds, of several batches; a test that changes it takes a copy."""
    lake = tmp_path_factory.mktemp("ddl") / "lake"
    assert len(fill(lake, DDL, 9000)) > 2
    return lake
