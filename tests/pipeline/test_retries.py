"""A single source is loaded again after a failure, unless the command never worked, or no longer does."""

from __future__ import annotations

import pytest

from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.pipeline import fleet


class Clock:
    """Time that passes only in what is tried, and between two tries."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.mark.parametrize(
    ("lasts", "tries", "ends_well"),
    [
        ([0], 1, False),
        ([59], 1, False),
        ([61], 11, False),  # and does not work from then on
        ([3600, 1, 1, None], 4, True),
        ([61, *[1] * 9, 3600, *[1] * 9, None], 21, True),
    ],
)
def test_tries(
    lasts: list[float | None], tries: int, ends_well: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, left, failures, count = Clock(), list(lasts), list[str](), 0
    monkeypatch.setattr(fleet, "time", clock)

    def load() -> None:
        nonlocal count
        count += 1
        seconds = left.pop(0) if left else 1
        if seconds is not None:
            clock.now += seconds
            raise SourceError(f"try {count}")

    if ends_well:
        fleet.retried(load, lambda error: failures.append(str(error)))
    else:
        with pytest.raises(SourceError, match=f"try {tries}$"):
            fleet.retried(load, lambda error: failures.append(str(error)))
    assert count == tries
    assert failures == [f"try {number}" for number in range(1, tries)]


def test_a_wrong_command_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(fleet, "time", clock)

    def load() -> None:
        clock.now += 100
        raise UsageError("another option")

    with pytest.raises(UsageError):
        fleet.retried(load, print)
