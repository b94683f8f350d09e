"""The corpus as the tests see it: cases, their logs, and the oracle's rows as typed tuples.

Folders (tests/corpus/README.md says what is in each file):

    tests/corpus/<server>/<case>/      undamaged logs
    tests/corpus/damaged/<case>/       logs that are in use, cut short or followed by garbage
    tests/corpus/encrypted/<case>/     encrypted logs, their keys, and the same logs in plain
    tests/corpus/galera/<case>/        write sets that could not be applied
    tests/corpus/network/<case>/       packets of a replication stream
"""

from __future__ import annotations

import gzip
import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

CORPUS = Path(__file__).resolve().parent / "corpus"
SPECIAL = ("damaged", "encrypted", "galera", "network")

_LOG_NAME = re.compile(r".+\.\d{6,}$|GRA_.+\.log$")
_ESCAPE = re.compile(r"\\(.)")


class OracleEvent(NamedTuple):
    """The header of one event, as the server's own client prints it.

    `inner` marks an event inside a compressed transaction; its `position` is the end of the
    TRANSACTION_PAYLOAD event. `crc32` is None if the log has no checksums.
    """

    file: str
    position: int
    timestamp: int
    type_code: int
    server_id: int
    size: int
    end_log_pos: int
    flags: int
    crc32: int | None
    inner: bool


class ShownEvent(NamedTuple):
    """One row of SHOW BINLOG EVENTS."""

    file: str
    position: int
    event_type: str
    server_id: int
    end_log_pos: int
    info: str


@dataclass(frozen=True)
class Case:
    """One folder of the corpus."""

    folder: Path

    @property
    def id(self) -> str:
        """`server/case`, the name of the test parameter."""
        return f"{self.folder.parent.name}/{self.folder.name}"

    @property
    def server(self) -> str:
        return str(self.info["server"])

    @property
    def logs(self) -> tuple[Path, ...]:
        return tuple(sorted(path for path in self.folder.iterdir() if _LOG_NAME.match(path.name)))

    @property
    def plain_logs(self) -> tuple[Path, ...]:
        """Of an encrypted case: the same logs as the server sends them; the oracle is about these."""
        return tuple(self.folder / "plain" / log.name for log in self.logs)

    @property
    def info(self) -> dict[str, Any]:
        return _info(self.folder)

    def oracle(self, log: Path) -> tuple[OracleEvent, ...]:
        """The events of one log, those of compressed transactions left out."""
        return tuple(event for event in _oracle(self.folder) if event.file == log.name and not event.inner)

    def inner_oracle(self, log: Path) -> tuple[OracleEvent, ...]:
        """The events inside the compressed transactions of one log."""
        return tuple(event for event in _oracle(self.folder) if event.file == log.name and event.inner)

    def shown(self, log: Path) -> tuple[ShownEvent, ...]:
        """SHOW BINLOG EVENTS of one log; empty where the server was not asked."""
        return tuple(event for event in _shown(self.folder) if event.file == log.name)

    def vv(self) -> str | None:
        """What `mysqlbinlog -vv` printed for the logs, or None."""
        path = self.folder / "vv.txt.gz"
        return gzip.decompress(path.read_bytes()).decode(errors="surrogateescape") if path.exists() else None

    def tables(self, label: str = "") -> list[dict[str, Any]]:
        """The tables after the scenario, or at the moment `label`; empty where not recorded."""
        path = self.folder / f"tables{'.' + label if label else ''}.jsonl.gz"
        lines = gzip.decompress(path.read_bytes()).splitlines() if path.exists() else []
        return [json.loads(line) for line in lines]


class Packet(NamedTuple):
    """One packet of a connection: its number, and its bytes without length and number."""

    sequence: int
    raw: bytes


class LogFile(NamedTuple):
    """One log together with its case: what most tests are parametrized by."""

    case: Case
    path: Path

    @property
    def id(self) -> str:
        return f"{self.case.id}/{self.path.name}"


@cache
def cases(server: str | None = None) -> tuple[Case, ...]:
    """The undamaged cases, of all servers or of one (`mysql-9.7`, `mariadb-10.11`, …)."""
    plain = (case for case in _folders() if case.folder.parent.name not in SPECIAL)
    return tuple(case for case in plain if server in (None, case.server))


@cache
def special_cases(kind: str) -> tuple[Case, ...]:
    """The cases under one of the folders in `SPECIAL`."""
    return tuple(case for case in _folders() if case.folder.parent.name == kind)


@cache
def logs(server: str | None = None) -> tuple[LogFile, ...]:
    """Every undamaged, unencrypted log of the corpus."""
    return tuple(LogFile(case, path) for case in cases(server) for path in case.logs)


def is_special(one: Case | LogFile) -> bool:
    """Whether a case, or the case of a log, is one of those under the folders in `SPECIAL`."""
    return (one.case if isinstance(one, LogFile) else one).folder.parent.name in SPECIAL


@cache
def representative() -> frozenset[str]:
    """The ids of the representative logs, and of their cases."""
    lines = (CORPUS / "representative.txt").read_text().splitlines()
    logs = [line for line in lines if not line.startswith("#")]
    return frozenset([*logs, *(log.rpartition("/")[0] for log in logs)])


def case(server: str, name: str) -> Case:
    """One case by its folder names, also a special one: `case("damaged", "cut")`."""
    found = Case(CORPUS / server / name)
    if not found.folder.is_dir():
        raise LookupError(f"the corpus has no case {found.id}")
    return found


def packets(path: Path) -> tuple[Packet, ...]:
    """The packets of `client.bin` or `server.bin` of a network case."""
    data, found, at = path.read_bytes(), [], 0
    while at < len(data):
        end = at + 4 + int.from_bytes(data[at : at + 3], "little")
        found.append(Packet(data[at + 3], data[at + 4 : end]))
        at = end
    return tuple(found)


@cache
def present_types() -> dict[int, str]:
    """Every type in the corpus, streams and encrypted logs included: type code → a case with it."""
    present: dict[int, str] = {}
    for one in (*cases(), *special_cases("encrypted")):
        for event in _oracle(one.folder):
            present.setdefault(event.type_code, one.id)
    for one in special_cases("network"):
        header = 3 if "semi_sync" in one.folder.name else 1
        # The first packet answers the registration; the events follow it.
        for packet in packets(one.folder / "server.bin")[1:]:
            if packet.raw[0] == 0 and len(packet.raw) > header + 4:
                present.setdefault(packet.raw[header + 4], one.id)
    return present


@cache
def absent_types() -> dict[str, str]:
    """Event types that no available server can write: name → why there is no real file."""
    return dict(tomllib.loads((CORPUS / "absent_types.toml").read_text())["absent"])


def _folders() -> Iterator[Case]:
    return (Case(path.parent) for path in sorted(CORPUS.glob("*/*/info.json")))


@cache
def _info(folder: Path) -> dict[str, Any]:
    info: dict[str, Any] = json.loads((folder / "info.json").read_text())
    return info


def _rows(path: Path) -> Iterator[list[str]]:
    if path.exists():
        # Not splitlines(): an info text may hold other characters that count as line ends.
        lines = gzip.decompress(path.read_bytes()).decode(errors="surrogateescape").split("\n")
        yield from (line.split("\t") for line in lines[1:] if line)


@cache
def _oracle(folder: Path) -> tuple[OracleEvent, ...]:
    return tuple(_oracle_event(row) for row in _rows(folder / "events.tsv.gz"))


def _oracle_event(row: list[str]) -> OracleEvent:
    position, timestamp, type_code, server_id, size, end_log_pos, flags = map(int, row[1:8])
    crc32 = int(row[8], 16) if row[8] else None
    return OracleEvent(
        row[0], position, timestamp, type_code, server_id, size, end_log_pos, flags, crc32, row[9] == "1"
    )


@cache
def _shown(folder: Path) -> tuple[ShownEvent, ...]:
    return tuple(
        ShownEvent(file, int(position), event_type, int(server_id), int(end), _unescape(info))
        for file, position, event_type, server_id, end, info in _rows(folder / "show.tsv.gz")
    )


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), text)
