"""Write sets of Galera read like logs, also without the start of one.

Those of MariaDB are real. Percona XtraDB Cluster could not be had: its write sets are made here of events in
logs of MySQL, as `wsrep_dump_rbr_buf` writes them.
"""

from __future__ import annotations

import gzip
import random
import struct
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import binlog_kaitai as bk
from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.cli.app import app
from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import EventType, read_header
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.errors import DamagedError, NotABinlogError, TruncatedError
from binlog_kaitai.sources.source import Source, length_of, resolve, state_of
from binlog_kaitai.views.splits import plan, read_split
from tests.corpus_files import Case, case, special_cases
from tests.earlier_logs import files_before
from tests.extent import sample
from tests.sources.packing import PACKERS
from tests.sources.sealing import events_of
from tests.sources.seeking import assert_any_part_can_be_read
from tests.sources.test_commands import COMMANDS, run
from tests.sources.test_encrypted import Pipe

REAL = [case.folder / name for case in special_cases("galera") for name in case.info["logs"]]
reals = pytest.mark.parametrize("log", REAL, ids=lambda log: f"{log.parent.name}-{log.stem}")
MYSQL_LOGS = [
    case("mysql-9.7", "types_full").logs[0],
    case("mysql-9.7", "json_partial").logs[0],
    case("mysql-5.6", "types_full").logs[0],
]
_ENDS = (EventType.xid_event, EventType.query_event)


def without_start(log: Path) -> bytes:
    """What a server that adds no start would have written."""
    data = log.read_bytes()
    return data[events_of(data)[0][1] :]


def as_write_set(log: Path, *, with_positions: bool, with_gtid: bool) -> bytes:
    """The longest transaction of a log of MySQL, as the cache that a node sends.

    The GTID event is that of an asynchronous source, as it was received: with position and checksum.
    """
    data = log.read_bytes()
    raws = [data[begin:end] for begin, end in events_of(data)]
    begins = [at for at, raw in enumerate(raws) if raw[4] in GTID_TYPES]
    groups = [raws[begin:end] for begin, end in zip(begins, [*begins[1:], len(raws)], strict=True)]
    gtid, *events = max(groups, key=len)
    end = next(at for at, raw in enumerate(events) if raw[4] in _ENDS and at > 0)
    made = gtid if with_gtid else b""
    at = 0
    for raw in events[:end]:
        at += len(raw) - 4
        header = struct.pack("<II", len(raw) - 4, at if with_positions else 0)
        made += raw[:9] + header + raw[17:-4]
    return made


WRITE_SETS = [
    pytest.param(
        as_write_set(log, with_positions=positions, with_gtid=gtid),
        id=f"{log.parent.parent.name}-{log.parent.name}-{positions}-{gtid}",
    )
    for log in MYSQL_LOGS
    for positions in (False, True)
    for gtid in (False, True)
]


def rows_of(source: Any) -> list[Any]:
    return [(str(row.schema), row.change, row.before, row.after) for row in bk.read_rows(source)]


def events_in(source: Any) -> list[Any]:
    with bk.open(source) as log:
        return list(log)


@reals
def test_real_ones_are_intact(log: Path) -> None:
    for thorough in (False, True):
        assert scan(Source.of_path(str(log)), is_thorough=thorough).damages == []
        if data := without_start(log):
            assert scan(Source.of_bytes(data), is_thorough=thorough).damages == []


@pytest.mark.parametrize("one", special_cases("galera"), ids=lambda one: one.id)
def test_dump_is_that_of_the_client(one: Case) -> None:
    text = ""
    for log in (one.folder / name for name in one.info["logs"]):
        options = ["-vv", "--base64-output=decode-rows", str(log)]
        done = CliRunner().invoke(app, ["dump", *options], catch_exceptions=False)
        text += f"### {log.name}\n{done.output}"
    assert text == gzip.decompress((one.folder / "vv.txt.gz").read_bytes()).decode()


@reals
def test_the_start_makes_no_difference(log: Path) -> None:
    data = without_start(log)
    if not data:
        with pytest.raises(DamagedError, match="the file is empty"):
            events_in(data)
        return
    found, expected = events_in(data), events_in(log)
    for count in (1, len(expected) - 1):
        assert [event.raw for event in found[-count:]] == [event.raw for event in expected[-count:]]
    assert rows_of(data) == rows_of(log)


@pytest.mark.parametrize("data", WRITE_SETS)
def test_mysql(data: bytes) -> None:
    assert scan(Source.of_bytes(data), is_thorough=True).damages == []
    first, *events = [event for event in events_in(data) if event.payload_index is None]
    content: Any = first.body
    assert content.server_version.endswith("-write-set")
    assert "MariaDB" not in content.server_version
    assert first.header.flags == 0x20
    with_gtid = events[0].type_code in GTID_TYPES
    expected = b"".join(event.raw for event in events[with_gtid:])
    assert data.endswith(expected)
    assert len(data) - len(expected) == with_gtid * (len(events[0].raw) + 4)
    assert rows_of(data)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:2]))
def test_commands(command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("GRA_1_2.log")
    made_here: list[Any] = [one.values[0] for one in WRITE_SETS]
    for data in sample([*made_here, *(without_start(log) for log in REAL[:3])], 4):
        path.write_bytes(data)
        found = run(command, path.name)
        if command[0] != "repair":  # a transaction without an end is dropped
            assert found[0] in (0, 3)  # 3: statements that `sql` cannot write
        with Source.of_path(path.name).open() as stream:
            made = stream.read()
        assert made.endswith(data[-50:])
        path.write_bytes(made)
        assert run(command, path.name) == found


@pytest.mark.parametrize("suffix", ["", *PACKERS])
def test_any_part_can_be_read(suffix: str, tmp_path: Path) -> None:
    data = as_write_set(MYSQL_LOGS[0], with_positions=True, with_gtid=False)
    path = tmp_path / f"GRA_1_2.log{suffix}"
    path.write_bytes(PACKERS[suffix](data) if suffix else data)
    source = Source.of_path(str(path))
    with source.open() as stream:
        whole = stream.read()
    assert whole.endswith(data)
    assert_any_part_can_be_read(source, whole)
    assert length_of(str(path)) == len(whole)
    if not suffix:
        assert state_of(str(path)).size == len(whole)


def test_longer_than_what_is_examined(tmp_path: Path) -> None:
    """A statement of 3 MB alone, and events past the first megabyte, also from a pipe."""
    short = as_write_set(MYSQL_LOGS[2], with_positions=False, with_gtid=False)
    (begin, end), *_ = events_of(MAGIC + short)
    query = (MAGIC + short)[begin:end]
    size = len(query) + (3 << 20)
    statement = query[:9] + struct.pack("<II", size, size) + query[17:] + b" " * (3 << 20)
    for data in (statement, statement + query):
        path = tmp_path / "GRA_1_2.log"
        path.write_bytes(data)
        for source in (path, Pipe(data)):
            assert b"".join(event.raw for event in events_in(source)[1:]) == data


def test_splits(tmp_path: Path) -> None:
    for number, log in enumerate(sample(MYSQL_LOGS, 2)):
        data = as_write_set(log, with_positions=False, with_gtid=True)
        (tmp_path / f"GRA_1_{number}.log").write_bytes(data)
    paths = sorted(str(path) for path in tmp_path.iterdir())
    for view in ("events", "transactions", "changes"):
        found = []
        for size in (0, 500):
            splits = plan(paths, size)
            batches = [
                batch
                for split in splits
                for batch in read_split(split, view, earlier=files_before(splits, split))
            ]
            found.append([row for batch in batches for row in batch.to_pylist()])
        assert found[0]
        assert found[0] == found[1]


def test_folders_contain_them_only_alone(tmp_path: Path) -> None:
    for name, data in (("GRA_1_12.log", without_start(REAL[0])), ("GRA_1_3_v2.log", REAL[1].read_bytes())):
        (tmp_path / name).write_bytes(data)
    assert [Path(log.name).name for log in resolve(tmp_path)] == ["GRA_1_3_v2.log", "GRA_1_12.log"]
    (tmp_path / "binlog.000001").write_bytes(MYSQL_LOGS[0].read_bytes())
    assert [Path(log.name).name for log in resolve(tmp_path)] == ["binlog.000001"]


@pytest.mark.parametrize(
    "log", [*MYSQL_LOGS, case("mariadb-11.8", "xa").logs[0]], ids=lambda log: log.parent.name
)
def test_the_rest_of_a_log_is_damaged(log: Path) -> None:
    data = log.read_bytes()
    for begin, _ in events_of(data)[:20]:
        with pytest.raises(NotABinlogError):
            events_in(data[begin:])


def test_other_files_are_no_write_sets() -> None:
    chance = random.Random(5)
    files = [
        b"text of some kind\n" * 50,
        bytes(4000),
        b"\0" * 9 + b"\x13\0\0\0" + bytes(2000),
        b"\x7fELF" + bytes(90),
    ]
    for data in [*files, *(chance.randbytes(3000) for _ in range(200))]:
        with pytest.raises(NotABinlogError):
            events_in(data)


def test_damage_has_a_place(tmp_path: Path) -> None:
    chance = random.Random(7)
    path = tmp_path / "GRA_1_2.log"
    for _ in range(60):
        changed = bytearray(without_start(chance.choice(REAL[:1] + REAL[2:3])))
        place = chance.randrange(len(changed))
        if chance.randrange(2):
            changed[place] ^= 1 << chance.randrange(8)
        else:
            del changed[place:]
        path.write_bytes(changed)
        for damage in scan(Source.of_path(str(path)), is_thorough=True).damages:
            assert damage.position is not None
            assert damage.file == str(path)


def test_one_cut_off_keeps_what_is_whole() -> None:
    data = without_start(REAL[2])
    first = read_header(data[:19], 4).len_event
    found = []
    with bk.open(data[: first + 30]) as log:
        events = iter(log)
        while (event := next(events)).raw != data[:first]:
            found.append(event.type_code)
        with pytest.raises(TruncatedError, match="ends inside an event"):
            next(events)
    assert found == [EventType.format_description_event]
