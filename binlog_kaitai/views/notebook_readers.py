"""First rows of readers of Arrow batches, in notebooks.

The class of such a reader is PyArrow's, so IPython gets a function that shows it. It reads the first log by
another reader: the one that is shown loses no row.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, ParamSpec
from weakref import WeakKeyDictionary

from binlog_kaitai.arrow import pa
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.rows.rolled_back_rows import is_readable_again
from binlog_kaitai.sources import is_server
from binlog_kaitai.sources.source import resolve
from binlog_kaitai.text.notebook import html_table

_Parameters = ParamSpec("_Parameters")
_Read = Callable[_Parameters, pa.RecordBatchReader]

#: Number of rows.
_SHOWN = 20

#: What shows each reader.
_SHOWS = WeakKeyDictionary[pa.RecordBatchReader, Callable[..., str]]()


def shown_in_notebooks(read: _Read[_Parameters]) -> _Read[_Parameters]:
    """Decorate a function whose readers notebooks show: first rows, or only columns if a log is read once."""

    @wraps(read)
    def call(*arguments: _Parameters.args, **options: _Parameters.kwargs) -> pa.RecordBatchReader:
        reader = read(*arguments, **options)
        shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
        if shell is not None:
            _SHOWS[reader] = partial(_shown, read, *arguments, **{**options, "progress": None})
            formatter = shell.display_formatter.formatters["text/html"]
            formatter.for_type(pa.RecordBatchReader, _html_of)
        return reader

    return call


def _html_of(reader: pa.RecordBatchReader) -> str | None:
    return _SHOWS[reader](schema=reader.schema) if reader in _SHOWS else None


def _shown(read: _Read[...], source: Any, *, schema: pa.Schema, **options: Any) -> str:
    del options["progress"]  # not shown for these rows
    first = source[0] if isinstance(source, (list, tuple)) else source
    is_own = isinstance(first, (str, bytes, os.PathLike)) and not (
        isinstance(first, str) and is_server(first)
    )
    log = resolve(first, options.get("keys"))[0] if is_own else None
    if log is None or not is_readable_again(log):
        return html_table(
            f"{read.__name__}: columns", ("column", "type"), ((field.name, field.type) for field in schema)
        )
    caption, rows = f"{read.__name__}: the first rows of {log.name}", list[dict[str, Any]]()
    try:
        with warnings.catch_warnings(action="ignore"), read(log, **options) as again:
            while len(rows) < _SHOWN:
                rows += again.read_next_batch().slice(0, _SHOWN - len(rows)).to_pylist()
    except StopIteration:
        pass
    except BinlogError as error:
        caption += f"; then: {error}"
    return html_table(caption, schema.names, ([row.get(name, "") for name in schema.names] for row in rows))
