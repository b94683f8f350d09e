"""Any number of threads returns the same rows, lines, files, reports, warnings and errors."""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from collections.abc import Generator, Iterable, Iterator
from errno import ENOSPC
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import binlog_kaitai as bk
from binlog_kaitai.check.damage_scan import _Scan, scan
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.spans import Span
from binlog_kaitai.lines.event_lines import write_json
from binlog_kaitai.lines.row_texts import write_rows
from binlog_kaitai.log import block_reader as blocks
from binlog_kaitai.log import threads as module
from binlog_kaitai.log.threads import in_order, side_by_side, thread_count
from binlog_kaitai.render.check_reports import report_object
from binlog_kaitai.rows import log_pages
from binlog_kaitai.rows.log_pages import RowsPages
from binlog_kaitai.sources.source import Source
from binlog_kaitai.views import parquet_folder as folders
from binlog_kaitai.views.parquet_folder import write_changes, write_view
from tests.core.test_pieces import in_pieces
from tests.corpus_files import case, logs
from tests.extent import sample
from tests.support import all_files, set_block_size
from tools.fuzz.mutants import mutant

#: Sizes of blocks, in bytes: a few events each, so that all transactions and most statements span several.
_BLOCKS = (512, 3000)

_COUNTS = sample((2, 3, 7), 2)


@pytest.fixture(autouse=True)
def frequent_switches() -> Generator[None, None, None]:
    """Threads take turns often, so that a block that is overwritten too early is noticed."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads from the first block on, and blocks of a few events."""
    monkeypatch.setattr(module, "_FROM", 1)
    monkeypatch.setattr(blocks, "_PREFETCH_FROM", 1)
    use_blocks(monkeypatch, _BLOCKS[0])


def use_blocks(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    set_block_size(monkeypatch, size)
    monkeypatch.setattr("binlog_kaitai.views.changes_view.ROWS_BLOCK_SIZE", size)
    monkeypatch.setattr("binlog_kaitai.check.damage_scan._BLOCK_SIZE", size)
    monkeypatch.setattr("binlog_kaitai.statistics.counting._BLOCK_SIZE", size)
    monkeypatch.setattr("binlog_kaitai.views.changes_view.BLOCK_SIZE", size)


def outcome(results: Iterable[Any]) -> tuple[list[Any], str | None, list[str]]:
    """The results, the error that ended them, and the warnings."""
    found: list[Any] = []
    error = None
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            found.extend(results)
        except bk.BinlogError as caught:
            error = f"{type(caught).__name__}: {caught}"
    # Other tests may leave files and sockets to the garbage collector.
    own = [one for one in seen if one.category is not ResourceWarning]
    return found, error, [f"{one.category.__name__}: {one.message}" for one in own]


def batches_of(reader: Any) -> Iterator[Any]:
    yield reader.schema
    for batch in reader:
        yield batch.to_pydict()


def rows(paths: Any, threads: int, **options: Any) -> Iterator[bytes]:
    filters = Filters.of(**options)
    return (bytes(lines) for lines in write_rows(paths, filters, threads=threads, origins=("statement",)))


def lines(paths: Any, threads: int, **options: Any) -> Iterator[bytes]:
    return (bytes(one) for one in write_json(paths, Filters.of(**options), threads=threads))


def reports(paths: Any, threads: int, **options: Any) -> Iterator[Any]:
    return (report_object(one) for one in bk.verify(paths, threads=threads))


def stats_of(paths: Any, threads: int, **options: Any) -> Any:
    stats = bk.stats(paths, threads=threads, **options)
    return stats.to_object(), str(stats.error)


VIEWS: dict[str, Any] = {
    "rows": rows,
    "events as lines": lines,
    "events": lambda paths, threads, **options: batches_of(bk.read_events(paths, threads=threads, **options)),
    "changes": lambda paths, threads, **options: batches_of(
        bk.read_changes(paths, threads=threads, **options)
    ),
    "transactions": lambda paths, threads, **options: batches_of(
        bk.read_transactions(paths, threads=threads, **options)
    ),
    "verify": reports,
    "stats": lambda paths, threads, **options: (stats_of(paths, threads, **options) for _ in range(1)),
}


def check(paths: Any, view: str, counts: Iterable[int] = _COUNTS, **options: Any) -> Any:
    expected = outcome(VIEWS[view](paths, 1, **options))
    for threads in counts:
        assert outcome(VIEWS[view](paths, threads, **options)) == expected, (view, threads)
    return expected


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("log", sample(logs(), 5, 20), ids=lambda log: log.id)
def test_any_number_of_threads_returns_the_same(log: Any, view: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, size in enumerate(_BLOCKS):
        use_blocks(monkeypatch, size)
        check(str(log.path), view, _COUNTS[number : number + 2])


@pytest.mark.parametrize("view", VIEWS)
def test_damaged_and_encrypted_logs(view: str) -> None:
    """Whatever ends the reading of a log comes after the same results, with the same position."""
    for path in sample([path for path in all_files() if path.parts[-3] in ("damaged", "encrypted")], 12, 24):
        check(str(path), view, (3,))


@pytest.mark.parametrize("view", VIEWS)
def test_mutated_logs(view: str, tmp_path: Path) -> None:
    path = tmp_path / "binlog.000001"
    for seed in sample(range(120), 12, 24):
        path.write_bytes(mutant(f"threads/{seed}").data)
        check(str(path), view, (2 + seed % 3,))


def test_the_end_is_found_before_the_last_blocks_are_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pieces of a rows event are missing only if they are missing after the last block."""
    take = _Scan._take

    def slowly(scanning: _Scan, block: Any) -> None:
        time.sleep(0.05)
        take(scanning, block)

    monkeypatch.setattr(_Scan, "_take", slowly)
    whole = in_pieces(4)
    pieces = [event.position for event in bk.open(whole) if event.type == "PARTIAL_ROW_DATA_EVENT"]
    for data, is_whole in ((whole, True), (whole[: pieces[-1]], False)):
        path = tmp_path / "binlog.000001"
        path.write_bytes(data)
        (report,), *_ = check(str(path), "verify", (2,))
        assert report["ok"] is is_whole


@pytest.mark.parametrize("name", sample(["payloads", "types_payload", "rotate"], 2))
@pytest.mark.parametrize("view", VIEWS)
def test_series_of_logs_and_compressed_transactions(name: str, view: str) -> None:
    """Payloads and statements of several events span blocks; logs follow each other."""
    check([str(path) for path in case("mysql-9.7", name).logs], view, (2, 3))


@pytest.mark.parametrize("view", [view for view in VIEWS if view != "verify"])
def test_filters_and_stop_positions(view: str) -> None:
    paths = [str(path) for path in case("mysql-9.7", "rotate").logs]
    positions = [event.position for event in bk.open(paths[-1])]
    check(paths, view, (2, 3), stop_position=positions[len(positions) // 2])
    check(paths[-1:], view, (2, 3), start_position=positions[2], stop_position=positions[-2])
    check(paths, view, (2,), table="no.such_table")  # a warning


@pytest.mark.parametrize("case_name", [("mysql-5.6", "types_full"), ("mariadb-10.5", "ddl")])
def test_definitions_that_change_within_a_log(case_name: tuple[str, str]) -> None:
    """Names come from statements of the log: rows have those in force, not those of later blocks."""
    paths = [str(path) for path in case(*case_name).logs]
    found, *_ = check(paths, "rows", (2, 7))
    assert found


def test_tables_with_columns_of_their_own() -> None:
    paths = [str(path) for path in case("mysql-9.7", "types_metadata").logs]
    names = {(row["schema"], row["table"]) for row in bk.read_changes(paths).read_all().to_pylist()}
    for schema, table in sample(sorted(names), 4):
        check(paths, "changes", (2, 3), table=f"{schema}.{table}")


@pytest.mark.parametrize("log", sample(logs(), 3, 20), ids=lambda log: log.id)
def test_parquet_files_are_the_same(log: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_GROUP_ROWS", 3)  # many row groups, which are encoded in threads, too
    monkeypatch.setattr(folders, "_MAX_OPEN", 2)

    def files(threads: int) -> dict[str, bytes]:
        folder = tmp_path / str(threads)
        path = str(log.path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            write_changes(RowsPages(path, Filters(), threads=threads), folder)
            write_view(bk.read_events(path, threads=threads), folder / "events", threads=threads)
        return {
            str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.parquet"))
        }

    expected = files(1)
    for threads in _COUNTS:
        assert files(threads) == expected


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("failing", [1, 3])
def test_a_row_group_that_cannot_be_written(
    threads: int, failing: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the file, whichever thread encodes the row group; no later one is written."""
    written: list[int] = []

    def write_table(*_: Any, **__: Any) -> None:
        written.append(1)
        if len(written) >= failing:
            raise OSError(ENOSPC, "no room")

    monkeypatch.setattr(folders, "_GROUP_ROWS", 3)
    monkeypatch.setattr(pq.ParquetWriter, "write_table", write_table)
    batches = [pa.record_batch({"a": [1, 2, 3]})] * 5
    with pytest.raises(bk.BinlogError, match=r"no room") as found:
        write_view(batches, tmp_path / "events", threads=threads)
    assert found.value.file == str(tmp_path / "events" / "part-00001.parquet")
    assert len(written) == failing


def test_compressed_files_and_streams(tmp_path: Path) -> None:
    """A file that is compressed is read like any other; bytes and pipes are read in one thread."""
    import gzip

    log = case("mysql-9.7", "rotate").logs[0]
    packed = tmp_path / "binlog.000001.gz"
    packed.write_bytes(gzip.compress(log.read_bytes()))
    expected, *_ = check(str(packed), "rows")
    assert expected
    with log.open("rb") as stream:
        assert b"".join(rows(stream, 3)).count(b"\n") == b"".join(expected).count(b"\n")
    assert thread_count(None, [Source.of_bytes(b"")]) == 1
    assert thread_count(4, [Source.of_path(str(log))]) == 4
    assert thread_count(4, [_part_of(log)]) == 1


def _part_of(log: Path) -> Source:
    from dataclasses import replace

    return replace(Source.of_path(str(log)), span=Span())


def test_a_small_log_starts_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FROM", 16 << 20)

    def refuse(*_: Any) -> Any:
        raise AssertionError("a thread was started")

    monkeypatch.setattr(module, "side_by_side", refuse)
    assert list(rows(str(case("mysql-9.7", "rotate").logs[0]), 2))


@pytest.mark.parametrize(("processors", "expected"), [(1, 1), (3, 3), (64, 4)])
def test_rows_are_read_in_a_thread_per_processor(
    processors: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int | None] = []

    def count(threads: int | None, sources: list[Source]) -> int:
        asked.append(threads)
        return 1

    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(processors)))
    monkeypatch.setattr(log_pages, "thread_count", count)
    log = str(case("mysql-9.7", "rotate").logs[0])
    bk.read_changes(log)
    next(write_rows(log))
    assert asked == [expected, expected]


@pytest.mark.parametrize("threads", [0, -1])
def test_a_number_of_threads_that_makes_no_sense(threads: int) -> None:
    with pytest.raises(bk.UsageError, match="at least 1"):
        bk.read_changes(str(case("mysql-9.7", "rotate").logs[0]), threads=threads)


class Items:
    """Numbers as items; records which are in use."""

    def __init__(self, count: int, fails_at: int | None = None) -> None:
        self.made = self.done = self.most = 0
        self._count, self._fails_at = count, fails_at
        self._lock = threading.Lock()

    def __call__(self) -> Generator[int, None, None]:
        for number in range(self._count):
            if number == self._fails_at:
                raise ValueError(f"item {number}")
            with self._lock:
                self.made += 1
                self.most = max(self.most, self.made - self.done)
            yield number

    def finished(self) -> None:
        with self._lock:
            self.done += 1


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_few_items_are_in_use_at_a_time(threads: int) -> None:
    items, found = Items(60), list[int]()

    def work(number: int) -> Iterator[int]:
        time.sleep(0.001 * (number % 3))
        yield number
        yield -number

    for result in in_order(items(), work, threads, lambda number: 1):
        found.append(result)
        if result <= 0 and len(found) % 2 == 0:
            items.finished()
    assert found == [sign * number for number in range(60) for sign in (1, -1)]
    # With threads: those there is room for, and one for which there is not; and the next one.
    most = 1 if threads == 1 else threads + module._WAITING + 1
    assert items.most <= most + 1


def test_an_error_comes_after_the_results_before_it() -> None:
    def work(number: int) -> Iterator[int]:
        yield number
        if number == 7:
            raise KeyError(number)

    for fails_at, kind, count in ((None, KeyError, 8), (5, ValueError, 5)):
        results = in_order(Items(20, fails_at)(), work, 3, lambda number: 1)
        assert [next(results) for _ in range(count)] == list(range(count))
        with pytest.raises(kind):
            next(results)


def test_a_large_item_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its results are not collected: each is made when it is asked for."""
    monkeypatch.setattr(module, "_LARGE", 10)
    active, most_beside = set[int](), [0]

    def work(number: int) -> Iterator[tuple[int, str]]:
        active.add(number)
        if number % 4 == 0:
            most_beside[0] = max(most_beside[0], len(active) - 1)
        yield number, threading.current_thread().name
        time.sleep(0.001)
        active.discard(number)

    found = list(side_by_side(Items(17)(), work, 3, lambda number: 11 if number % 4 == 0 else 1))
    assert [number for number, _ in found] == list(range(17))
    own = threading.current_thread().name
    assert all((name == own) == (number % 4 == 0) for number, name in found)
    assert most_beside == [0]


def test_threads_end_with_their_reader() -> None:
    before = threading.active_count()
    results = side_by_side(Items(1000)(), lambda number: (number,), 3, lambda number: 1)
    for _ in range(10):
        next(results)
    assert threading.active_count() > before
    results.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before


def test_repair_and_thorough_checks_do_not_depend_on_threads() -> None:
    for path in sample([path for path in all_files() if path.parts[-3] == "damaged"], 4):
        found = [
            report_object(scan(Source.of_path(str(path)), is_thorough=True, threads=one)) for one in (1, 3)
        ]
        assert found[0] == found[1]
