"""The tables of a lake in Spark: changes across all definitions, and the resulting contents."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import reduce

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from binlog_kaitai.arrow import pa, pq
from binlog_kaitai.errors import UsageError
from binlog_kaitai.lake.commits import PRIVATE, Lake
from binlog_kaitai.lake.lineage import Lineage, Place, Rename, Segment
from binlog_kaitai.lake.origins import last_batch_of
from binlog_kaitai.sources.disk import replace_file
from binlog_kaitai.spark.images import ABSENT, is_after, quoted
from binlog_kaitai.spark.lake_rows import BATCH, PIECE, by_schema, is_of_segment, lake_rows, place_literal
from binlog_kaitai.spark.schemas import arrow_schema, spark_schema
from binlog_kaitai.spark.state import META, NO_KEY, fold
from binlog_kaitai.views.change_schemas import common_type

#: The columns that order changes as in the logs.
_BY_LOG = (BATCH, PIECE, "_position", "_row")


class LakeTables:
    """The tables of a lake, up to a point in time.

    Parameters
    ----------
    as_of
        A commit time (local if it has no zone), or a GTID; None: up to now.

    Raises
    ------
    UsageError
        No transaction of the lake has the GTID, or had committed by then.
    """

    def __init__(self, spark: SparkSession, lake: Lake, as_of: datetime | str | None = None) -> None:
        self._spark = spark
        self._lake = lake
        self._until = None if as_of is None else self._place(as_of)
        self._lineage = Lineage.of(lake.records(), self._until)
        #: The names in the lake of tables that it renames.
        self._names: dict[str, str] = {}
        for record in lake.records():
            for piece in record["pieces"]:
                self._names |= piece.get("names", {})
        self._names_on_server = {new: old for old, new in self._names.items()}

    def names(self) -> list[str]:
        """The tables that have changes, as ``schema.table``."""
        return sorted(self._names.get(name, name) for name in self._lineage.tables())

    def keys(self, name: str) -> list[str]:
        """Columns of the primary key; [] if there is none, or none is known."""
        return self._lineage.keys.get(self._on_server(name), [])

    def newest_batch(self, name: str) -> int:
        """The last batch that affected a table; -1 if the tables are those of a point in time."""
        return self._lineage.newest.get(self._on_server(name), 0) if self._until is None else -1

    def current(self, name: str) -> DataFrame:
        """The contents of a table.

        Raises
        ------
        UsageError
            Its changes do not determine them.
        """
        self._check_clear(name)
        changes = self.changes(name)
        own = [one for one in changes.columns if one not in (*META, ABSENT, BATCH, PIECE)]
        keys = [key for key in self.keys(name) if key in own]
        try:
            return fold(changes, own, keys, [*map(quoted, _BY_LOG), is_after().cast("int")])
        except UsageError as error:
            raise UsageError(f"{name}: {error}") from error

    def changes(self, name: str) -> DataFrame:
        """The changes that make up a table, with the columns of all its definitions.

        Columns have their current names, also in changes from before they were renamed.
        """
        return self._joined(name, self._parts(name))

    def changes_since(self, name: str, batch: int) -> DataFrame | None:
        """The changes after a batch, for a copy that has the contents of the table after it.

        Returns
        -------
        None if the copy needs :meth:`current` instead: since then, the table was emptied, renamed, or got the
        name of another one, a prepared transaction was committed, or row images lack columns.

        Raises
        ------
        UsageError
            The changes do not determine the contents of the table.
        """
        if self._until is not None:
            raise UsageError("changes_since is for the current tables; omit as_of")
        self._check_clear(name)
        if not self._lineage.is_continued(self._on_server(name), batch):
            return None
        changes = self._joined(name, self._parts(name, after=batch) or self._parts(name))
        return None if ABSENT in changes.columns else changes.where(quoted(BATCH) > batch)

    def _check_clear(self, name: str) -> None:
        if (reason := self._lineage.unclear.get(self._on_server(name))) is not None:
            raise UsageError(f"{name}: {reason}")

    def _joined(self, name: str, parts: Sequence[DataFrame]) -> DataFrame:
        if not parts:
            raise UsageError(f"{name} has no changes")
        return joined(parts)

    def _parts(self, name: str, after: int = -1) -> list[DataFrame]:
        """The changes of each segment, without files that have none after a batch."""
        renames = self._lineage.renames(self._on_server(name))
        segments = self._lineage.segments(self._on_server(name))
        return [part for one in segments if (part := self._segment(one, renames, after)) is not None]

    def _segment(self, segment: Segment, renames: Sequence[Rename], after: int) -> DataFrame | None:
        folder = self._lake.folder / "changes" / self._names.get(segment.table, segment.table)
        batches = {path: last_batch_of(path.name) for path in folder.rglob("*.parquet")}
        files = by_schema(path for path, batch in batches.items() if batch is None or batch > after)
        parts = [part for same in files for part in with_new_names(lake_rows(self._spark, same), renames)]
        if not parts:
            return None
        found = joined(parts)
        place = f.struct(*map(quoted, _BY_LOG[:3]))
        if self._until is not None:
            found = found.where(place < place_literal(self._until))
        return found.where(is_of_segment(place, segment, self._lineage))

    def _on_server(self, name: str) -> str:
        return self._names_on_server.get(name, name)

    def _place(self, as_of: datetime | str) -> Place:
        """After the last transaction up to a point in time."""
        folder = self._lake.folder / "transactions"
        if not folder.is_dir():
            raise UsageError(f"{folder} does not exist; it is needed to look up a moment")
        paths = [str(path) for path in sorted(folder.rglob("*.parquet"))]
        found = lake_rows(self._spark, paths)
        if isinstance(as_of, datetime):
            # Spark reads the duration as a number of seconds.
            ended = f.timestamp_seconds(f.unix_timestamp("start") + f.col("duration"))
            committed = f.coalesce("original_commit_timestamp", ended, "start")
            found = found.where(committed <= f.lit(as_of.astimezone()))
        else:
            found = found.where(f.col("gtid") == as_of)
        last = found.agg(f.max(f.struct(BATCH, PIECE, "end_position")).alias("place")).first()
        if last is None or last["place"] is None:
            raise UsageError(f"{self._lake.folder} has no transaction at or before {as_of}")
        return Place(*last["place"])


def with_new_names(changes: DataFrame, renames: Sequence[Rename]) -> Iterator[DataFrame]:
    """The same changes with the column names after all renames; a frame for each naming."""
    own = [name for name in changes.columns if name not in (*META, ABSENT, BATCH, PIECE)]
    namings = [_naming(own, renames[number:]) for number in range(len(renames) + 1)]
    place, begin = f.struct(*map(quoted, _BY_LOG[:3])), 0
    for end in range(1, len(namings) + 1):
        if end < len(namings) and namings[end] == namings[begin]:
            continue
        found, names = changes, namings[begin]
        if begin > 0:
            found = found.where(place > place_literal(renames[begin - 1].place))
        if end < len(namings):
            found = found.where(place < place_literal(renames[end - 1].place))
        yield _renamed(found, names)
        begin = end


def _naming(own: Sequence[str], renames: Sequence[Rename]) -> dict[str, str]:
    """The new names of columns. One that was dropped before another got its name has a `_` appended."""
    names = {name: name for name in own}
    for rename in renames:
        found = {name: rename.names.get(now.lower(), now) for name, now in names.items()}
        given = {new.lower() for name, new in found.items() if new != names[name]}
        for name, now in names.items():
            if found[name] == now:  # this statement renames another column to this name
                while found[name].lower() in given:
                    found[name] += "_"
        names = found
    return names


def _renamed(changes: DataFrame, names: Mapping[str, str]) -> DataFrame:
    if all(old == new for old, new in names.items()):
        return changes
    columns = [quoted(name).alias(names.get(name, name)) for name in changes.columns if name != ABSENT]
    if ABSENT in changes.columns:
        pairs = [f.lit(text) for pair in names.items() for text in pair]
        new_name = f.create_map(*pairs)
        columns.append(f.transform(ABSENT, lambda name: new_name[name]).alias(ABSENT))
    return changes.select(*columns)


def joined(parts: Iterable[DataFrame]) -> DataFrame:
    """All rows of several frames, with the columns of all by name; missing ones are null."""
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), _alike(parts))


def _alike(parts: Iterable[DataFrame]) -> Iterator[DataFrame]:
    """The same rows; columns of several frames get the type that can hold all their values."""
    frames = list(parts)
    kinds: dict[str, pa.DataType] = {}
    for frame in frames:
        for field in arrow_schema(frame.schema):
            known = kinds.setdefault(field.name, field.type)
            kinds[field.name] = known if known == field.type else common_type(known, field.type)
    target = {one.name: one.dataType for one in spark_schema(pa.schema(list(kinds.items())))}
    for frame in frames:
        yield frame.select(*(quoted(name).cast(target[name]).alias(name) for name in frame.columns))


class State:
    """The folders below ``state``, with the contents of each table.

    A folder is replaced by two renames; in between, for an instant, it does not exist.
    """

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._path = lake.folder / PRIVATE / "state.json"
        #: The last batch that each folder includes.
        self._batches: dict[str, int] = json.loads(self._path.read_text()) if self._path.exists() else {}

    def refresh(self, tables: LakeTables) -> Iterator[tuple[str, int | UsageError]]:
        """Write the tables that have changed since; yields each with its row count, or an error.

        Meanwhile, no files of the lake are compacted.
        """
        with self._lake.keeping_files():
            yield from self._refresh(tables)

    def _refresh(self, tables: LakeTables) -> Iterator[tuple[str, int | UsageError]]:
        for name in tables.names():
            if self._batches.get(name) == tables.newest_batch(name):
                continue
            try:
                yield name, self._write(name, tables.current(name))
            except UsageError as error:
                yield name, error
                continue
            self._batches[name] = tables.newest_batch(name)
            replace_file(self._path, json.dumps(self._batches))

    def _write(self, name: str, rows: DataFrame) -> int:
        new, old = self._lake.new_staging(), self._lake.new_staging()
        try:
            rows.write.parquet(str(new))
        except PySparkException as error:
            if NO_KEY not in str(error):
                raise
            raise UsageError(f"{name}: {NO_KEY}") from error
        target = self._lake.folder / "state" / name
        target.parent.mkdir(exist_ok=True)
        if target.exists():
            target.rename(old)
        new.rename(target)
        shutil.rmtree(old, ignore_errors=True)
        return sum(pq.read_metadata(path).num_rows for path in target.glob("*.parquet"))
