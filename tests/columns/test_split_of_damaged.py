"""Splits of damaged logs: what they give is what the whole log gives, or what comes before its damage.

The rule
--------
1. If the whole log is read without an error, so is each split; together they have its rows.
2. If it ends with an error, the first split that raises, in the order of the log, names the same position and
   reason. The rows of the splits before it, and its own before the error, are those of the whole log.

What later splits give does not count: a query that fails has no rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.columns.splits import cuts
from binlog_kaitai.columns.splits.split import plan, read_split
from tests.columns.mutations import mutated_log
from tests.columns.test_splits import WHOLE

#: Of `cuts`: from where on, how far back, and how far ahead events are looked for.
WINDOWS = ((1200, 1000, 20_000), (300, 200, 2000), (300, 300, 300))

Result = tuple[list[dict[str, Any]], tuple[int | None, str] | None]


def rows_and_error(batches: Iterable[Any]) -> Result:
    rows: list[dict[str, Any]] = []
    try:
        for batch in batches:
            rows += batch.to_pylist()
    except bk.BinlogError as error:
        return rows, (error.position, error.reason)
    return rows, None


def whole(view: str, path: str) -> Result:
    """The rows of a log up to its damage."""

    def batches() -> Iterable[Any]:
        yield from WHOLE[view](path)

    return rows_and_error(batches())


def in_splits(view: str, path: str, size: int) -> Result:
    """The same of its splits, up to the first one that raises."""
    found: list[dict[str, Any]] = []
    for split in plan(path, size):
        rows, error = rows_and_error(read_split(split, view))
        found += rows
        if error is not None:
            return found, error
    return found, None


def check(path: str, view: str, windows: tuple[int, int, int], size: int) -> None:
    cuts.NEAR, cuts.LOOK_BACK, cuts.PROOF = windows
    assert in_splits(view, path, size) == whole(view, path), (view, windows, size)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A path for a log; afterwards the windows are what they were."""
    for name in ("NEAR", "LOOK_BACK", "PROOF"):
        monkeypatch.setattr(cuts, name, getattr(cuts, name))
    return tmp_path / "binlog.000001"


@pytest.mark.parametrize("seed", range(0, 40, 8))
def test_splits_of_a_mutated_log_agree_with_the_whole(path: Path, seed: int) -> None:
    warnings.simplefilter("ignore")
    for own in range(seed, seed + 8):
        data = mutated_log(own)
        path.with_suffix(f".{own:06}").write_bytes(data)
        for number, view in enumerate(WHOLE):
            size = max(len(data) // (3 + (own + number) % 9), 50)
            check(str(path.with_suffix(f".{own:06}")), view, WINDOWS[(own + number) % 3], size)
