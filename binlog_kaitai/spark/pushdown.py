"""Filters of a query that the reader takes over: what they leave, and what need not be read for them.

What is taken over is decided row by row as Spark would, on the Arrow batches. Besides, some of it tells of
whole splits, and of events, that they cannot have such rows; these are left out before rows are made of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import datasource as ds

from binlog_kaitai.columns.splits.split import Split
from binlog_kaitai.errors import UsageError
from binlog_kaitai.gtids import GtidSet

_COMPARE = {
    ds.EqualTo: pc.equal,
    ds.GreaterThan: pc.greater,
    ds.GreaterThanOrEqual: pc.greater_equal,
    ds.LessThan: pc.less,
    ds.LessThanOrEqual: pc.less_equal,
}

#: The columns of all views whose filters are taken over, by what they are about.
_ABOUT = {
    "file": "file",
    "_file": "file",
    "position": "position",
    "_position": "position",
    "timestamp": "timestamp",
    "_timestamp": "timestamp",
    "start": "start",
    "type": "type",
    "gtid": "gtid",
    "_gtid": "gtid",
    "server_id": "server_id",
    "_server_id": "server_id",
    "schema": "schema",
    "table": "table",
    "change": "change",
    "_change_type": "change",
    "_commit_timestamp": "commit",
}


@dataclass(frozen=True)
class Pushed:
    """One filter that is taken over.

    Attributes
    ----------
    column, about : str
        Its column, and what that is about, see `_ABOUT`.
    values : tuple
        What the column is compared with.
    """

    filter: ds.Filter
    column: str
    about: str
    values: tuple[Any, ...]

    @classmethod
    def of(cls, found: ds.Filter, columns: Iterable[str]) -> Pushed | None:
        """The filter, if it is one of a kind and a column that can be taken over."""
        attribute: tuple[str, ...] = getattr(found, "attribute", ())
        if len(attribute) != 1 or attribute[0] not in columns or attribute[0] not in _ABOUT:
            return None
        if isinstance(found, ds.In):
            values = tuple(value for value in found.value if value is not None)
        elif type(found) in _COMPARE and found.value is not None:  # type: ignore[attr-defined]
            values = (found.value,)  # type: ignore[attr-defined]
        else:
            return None
        return cls(found, attribute[0], _ABOUT[attribute[0]], values)

    def mask(self, batch: pa.RecordBatch) -> Any:
        """Which rows it takes; null counts as no."""
        column = batch.column(self.column)
        values = pa.array(self.values).cast(column.type)
        if isinstance(self.filter, ds.In):
            return pc.is_in(column, values)
        return pc.fill_null(_COMPARE[type(self.filter)](column, values[0]), False)

    @property
    def is_equality(self) -> bool:
        return isinstance(self.filter, (ds.EqualTo, ds.In))

    def __str__(self) -> str:
        return f"{type(self.filter).__name__}({self.column}, {', '.join(map(str, self.values))})"


def masked(batch: pa.RecordBatch, pushed: Sequence[Pushed]) -> pa.RecordBatch:
    """The rows that all filters take."""
    for one in pushed:
        batch = batch.filter(one.mask(batch))
    return batch


def chosen_splits(splits: Sequence[Split], pushed: Sequence[Pushed]) -> Iterator[Split]:
    """The splits that can have rows, by their files and offsets."""
    for split in splits:
        if all(_may_have(split, one) for one in pushed):
            yield split


def _may_have(split: Split, one: Pushed) -> bool:
    if one.about == "file" and one.is_equality:
        return split.file.path in one.values
    # What begins in a split may reach behind it, but never before it.
    if one.about == "position" and not isinstance(one.filter, (ds.GreaterThan, ds.GreaterThanOrEqual)):
        return split.start <= max(one.values, default=-1)
    return True


def narrowed(filters: dict[str, Any], pushed: Sequence[Pushed], view: str) -> dict[str, Any]:
    """Filters by their Python names that leave out nothing which the pushed ones take."""
    found = dict(filters)
    for one in pushed:
        match one.about:
            case "type" if one.is_equality and "event_type" not in found and view == "events":
                _set_types(found, one.values)
            case "gtid" if one.is_equality and "include_gtids" not in found:
                _set_gtids(found, one.values)
            case "server_id" if one.is_equality and "server_id" not in found:
                found["server_id"] = [int(value) for value in one.values]
            case "timestamp" | "start":
                _set_times(found, one)
            case "schema" if one.is_equality and "database" not in found and view == "changes":
                found["database"] = [str(value) for value in one.values]
    names = _values(pushed, "schema"), _values(pushed, "table")
    if view == "changes" and all(names) and "table" not in found:
        found["table"] = [f"{schema}.{table}" for schema in names[0] for table in names[1]]
    return found


def _values(pushed: Sequence[Pushed], about: str) -> list[str]:
    found = [one for one in pushed if one.about == about and one.is_equality]
    return [str(value) for value in found[0].values] if found else []


def _set_types(found: dict[str, Any], values: tuple[Any, ...]) -> None:
    from binlog_kaitai.event_types import TYPE_NAMES

    # An unknown name takes no event; the mask sees to that.
    if known := [value for value in values if value in TYPE_NAMES]:
        found["event_type"] = known


def _set_gtids(found: dict[str, Any], values: tuple[Any, ...]) -> None:
    text = ",".join(map(str, values))
    try:
        GtidSet.parse(text)
    except UsageError:
        return
    if text:
        found["include_gtids"] = text


def _set_times(found: dict[str, Any], one: Pushed) -> None:
    """Headers know whole seconds."""
    if not all(isinstance(value, datetime) for value in one.values) or not one.values:
        return
    times = [value if value.tzinfo else value.replace(tzinfo=UTC) for value in one.values]
    low = min(times).replace(microsecond=0)
    high = datetime.fromtimestamp(int(max(times).timestamp()) + 1, UTC)
    is_lower = isinstance(one.filter, (ds.GreaterThan, ds.GreaterThanOrEqual))
    is_upper = isinstance(one.filter, (ds.LessThan, ds.LessThanOrEqual))
    if not is_upper and "start_datetime" not in found:
        found["start_datetime"] = low
    if not is_lower and "stop_datetime" not in found:
        found["stop_datetime"] = high
