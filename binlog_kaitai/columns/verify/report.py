"""What a pass over one log found."""

from __future__ import annotations

from dataclasses import dataclass, field

from binlog_kaitai.columns.blocks.checksums import STATUSES
from binlog_kaitai.columns.blocks.gaps import Gap, add_gap
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.errors import BinlogError, DamagedError, NotABinlogError
from binlog_kaitai.reader.ends import End

#: More damages than this are counted, not kept.
MAX_DAMAGES = 1000

#: Length of the text of a UUID; a source of MariaDB, `domain-server`, is shorter.
_UUID_LENGTH = 36


@dataclass
class Report:
    """What a pass over one log found.

    Attributes
    ----------
    file : str
        Name of the log.
    size : int
        Its length in bytes, as far as it was read.
    events, inner_events, transactions : int
        Events of the file itself, events inside compressed transactions, transactions.
    checksums : dict
        Number of the file's own events by the state of their checksum: ``"ok"``, ``"bad"``, ``"none"``.
    bodies : int
        Events, also inside compressed transactions, whose body was held to the grammar.
    damages : list of BinlogError
        The first :data:`MAX_DAMAGES` damages, in the order of the file.
    damage_count : int
        How many there are.
    lost : list of Gap
        What cannot be used, in the order of the file; neighbours are one.
    end : End or None
        How the file ended; None if reading stopped before.
    previous_gtids : GtidSet or None
        What the log says that came before it; None where it says nothing.
    gtids : GtidSet
        The transactions in it.
    missing_before : GtidSet
        What, by `previous_gtids`, came before it and is in none of the logs that were checked before it.
    formats : list of (int, bytes)
        The format description events after the first event, each with its offset.
    """

    file: str
    size: int = 0
    events: int = 0
    inner_events: int = 0
    transactions: int = 0
    checksums: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATUSES, 0))
    bodies: int = 0
    damages: list[BinlogError] = field(default_factory=list)
    damage_count: int = 0
    lost: list[Gap] = field(default_factory=list)
    end: End | None = None
    previous_gtids: GtidSet | None = None
    gtids: GtidSet = field(default_factory=GtidSet)
    missing_before: GtidSet = field(default_factory=GtidSet)
    formats: list[tuple[int, bytes]] = field(default_factory=list)

    @property
    def is_ok(self) -> bool:
        """Whether there is no damage."""
        return not self.damage_count

    @property
    def is_log(self) -> bool:
        """Whether the file is a binary log, be it damaged."""
        return not any(
            isinstance(error, NotABinlogError) and not isinstance(error, DamagedError)
            for error in self.damages
        )

    def add(self, error: BinlogError, stop: int | None = None) -> None:
        """Note a damage, and that no event can be used from its position to `stop`.

        Without `stop` there is nothing to leave out: something is missing before that position.
        """
        self.damage_count += 1
        if len(self.damages) < MAX_DAMAGES:
            self.damages.append(error)
        start = error.position or 0
        add_gap(self.lost, Gap(start, start if stop is None else stop, error))

    def gaps(self) -> dict[str, list[tuple[int, int]]]:
        """First and last of the numbers that are left out between the log's GTIDs, by source.

        In MySQL a source is a server (and tag), and numbers of the logs before count as there. In MariaDB
        it is a domain, whose numbers go on from server to server. A gap need not be damage: filters,
        crashes and Group Replication leave some too.
        """
        by_source = GtidSet()
        for gtids in (self.gtids, self.previous_gtids or GtidSet()):
            for source, intervals in gtids.items():
                # Of what came before, MariaDB states only the last number.
                is_whole = _is_mysql(source) or gtids is self.gtids
                ranges = ((first if is_whole else 1, last + 1) for first, last in intervals)
                by_source.add_ranges(_numbered_by(source), ranges)
        own = {_numbered_by(source) for source, _ in self.gtids.items()}
        return {
            source: gaps for source, found in by_source.items() if source in own and (gaps := found.gaps())
        }


def _is_mysql(source: str) -> bool:
    return len(source) >= _UUID_LENGTH


def _numbered_by(source: str) -> str:
    """What has its own sequence of numbers: a server (and tag) of MySQL, a domain of MariaDB."""
    return source if _is_mysql(source) else source.partition("-")[0]
