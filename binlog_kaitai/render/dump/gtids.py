"""GTIDs of MySQL: the lines of a GTID event, and sets over lines of comments."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from binlog_kaitai.grammar import EventType
from binlog_kaitai.render.dump.text import encode, microseconds

#: What stands behind the header of a GTID event, and the rest, by names of their fields.
GTID_LINE = (
    b"\t%(name)s\tlast_committed=%(last_committed)d\tsequence_number=%(sequence_number)d"
    b"\trbr_only=%(rows_only)s\toriginal_committed_timestamp=%(original)d"
    b"\timmediate_commit_timestamp=%(immediate)d\ttransaction_length=%(transaction_length)d\n"
)
#: In front of these, where the transaction has rows only.
ROWS_ONLY_STATEMENT = b"/*!50718 SET TRANSACTION ISOLATION LEVEL READ COMMITTED*/"
_COMMENTS = (
    b"# original_commit_timestamp=%(original)d (%(original_time)s)\n"
    b"# immediate_commit_timestamp=%(immediate)d (%(immediate_time)s)\n"
)
_OF_NEWER_SERVERS = (
    b"/*!80001 SET @@session.original_commit_timestamp=%(original)d*/%(end)s"
    b"/*!80014 SET @@session.original_server_version=%(original_version)d*/%(end)s"
    b"/*!80014 SET @@session.immediate_server_version=%(immediate_version)d*/%(end)s"
)
_NEXT = b"SET @@SESSION.GTID_NEXT= '%(gtid)s'%(end)s"
#: The version of a server that logged commit times but no versions: 8.0.1 to 8.0.13.
#: UNDEFINED_SERVER_VERSION, libs/mysql/binlog/event/binlog_event.h
UNDEFINED_VERSION = 999999


def gtid_statements(*, is_for_old_server: bool) -> bytes:
    """The template of the lines that follow that of a GTID event.

    For a server before 8.0 those of newer ones are empty; 5.6 refuses them before GTID_NEXT is set.
    """
    if is_for_old_server:
        return _COMMENTS + _NEXT + _OF_NEWER_SERVERS
    return _COMMENTS + _OF_NEWER_SERVERS + _NEXT


def gtid_lines(
    kind: int, body: Any, gtid: str | None, delimiter: bytes, *, is_to_run: bool
) -> tuple[bytes, bytes]:
    """What stands behind the header of a GTID event, and the lines that follow."""
    original, immediate = body.original_commit_timestamp or 0, body.immediate_commit_timestamp or 0
    rows_only = not body.may_have_statements
    undefined = undefined_version(body)
    fields = {
        b"name": gtid_name(kind),
        b"last_committed": body.last_committed or 0,
        b"sequence_number": body.sequence_number or 0,
        b"rows_only": b"yes" if rows_only else b"no",
        b"original": original,
        b"original_time": microseconds(original),
        b"immediate": immediate,
        b"immediate_time": microseconds(immediate),
        b"transaction_length": body.len_transaction or 0,
        b"original_version": _known(body.original_server_version, undefined),
        b"immediate_version": _known(body.immediate_server_version, undefined),
        b"gtid": encode(gtid or "ANONYMOUS"),
        b"end": delimiter + b"\n",
    }
    statements = gtid_statements(is_for_old_server=is_to_run and not undefined) % fields
    if rows_only:
        statements = ROWS_ONLY_STATEMENT + delimiter + b"\n" + statements
    return GTID_LINE % fields, statements


def undefined_version(body: Any) -> int:
    """What the client takes for server versions that a GTID event does not have."""
    return 0 if body.immediate_commit_timestamp is None else UNDEFINED_VERSION


def _known(version: int | None, undefined: int) -> int:
    return undefined if version is None else version


def gtid_name(kind: int) -> bytes:
    """How the line of a GTID event begins."""
    return b"Anonymous_GTID" if kind == EventType.anonymous_gtid_log_event else b"GTID"


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
        found.append(encode(text))
    return b",\n# ".join(found) or b"[empty]"
