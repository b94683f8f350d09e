"""The column `_sequence`: its text order is the order of the changes in the log."""

from __future__ import annotations

from pathlib import Path
from shutil import copy
from typing import Any

import numpy as np
import pytest

import binlog_kaitai as bk
from binlog_kaitai.kernels import compile as mode
from binlog_kaitai.rows.sequences import BY_COMMIT, era_of, put_sequences, sequences
from binlog_kaitai.sources.source import log_number, series_of
from binlog_kaitai.views.splits import plan, read_split
from tests.corpus_files import case
from tests.extent import sample
from tests.support import use_plain_kernels

TYPES = case("mysql-9.7", "types_metadata")
PACKED = case("mysql-9.7", "payloads")
COLUMNS = ["_file", "_position", "_row", "_sequence"]


def texts_of(
    numbers: list[int], file: str = "binlog.000001", *, era: int = 0, position: int = 4
) -> list[Any]:
    count = len(numbers)
    eras, positions = np.full(1, era), np.full(count, position)
    found = sequences(eras, file, positions, np.array(numbers), np.ones(count, dtype=np.bool_))
    return list(found.to_pylist())


def rows_of(source: Any, table: str | None = None, **options: Any) -> list[dict[str, Any]]:
    return list(bk.read_changes(source, table=table, **options).read_all().to_pylist())


def test_numbers_of_any_length_compare_as_numbers() -> None:
    numbers = [0, 1, 9, 10, 11, 99, 100, 12345, 999_999_999, 10**9, 10**10, 10**18, (1 << 63) - 1]
    texts = texts_of(numbers)
    assert texts == sorted(texts)
    assert texts[0] == "10.11.14.10.1"
    assert texts[3] == "10.11.14.210.1"
    assert texts[10] == "10.11.14.B10000000000.1"
    by_position = [texts_of([0], position=number)[0] for number in numbers]
    assert by_position == sorted(by_position)
    by_log = [texts_of([0], f"binlog.{number:06}")[0] for number in numbers]
    assert by_log == sorted(by_log)
    by_era = [texts_of([0], era=number)[0] for number in numbers]
    assert by_era == sorted(by_era)


def test_the_kernel_does_the_same_plain_and_compiled() -> None:
    arguments = (
        np.array([5, 5, 5, 6, 6, 6, 6]),
        12,
        np.array([4, 100, 100] + [1 << 40] * 4),
        np.array([0, 0, 12, 7, 8, 9, 10]),
        np.array([True, False] * 3 + [True]),
    )
    made = []
    for run in (put_sequences.plain, put_sequences.compiled):
        out, offsets = np.zeros(1000, dtype=np.uint8), np.zeros(8, dtype=np.int32)
        run(*arguments, out, offsets)
        made.append((bytes(out[: offsets[-1]]), offsets.tolist()))
    assert made[0] == made[1]
    assert made[0][0].startswith(b"15.212.14.10.115.212.3100.10.015.212.3100.212.116.212.D1099")
    short = np.zeros(60, dtype=np.uint8)
    put_sequences.run(*arguments, short, np.zeros(8, dtype=np.int32))
    assert not short.any()  # no room, nothing written


@pytest.mark.parametrize("name", sample(["mixed", "xa", "types_metadata", "payloads"], 1))
@pytest.mark.filterwarnings("ignore::binlog_kaitai.RolledBackWarning")
def test_text_order_is_the_order_of_the_log(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = case("mysql-9.7", name).logs
    rows = rows_of(logs)
    found = [row["_sequence"] for row in rows]
    assert found == sorted(set(found))
    names = {f"{row['schema']}.{row['table']}" for row in rows}
    images = [image for table in names for image in rows_of(logs, table)]
    by_sequence = sorted(images, key=lambda image: image["_sequence"])
    by_log = sorted(
        images,
        key=lambda image: (
            log_number(image["_file"]),
            image["_position"],
            image["_row"],
            image["_change_type"] in ("insert", "update_postimage"),
        ),
    )
    assert by_sequence == by_log
    assert len({image["_sequence"] for image in images}) == len(images)
    assert set(found) <= {image["_sequence"] for image in images}
    use_plain_kernels(monkeypatch)
    assert mode.MODE  # the kernels run as Python now
    assert [row["_sequence"] for row in rows_of(logs)] == found


def test_the_image_before_of_an_update_comes_first() -> None:
    rows = rows_of(TYPES.logs, "t.ints")
    kinds = {row["_change_type"]: row["_sequence"][-1] for row in rows}
    assert kinds["update_preimage"] == "0"
    assert kinds["update_postimage"] == "1"
    assert kinds["insert"] == "1"
    assert kinds["delete"] == "0"


def test_the_number_of_the_log_counts_not_its_name(tmp_path: Path) -> None:
    for name in ("binlog.999999", "binlog.1000000"):
        copy(TYPES.logs[0], tmp_path / name)
    rows = rows_of(str(tmp_path / "binlog.*"))
    found = [row["_sequence"] for row in rows]
    assert found == sorted(set(found))
    assert rows[-1]["_file"].endswith("binlog.1000000")


@pytest.mark.filterwarnings("ignore::binlog_kaitai.RolledBackWarning")
def test_logs_of_several_servers_are_in_the_order_of_commits(tmp_path: Path) -> None:
    logs = []
    for folder, name in (("a", "xa"), ("b", "types_metadata")):
        (tmp_path / folder).mkdir()
        logs.append(tmp_path / folder / "binlog.000007")
        copy(case("mysql-9.7", name).logs[0], logs[-1])
    assert era_of(map(str, logs)) == BY_COMMIT
    table = bk.read_changes(logs, columns=[*COLUMNS, "_commit_timestamp"]).read_all().sort_by("_sequence")
    times = table["_commit_timestamp"].to_pylist()
    assert times == sorted(times)
    micros = table["_commit_timestamp"].cast("int64").to_pylist()
    assert [text[:17] for text in table["_sequence"].to_pylist()] == [f"G{one}" for one in micros]
    assert len(set(table["_file"].to_pylist())) == 2


def test_splits_have_the_same_sequences() -> None:
    log = PACKED.logs[0]
    whole = bk.read_changes(log, columns=COLUMNS).read_all()["_sequence"].to_pylist()
    batches = [batch for split in plan(str(log), 500) for batch in read_split(split, "changes")]
    assert [value for batch in batches for value in batch["_sequence"].to_pylist()] == whole


@pytest.mark.parametrize(
    ("path", "number", "series"),
    [
        ("/data/binlog.000150", 150, ("/data", "binlog.")),
        ("binlog.1000000.zst", 1000000, ("", "binlog.")),
        ("logs/db1-bin.000002.bz2", 2, ("logs", "db1-bin.")),
        ("s3://logs/x/binlog.000012.lz4?region=eu-1", 12, ("s3://logs/x", "binlog.")),
        ("binlog-000003.ibb", 3, ("", "binlog-.ibb")),
        ("dump2.log", 0, ("", "dump2.log")),
        ("binlog." + "9" * 40, (1 << 63) - 1, ("", "binlog.")),
    ],
)
def test_the_number_of_a_log(path: str, number: int, series: tuple[str, str]) -> None:
    assert (log_number(path), series_of(path)) == (number, series)
