"""The reader on real logs: agrees with each server's own client on every event; ends of files."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai import EndKind
from tests.corpus_files import Case, LogFile, OracleEvent, absent_types, case, logs, special_cases
from tests.extent import sample

LOGS = [pytest.param(log, id=log.id) for log in logs()]
WITH_PAYLOADS = [pytest.param(log, id=log.id) for log in logs() if log.case.inner_oracle(log.path)]
SMALL = [log for log in logs() if log.path.stat().st_size < 20_000]


def headline(event: bk.Event) -> OracleEvent:
    header = event.header
    # The clients print no checksum for a format description event that declares none for what follows.
    is_printed = getattr(event.body, "has_checksums", True)
    return OracleEvent(
        Path(event.file).name,
        event.position,
        header.timestamp,
        event.type_code,
        header.server_id,
        header.len_event,
        header.next_position or 0,
        header.flags or 0,
        event.checksum if is_printed else None,
        event.payload_index is not None,
    )


@pytest.mark.parametrize("log", LOGS)
def test_headers_and_checksums_are_those_that_the_servers_client_prints(log: LogFile) -> None:
    with bk.open(log.path, verify_checksums=False) as reader:
        found = [headline(event) for event in reader if event.payload_index is None]
    assert found == list(log.case.oracle(log.path))


@pytest.mark.parametrize("log", LOGS)
def test_no_byte_is_unknown_and_every_checksum_matches(log: LogFile) -> None:
    with bk.open(log.path) as reader:
        for event in reader:
            assert event.type != "UNKNOWN_EVENT"
            assert not getattr(event.body, "unknown_tail", None)
            assert event.checksum_status == ("none" if event.checksum is None else "ok")
    assert [end.kind for end in reader.ends] != [EndKind.TRUNCATED]


@pytest.mark.parametrize(
    "log", [pytest.param(log, id=log.id) for log in logs() if log.case.inner_oracle(log.path)]
)
def test_events_inside_payloads_are_those_that_the_servers_client_prints(log: LogFile) -> None:
    with bk.open(log.path) as reader:
        inner = [event for event in reader if event.payload_index is not None]
    assert [(event.type_code, event.header.timestamp, event.header.server_id) for event in inner] == [
        (one.type_code, one.timestamp, one.server_id) for one in log.case.inner_oracle(log.path)
    ]
    assert all(event.checksum_status == "none" and event.gtid for event in inner)


def test_every_type_has_a_real_file_or_a_reason() -> None:
    from binlog_kaitai.core.event_types import TYPE_NAMES

    found = set()
    for log in logs():
        for batch in bk.read_events(log.path, columns=["type"]):
            found |= set(batch.column("type").unique().to_pylist())
    found |= {"HEARTBEAT_LOG_EVENT", "HEARTBEAT_LOG_EVENT_V2"}  # only in streams, see tests/corpus/network
    found |= {"START_ENCRYPTION_EVENT"}  # see tests/corpus/encrypted
    absent = set(absent_types())
    assert found & absent == set(), "these have a file, so that their reason is wrong"
    assert set(TYPE_NAMES) - found - absent == set(), "no file and no reason"


@pytest.mark.parametrize("log", [pytest.param(log, id=log.id) for log in SMALL[:12]])
def test_a_stream_that_cannot_seek_reads_the_same(log: LogFile) -> None:
    class Pipe(io.RawIOBase):
        """Gives a few bytes at a time and cannot seek."""

        def __init__(self, data: bytes) -> None:
            self._data = io.BytesIO(data)

        def readable(self) -> bool:
            return True

        def read(self, size: int = -1) -> bytes:
            return self._data.read(size)

    data = log.path.read_bytes()
    with bk.open(io.BytesIO(data)) as seekable, bk.open(Pipe(data)) as pipe:
        assert [event.raw for event in pipe] == [event.raw for event in seekable]


@pytest.mark.parametrize("log", [pytest.param(log, id=log.id) for log in SMALL[::10]])
def test_a_file_cut_anywhere_gives_its_whole_events_and_then_says_so(log: LogFile) -> None:
    data = log.path.read_bytes()
    with bk.open(data) as reader:
        ends = [event.end_position for event in reader if event.payload_index is None]
    in_use = reader.ends[0].kind is EndKind.IN_USE
    for size in sample(range(4, len(data), 7), 60):
        whole = [end for end in ends if end <= size]
        found: list[int] = []
        with bk.open(data[:size]) as cut:
            if size in (4, *ends) or (in_use and whole):
                found.extend(event.end_position for event in cut if event.payload_index is None)
                assert cut.ends[0].kind is (EndKind.IN_USE if in_use and whole else EndKind.CLEAN)
            else:
                with pytest.raises(bk.TruncatedError) as caught:
                    found.extend(event.end_position for event in cut if event.payload_index is None)
                assert caught.value.position == (whole[-1] if whole else 4)
        assert found == whole


def test_a_log_in_use_ends_at_its_last_whole_event_and_says_so() -> None:
    log = next(log for log in logs() if log.case.id == "mysql-9.7/rotate")
    data = bytearray(log.path.read_bytes())
    flags = 4 + 17
    data[flags] |= 1
    with bk.open(bytes(data[:-5])) as reader:
        events = list(reader)
    (end,) = reader.ends
    assert end.kind is EndKind.IN_USE
    assert end.position == events[-1].end_position
    assert end.bytes_after == len(data) - 5 - end.position
    assert events[0].checksum_status == "ok", "the flag counts as 0 in the checksum"


def test_a_log_in_use_whose_last_event_contradicts_itself_is_damaged() -> None:
    """Otherwise one flipped bit of a size would hide all that follows as still being written."""
    log = next(log for log in logs() if log.case.id == "mysql-9.7/rotate")
    data = bytearray(log.path.read_bytes())
    data[4 + 17] |= 1
    event = log.case.oracle(log.path)[4]
    data[event.position + 9 + 2] ^= 0x80
    with bk.open(bytes(data)) as reader, pytest.raises(bk.FramingError, match="its size puts") as caught:
        list(reader)
    assert caught.value.position == event.position


def test_a_wrong_checksum_is_an_error_with_a_position() -> None:
    log = SMALL[0]
    data = bytearray(log.path.read_bytes())
    event = log.case.oracle(log.path)[3]
    data[event.position + event.size - 6] ^= 0x10
    with bk.open(bytes(data)) as reader, pytest.raises(bk.ChecksumError) as caught:
        list(reader)
    assert (caught.value.file, caught.value.position) == ("<bytes>", event.position)
    assert caught.value.event_type
    with bk.open(bytes(data), verify_checksums=False) as reader:
        statuses = [one.checksum_status for one in reader]
    assert statuses.count("bad") == 1


def test_positions_go_on_past_4_gib(tmp_path: Path) -> None:
    """A sparse file: the events of a log, one ignorable event of 4 GiB, then the events again."""
    log = SMALL[0]
    data = log.path.read_bytes()
    first = log.case.oracle(log.path)[0]
    head, rest = data[: 4 + first.size], data[4 + first.size :]
    giant = (1 << 32) - 1
    header = bytes(4) + bytes([28]) + bytes(4) + giant.to_bytes(4, "little") + bytes(6)
    path = tmp_path / "binlog.000001"
    from binlog_kaitai.core.framing import Framer

    with path.open("wb") as file:
        file.write(head)
        file.write(header)
        file.seek(len(head) + giant)
        file.write(rest)
    with path.open("rb") as file:
        framer = Framer.of_file(file)
        framer.skip_to(len(head) + giant)
        frames = list(framer)
    assert frames[0].position == len(head) + giant > 1 << 32
    assert frames[-1].end_position == path.stat().st_size
    assert b"".join(frame.raw for frame in frames) == rest


def test_several_files_are_read_in_order_and_each_has_an_end() -> None:
    paths = case("mysql-9.7", "rotate").logs
    with bk.open(paths) as reader:
        files = [event.file for event in reader]
    assert list(dict.fromkeys(files)) == [str(path) for path in paths]
    assert [end.file for end in reader.ends] == [str(path) for path in paths]


@pytest.mark.parametrize(
    ("data", "error", "reason"),
    [
        (b"", bk.NotABinlogError, "is empty"),
        (b"\xfeb", bk.NotABinlogError, "not a binary log"),
        (b"SQLite format 3\0", bk.NotABinlogError, "starts with 53 51 4c 69"),
        (gzip.compress(b"SQLite format 3\0", mtime=0), bk.NotABinlogError, "starts with 53 51 4c 69"),
        (b"\xfe\xfe\x0d\x01" + bytes(508), bk.DamagedError, "the log inside InnoDB cannot be read"),
        (b"\xfdbin" + bytes(600), bk.GrammarError, "the header of the encrypted log is damaged"),
        (
            b"\xfebin" + bytes(4) + b"\x02" + bytes(4) + b"\x45" + bytes(60),
            bk.NotABinlogError,
            "unknown version",
        ),
    ],
)
def test_what_is_no_readable_log_is_refused(data: bytes, error: type[bk.BinlogError], reason: str) -> None:
    with bk.open(data) as reader, pytest.raises(error, match=reason):
        list(reader)


ENCRYPTED = [pytest.param(case, id=case.id) for case in special_cases("encrypted")]


@pytest.mark.parametrize("folder", ENCRYPTED)
def test_an_encrypted_log_is_refused_where_it_begins_to_be(folder: Case) -> None:
    with bk.open(folder.logs) as reader, pytest.raises(bk.EncryptedError, match="encrypted with key"):
        list(reader)


@pytest.mark.parametrize("folder", ENCRYPTED)
def test_a_plain_copy_of_an_encrypted_log_reads_though_it_says_encrypted(folder: Case) -> None:
    with bk.open(folder.folder / "plain") as reader:
        events = list(reader)
    assert all(event.body is not None and event.checksum_status == "ok" for event in events)
    started = [event.type for event in events].count("START_ENCRYPTION_EVENT")
    assert started == (len(reader.sources) if folder.server.startswith("mariadb") else 0)


def test_a_missing_file_is_a_source_error(tmp_path: Path) -> None:
    with pytest.raises(bk.SourceError, match="no such file"):
        bk.open(tmp_path / "binlog.000001")
