"""Iceberg tables, by PyIceberg, in any catalog that it is configured for.

A table has the number of its last batch in a property that is set in the same commit as the files.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.errors import BinlogError, SourceError, UsageError
from binlog_kaitai.lake import DATE, TIMES
from binlog_kaitai.lake.files import DataFile
from binlog_kaitai.lake.storage import Storage
from binlog_kaitai.lake.types import stored_type
from binlog_kaitai.views.change_schemas import untaken_name

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table

#: The catalog in PyIceberg's configuration, and the namespace of tables that are not a server's.
CATALOG = "binlog"

_NEEDED = 'Iceberg tables need PyIceberg: pip install "binlog-kaitai[iceberg]"'

#: Table properties: the pipeline that adds to the table, and the last batch it has. In a lake of several
#: sources, each has its own, with its name appended.
_PIPELINE, _BATCH = "binlog-kaitai.pipeline", "binlog-kaitai.batch"

#: A table gets many commits: delete old metadata, and merge small manifests.
_SETTINGS = {
    "commit.manifest-merge.enabled": "true",
    "write.metadata.delete-after-commit.enabled": "true",
}

#: Storage options, and PyIceberg's names for them.
_CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "s3.access-key-id",
    "AWS_SECRET_ACCESS_KEY": "s3.secret-access-key",
    "AWS_SESSION_TOKEN": "s3.session-token",
    "AWS_REGION": "s3.region",
    "AWS_ENDPOINT_URL": "s3.endpoint",
}


class IcebergTables:
    """The Iceberg tables of a lake.

    `application`: numbers the batches.
    `source`: in a lake of several sources: the name of this one.
    Raises `UsageError`: PyIceberg is not installed.
    """

    #: Tables are created side by side, namespaces are not.
    _naming = Lock()

    def __init__(self, storage: Storage, application: str, source: str = "") -> None:
        needed_pyiceberg()
        self._storage = storage
        self._application = application
        suffix = f".{source}" if source else ""
        self._pipeline, self._batch = _PIPELINE + suffix, _BATCH + suffix
        self._is_shared = bool(source)
        self._namespaces: set[str] = set()

    def open(self, name: str) -> IcebergTable | None:
        """A table as it is now.

        Raises `UsageError`: the catalog has a table of this name for another lake.
        """
        from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError

        with _errors(self._storage, name):
            try:
                table = self._catalog.load_table(identifier(name))
            except (NoSuchNamespaceError, NoSuchTableError):
                return None
        owner = table.properties.get(self._pipeline)
        if owner is None and self._is_shared and _PIPELINE not in table.properties:
            owner = self._application  # the table is new to this source
        if (owner, table.location()) != (self._application, self._url(name)):
            raise UsageError(f"{'.'.join(identifier(name))} in the Iceberg catalog belongs to another lake")
        return self._opened(name, table)

    def _opened(self, name: str, table: Table) -> IcebergTable:
        owner = {self._pipeline: self._application}
        return IcebergTable(self._storage, table, name, owner, self._batch)

    def create(
        self, name: str, columns: pa.Schema, files: Sequence[DataFile], batch: int, *, has_dates: bool
    ) -> IcebergTable:
        """A new table, partitioned by the day of its time or not."""
        from pyiceberg.transforms import DayTransform

        namespace, table_name = identifier(name)
        properties = {**_SETTINGS, self._pipeline: self._application, self._batch: "-1"}
        with _errors(self._storage, name):
            self._create_namespace(namespace)
            new = self._catalog.create_table_transaction(
                (namespace, table_name), columns, location=self._url(name), properties=properties
            )
            if has_dates:
                with new.update_spec() as update:
                    update.add_field(TIMES[name.partition("/")[0]], DayTransform(), DATE)
            table = self._opened(name, new.commit_transaction())
        table.append(columns, files, batch)
        return table

    def _create_namespace(self, namespace: str) -> None:
        with self._naming:
            if namespace not in self._namespaces:
                self._catalog.create_namespace_if_not_exists(namespace)
                self._namespaces.add(namespace)

    def _url(self, name: str) -> str:
        url = self._storage.delta_url(name)
        return f"file://{url}" if self._storage.is_local else url

    @cached_property
    def _catalog(self) -> Catalog:
        from pyiceberg.catalog import load_catalog
        from pyiceberg.utils.config import Config

        configured = Config().get_catalog_config(CATALOG)
        if configured is None and not self._storage.is_local:
            where = f"configure a catalog of the name {CATALOG} for PyIceberg"
            raise UsageError(f"a lake of Iceberg tables in {self._storage.name} needs a catalog; {where}")
        own: dict[str, Any] = {"type": "sql", "uri": f"sqlite:///{self._storage.url}/catalog.db"}
        if (endpoint := os.environ.get("AWS_ENDPOINT_URL")) is not None:
            own |= {"s3.endpoint": endpoint}
        options = self._storage.delta_options() or {}
        own |= {theirs: options[ours] for ours, theirs in _CREDENTIALS.items() if ours in options}
        return load_catalog(CATALOG, **(own | dict(configured or {})))


class IcebergTable:
    """An Iceberg table.

    `owner`: the property that names the pipeline.
    `numbered`: the property with its last batch.
    """

    def __init__(
        self, storage: Storage, table: Table, name: str, owner: Mapping[str, str], numbered: str
    ) -> None:
        self._storage = storage
        self._table = table
        self._name = name
        self._owner = owner
        self._numbered = numbered

    @property
    def columns(self) -> dict[str, pa.DataType]:
        return {one.name: stored_type(one.type) for one in self._table.schema().as_arrow()}

    @property
    def batch(self) -> int:
        return int(self._table.properties.get(self._numbered, -1))

    def append(self, columns: pa.Schema, files: Sequence[DataFile], batch: int) -> None:
        known = self.columns
        new = [one for one in columns if one.name not in known]
        with _errors(self._storage, self._name), self._table.transaction() as transaction:
            if new:
                with transaction.update_schema() as update:
                    update.union_by_name(columns)
            transaction.set_properties({**self._owner, self._numbered: str(batch)})
            if files:
                urls = [f"{self._table.location()}/{one.path}" for one in files]
                reported = {self._numbered: str(batch)}
                transaction.add_files(urls, snapshot_properties=reported, check_duplicate_files=False)

    def batches(
        self, where: pc.Expression | None = None, columns: Sequence[str] | None = None
    ) -> Iterator[pa.RecordBatch]:
        known = pa.schema(list(self.columns.items()))
        for batch in self._table.scan().to_arrow_batch_reader():
            rows = pa.Table.from_batches([batch]).cast(known)
            rows = rows if where is None else rows.filter(where)
            yield from (rows if columns is None else rows.select(list(columns))).to_batches()


def needed_pyiceberg() -> None:
    """Import PyIceberg.

    Raises `UsageError`: it is not installed.
    """
    try:
        import pyiceberg.catalog
        import pyiceberg.io.pyarrow  # noqa: F401
    except ImportError as error:
        raise UsageError(_NEEDED) from error
    logging.getLogger("pyiceberg.io.pyarrow").addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a warning of PyIceberg is not about columns without minimum and maximum, as lists are."""
    return not str(record.msg).startswith("PyArrow statistics missing for column")


@contextmanager
def _errors(storage: Storage, name: str) -> Iterator[None]:
    """Raise the errors of a catalog, each of which has its own, as those of this package."""
    try:
        yield
    except BinlogError:
        raise
    except Exception as error:
        raise SourceError(f"Iceberg: {storage.text_of(error)}", file=f"{storage.name}/{name}") from error


def identifier(name: str) -> tuple[str, str]:
    """Namespace and name of the table for a folder of the lake: ``shop.orders``, ``binlog.events``."""
    schema, point, table = name.removeprefix("changes/").partition(".")
    return (untaken_name(schema, {CATALOG}), table) if point else (CATALOG, schema)
