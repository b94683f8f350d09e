"""Damaged logs: those of a killed server, and damage that files suffer in transit.

Each case is `damaged/<server>-<kind>/binlog.000001`. Its info.json has the end of the last complete event
(`whole_until`), what is wrong after it (`damage`), and the result expected of a reader (`end`); its oracle
lists only the complete events.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tools.corpus.case import CORPUS
from tools.corpus.oracle import EventLine, event_lines
from tools.corpus.recorder import Recorder, facts, writer_for
from tools.corpus.scenario import SCENARIOS, load
from tools.servers import Server

LOG = "binlog.000001"
SERVERS = ("mysql-9.7", "mariadb-10.11")


class Damage(NamedTuple):
    """A kind of damage: returns the new bytes, given the log and its events, and states the expected result.

    `end`: `in_use` (ends with the last complete event, more may follow), `clean`, `error`, or `positions`
    (every event is valid, and only the positions in the headers show that one is missing). `whole`: number of
    events from the start that are complete and valid; None for all, a negative number counts from the end.
    """

    kind: str
    end: str
    whole: int | None
    make: Callable[[bytes, list[EventLine]], bytes]
    what: str


def _flip(data: bytes, offset: int, mask: int = 1) -> bytes:
    return data[:offset] + bytes([data[offset] ^ mask]) + data[offset + 1 :]


def _patch(data: bytes, offset: int, new: bytes) -> bytes:
    return data[:offset] + new + data[offset + len(new) :]


_GARBAGE = bytes(random.Random(1).randrange(256) for _ in range(300))

# From the log that was open when the server was killed.
OPEN_DAMAGES = (
    Damage("in_use", "in_use", None, lambda log, _: log, "the server was killed; nothing is missing"),
    Damage("in_use_cut_in_body", "in_use", -1, lambda log, _: log[:-7], "ends inside the body of an event"),
    Damage(
        "in_use_cut_in_header", "in_use", -1,
        lambda log, events: log[: events[-1].position + 11], "ends inside the header of an event",
    ),
    Damage("in_use_zero_tail", "in_use", None, lambda log, _: log + bytes(4096), "zeros after the end"),
)  # fmt: skip
# From a log that the server had closed.
CLOSED_DAMAGES = (
    Damage("cut_in_body", "error", -1, lambda log, _: log[:-7], "ends inside the body of an event"),
    Damage(
        "cut_in_header", "error", -1,
        lambda log, events: log[: events[-1].position + 11], "ends inside the header of an event",
    ),
    Damage("cut_in_format", "error", 0, lambda log, _: log[:60], "ends inside the first event"),
    Damage("zero_tail", "error", None, lambda log, _: log + bytes(4096), "zeros after the end"),
    Damage("garbage_tail", "error", None, lambda log, _: log + _GARBAGE, "random bytes after the end"),
    Damage(
        "flipped_bit", "error", -3,
        lambda log, events: _flip(log, events[-3].position + 25), "a bit of a body is wrong",
    ),
    Damage(
        "flipped_size", "error", -3,
        lambda log, events: _flip(log, events[-3].position + 9, 4), "a bit of an event's size is wrong",
    ),
    Damage(
        "huge_size", "error", -3,
        lambda log, events: _patch(log, events[-3].position + 9, b"\xf0\xff\xff\x7f"), "an event claims 2 GB",
    ),
    Damage(
        "hole", "error", -4,
        lambda log, events: _patch(log, events[-4].position, bytes(events[-4].size)),
        "an event was overwritten by zeros",
    ),
    Damage(
        "lost_event", "positions", -4,
        lambda log, events: log[: events[-4].position] + log[events[-3].position :], "an event is missing",
    ),
    Damage("magic_only", "clean", 0, lambda log, _: log[:4], "only the first four bytes"),
    Damage("magic_cut", "error", 0, lambda log, _: log[:2], "only the first two bytes"),
    Damage("empty", "error", 0, lambda log, _: b"", "an empty file"),
    Damage("not_a_log", "error", 0, lambda log, _: b"#!/bin/sh\nexit 0\n", "not a log at all"),
)  # fmt: skip


def record_damaged(name: str) -> list[str]:
    """Create the cases of one server; returns what looks wrong."""
    server = Server(name, "corpus")
    with server, TemporaryDirectory() as scratch:
        recorder = Recorder(server, writer_for(server, Path(scratch) / "case"))
        recorder.prepare()
        known = facts(server)
        recorder.run(load(SCENARIOS / "before_crash.sql"))
        server.kill()
        for log, damages in (("binlog.000001", CLOSED_DAMAGES), ("binlog.000002", OPEN_DAMAGES)):
            recorder.writer.add_log(server.data / log)
            path = recorder.writer.logs[-1]
            events = event_lines(server.client(), path, *recorder.writer.dump_options)
            for damage in damages:
                _write(damage, server, path.read_bytes(), events, known)
    return recorder.wrong


def _write(
    damage: Damage, server: Server, log: bytes, events: list[EventLine], known: dict[str, object]
) -> None:
    writer = writer_for(server, CORPUS / "damaged" / f"{server.spec.name}-{damage.kind}")
    whole = [event._replace(file=LOG) for event in events[: damage.whole]]
    until = whole[-1].position + whole[-1].size if whole else 0
    target = writer.folder / LOG
    target.write_bytes(damage.make(log, events))
    writer.logs.append(target)
    writer.table("events.tsv.gz", EventLine._fields, whole)
    note = "a log of a server that was killed after before_crash.sql; any other damage was done to the copy"
    writer.info(case=damage.kind, **known, damage=damage.what, end=damage.end, whole_until=until, note=note)
