"""A position between two transactions, and its serialized form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, cast

from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.errors import UsageError

#: Where to begin: ``earliest``, ``latest``, or a position as JSON has it.
Start = str | Mapping[str, object]


@dataclass(frozen=True)
class Checkpoint:
    """Everything needed to resume, in this log or in another server's.

    `file`: path of the log, as listed.
    `position`: offset in the log, in bytes; at its start, that of the first event.
    `log_id`: distinguishes this log from another one of the same name: the CRC32 of its first event.
    `server_id`: the server that wrote the first event.
    `format_position`: offset of the format description in force, if that is not the first event.
    `gtids`: all GTIDs up to here, including those before the first log; for MariaDB, each server's up to its
    last.
    `skip`: GTIDs after the checkpoint that have already been read, because another server wrote them in
    another order.
    `era`: how often reading continued in the logs of another server, or with older numbers; see
    `binlog_kaitai.rows.sequences`.
    `definitions`: table definitions from statements before the checkpoint; see
    `binlog_kaitai.ddl.definitions`.
    """

    file: str
    position: int = len(MAGIC)
    log_id: int = 0
    server_id: int = 0
    format_position: int = len(MAGIC)
    gtids: str = ""
    skip: str = ""
    era: int = 0
    definitions: str = ""

    def as_dict(self) -> dict[str, str | int]:
        """The checkpoint in a form that JSON can represent, without default values."""
        default = Checkpoint("")
        kept = {name: value for name, value in asdict(self).items() if value != getattr(default, name)}
        return {"file": self.file, "position": self.position, **kept}

    @classmethod
    def of(cls, values: Mapping[str, object]) -> Checkpoint:
        """Restore a checkpoint from :meth:`as_dict`.

        Raises `UsageError`: a field is missing, unknown or of the wrong type.
        """
        types = {field.name: str if field.type == "str" else int for field in fields(cls)}
        wrong = [name for name, value in values.items() if not isinstance(value, types.get(name, ()))]
        if wrong or "file" not in values:
            raise UsageError(
                f"{dict(values)!r:.200} is not a valid position: {', '.join(wrong) or 'no file'}"
            )
        return cls(**cast(dict[str, Any], values))
