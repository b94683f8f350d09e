"""The meaning of a server's errors, and whether to try again.

Servers report most reasons for not sending a log with the same number (ER_MASTER_FATAL_ERROR_READING_BINLOG,
1236), so the message text must be examined. The patterns cover MySQL 5.6 to 9.7 and MariaDB 10.5 to 11.8;
MySQL says "source" and "replica" since 8.0.26.
"""

from __future__ import annotations

import random
import re

from binlog_kaitai.errors import ConnectionLostError, ServerError

#: Error numbers of MySQL and MariaDB (`mysqld_ername.h`, client `errmsg.h`).
READING_LOG, SAME_SERVER_ID, ACCESS_DENIED_TO_DO = 1236, 4052, 1227
UNKNOWN_VARIABLE = 1193
_ACCESS_DENIED = (1045, 1698, 1044, 1130, 1129, 3118, 1820, 1862)

#: Server errors: too many connections, shutdown, killed, offline, network errors.
_BUSY = (1040, 1053, 1078, 1152, 1158, 1159, 1160, 1161, 1184, 1203, 1205, 1226, 1317, 1927, 3032, 3169, 4031)
#: Client errors: no connection, or connection lost.
_LOST = (2002, 2003, 2005, 2006, 2012, 2013, 2055)
_PASSING = frozenset((*_BUSY, *_LOST))

#: Servers send no longer messages (MYSQL_ERRMSG_SIZE), in characters.
_LONGEST = 512

#: Seconds between attempts: the first ones, and the maximum.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0

#: What was requested when the connection was opened.
LOGIN = "the login"

#: What errors say of a server without logs, and of a log that ends within an event.
NO_LOG = "binary logging is disabled on the server (log_bin is off)"
TORN_LOG = "the server's log is torn: it ends within an event"

PURGED, GTIDS_PURGED, DIVERGED, PAST_THE_END, TORN, NOT_AN_EVENT, SAME_ID, DENIED = (
    "purged", "gtids purged", "diverged", "past the end", "torn", "not an event", "same id", "denied",
)  # fmt: skip

_SAME_ID = "another replica has the same server id; give this archive its own by --server-id"

#: For error 1236: patterns in its text, the cause, and the message.
_CAUSES = (
    (
        r"could not find first log|could not find next log",
        PURGED,
        "the server does not have this log: it was purged, or the server's logs were reset",
    ),
    (
        r"has purged binary logs|purged required binary logs|GTID state requested|has been purged",
        GTIDS_PURGED,
        "the server has purged transactions that are missing here",
    ),
    (
        r"more GTIDs than|which is not in the (master|source)|diverged",
        DIVERGED,
        "there are transactions here that the server does not have: it is another server, or lost them",
    ),
    (
        r"position > file size|impossible position",
        PAST_THE_END,
        "the server's log is shorter than the archive's: its logs were reset, or it lost transactions",
    ),
    (r"truncated in the middle", TORN, TORN_LOG),
    (
        r"bogus data|event (size|type)|read error",
        NOT_AN_EVENT,
        "in the server's log no event begins there: its logs were reset, or the log is damaged",
    ),
    (
        r"exceeded max_allowed_packet",
        NOT_AN_EVENT,
        "the server finds no event that it may send there: its logs were reset, or an event is too long",
    ),
    (r"same server_uuid/server_id|same server_id|same server_uuid", SAME_ID, _SAME_ID),
    (r"(log|logging) is not (open|enabled)|binary log is not", "no log", NO_LOG),
    (
        r"cannot replicate anonymous|AUTO_POSITION|gtid_mode",
        "gtid mode",
        "the server cannot find transactions by GTID; give the name of a log instead",
    ),
)


def refusal(code: int, message: str, *, what: str = "") -> ServerError:
    """The exception for a server's error; a `ConnectionLostError` if trying again may help.

    `what`: the request that failed, if it adds information.
    """
    says = message[:_LONGEST]
    if code not in _LOST:
        says = f"the server says {code}: {says}"
    if code in _PASSING:
        return ConnectionLostError(says)
    # A registration without the privilege is rejected with the message of a failed login.
    if code == ACCESS_DENIED_TO_DO or (code in _ACCESS_DENIED and what != LOGIN):
        return with_cause(DENIED, f"{what or 'this'} requires a privilege that the user lacks; {says}")
    if code in _ACCESS_DENIED:
        return ServerError(f"the server rejected the login; {says}")
    if code == SAME_SERVER_ID:
        return with_cause(SAME_ID, f"{_SAME_ID}; {says}")
    if code == READING_LOG:
        for pattern, cause, text in _CAUSES:
            if re.search(pattern, message, re.IGNORECASE):
                return with_cause(cause, f"{text}; {says}")
    return ServerError(f"{what}: {says}" if what else says)


def broken(error: OSError) -> ConnectionLostError:
    """The exception for a connection that broke, or on which nothing arrived in time."""
    return ConnectionLostError(f"the connection broke: {error.strerror or error}")


def with_cause(cause: str, reason: str) -> ServerError:
    """An error with a cause, one of the constants of this module."""
    error = ServerError(reason)
    error.cause = cause
    return error


def pause_after(failures: int) -> float:
    """Seconds before the next attempt: increasing, and different for each client of a server."""
    longer = _FIRST_PAUSE * 2.0 ** min(failures - 1, 10)
    return min(longer, _LONGEST_PAUSE) * random.uniform(0.75, 1.25)
