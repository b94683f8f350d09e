"""The seeded bugs: each changes one line of the package as a slip of a programmer would."""

from __future__ import annotations

from typing import NamedTuple


class Bug(NamedTuple):
    """One changed line, and the tests that should notice it.

    Attributes
    ----------
    name : str
        What is wrong then.
    file : str
        The module, below `binlog_kaitai`.
    right, wrong : str
        A text that occurs once in the module, and what replaces it.
    tests : tuple of str
        Files or folders below `tests`, in the order in which they are run.
    """

    name: str
    file: str
    right: str
    wrong: str
    tests: tuple[str, ...]


BUGS = (
    Bug(
        "kernels: NULL bits of an image after a change are counted on from the image before",
        "rows/image_walk.py",
        "if is_null(data, null_at, step - begin)",
        "if is_null(data, null_at, step - first)",
        ("rows/test_rows_corpus.py",),
    ),
    Bug(
        "kernels: dates count from a day too early",
        "rows/read_kernels.py",
        "- 719_468",
        "- 719_467",
        ("rows/test_rows_corpus.py",),
    ),
    Bug(
        "kernels: signed numbers of three bytes are read without their sign",
        "rows/read_kernels.py",
        "int_3(data, start, not is_signed)",
        "int_3(data, start, True)",
        ("rows/test_rows_corpus.py",),
    ),
    Bug(
        "columns: checksums are computed and not compared",
        "log/checksum_runs.py",
        "np.where(are_ok, OK, BAD)",
        "OK",
        ("log/test_checksums.py", "views/test_events.py"),
    ),
    Bug(
        "columns: the event at the stop position is still read",
        "rows/event_filters.py",
        "block.positions >= self._stop",
        "block.positions > self._stop",
        ("views/test_events.py",),
    ),
    Bug(
        "reader: the last event of a payload is lost",
        "core/payload.py",
        "for frame in framer:",
        "for frame in list(framer)[:-1]:",
        ("core", "views/test_events.py"),
    ),
    Bug(
        "reader: a range of GTIDs ends before its last one",
        "core/gtids.py",
        "(int(first), int(last or first) + 1)",
        "(int(first), int(last or int(first) + 1))",
        ("core/test_gtids.py",),
    ),
    Bug(
        "values: the sign of a TIME is turned around",
        "values/temporal.py",
        "return -length if cell.is_negative else length",
        "return length if cell.is_negative else -length",
        ("values", "rows/test_truth.py"),
    ),
    Bug(
        "render: an UPDATE that takes a change back sets the values that it finds",
        "render/sql/change_statements.py",
        "current, wanted = reversed(images) if self._undo else images",
        "current, wanted = images",
        ("render/test_sql.py",),
    ),
    Bug(
        "rewrite: a slice has one event too many after each transaction",
        "check/slices.py",
        "(block.positions < ends[range_of])",
        "(block.positions <= ends[range_of])",
        ("check/test_slice.py",),
    ),
    Bug(
        "spark: a filter on times leaves out logs with a day of its rows",
        "spark/skipping.py",
        "UTC) + SLACK < low",
        "UTC) - SLACK < low",
        ("spark/test_skipping.py",),
    ),
    Bug(
        "spark: a task lacks the statements of the log before its own",
        "spark/batch.py",
        'definitions["earlier"] = self._files[: partition.number]',
        'definitions["earlier"] = self._files[: partition.number - 1]',
        ("spark/test_changes.py", "spark/test_any_split.py"),
    ),
)
