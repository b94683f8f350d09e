"""Packed logs read like their contents."""

from __future__ import annotations

import io
import random
import tarfile
import tracemalloc
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import pytest

import binlog_kaitai as bk
from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.errors import DamagedError, NotABinlogError, PackedWarning, SourceError, UsageError
from binlog_kaitai.following.follower import Follower
from binlog_kaitai.render.check_reports import report_lines
from binlog_kaitai.sources import packed
from binlog_kaitai.sources.source import Source, later_logs, length_of, log_name, resolve, state_of
from binlog_kaitai.views.splits import plan, read_split
from tests.corpus_files import case
from tests.earlier_logs import files_before
from tests.extent import sample
from tests.sources.packing import PACKERS, seekable_zstd
from tests.sources.sealing import MYSQL_ID, MYSQL_KEY, as_mysql
from tests.sources.seeking import assert_any_part_can_be_read
from tests.sources.test_encrypted import Pipe
from tools.costly.making import Log

LOG = case("mysql-9.7", "payloads").logs[0]
PLAIN = LOG.read_bytes()
ROTATE = case("mysql-9.7", "rotate").logs
Pack = Callable[[bytes], bytes]
ALL: dict[str, Pack] = {**PACKERS, "seekable": seekable_zstd}
ways = pytest.mark.parametrize("pack", ALL.values(), ids=ALL)


@ways
def test_any_part_can_be_read(pack: Pack) -> None:
    assert_any_part_can_be_read(Source.of_bytes(pack(PLAIN)), PLAIN)


@ways
def test_pipes(pack: Pack) -> None:
    stream = Pipe(pack(PLAIN))
    with bk.open(stream) as log:  # type: ignore[arg-type]
        assert b"".join(event.raw for event in log if event.payload_index is None) == PLAIN[4:]


@ways
def test_files_of_several_parts(pack: Pack) -> None:
    data = pack(PLAIN[:900]) + pack(PLAIN[900:])
    assert Source.of_bytes(data).open().read() == PLAIN


@ways
def test_views_and_splits(pack: Pack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("binlog.000001")
    for view in sample(("changes", "events", "transactions"), 1):
        path.write_bytes(PLAIN)
        expected = [row for batch in read_split(plan(path, 0)[0], view) for row in batch.to_pylist()]
        path.write_bytes(pack(PLAIN))
        for size in sample((0, 1 << 10, 5000), 2):
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                splits = plan(path, size)
            is_divided = pack is seekable_zstd and size > 0
            assert (len(splits) > 1) == is_divided
            is_large = bool(size) and round(path.stat().st_size / size) > 1
            assert [one.category for one in said] == [PackedWarning] * (is_large and not is_divided)
            found = [
                row
                for split in splits
                for batch in read_split(split, view, earlier=files_before(splits, split))
                for row in batch.to_pylist()
            ]
            assert found == expected


def test_the_search_after_damage_ends_with_the_data_not_with_the_seek_table() -> None:
    damaged = PLAIN[:-10] + bytes(100)
    packed = bytearray(seekable_zstd(damaged))
    packed[-13:-9] = (0x7FFFFFFF).to_bytes(4, "little")  # the size of the last frame
    (expected,), (report,) = bk.verify(damaged), bk.verify(bytes(packed))
    assert [error.position for error in report.damages] == [error.position for error in expected.damages]
    assert report.damage_count > 0


@pytest.mark.parametrize("suffix", PACKERS)
def test_names_and_listings(suffix: str, tmp_path: Path) -> None:
    pack = PACKERS[suffix]
    first, second, third = ROTATE[:3]
    (tmp_path / (first.name + suffix)).write_bytes(pack(first.read_bytes()))
    (tmp_path / (second.name + suffix)).write_bytes(pack(second.read_bytes()))
    (tmp_path / third.name).write_bytes(third.read_bytes())
    (tmp_path / f"notes{suffix}").write_bytes(pack(b"not a log"))
    expected = [tmp_path / (first.name + suffix), tmp_path / (second.name + suffix), tmp_path / third.name]
    assert [found.path for found in resolve(tmp_path)] == list(map(str, expected))
    assert later_logs(str(expected[0])) == list(map(str, expected[1:]))
    index = tmp_path / "binlog.index"
    index.write_text("".join(f"{log.name}\n" for log in (first, second, third)))
    assert [found.path for found in resolve(index)] == list(map(str, expected))
    assert [found.path for found in resolve(tmp_path)] == list(map(str, expected))
    index.unlink()
    (tmp_path / second.name).write_bytes(second.read_bytes())  # and its packed copy
    assert [Path(str(found.path)).name for found in resolve(tmp_path)][1] == second.name
    assert log_name(f"/logs/binlog.000001{suffix}") == "/logs/binlog.000001"


@ways
def test_sizes(pack: Pack, tmp_path: Path) -> None:
    path = tmp_path / "binlog.000001"
    path.write_bytes(pack(PLAIN))
    assert length_of(str(path)) == len(PLAIN)
    state = state_of(str(path))
    is_divisible = pack is seekable_zstd
    assert state.is_divisible == is_divisible
    assert state.size == (len(PLAIN) if is_divisible else path.stat().st_size)


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_log_that_is_packed_while_it_is_followed(suffix: str, tmp_path: Path) -> None:
    for log in ROTATE[:2]:
        (tmp_path / log.name).write_bytes(log.read_bytes())
    follower = Follower([str(tmp_path)])
    mark = follower.advance(follower.earliest(), max_bytes=300)
    for log in ROTATE[:2]:
        (tmp_path / log.name).unlink()
        (tmp_path / (log.name + suffix)).write_bytes(PACKERS[suffix](log.read_bytes()))
    end = Follower([str(tmp_path)]).advance(mark)
    steps = Follower([str(tmp_path)]).steps(mark, end)
    assert end.file.endswith(ROTATE[1].name + suffix)
    assert steps[0].source.name.endswith(suffix)


@ways
def test_encrypted_logs_packed(pack: Pack) -> None:
    keys = bk.Keys.of(key={MYSQL_ID: MYSQL_KEY})
    assert Source.of_bytes(pack(as_mysql(PLAIN)), keys=keys).open().read() == PLAIN


@ways
def test_a_file_that_is_cut_off(pack: Pack, tmp_path: Path) -> None:
    path = tmp_path / "binlog.000001"
    data = pack(PLAIN * 3 if pack is PACKERS[".bz2"] else PLAIN)
    for size in (5, 40, len(data) // 2, len(data) - 3):
        path.write_bytes(data[:size])
        with pytest.raises(bk.BinlogError) as caught:
            list(bk.open(path))
        assert caught.value.file == str(path)
        assert caught.value.position is not None
        assert scan(Source.of_path(str(path))).damage_count


def test_events_before_the_damage_are_read(tmp_path: Path) -> None:
    path = tmp_path / "binlog.000001"
    data = seekable_zstd(PLAIN, 300)
    path.write_bytes(data[: len(data) // 2])
    whole = bk.read_events(LOG).read_all().num_rows
    found = []
    with pytest.raises(DamagedError, match="truncated"):
        found.extend(bk.read_events(path))
    assert 0 < sum(batch.num_rows for batch in found) < whole


@ways
def test_any_damage_gives_events_or_an_error(pack: Pack) -> None:
    chance = random.Random(5)
    data = pack(PLAIN)
    for _ in range(15):
        changed = bytearray(data)
        for _ in range(chance.choice([1, 3, 20])):
            changed[chance.randrange(4, len(changed))] = chance.randrange(256)
        with suppress(bk.BinlogError):
            list(bk.open(bytes(changed)))


@pytest.mark.parametrize("suffix", sample([".gz", ".zst", ".xz", ".lzma", ".bz2", ".lz4"], 2))
def test_bombs_take_little_memory(suffix: str) -> None:
    data = PACKERS[suffix](PLAIN + bytes(64 << 20))
    tracemalloc.start()
    try:
        report = scan(Source.of_bytes(data))
        assert tracemalloc.get_traced_memory()[1] < 56 << 20
    finally:
        tracemalloc.stop()
    assert report.damage_count


@pytest.mark.parametrize("suffix", PACKERS)
def test_files_that_expand_too_far_are_refused(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is read before is the log's; the refusal is no damage, and can be lifted."""
    monkeypatch.setattr(packed, "_UNSUSPICIOUS", 1 << 20)
    log = Log()
    for _ in range(count := 1000):
        log.add(EventType.ignorable_log_event, bytes(4000))
    path = tmp_path / f"binlog.000001{suffix}"
    path.write_bytes(PACKERS[suffix](bytes(log.data)))
    with pytest.raises(SourceError, match=r"position \d{7}.* more than 100 times its size") as refused:
        bk.read_events(str(path)).read_all()
    assert refused.value.file == str(path)
    report = scan(Source.of_bytes(path.read_bytes()))
    assert isinstance(report.not_checked, SourceError)
    monkeypatch.setenv("BINLOG_KAITAI_MAX_EXPANSION", "100000")
    assert bk.read_events(str(path)).read_all().num_rows == count + 1
    monkeypatch.setenv("BINLOG_KAITAI_MAX_EXPANSION", "many")
    with pytest.raises(UsageError, match="BINLOG_KAITAI_MAX_EXPANSION is not a whole number: 'many'"):
        bk.read_events(str(path)).read_all()


@pytest.mark.parametrize("suffix", ["", *PACKERS])
@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, "v7"])
@pytest.mark.parametrize("folder", ["", "mysql/"])
def test_an_archive_is_called_one(suffix: str, form: int | str, folder: str) -> None:
    packed = tar(f"{folder}binlog.000001", form)
    with pytest.raises(NotABinlogError, match="it is a tar archive; unpack it first") as caught:
        list(bk.open(PACKERS[suffix](packed) if suffix else packed))
    assert not isinstance(caught.value, DamagedError)


def tar(name: str, form: int | str) -> bytes:
    """An archive with a log; the first archives, of version 7 of Unix, have no magic."""
    file = io.BytesIO()
    written = tarfile.USTAR_FORMAT if isinstance(form, str) else form
    with tarfile.open(fileobj=file, mode="w", format=written) as archive:
        member = tarfile.TarInfo(name)
        member.size = len(PLAIN)
        archive.addfile(member, io.BytesIO(PLAIN))
    data = bytearray(file.getvalue())
    if form == "v7":
        data[257:512] = bytes(255)
        data[148:156] = b"%06o\0 " % (sum(data[:148]) + 8 * 32 + sum(data[156:512]))
    return bytes(data)


def test_a_window_that_is_too_large() -> None:
    # A header of zstd that asks for a window of 1 GiB.
    data = b"\x28\xb5\x2f\xfd\x00\xa0" + bytes(100)
    with pytest.raises(bk.BinlogError, match="zstd"):
        list(bk.open(data))


@pytest.mark.parametrize("form", ["zip", "encrypted", "tar"])
def test_verify_claims_no_checks_of_what_it_has_not_read(form: str) -> None:
    files = {"zip": b"PK\3\4" + bytes(500), "encrypted": as_mysql(PLAIN), "tar": tar("a", "v7")}
    report = scan(Source.of_bytes(files[form]))
    assert report.not_checked is not None
    assert "  bodies checked against the grammar: 0" in list(report_lines(report))
    whole = list(report_lines(scan(Source.of_bytes(PLAIN), is_thorough=True)))
    assert "  bodies checked against the grammar: all" in whole


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".lz4"])
def test_going_back_a_little_does_not_decompress_again(suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after each of many damaged places, which would take the time of the whole file."""
    plain = random.Random(1).randbytes(20 << 20)
    stream = Source.of_bytes(PACKERS[suffix](plain)).open()
    assert isinstance(stream, packed.PackedStream)
    opened: list[BinaryIO] = []
    packing = stream._packing

    def watched(raw: BinaryIO) -> packed.Unpacker:
        opened.append(raw)
        return packing.open(raw)

    stream._packing = packing._replace(open=watched)
    for start in range(0, 19 << 20, 1 << 20):
        for back in (0, 1 << 20, 6 << 20):
            stream.seek(max(start - back, 0))
            assert stream.read(1000) == plain[max(start - back, 0) :][:1000]
    assert not opened
    stream.seek(100)
    assert stream.read(100) == plain[100:200]
    assert opened
