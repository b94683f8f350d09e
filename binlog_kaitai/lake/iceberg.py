"""Iceberg tables, by PyIceberg, in any catalog that it is configured for.

A table has the number of its last batch in a property that is set in the same commit as the files.

Renamed columns
---------------
A column is renamed in the table when the first file with its new name comes, in the commit of that file:
readers see one column. Files have no field ids, so the table's name mapping finds their columns by all names
that these had. If another column gets a name that is in the mapping, files with it are written again with
field ids.

`Table.batches` is for `lake.changes`, which knows the place of each renaming: it gives rows from before a
renaming with the former names. The property `binlog-kaitai.renames` has what that needs.
"""

from __future__ import annotations

import json
import logging
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.core.extras import pip_install
from binlog_kaitai.errors import BinlogError, SourceError, UsageError
from binlog_kaitai.lake import DATE, ORIGIN, SOURCE, STATE, TIMES
from binlog_kaitai.lake.described import COMMENT, Described
from binlog_kaitai.lake.files import INDEXED, DataFile, SmallFile, rewritten
from binlog_kaitai.lake.iceberg_rows import (
    Part,
    added,
    files_with,
    merged,
    of_others,
    overwrite,
    read,
    replace_files,
)
from binlog_kaitai.lake.lineage import Moves
from binlog_kaitai.lake.storage import ConflictError, Storage
from binlog_kaitai.lake.types import conform, stored_type, wider, with_source, with_source_field
from binlog_kaitai.rows.change_schemas import CHANGE_TYPE, SEQUENCE, untaken_name

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.schema import Schema
    from pyiceberg.table import CreateTableTransaction, Table, Transaction
    from pyiceberg.table.name_mapping import NameMapping

#: The catalog in PyIceberg's configuration, and the namespace of tables that are not a server's.
CATALOG = "binlog"

#: Table property: a JSON list with `_sequence` of the first row after each renaming, and both names.
_RENAMES = "binlog-kaitai.renames"

#: Table property: the names that columns have in files, as of PyIceberg's `TableProperties`.
_NAME_MAPPING = "schema.name-mapping.default"

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


@dataclass(frozen=True)
class _Marks:
    """Table properties: the pipeline that adds to a table, its last batch there, and numbers of that batch.

    In a lake of several sources, each has its own, with its name appended.
    """

    application: str
    source: str

    def name(self, what: str) -> str:
        return f"binlog-kaitai.{what}.{self.source}" if self.source else f"binlog-kaitai.{what}"

    def of(self, batch: int, numbers: Mapping[str, int] | None = None) -> dict[str, str]:
        own = {"pipeline": self.application, "batch": batch, **(numbers or {})}
        return {self.name(what): str(value) for what, value in own.items()}


class IcebergTables:
    """The Iceberg tables of a lake.

    `application`: numbers the batches.
    `source`: in a lake of several sources: the name of this one.
    `catalog`: its properties; None: as configured for PyIceberg on this machine.
    Raises `UsageError`: PyIceberg is not installed.
    """

    kind = "iceberg"

    #: Tables are created side by side, namespaces are not.
    _naming = Lock()

    def __init__(
        self, storage: Storage, application: str, source: str = "", catalog: dict[str, Any] | None = None
    ) -> None:
        needed_pyiceberg()
        self._storage = storage
        self._marks = _Marks(application, source)
        self._configured = catalog
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
        marks, alone = self._marks, _Marks("", "").name("pipeline")
        owner = table.properties.get(marks.name("pipeline"))
        if owner is None and marks.source and alone not in table.properties:
            owner = marks.application  # the table is new to this source
        if (owner, table.location()) != (marks.application, self._url(name)):
            raise UsageError(f"{'.'.join(identifier(name))} in the Iceberg catalog belongs to another lake")
        return IcebergTable(self._storage, table, name, marks)

    def replace(
        self,
        name: str,
        table: IcebergTable | None,
        rows: pa.RecordBatchReader,
        batch: int,
        numbers: Mapping[str, int],
        keys: Sequence[str] | None = None,
        source: str = "",
    ) -> None:
        """Replace the rows and columns of a table, and its `numbers`; see `DeltaTables.replace`."""
        batches: Iterator[pa.RecordBatch] = (with_source(part, source) for part in rows if part.num_rows)
        columns = with_source_field(rows.schema, source)
        marks = self._marks.of(batch, numbers)
        if table is not None:
            with table.committing() as transaction:
                old: Iterable[Part] = [([*table.handle.scan().plan_files()], columns.empty_table())]
                if source:
                    _evolve(transaction, columns, {})
                    old = of_others(
                        table.handle.scan(), source, _columns(transaction.table_metadata.schema())
                    )
                else:
                    _redefine(transaction, columns)
                overwrite(transaction, chain(old, added(batches)), marks)
        elif (first := next(batches, None)) is not None:
            with _errors(self._storage, name):
                new = self._new(name, columns)
                overwrite(new, added(chain((first,), batches)), marks)
                new.commit_transaction()

    def create(
        self,
        name: str,
        columns: pa.Schema,
        files: Sequence[DataFile],
        batch: int,
        moves: Sequence[Moves] = (),
        *,
        has_dates: bool,
    ) -> IcebergTable:
        """A new table, partitioned by the day of its time or not."""
        from pyiceberg.transforms import DayTransform

        files = sorted(files, key=_sequences)
        first = pa.schema([columns.field(column) for column in files[0].columns.names]) if files else columns
        with _errors(self._storage, name):
            new = self._new(name, first)
            if has_dates:
                with new.update_spec() as update:
                    update.add_field(TIMES[name.partition("/")[0]], DayTransform(), DATE)
            table = IcebergTable(self._storage, new.commit_transaction(), name, self._marks)
        table.append(columns, files, batch, moves)
        return table

    def _new(self, name: str, columns: pa.Schema) -> CreateTableTransaction:
        namespace, table_name = identifier(name)
        with self._naming:
            if namespace not in self._namespaces:
                self._catalog.create_namespace_if_not_exists(namespace)
                self._namespaces.add(namespace)
        return self._catalog.create_table_transaction(
            (namespace, table_name), columns, self._url(name), properties=_SETTINGS | self._marks.of(-1)
        )

    def _url(self, name: str) -> str:
        url = self._storage.delta_url(name)
        return f"file://{url}" if self._storage.is_local else url

    def __reduce__(self) -> tuple[Any, ...]:
        """For tasks on machines where PyIceberg need not be configured."""
        return IcebergTables, (self._storage, self._marks.application, self._marks.source, self._properties)

    @cached_property
    def _catalog(self) -> Catalog:
        from pyiceberg.catalog import load_catalog

        return load_catalog(CATALOG, **self._properties)

    @cached_property
    def _properties(self) -> dict[str, Any]:
        from pyiceberg.utils.config import Config

        if self._configured is not None:
            return self._configured
        configured = Config().get_catalog_config(CATALOG)
        if configured is None and not self._storage.is_local:
            where = f"configure a catalog of the name {CATALOG} for PyIceberg"
            raise UsageError(f"a lake of Iceberg tables in {self._storage.name} needs a catalog; {where}")
        own: dict[str, Any] = {"type": "sql", "uri": f"sqlite:///{self._storage.url}/catalog.db"}
        if (endpoint := os.environ.get("AWS_ENDPOINT_URL")) is not None:
            own |= {"s3.endpoint": endpoint}
        options = self._storage.delta_options() or {}
        own |= {theirs: options[ours] for ours, theirs in _CREDENTIALS.items() if ours in options}
        return own | dict(configured or {})


class IcebergTable:
    """An Iceberg table."""

    def __init__(self, storage: Storage, table: Table, name: str, marks: _Marks) -> None:
        self._storage = storage
        self.handle = table
        self._name = name
        self._marks = marks

    @property
    def columns(self) -> dict[str, pa.DataType]:
        columns = {column.name: column.type for column in _columns(self.handle.schema())}
        for _, old, new in reversed(self._renames):
            columns[old] = wider(columns.get(old, columns[new]), columns[new], "iceberg") or columns[new]
        return columns

    @property
    def _renames(self) -> list[tuple[str, str, str]]:
        return [(row, old, new) for row, old, new in json.loads(self.handle.properties.get(_RENAMES, "[]"))]

    @property
    def batch(self) -> int:
        return int(self.handle.properties.get(self._marks.name("batch"), -1))

    def number(self, name: str) -> int:
        """One of the numbers that were committed with the last batch."""
        return int(self.handle.properties[self._marks.name(name)])

    @contextmanager
    def committing(self) -> Iterator[Transaction]:
        """Commit a transaction once, after the body; raises `ConflictError`: the table has changed meanwhile.

        PyIceberg would commit its snapshots again, on top of those of another process.
        """
        with _errors(self._storage, self._name):
            transaction = self.handle.transaction()
            yield transaction
            transaction._snapshot_producers.clear()
            transaction.commit_transaction()

    @property
    def description(self) -> str:
        """The table's comment; "" if it has none."""
        return str(self.handle.properties.get("comment", ""))

    def describe(self, text: str) -> None:
        """Set the table's comment."""
        with self.committing() as transaction:
            transaction.set_properties({"comment": text})

    def define(self, described: Described) -> None:
        """Set properties of the table, and docs of columns, to what its definition says."""
        properties, known = described.properties, self.handle.properties
        docs = {field.name: field.doc or "" for field in self.handle.schema().fields}
        wanted = {name: facts[COMMENT] for name, facts in described.columns.items() if name in docs}
        comments = {name: text for name, text in wanted.items() if docs[name] != text}
        new = {name: text for name, text in properties.items() if known.get(name, "") != text}
        if new or comments:
            with self.committing() as transaction:
                mapping = transaction.table_metadata.properties.get(_NAME_MAPPING)
                if comments:
                    with transaction.update_schema() as update:
                        for name, text in comments.items():
                            update.update_column(name, doc=text)
                if mapping is not None:  # PyIceberg forgets the former names of columns
                    new[_NAME_MAPPING] = mapping
                transaction.set_properties(new)

    def merge(
        self,
        columns: pa.Schema,
        keys: Sequence[str],
        rows: pa.Table,
        is_there: str,
        batch: int,
        numbers: Mapping[str, int],
        source: str = "",
    ) -> None:
        """Update, insert and delete the rows of some keys, and set `numbers`; see `DeltaTable.merge`."""
        columns, rows = with_source_field(columns, source), with_source(rows, source)
        keys = [SOURCE, *keys] if source else keys
        with self.committing() as transaction:
            _evolve(transaction, columns, {})
            target = _columns(transaction.table_metadata.schema())
            whole = pa.Table.from_batches([conform(batch, target) for batch in rows.to_batches()], target)
            parts = merged(self.handle.scan(), keys, whole, rows[is_there])
            overwrite(transaction, parts, self._marks.of(batch, numbers))

    def small_files(self, size: int) -> dict[Any, list[SmallFile]]:
        """Files of fewer bytes, by their partition, in the order of their rows, where there are several."""
        small, metadata = defaultdict[Any, list[SmallFile]](list), self.handle.metadata
        number = next((field.field_id for field in metadata.schema().fields if field.name == SEQUENCE), -1)
        tasks = self.handle.scan().plan_files()
        for task in sorted(tasks, key=lambda task: (task.file.lower_bounds or {}).get(number, b"")):
            file = task.file
            if file.file_size_in_bytes < size and file.spec_id == metadata.default_spec_id:
                small[file.partition].append(SmallFile(file.file_size_in_bytes, task))
        return {partition: files for partition, files in small.items() if len(files) > 1}

    def compact(self, files: Sequence[SmallFile], partition: Any) -> int:
        """Replace files of a partition by new ones with the same rows; see `DeltaTable.compact`."""
        with self.committing() as transaction:
            tasks, columns = [file.file for file in files], _columns(self.handle.schema())
            return replace_files(transaction, self.handle.scan(), tasks, partition, columns)

    def append(
        self, columns: pa.Schema, files: Sequence[DataFile], batch: int, moves: Sequence[Moves] = ()
    ) -> None:
        renames, properties = self._renames, self._marks.of(batch)
        waiting: list[str] = []
        with self.committing() as transaction:

            def add() -> None:
                if waiting:
                    transaction.add_files(waiting, properties, check_duplicate_files=False)
                    waiting.clear()

            divided = [part for file in files for part in self._divided(file, moves)]
            for file in sorted(divided, key=_sequences):
                own = pa.schema([columns.field(name) for name in file.columns.names])
                if renamed := _renamed(transaction, own, moves, _sequences(file)[0]):
                    add()  # PyIceberg adds files whose columns have the table's names of the moment
                    renames += renamed
                _evolve(transaction, own, {old: new for _, old, new in renamed})
                waiting.append(f"{self.handle.location()}/{self._identified(transaction, file).path}")
            add()
            if renames:
                properties[_RENAMES] = json.dumps(renames)
            transaction.set_properties(properties)

    def _divided(self, file: DataFile, moves: Iterable[Moves]) -> list[DataFile]:
        """The file; written again as several if some of its names mean other columns in later rows."""
        names = {name.lower() for name in file.columns.names}
        least, most = _sequences(file)
        places = [move.place.as_sequence() for move in moves if names & (move.names.keys() | move.given)]
        places = [place for place in places if least < place < most]
        if not places:
            return [file]

        def between(batch: pa.RecordBatch, begin: str, end: str) -> pa.RecordBatch:
            sequence = batch.column(SEQUENCE)
            return batch.filter(pc.and_(pc.less(begin, sequence), pc.less(sequence, end)))

        ends = pairwise(["", *places, f"{most}~"])
        parts = [rewritten(self._storage, file, partial(between, begin=low, end=high)) for low, high in ends]
        return [part for part in parts if part.rows]

    def _identified(self, transaction: Transaction, file: DataFile) -> DataFile:
        """The file, with field ids if the name mapping has one of its names for another column."""
        from pyiceberg.io.pyarrow import schema_to_pyarrow

        schema, mapping = transaction.table_metadata.schema(), transaction.table_metadata.name_mapping()
        names = file.columns.names
        mapped = {name: field.field_id for field in (mapping.root if mapping else ()) for name in field.names}
        if mapping is None or all(mapped[name] == schema.find_field(name).field_id for name in names):
            return file
        identified = schema_to_pyarrow(schema, include_field_ids=True)
        target = pa.schema([identified.field(name) for name in names])
        return rewritten(self._storage, file, partial(conform, target=target))

    def batches(
        self, where: pc.Expression | None = None, columns: Sequence[str] | None = None
    ) -> Iterator[pa.RecordBatch]:
        known = _columns(self.handle.schema())
        scan = self.handle.scan()
        tasks = scan.plan_files() if where is None else files_with(where, scan, known)
        if columns is not None and not self._renames:
            known = pa.schema(
                [column for column in known if column.name in {*columns, *INDEXED, *ORIGIN, CHANGE_TYPE}]
            )
        for batch in read(scan, tasks, known):
            rows = pa.Table.from_batches([batch])
            for since, old, new in reversed(self._renames):
                rows = _with_former_name(rows, pc.less(rows[SEQUENCE], since), old, new)
            rows = rows if where is None else rows.filter(where)
            yield from (rows if columns is None else rows.select(list(columns))).to_batches()


def _columns(schema: Schema) -> pa.Schema:
    """The columns of a table, as of `stored_type`."""
    return pa.schema([pa.field(column.name, stored_type(column.type)) for column in schema.as_arrow()])


def _sequences(file: DataFile) -> tuple[str, str]:
    """The least and the greatest `_sequence` of a file; "" if it has none."""
    return file.limits.get(SEQUENCE, ("", ""))


def _renamed(
    transaction: Transaction, columns: pa.Schema, moves: Iterable[Moves], sequence: str
) -> list[tuple[str, str, str]]:
    """The new columns of a file that continue columns of the table under other names, as `_RENAMES` has them.

    `columns`: the columns of the file, with their types in the table.
    `sequence`: the first one of the file.
    """
    known = {column.name.lower(): column for column in transaction.table_metadata.schema().as_arrow()}
    before = [move for move in moves if move.place.as_sequence() < sequence]
    renames = []
    for column in columns:
        if column.name.lower() in known:
            continue
        name, since = column.name.lower(), ""
        for move in reversed(before):
            old = next((old for old, new in move.names.items() if new.lower() == name), None)
            if old is None and name in move.added:
                break
            if old is None:
                continue
            name, since = old, since or move.place.as_sequence()
            former = known.get(name)
            if former is None:
                continue
            has_other_type = wider(stored_type(former.type), column.type, "iceberg") is None
            if not has_other_type and f"{name}_" not in known:
                renames.append((since, former.name, column.name))
                del known[name]
            break
    return renames


def _evolve(transaction: Transaction, columns: pa.Schema, renames: Mapping[str, str]) -> None:
    """Rename, add and widen columns; all names in the name mapping keep their columns."""
    from pyiceberg.table import TableProperties
    from pyiceberg.types import DecimalType, DoubleType

    metadata = transaction.table_metadata
    mapping = metadata.name_mapping()
    known = {renames.get(old.name, old.name): stored_type(old.type) for old in metadata.schema().as_arrow()}
    new = pa.schema([column for column in columns if column.name not in known])
    numbers = [col for col in columns if pa.types.is_floating(col.type) or pa.types.is_decimal(col.type)]
    wide = [column for column in numbers if known.get(column.name, column.type) != column.type]
    if not (renames or new or wide):
        return
    if renames:
        with transaction.update_schema() as update:
            for old, name in renames.items():
                update.rename_column(old, name)
    if new or wide:
        with transaction.update_schema() as update:
            update.union_by_name(new)
            for column in wide:
                is_decimal = pa.types.is_decimal(column.type)
                kind = DecimalType(column.type.precision, column.type.scale) if is_decimal else DoubleType()
                update.update_column(column.name, kind)
    if mapping is not None:
        names = _extended(mapping, transaction.table_metadata.schema().name_mapping)
        transaction.set_properties({TableProperties.DEFAULT_NAME_MAPPING: names.model_dump_json()})


def _redefine(transaction: Transaction, columns: pa.Schema) -> None:
    """Give a table, which loses all its rows, other columns; equal ones stay."""
    known = _columns(transaction.table_metadata.schema())
    with transaction.update_schema(allow_incompatible_changes=True) as update:
        for column in known:
            if column not in columns:
                update.delete_column((column.name,))
    with transaction.update_schema() as update:
        update.union_by_name(pa.schema([column for column in columns if column not in known]))


def _extended(mapping: NameMapping, current: NameMapping) -> NameMapping:
    """The mapping with the names of the current columns that it lacks."""
    from pyiceberg.table.name_mapping import NameMapping

    taken = {name for field in mapping.root for name in field.names}
    fields = {field.field_id: field for field in mapping.root}
    for field in current.root:
        if not taken.issuperset(field.names):
            known = fields.get(field.field_id)
            names = [*known.names, *field.names] if known is not None else field.names
            fields[field.field_id] = field.model_copy(update={"names": names})
    return NameMapping([*fields.values()])


def _with_former_name(rows: pa.Table, is_before: pa.ChunkedArray, old: str, new: str) -> pa.Table:
    """The rows with the values of a column under its former name, where they are from before its renaming."""
    values = rows[new]
    nothing = pa.scalar(None, values.type)
    former = pc.if_else(is_before, values, rows[old] if old in rows.column_names else nothing)
    rows = rows.set_column(rows.column_names.index(new), new, pc.if_else(is_before, nothing, values))
    if old in rows.column_names:
        return rows.set_column(rows.column_names.index(old), old, former)
    return rows.append_column(old, former)


def needed_pyiceberg() -> None:
    """Import PyIceberg.

    Raises `UsageError`: it is not installed.
    """
    try:
        import pyiceberg.catalog
        import pyiceberg.io.pyarrow  # noqa: F401
    except ImportError as error:
        raise UsageError(f"Iceberg tables need PyIceberg: {pip_install('iceberg')}") from error
    logging.getLogger("pyiceberg.io.pyarrow").addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a warning of PyIceberg is not about columns without minimum and maximum, as lists are."""
    return not str(record.msg).startswith("PyArrow statistics missing for column")


@contextmanager
def _errors(storage: Storage, name: str) -> Iterator[None]:
    """Raise the errors of a catalog, each of which has its own, as those of this package."""
    from pyiceberg.exceptions import CommitFailedException, TableAlreadyExistsError

    try:
        yield
    except BinlogError:
        raise
    except Exception as error:
        is_conflict = isinstance(error, (CommitFailedException, TableAlreadyExistsError))
        kind = ConflictError if is_conflict else SourceError
        raise kind(f"Iceberg: {storage.text_of(error)}", file=f"{storage.name}/{name}") from error


def identifier(name: str) -> tuple[str, str]:
    """Namespace and name of the table for a folder of the lake.

    Those of a server's table are ``shop.orders`` for its changes, ``shop_state.orders`` for its state; others
    are like ``binlog.events``.
    """
    folder, _, own = name.rpartition("/")
    schema, point, table = own.partition(".")
    if folder == STATE:
        return f"{schema}_state", table
    return (untaken_name(schema, {CATALOG}), table) if point else (CATALOG, schema)
