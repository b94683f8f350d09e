"""GTIDs of MySQL: the lines of a GTID event, and sets over lines of comments."""

from __future__ import annotations

from itertools import groupby
from typing import Any, NamedTuple

from binlog_kaitai.grammar import EventType
from binlog_kaitai.render.dump.text import microseconds

_LINE = (
    b"\t%s\tlast_committed=%d\tsequence_number=%d\trbr_only=%s\toriginal_committed_timestamp=%d"
    b"\timmediate_commit_timestamp=%d\ttransaction_length=%d\n"
)
_ROWS_ONLY = b"/*!50718 SET TRANSACTION ISOLATION LEVEL READ COMMITTED*/"
_VERSION = b"/*!80014 SET @@session.%s_server_version=%d*/"


class GtidFields(NamedTuple):
    """What :func:`gtid_lines` takes of a GTID event, by the grammar's names."""

    original_commit_timestamp: int
    immediate_commit_timestamp: int
    may_have_statements: bool
    last_committed: int
    sequence_number: int
    transaction_length: int
    original_server_version: int
    immediate_server_version: int


def gtid_lines(
    kind: int, body: Any, gtid: str | None, delimiter: bytes, *, is_to_run: bool
) -> tuple[bytes, list[bytes]]:
    """What stands behind the header of a GTID event, and the lines that follow."""
    original, immediate = body.original_commit_timestamp or 0, body.immediate_commit_timestamp or 0
    rows_only = not body.may_have_statements
    line = _LINE % (
        b"Anonymous_GTID" if kind == EventType.anonymous_gtid_log_event else b"GTID",
        body.last_committed or 0,
        body.sequence_number or 0,
        b"yes" if rows_only else b"no",
        original,
        immediate,
        body.transaction_length or 0,
    )
    end = delimiter + b"\n"
    comments = [
        b"# original_commit_timestamp=%d (%s)\n" % (original, microseconds(original)),
        b"# immediate_commit_timestamp=%d (%s)\n" % (immediate, microseconds(immediate)),
    ]
    of_newer_servers = [
        b"/*!80001 SET @@session.original_commit_timestamp=%d*/" % original + end,
        _VERSION % (b"original", body.original_server_version or 0) + end,
        _VERSION % (b"immediate", body.immediate_server_version or 0) + end,
    ]
    lines = [b"SET @@SESSION.GTID_NEXT= '" + (gtid or "ANONYMOUS").encode() + b"'" + end]
    # For the log's own server they are empty statements, which 5.6 refuses before GTID_NEXT is set.
    lines = lines + of_newer_servers if is_to_run and not immediate else of_newer_servers + lines
    lines = comments + lines
    return line, [_ROWS_ONLY + end, *lines] if rows_only else lines


def commented_set(body: Any) -> bytes:
    """A set of GTIDs over lines of comments."""
    sources = [(one.uuid, one.tag or "", one.intervals) for one in body.gtids.sources]
    found = []
    for uuid, group in groupby(sources, key=lambda one: one[0]):
        digits = uuid.hex()
        text = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
        for _, tag, intervals in group:
            text += f":{tag}" if tag else ""
            text += "".join(
                f":{one.start}" if one.stop - 1 == one.start else f":{one.start}-{one.stop - 1}"
                for one in intervals
            )
        found.append(text.encode())
    return b",\n# ".join(found) or b"[empty]"
