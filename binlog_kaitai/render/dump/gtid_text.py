"""MySQL's GTIDs: the lines of a GTID event, and sets in comment lines."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from binlog_kaitai.core.adapter import gtid_sources
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.render.dump.text import encode

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import GtidBody, PreviousGtidsEvent


_LINE = (
    b"\t%(name)s\tlast_committed=%(last_committed)d\tsequence_number=%(sequence_number)d"
    b"\trbr_only=%(rows_only)s\toriginal_committed_timestamp=%(original)d"
    b"\timmediate_commit_timestamp=%(immediate)d\ttransaction_length=%(transaction_length)d\n"
)
_ROWS_ONLY = b"/*!50718 SET TRANSACTION ISOLATION LEVEL READ COMMITTED*/%(end)s"
_COMMENTS = (
    b"# original_commit_timestamp=%(original)d (%(original_time)s)\n"
    b"# immediate_commit_timestamp=%(immediate)d (%(immediate_time)s)\n"
)
_OF_NEWER_SERVERS = (
    b"/*!80001 SET @@session.original_commit_timestamp=%(original)d*/%(end)s"
    b"/*!80014 SET @@session.original_server_version=%(original_version)d*/%(end)s"
    b"/*!80014 SET @@session.immediate_server_version=%(immediate_version)d*/%(end)s"
)
_NEXT, _NEXT_ANONYMOUS = (
    b"SET @@SESSION.GTID_NEXT= '" + gtid + b"'%(end)s" for gtid in (b"%(source)s:%(gno)d", b"ANONYMOUS")
)
#: Version assumed for servers that logged commit timestamps but no version: 8.0.1 to 8.0.13.
#: UNDEFINED_SERVER_VERSION, libs/mysql/binlog/event/binlog_event.h
UNDEFINED_VERSION = 999999


def gtid_lines(
    kind: int, body: GtidBody, gtid: str | None, *, is_to_run: bool
) -> tuple[bytes, bytes, dict[bytes, Any]]:
    """The rest of a GTID event's header line, and the lines after it, as templates with some fields.

    For a server before 8.0, newer lines are empty; 5.6 rejects them before GTID_NEXT is set.
    """
    undefined = undefined_version(body)
    is_anonymous = kind == EventType.anonymous_gtid_log_event
    constants = {
        b"name": b"Anonymous_GTID" if is_anonymous else b"GTID",
        b"rows_only": b"no" if body.may_have_statements else b"yes",
        b"original_version": _known(body.original_server_version, undefined),
        b"immediate_version": _known(body.immediate_server_version, undefined),
        b"source": encode((gtid or "").rpartition(":")[0]),
    }
    following = _NEXT_ANONYMOUS if gtid is None else _NEXT
    is_for_old_server = is_to_run and not undefined
    lines = [following, _OF_NEWER_SERVERS] if is_for_old_server else [_OF_NEWER_SERVERS, following]
    first = b"" if body.may_have_statements else _ROWS_ONLY
    return _LINE, first + _COMMENTS + b"".join(lines), constants


def undefined_version(body: GtidBody) -> int:
    """The value the client assumes for server versions missing from a GTID event."""
    return 0 if body.immediate_commit_timestamp is None else UNDEFINED_VERSION


def _known(version: int | None, undefined: int) -> int:
    return undefined if version is None else version


def commented_set(body: PreviousGtidsEvent) -> bytes:
    """A GTID set in comment lines."""
    found = []
    for uuid, group in groupby(gtid_sources(body.gtids), key=lambda one: one[0]):
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
