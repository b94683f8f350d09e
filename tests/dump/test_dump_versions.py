"""Fields missing from events of old servers, and events that `mariadb-binlog` skips, are printed alike."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from binlog_kaitai.cli import main
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.spans import read_log_header
from binlog_kaitai.dump.dump_logs import dump
from binlog_kaitai.dump.dump_options import DumpOptions
from binlog_kaitai.errors import BinlogError
from tests import corpus_files
from tests.dump.dump_mutations import difference
from tests.dump.old_gtids import AFTER_GTIDS, log_of
from tests.log_maker import LogMaker, events_of
from tests.samples import Sample

_VERSIONS = re.compile(rb"@@session\.(?:original|immediate)_server_version=(\d+)")
#: The original version and the immediate one, as `mysqlbinlog` 9.7 prints them.
_PRINTED = {"5.7.30": (0, 0), "8.0.14": (80014, 80014), "8.0.34 replica": (999999, 80034)}


def _text(log: Path, **options: object) -> bytes:
    pieces: list[bytes] = []
    dump(str(log), pieces.append, DumpOptions(**options))  # type: ignore[arg-type]
    return b"".join(pieces)


@pytest.mark.parametrize("version", AFTER_GTIDS)
def test_versions_that_a_gtid_event_does_not_have(version: str, tmp_path: Path) -> None:
    log = log_of(version, "crash", tmp_path)
    found = [int(number) for number in _VERSIONS.findall(_text(log))]
    assert len(found) > 4
    assert set(zip(found[::2], found[1::2], strict=True)) == {_PRINTED.get(version, (999999, 999999))}
    for options in ({}, {"verbose": 2}):
        assert difference(log, tmp_path, options) is None


@pytest.mark.parametrize(
    ("version", "is_shown"), [("8.0.11", False), ("8.0.14", False), ("8.0.34 replica", True)]
)
def test_only_new_servers_log_invisible_keys(version: str, is_shown: bool, tmp_path: Path) -> None:
    log = log_of(version, "invisible_key", tmp_path)
    assert (b"# has_generated_invisible_primary_key=1\n" in _text(log)) == is_shown
    assert difference(log, tmp_path, {}) is None


def _marked(kind: int, folder: Path) -> Path:
    """A log of MariaDB whose first event of a type is marked as one to skip."""
    layout, groups = events_of(corpus_files.case("mariadb-11.8", "crash").logs[0])
    events = [raw for group in groups[:6] for raw in group]
    index = next(number for number, raw in enumerate(events) if raw[4] == kind)
    events[index] = events[index][:17] + bytes([events[index][17] | 0x80]) + events[index][18:]
    maker = LogMaker(layout)
    maker.add_all(events)
    return maker.write(folder / "binlog.000001")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (EventType.query_event, b"Query"),
        (EventType.xid_event, b"Xid"),
        (EventType.gtid_event, b"Gtid"),
        (EventType.gtid_list_event, b"Gtid_list"),
        (EventType.annotate_rows_event, b"Annotate_rows"),
        (EventType.write_rows_event_v1, b"Write_rows_v1"),
    ],
)
def test_events_to_skip_do_nothing(kind: int, name: bytes, tmp_path: Path) -> None:
    log = _marked(kind, tmp_path)
    assert b"\tIgnorable\n# Ignorable event type %d (%s)\n" % (kind, name) in _text(log)
    for options in ({}, {"verbose": 1}, {"database": "t"}):
        assert difference(log, tmp_path, options) is None


@pytest.mark.parametrize("server", ["mariadb-10.11", "mariadb-11.8"])
def test_a_copy_that_a_server_decrypted_is_plain(
    server: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = corpus_files.case("encrypted", server).plain_logs[0]
    text = _text(log)
    assert b"\tIgnorable\n# Ignorable event type 164 (Start_encryption)\n" in text
    assert b"encrypted!" not in text
    with log.open("rb") as stream:
        assert not read_log_header(stream, str(log)).is_encrypted
    for arguments in (["events"], ["rows"], ["verify", "--thorough"], ["stats"], ["sql", "--allow-unnamed"]):
        with pytest.raises(SystemExit) as ended:
            main([*arguments, str(log)])
        output = capfd.readouterr()
        assert ended.value.code in (0, 3), arguments
        assert "is encrypted" not in output.out + output.err


@pytest.mark.parametrize(("server", "kind"), [("mysql-9.7", 99), ("mariadb-11.8", 99), ("mariadb-11.8", 172)])
def test_unknown_types_end_the_text_or_are_named(server: str, kind: int, tmp_path: Path) -> None:
    layout, groups = events_of(corpus_files.case(server, "crash").logs[0])
    maker = LogMaker(layout)
    maker.add_all(groups[0])
    position = len(maker.data)
    maker.add(groups[0][0][:4] + bytes([kind]) + groups[0][0][5:9] + bytes(10) + bytes(24))
    maker.add_all(groups[1])
    log = maker.write(tmp_path / "binlog.000001")
    if kind == 99:
        assert b"\n# Unknown event\n" in _text(log, force_read=True)
    with pytest.raises(BinlogError, match=r"--force-read|not|pieces") as caught:
        _text(log)
    assert caught.value.position == position


def test_the_client_of_mysql_does_not_know_compressed_rows(tmp_path: Path) -> None:
    layout, groups = events_of(corpus_files.case("mysql-9.7", "crash").logs[0])
    packed = Sample(corpus_files.case("mariadb-10.2", "types_compressed").logs[0])
    rows = packed.kinds.index(EventType.write_rows_compressed_event_v1)
    maker = LogMaker(layout)
    maker.add_all([*groups[0], *packed.events[rows - 1 : rows + 1]])
    log = maker.write(tmp_path / "binlog.000001")
    for options in ({}, {"verbose": 1}):
        with pytest.raises(BinlogError, match="--force-read"):
            _text(log, **options)
        assert b"\n# Unknown event\n" in _text(log, force_read=True, **options)
        assert difference(log, tmp_path, {"force_read": True, **options}) is None


def test_types_of_mysql_are_skipped_in_logs_of_mariadb(tmp_path: Path) -> None:
    layout, groups = events_of(corpus_files.case("mariadb-10.5", "crash").logs[0])
    maker = LogMaker(layout)
    maker.add_all(groups[0])
    maker.add(groups[0][0][:4] + bytes([35]) + groups[0][0][5:9] + bytes(10) + bytes(12))
    text = _text(maker.write(tmp_path / "binlog.000001"))
    assert b"# Ignorable event type 35 (MySQL Previous_gtids)\n" in text
