"""Both readers agree on mutated logs: the same events, the same rows, and the same first error."""

from __future__ import annotations

import random
import warnings
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.columns import compile as kernels_of
from tests.columns.mutations import Sample
from tests.columns.support import by_columns, by_reader, use_plain_kernels
from tests.columns.test_rows_corpus import by_columns as values_by_columns
from tests.columns.test_rows_corpus import by_reader as values_by_reader
from tests.columns.test_rows_objects import lines_by_columns, lines_by_reader
from tests.corpus_files import logs

#: Larger logs take long, and say the same again.
_MOST_BYTES = 6_000
_COUNT = 60

PATHS = sorted(
    log.path
    for log in logs()
    if log.path.stat().st_size < _MOST_BYTES and not {"damaged", "encrypted"} & set(log.path.parts)
)


def has_wrong_statement(log: Path) -> bool:
    """Whether a statement cannot be read; the columns may still know that it defines no table."""
    try:
        return any(event.type.startswith("QUERY") and event.body is None for event in bk.open(log))
    except bk.BinlogError as error:
        return (error.event_type or "").startswith("QUERY")


def disagreement(log: Path) -> tuple[str, Any, Any] | None:
    """Where the readers differ first: what is compared, what the reader says, and what the columns say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pairs: list[tuple[str, Any, Any]] = [("events", by_reader(log), by_columns(log))]
        if not has_wrong_statement(log):
            pairs += [
                ("rows", list(lines_by_reader(log)), list(lines_by_columns(log))),
                ("values", list(values_by_reader(log)), list(values_by_columns(log))),
            ]
    return next((pair for pair in pairs if pair[1] != pair[2]), None)


@pytest.mark.parametrize("mode", ["plain", "compiled"])
def test_mutated_logs_read_the_same(mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if mode == "plain":
        use_plain_kernels(monkeypatch)
    else:
        monkeypatch.setattr(kernels_of, "LOAD_FROM", 0)
    dice = random.Random(20)
    samples = [Sample(path) for path in dice.sample(PATHS, 20)]
    path = tmp_path / "binlog.000001"
    refused = 0
    for number in range(_COUNT):
        sample = dice.choice(samples)
        path.write_bytes(sample.mutated(dice))
        found = disagreement(path)
        assert found is None, (number, sample.path)
        try:
            list(bk.open(path))
        except bk.BinlogError:
            refused += 1
    assert 0 < refused < _COUNT
