"""A place between two transactions, and how it is written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from binlog_kaitai.errors import UsageError
from binlog_kaitai.sources.source import MAGIC


@dataclass(frozen=True)
class Mark:
    """All that is needed to go on, in this log or in another server's.

    Attributes
    ----------
    file : str
        Path of the log, as it was listed.
    position : int
        Offset in it, in bytes; at its start that of the first event.
    log_id : int
        Tells this log from another one of the same name: the CRC32 of its first event.
    format_position : int
        Offset of the format description that is in force, if that is not the first event.
    gtids : str
        All GTIDs up to here, with those before the first log; of MariaDB, each server's up to its last.
    skip : str
        GTIDs behind the mark that have been read already: another server had written them in another order.
    definitions : str
        The tables as statements before the mark define them, see `binlog_kaitai.ddl.saved`.
    """

    file: str
    position: int = len(MAGIC)
    log_id: int = 0
    format_position: int = len(MAGIC)
    gtids: str = ""
    skip: str = ""
    definitions: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The mark as JSON can say it; what is as usual is left out."""
        default = Mark("")
        kept = {name: value for name, value in asdict(self).items() if value != getattr(default, name)}
        return {"file": self.file, "position": self.position, **kept}

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Mark:
        """A mark out of :meth:`as_dict`.

        Raises
        ------
        UsageError
            Something is missing, unknown or of another type.
        """
        types = {field.name: str if field.type == "str" else int for field in fields(cls)}
        wrong = [name for name, value in found.items() if not isinstance(value, types.get(name, ()))]
        if wrong or "file" not in found:
            raise UsageError(f"{dict(found)!r:.200} is not a valid position: {', '.join(wrong) or 'no file'}")
        return cls(**found)
