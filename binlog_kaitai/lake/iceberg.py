"""Iceberg tables over the files of a lake: each batch is added to each table exactly once.

Files are already in the lake when they are added, under the names in the batch's record. A table takes the
files of a batch, and the batch number, in a single catalog commit. After a crash, the next process therefore
sees which tables lack the batch, and adds it to these.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from binlog_kaitai.arrow import pa, pq
from binlog_kaitai.errors import BinlogError, SourceError, UsageError
from binlog_kaitai.lake import DATE, TIMES
from binlog_kaitai.lake.origins import batch_of
from binlog_kaitai.lake.types import with_names
from binlog_kaitai.views.change_schemas import untaken_name
from binlog_kaitai.views.parquet_folder import PartWriter

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table

#: The catalog in PyIceberg's configuration, and the namespace of tables that are not a server's.
CATALOG = "binlog"

_NEEDED = 'needs PyIceberg: pip install "binlog-kaitai[iceberg]"'

#: Table properties: the pipeline that adds to the table, and the last batch it contains.
_PIPELINE, _BATCH = "binlog-kaitai.pipeline", "binlog-kaitai.batch"

#: A table gets many commits: delete old metadata, and merge small manifests.
_SETTINGS = {
    "commit.manifest-merge.enabled": "true",
    "write.metadata.delete-after-commit.enabled": "true",
}


class IcebergTables:
    """The Iceberg tables of a lake.

    Parameters
    ----------
    folder
        The folder of the lake.

    Raises
    ------
    UsageError
        PyIceberg is not installed.
    """

    def __init__(self, folder: Path) -> None:
        try:
            import pyiceberg.catalog.sql
            import pyiceberg.io.pyarrow  # noqa: F401
        except ImportError as error:
            raise UsageError(_NEEDED) from error
        self._folder = folder

    def widen(self, pieces: Iterable[Mapping[str, Any]]) -> None:
        """Rewrite the files of a batch whose column types differ from their table's.

        A type is widened if Iceberg supports it; otherwise the column continues under a name with ``_``
        appended.
        """
        columns: dict[str, dict[str, pa.DataType]] = {}
        for piece in pieces:
            for path in map(Path, piece["files"]):
                name = path.parents[1].as_posix()
                if name not in columns:
                    columns[name] = _columns_of(self._load(name))
                staged = Path(piece["staging"]) / path
                names = take_columns(columns[name], pq.read_schema(staged))
                if any(new != old for old, new in names.items()):
                    _write_again(staged, names)

    def add(self, pipeline: str, batch: int, paths: Iterable[str]) -> None:
        """Add the files of a batch, already in the lake, to the tables that lack it.

        Parameters
        ----------
        pipeline
            The pipeline that numbers the batches.
        paths
            Paths relative to the folder of the lake.

        Raises
        ------
        BinlogError
            A table belongs to another pipeline or has disappeared from the catalog, or the catalog fails.
        """
        tables: defaultdict[str, list[Path]] = defaultdict(list)
        for path in map(Path, paths):
            tables[path.parents[1].as_posix()].append(self._folder / path)
        for name, files in sorted(tables.items()):
            try:
                self._append(name, pipeline, batch, files)
            except BinlogError:
                raise
            except Exception as error:  # each catalog raises its own exceptions
                raise SourceError(f"Iceberg: {error}", file=str(self._folder / name)) from error

    def _append(self, name: str, pipeline: str, batch: int, files: list[Path]) -> None:
        table = self._load(name)
        columns = _columns_of(table)
        for file in files:
            take_columns(columns, pq.read_schema(file))
        schema = pa.schema(list(columns.items()))
        if table is None:
            self._check_new(name, batch)
            table = self._create(name, pipeline, schema)
        if (table.properties.get(_PIPELINE), table.location()) != (pipeline, self._url(name)):
            raise UsageError(f"{'.'.join(identifier(name))} in the Iceberg catalog belongs to another lake")
        if int(table.properties[_BATCH]) >= batch:
            return
        with table.transaction() as transaction:
            with transaction.update_schema() as update:
                update.union_by_name(schema)
            transaction.set_properties({_BATCH: str(batch)})
            urls = [self._url(file.relative_to(self._folder).as_posix()) for file in files]
            reported = {_PIPELINE: pipeline, _BATCH: str(batch)}
            transaction.add_files(urls, snapshot_properties=reported, check_duplicate_files=False)

    def _load(self, name: str) -> Table | None:
        from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError

        try:
            return self._catalog.load_table(identifier(name))
        except (NoSuchNamespaceError, NoSuchTableError):
            return None

    def _check_new(self, name: str, batch: int) -> None:
        folder = self._folder / name
        found = (batch_of(path.name) for path in folder.rglob("part-*.parquet"))
        if any(one is not None and one < batch for one in found):
            raise UsageError(f"{folder} has files, but its table is missing from the Iceberg catalog")

    def _create(self, name: str, pipeline: str, schema: pa.Schema) -> Table:
        from pyiceberg.transforms import DayTransform

        found = identifier(name)
        self._catalog.create_namespace_if_not_exists(found[:1])
        properties = {**_SETTINGS, _PIPELINE: pipeline, _BATCH: "-1"}
        new = self._catalog.create_table_transaction(
            found, schema, location=self._url(name), properties=properties
        )
        with new.update_spec() as update:
            update.add_field(TIMES[name.partition("/")[0]], DayTransform(), DATE)
        return new.commit_transaction()

    def _url(self, name: str) -> str:
        return f"file://{self._folder.absolute()}/{name}"

    @cached_property
    def _catalog(self) -> Catalog:
        from pyiceberg.catalog import load_catalog
        from pyiceberg.utils.config import Config

        own = {"type": "sql", "uri": f"sqlite:///{self._folder.absolute()}/catalog.db"}
        return load_catalog(CATALOG, **(Config().get_catalog_config(CATALOG) or own))


def identifier(name: str) -> tuple[str, str]:
    """Namespace and name of the table for a folder of the lake: ``shop.orders``, ``binlog.events``."""
    schema, point, table = name.removeprefix("changes/").partition(".")
    return (untaken_name(schema, {CATALOG}), table) if point else (CATALOG, schema)


def take_columns(columns: dict[str, pa.DataType], schema: pa.Schema) -> dict[str, str]:
    """Merge the columns of a file into those of its table.

    Parameters
    ----------
    columns
        The table's columns by name; updated with new columns and wider types.

    Returns
    -------
    The table's name for each column of the file. Names that differ only by case are one.
    """
    spelled = {name.lower(): name for name in columns}
    own = {name.lower() for name in schema.names}
    found: dict[str, str] = {}
    for field in schema:
        kind = _plain(field.type)
        for name in _candidates(field.name, own):
            known = spelled.get(name.lower(), name)
            common = _common_type(columns.get(known, kind), kind)
            if common is not None and known not in found.values():
                columns[known], found[field.name] = common, known
                break
    return found


def _candidates(name: str, taken: Collection[str]) -> Iterator[str]:
    yield name
    while True:
        name += "_"
        if name.lower() not in taken:
            yield name


def _common_type(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """The type to which Iceberg promotes both types, if there is one."""
    if one == other:
        return one
    for narrow, wide in ((pa.int32(), pa.int64()), (pa.float32(), pa.float64())):
        if {one, other} == {narrow, wide}:
            return wide
    if pa.types.is_decimal(one) and pa.types.is_decimal(other) and one.scale == other.scale:
        return max(one, other, key=lambda kind: kind.precision)
    return None


def _plain(kind: pa.DataType) -> pa.DataType:
    """The canonical Arrow type for an Iceberg type."""
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(_plain(kind.value_type))
    return {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}.get(kind, kind)


def _columns_of(table: Table | None) -> dict[str, pa.DataType]:
    if table is None:
        return {}
    return {field.name: _plain(field.type) for field in table.schema().as_arrow()}


def _write_again(path: Path, names: Mapping[str, str]) -> None:
    """Rewrite a file with other column names."""
    draft = path.parent / "draft"
    writer = PartWriter(draft, stores_schema=False)
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches():
            writer.write(with_names(batch, names))
    writer.close()
    (new,) = draft.iterdir()
    new.replace(path)
    draft.rmdir()
