"""Registers the Delta tables of a lake in a catalog of Spark (`pipeline --catalog`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.lake import STATE, TIMES
from binlog_kaitai.lake.delta import DeltaTables
from binlog_kaitai.lake.iceberg import identifier
from binlog_kaitai.lake.storage import Storage
from binlog_kaitai.values.sql_text import identifier as quoted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NEEDED = "Spark needs Delta's runtime and the catalog: see docs/spark.md, A catalog of Spark"


class CatalogTables:
    """The tables of a lake in a catalog: ``shop.orders``, ``shop_state.orders``, ``binlog.events``.

    `catalog`: its name in Spark's settings, such as ``spark_catalog``.
    """

    def __init__(self, spark: SparkSession, catalog: str, storage: Storage) -> None:
        self._spark, self._catalog, self._storage = spark, catalog, storage
        self._tables = DeltaTables(storage, "")
        self._registered: set[str] = set()

    def register(self) -> None:
        """Register the tables that are new since the last call.

        Raises `UsageError`: the catalog has another table of such a name.
        Raises `SourceError`: Spark cannot register it.
        """
        from pyspark.errors import PySparkException

        names = [view for view in TIMES if view != "changes"]
        names += [f"{folder}/{name}" for folder in ("changes", STATE) for name in self._storage.names(folder)]
        for name in names:
            if name not in self._registered and self._tables.open(name) is not None:
                try:
                    self._register(name)
                except PySparkException as error:
                    reason = f"{str(error).splitlines()[0]} ({_NEEDED})"
                    raise SourceError(f"--catalog: {reason}", file=f"{self._storage.name}/{name}") from error
                self._registered.add(name)

    def _register(self, name: str) -> None:
        namespace, table = (quoted(part) for part in identifier(name))
        catalog, url = quoted(self._catalog), self._storage.delta_url(name)
        literal = url.replace("\\", "\\\\").replace("'", "\\'")
        self._spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {catalog}.{namespace}")
        known = f"{catalog}.{namespace}.{table}"
        self._spark.sql(f"CREATE TABLE IF NOT EXISTS {known} USING DELTA LOCATION '{literal}'")
        (detail,) = self._spark.sql(f"DESCRIBE DETAIL {known}").collect()
        if detail.location.removeprefix("file:").rstrip("/") != url.rstrip("/"):
            raise UsageError(f"--catalog: {known} is another table, in {detail.location}; drop it first")
