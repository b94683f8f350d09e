"""What can go wrong, as one exception tree.

::

    BinlogError
     ├── SourceError        a path, index file or stream cannot be read
     │    ├── MissingFileError   there is no such file; a FileNotFoundError, too
     │    └── ServerError   a server rejects a request, or is not the same server as before
     │         └── ConnectionLostError   it cannot be reached; retrying may help
     ├── UsageError         an option is invalid
     │    └── WrongTypeError   an argument has a wrong type; a TypeError, too
     ├── NotABinlogError    the file does not start like a binary log
     ├── EncryptedError     the log is encrypted
     └── DamagedError       the bytes are not what a server writes
          ├── DamagedStartError   a log's magic or first event is damaged; a NotABinlogError, too
          ├── TruncatedError   the file ends inside an event
          ├── FramingError     an event header is invalid
          │    └── AnotherLogError   concatenated files: another log begins in the middle
          ├── ChecksumError    the CRC32 does not match the event
          └── GrammarError     the event's bytes do not follow the grammar

Promise: for any input, reading yields events or raises one ``BinlogError``, never another exception.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_PACKAGE = os.path.dirname(__file__) + os.sep

#: C0 and C1 controls with DEL, bidirectional marks and overrides, line and paragraph separators, and lone
#: surrogates, which represent bytes that are not UTF-8.
UNSAFE = "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"


class BinlogError(Exception):
    """Base of every error of this package, with the place it happened at.

    Attributes
    ----------
    reason : str
        What is wrong, in a sentence.
    file : str or None
        Name of the source as it was given.
    position : int or None
        Offset of the event in the file, in bytes; of the outer event for one inside a payload.
    event_type : str or None
        The server's name for the event's type, such as ``"QUERY_EVENT"``.
    field : str or None
        Path of the field, as an attribute of the event, such as ``"body.schema"``.
    """

    def __init__(
        self,
        reason: str,
        *,
        file: str | None = None,
        position: int | None = None,
        event_type: str | None = None,
        field: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.file = file
        self.position = position
        self.event_type = event_type
        self.field = field

    def at(self, *, file: str, position: int | None, event_type: str | None = None) -> BinlogError:
        """Fill in the place where it is still unknown; returns the same exception.

        An error that names a file has all there is to say of the place in it.
        """
        if self.file is None:
            self.file = file
            if self.position is None:
                self.position = position
        if self.event_type is None:
            self.event_type = event_type
        return self

    def alone(self) -> BinlogError:
        """Drop the stack and the causes, which hold what has been read; returns the same exception."""
        self.__cause__ = self.__context__ = None
        return self.with_traceback(None)

    def __str__(self) -> str:
        place = [self.file] if self.file is not None else []
        if self.position is not None:
            place.append(f"position {self.position}")
        if self.event_type is not None:
            place.append(self.event_type)
        if self.field is not None:
            place.append(f"field {self.field}")
        return printable(f"{', '.join(place)}: {self.reason}" if place else self.reason)


def printable(text: str) -> str:
    """Text for any terminal and encoder: control characters and bytes that are not UTF-8 are escaped."""
    return re.sub(UNSAFE, lambda match: _escape(ord(match[0])), text)


def _escape(code: int) -> str:
    # Python keeps a byte that is not UTF-8 as a surrogate from U+DC80 to U+DCFF.
    byte = code - 0xDC00 if 0xDC80 <= code <= 0xDCFF else code
    return f"\\x{byte:02x}" if byte < 0x100 else f"\\u{code:04x}"


class DefinitionWarning(UserWarning):
    """What is known of a table by its DDL does not fit its rows, so that its columns stay without names."""


class FilterWarning(UserWarning):
    """A filter has matched nothing, such as a table whose name is misspelt."""


class RolledBackWarning(UserWarning):
    """Rows were rolled back: they are left out, or have been read if the rollback comes too late."""


class IncompleteScriptWarning(UserWarning):
    """A script of SQL does less than was chosen, or may do more; comments in it say what."""


class PackedWarning(UserWarning):
    """A large log cannot be read from the middle, so that a single task reads all of it."""


class DataLossWarning(UserWarning):
    """Logs were removed before they were read; reading continues without them."""


class TornLogWarning(UserWarning):
    """A server's log ends within an event, and reading continues with the next log."""


def warn(text: str, category: type[Warning]) -> None:
    """Issue a warning at the line of the caller's program: the first outside this package.

    In a thread of the package there is none, and the warning is at the line that issues it.
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    is_in_thread = frame.f_globals.get("__name__") in ("threading", "concurrent.futures.thread")
    warnings.warn(text, category, stacklevel=2 if is_in_thread else level)


class SourceError(BinlogError):
    """A path, index file or stream cannot be read."""


class MissingFileError(SourceError, FileNotFoundError):
    """The file does not exist, or no file matches the pattern."""


class ServerError(SourceError):
    """A server refuses what is asked of it, or is not the one it was; another try would not help.

    Attributes
    ----------
    cause : str
        Why, where that is known; see `binlog_kaitai.live.causes`.
    """

    cause = ""


class ConnectionLostError(ServerError):
    """A server cannot be reached, or the connection was lost; retrying may help."""


class UsageError(BinlogError, ValueError):
    """An option or argument is invalid."""


class WrongTypeError(UsageError, TypeError):
    """An argument has a wrong type."""


class NotABinlogError(BinlogError):
    """The file does not start like a binary log: wrong magic, or a first event of an unknown version."""


class EncryptedError(BinlogError):
    """The log is encrypted, so that its events cannot be read."""


class DamagedError(BinlogError):
    """The bytes are not what a server writes."""


class TruncatedError(DamagedError):
    """The file ends inside an event although it was closed."""


class DamagedStartError(NotABinlogError, DamagedError):
    """The start of a log is damaged: events follow it, or the file is truncated."""


class FramingError(DamagedError):
    """An event header is invalid: an impossible size, or a position that does not match."""


class AnotherLogError(FramingError):
    """Another log begins at the position: files were concatenated, as by ``cat``."""


#: What every reader says of an event whose CRC32 is wrong.
BAD_CHECKSUM = "checksum mismatch"


class ChecksumError(DamagedError):
    """The CRC32 at the end of an event does not fit its bytes."""


class GrammarError(DamagedError):
    """The event's bytes do not follow the grammar: too short, too long, or an impossible value."""


def out_of_memory(error: MemoryError) -> SourceError:
    """The error for an event that does not fit into memory."""
    reason = f"not enough memory; several copies of each event must fit: {error}"
    return SourceError(reason.removesuffix(": "))


@contextmanager
def writing_to(file: str) -> Iterator[None]:
    """Errors of the system become `SourceError` that names the file; a reader that has gone away is none."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise SourceError(f"cannot write: {error.strerror or error}", file=file) from error


@contextmanager
def reading(file: str) -> Iterator[None]:
    """Errors of the system become `SourceError`, and those of this package name the file.

    Those that do not know where in it they happened are about its start.
    """
    try:
        yield
    except BinlogError as error:
        raise error.at(file=file, position=0) from error.__cause__
    except OSError as error:
        kind = MissingFileError if isinstance(error, FileNotFoundError) else SourceError
        raise kind(error.strerror or str(error), file=file) from error
    except MemoryError as error:
        raise out_of_memory(error).at(file=file, position=0) from error
