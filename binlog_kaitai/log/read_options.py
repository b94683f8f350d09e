"""The options that functions of the public interface share, besides filters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, NamedTuple, TypedDict, cast

from binlog_kaitai.core.filters import FilterOptions, Filters
from binlog_kaitai.core.options import Option, part_of
from binlog_kaitai.sources.keys import Keys
from binlog_kaitai.sources.source import Source, SourceLike, resolve


def no_progress(source: Source, position: int) -> None:
    """Report nothing."""


class KeyOptions(TypedDict, total=False):
    keys: Annotated[Keys | None, Option("Where to find the keys of encrypted logs; see :class:`Keys`.")]


class DefinitionOptions(TypedDict, total=False):
    ddl: Annotated[
        str | None,
        Option(
            "CREATE TABLE statements, as written by mysqldump: the tables before the first log. They are used"
            " if logs do not name columns, or do not state the length of values (MariaDB's old temporal types"
            " with fractions)."
        ),
    ]


class ChecksumOptions(TypedDict, total=False):
    verify_checksums: Annotated[
        bool,
        Option(
            "Raise an error for an event whose CRC32 does not match; otherwise it is read like any other, and"
            " its `checksum_status` is 'bad'.",
            True,
        ),
    ]


class ProgressOptions(TypedDict, total=False):
    progress: Annotated[
        Callable[[Source, int], object],
        Option("Called periodically with the source and the offset reached in it.", no_progress),
    ]


class PassOptions(ProgressOptions, total=False):
    threads: Annotated[
        int | None,
        Option(
            "Number of threads: by default one; for `read_changes` one per processor, at most four. None are"
            " started for small logs. The result does not depend on it."
        ),
    ]


Operation = Literal["insert", "update", "delete"]


class CriteriaOptions(TypedDict, total=False):
    operation: Annotated[Operation | Iterable[Operation], Option("Only changes of this kind.", ())]
    where: Annotated[
        str | None,
        Option('Only changes whose row before or after matches an SQL condition: ``"id = 42"``.'),
    ]
    column: Annotated[
        str | Iterable[str],
        Option(
            "Only updates that change one of these columns, and inserts and deletes of tables with one.", ()
        ),
    ]


class MaskOptions(TypedDict, total=False):
    include_columns: Annotated[
        str | Iterable[str], Option("Take only these columns of a table, as ``schema.table.column``.", ())
    ]
    exclude_columns: Annotated[str | Iterable[str], Option("Leave out these columns.", ())]
    mask: Annotated[str | Iterable[str], Option("Mask columns, as ``schema.table.column=null``.", ())]


class ScanOptions(KeyOptions, ProgressOptions, total=False):
    """Options of functions that read whole logs."""


class CopyOptions(ScanOptions, total=False):
    """Options of functions that write logs."""

    overwrite: Annotated[bool, Option("Overwrite existing files.", False)]


class ReaderOptions(DefinitionOptions, ChecksumOptions, total=False):
    """Options of readers of events."""


class LogOptions(KeyOptions, ReaderOptions, total=False):
    """Options of functions that read events or rows one at a time."""


class RowOptions(LogOptions, FilterOptions, total=False):
    """`LogOptions`, with filters."""


class ChangedRowOptions(RowOptions, CriteriaOptions, total=False):
    """`RowOptions`, with criteria for changes."""


class EventOptions(KeyOptions, ChecksumOptions, PassOptions, FilterOptions, total=False):
    """Options of functions that read many events at a time."""


class PageOptions(ChecksumOptions, PassOptions, total=False):
    """Those that :class:`LogPages` takes."""


class Reading(NamedTuple):
    """What the options of a function say."""

    sources: list[Source]
    filters: Filters
    pages: PageOptions

    @classmethod
    def of(cls, source: SourceLike | Iterable[SourceLike], options: Mapping[str, Any]) -> Reading:
        """Find the sources and check the filters.

        Raises `SourceError`, `UsageError`: no log was found, or a filter is invalid.
        """
        sources = resolve(source, options["keys"])
        filters = Filters.of(**part_of(options, FilterOptions))
        return cls(sources, filters, cast(PageOptions, part_of(options, PageOptions)))
