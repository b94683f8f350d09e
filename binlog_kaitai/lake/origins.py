"""The batch and piece that each row of a file of the lake comes from.

A file that a batch wrote has both in its name. A compacted file has them in its footer, in the order of its
rows; readers that do not look there see an ordinary Parquet file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from binlog_kaitai.arrow import pa, pq
from binlog_kaitai.errors import SourceError, reading

_DIGITS = 8

#: The key in the footer of a compacted file: a JSON list of batch, piece, and number of rows.
ORIGINS = b"binlog-kaitai.origins"

_WRITTEN = re.compile(r"part-(\d+)-(\d+)-(\d+)\.parquet")
_COMPACTED = re.compile(r"part-\d+-\d+-\d+-to-(\d+)-[0-9a-f]{32}\.parquet")


class Origin(NamedTuple):
    """Consecutive rows of a file, and the batch and the piece of it that wrote them."""

    batch: int
    piece: int
    rows: int


def written_name(batch: int, piece: int, number: int) -> str:
    """The name of a file that a batch writes: one of several of a piece in the same folder."""
    return f"part-{batch:0{_DIGITS}}-{piece:05}-{number:04}.parquet"


def compacted_name(first: str, last: int) -> str:
    """A new name for a file that begins with the rows of `first` and continues to those of a batch.

    Sorted by name, files keep their order, since some readers take the columns from the first one. No two
    files ever have the same name, so a reader with an outdated list of files cannot read the wrong one.
    """
    start = first.removesuffix(".parquet").partition("-to-")[0]
    return f"{start}-to-{last:0{_DIGITS}}-{uuid4().hex}.parquet"


def last_batch_of(name: str) -> int | None:
    """The last batch that wrote rows of a file; None if the name does not state it."""
    found = _COMPACTED.fullmatch(name)
    return batch_of(name) if found is None else int(found[1])


def is_compacted(name: str) -> bool:
    """Whether a file is a compacted one."""
    return _COMPACTED.fullmatch(name) is not None


def batch_of(name: str) -> int | None:
    """The batch that wrote a file; None for a compacted file, and for a file that is not the lake's."""
    found = _WRITTEN.fullmatch(name)
    return None if found is None else int(found[1])


@contextmanager
def opened_parquet(path: Path) -> Iterator[Any]:
    """A Parquet file; errors become `SourceError` that names it."""
    try:
        with reading(str(path)), pq.ParquetFile(path) as file:
            yield file
    except pa.ArrowException as error:
        raise SourceError(f"cannot be read as Parquet: {error}", file=str(path)) from error


def origins_of(path: Path, footer: Any) -> list[Origin]:
    """The origins of the rows of a file, in order.

    Parameters
    ----------
    footer
        Its `pyarrow.parquet.FileMetaData`.

    Raises
    ------
    SourceError
        The file does not state its origins.
    """
    if (written := _WRITTEN.fullmatch(path.name)) is not None:
        return [Origin(int(written[1]), int(written[2]), footer.num_rows)]
    try:
        found = [Origin(*map(int, one)) for one in json.loads((footer.metadata or {})[ORIGINS])]
    except (KeyError, ValueError, TypeError) as error:
        raise _unknown(path) from error
    if sum(one.rows for one in found) != footer.num_rows:
        raise _unknown(path)
    return found


def footer_of(origins: Iterable[Origin]) -> dict[bytes, Any]:
    """The entry in the footer of a compacted file."""
    joined = (
        (*place, sum(one.rows for one in same)) for place, same in groupby(origins, key=itemgetter(0, 1))
    )
    return {ORIGINS: json.dumps(list(joined), separators=(",", ":"))}


def _unknown(path: Path) -> SourceError:
    return SourceError("its footer does not state which batches its rows come from", file=str(path))
