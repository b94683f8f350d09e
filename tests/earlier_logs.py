"""The logs that come before a split."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from binlog_kaitai.sources.source import Source


def files_before(splits: Iterable[Source], split: Source) -> list[Source]:
    """The logs before the log of a split, which may define its tables."""
    logs = list(dict.fromkeys(replace(other, span=None) for other in splits))
    return logs[: logs.index(replace(split, span=None))]
