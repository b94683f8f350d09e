"""Sources that a caller may name, and the resulting files, in order."""

from __future__ import annotations

import io
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.errors import SourceError
from binlog_kaitai.sources.source import read_index, resolve

LOG = b"\xfebin"


def make(folder: Path, *names: str, content: bytes = LOG) -> None:
    for name in names:
        (folder / name).write_bytes(content)


def names(source: object) -> list[str]:
    return [Path(found.name).name for found in resolve(source)]  # type: ignore[arg-type]


def test_a_path_is_one_file(tmp_path: Path) -> None:
    make(tmp_path, "binlog.000001")
    (source,) = resolve(tmp_path / "binlog.000001")
    assert source.name == str(tmp_path / "binlog.000001")
    assert source.open().read() == LOG


def test_a_directory_gives_its_logs_by_number_and_leaves_the_rest(tmp_path: Path) -> None:
    make(tmp_path, "binlog.1000000", "binlog.999999", "binlog.000002")
    make(tmp_path, "notes.txt", content=b"not a log")
    (tmp_path / "sub").mkdir()
    assert names(tmp_path) == ["binlog.000002", "binlog.999999", "binlog.1000000"]


def test_a_directory_with_one_index_follows_the_index(tmp_path: Path) -> None:
    make(tmp_path, "binlog.000001", "binlog.000002", "old.000001")
    (tmp_path / "binlog.index").write_text("./binlog.000002\n./binlog.000001\n")
    assert names(tmp_path) == ["binlog.000002", "binlog.000001"]


def test_an_index_with_absolute_paths_is_found_beside_itself(tmp_path: Path) -> None:
    make(tmp_path, "binlog.000001")
    index = tmp_path / "binlog.index"
    index.write_text("/var/lib/mysql-elsewhere/binlog.000001\n")
    assert names(index) == ["binlog.000001"]


@pytest.mark.parametrize(
    "entry",
    [
        r".\binlog.000001",
        r"..\Data\binlog.000001",
        r"C:\ProgramData\MySQL\MySQL Server 8.4\Data\binlog.000001",
        "C:/ProgramData/MySQL/MySQL Server 8.4/Data/binlog.000001",
        r"\\files\mysql\binlog.000001",
    ],
)
def test_an_index_of_a_server_on_windows_names_files_beside_it(entry: str, tmp_path: Path) -> None:
    make(tmp_path, "binlog.000001")
    index = tmp_path / "binlog.index"
    index.write_bytes(f"{entry}\r\n".encode())
    assert names(index) == ["binlog.000001"]
    assert names(index.as_uri()) == ["binlog.000001"]


def test_a_backslash_in_a_name_is_kept_where_such_a_file_exists(tmp_path: Path) -> None:
    make(tmp_path, r"a\b.000001", "b.000001")
    for entry in ("./a\\b.000001\n", "/var/lib/mysql/a\\b.000001\n"):
        (tmp_path / "b.index").write_text(entry)
        assert names(tmp_path) == [r"a\b.000001"]


def test_an_index_that_names_a_lost_file_is_an_error(tmp_path: Path) -> None:
    index = tmp_path / "binlog.index"
    index.write_text("./binlog.000007\n")
    with pytest.raises(SourceError, match=r"binlog\.index.*binlog\.000007"):
        resolve(index)


def test_logs_may_go_while_their_index_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "binlog.000001", "binlog.000002")
    index, is_file = tmp_path / "binlog.index", os.path.isfile
    index.write_text("./binlog.000001\n./binlog.000002\n")

    def removing(path: str) -> bool:
        index.write_text("./binlog.000002\n")
        (tmp_path / "binlog.000001").unlink(missing_ok=True)
        return is_file(path)

    monkeypatch.setattr(os.path, "isfile", removing)
    assert [Path(path).name for path in read_index(str(index))] == ["binlog.000002"]


def test_a_pattern_gives_its_matches_by_number(tmp_path: Path) -> None:
    make(tmp_path, "binlog.000010", "binlog.000009", "binlog.index")
    assert names(str(tmp_path / "binlog.*")) == ["binlog.000009", "binlog.000010"]


@pytest.mark.parametrize("name", ["nothing", "nothing.*"])
def test_nothing_there_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(SourceError, match="no "):
        resolve(str(tmp_path / name))


def test_an_empty_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="contains no binary logs"):
        resolve(tmp_path)


def test_several_sources_come_one_after_the_other(tmp_path: Path) -> None:
    make(tmp_path, "a.000001", "b.000001")
    assert names([tmp_path / "b.000001", str(tmp_path / "a.000001")]) == ["b.000001", "a.000001"]


def test_bytes_and_streams_are_sources() -> None:
    assert resolve(LOG)[0].open().read() == LOG
    stream = io.BytesIO(LOG)
    source = resolve(stream)[0].open()
    assert source.read() == LOG
    source.close()
    assert not stream.closed


@pytest.mark.parametrize("name", ["binlog.000001", "binlog.*"])
@pytest.mark.parametrize("form", ["{}/{}", "file://{}/{}"])
def test_a_missing_file_is_an_error_of_the_system_too(name: str, form: str, tmp_path: Path) -> None:
    path = form.format(tmp_path, name)
    with pytest.raises(SourceError, match=r"no such file|no file matches") as raised:
        resolve(path)
    assert isinstance(raised.value, FileNotFoundError)
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (type(copy), str(copy), copy.file) == (type(raised.value), str(raised.value), path)


def test_a_file_that_vanishes_before_it_is_read(tmp_path: Path) -> None:
    make(tmp_path, "binlog.000001")
    log = bk.open(tmp_path / "binlog.000001")
    (tmp_path / "binlog.000001").unlink()
    with pytest.raises(FileNotFoundError, match="No such file") as raised:
        next(iter(log))
    assert isinstance(raised.value, SourceError)
    assert raised.value.file == str(tmp_path / "binlog.000001")


@pytest.mark.parametrize("source", [5, None, [5]], ids=str)
def test_sources_of_other_types_are_named(source: Any) -> None:
    kind = "NoneType" if source is None else "int"
    for read in (bk.open, bk.read_changes, bk.verify, bk.stats, bk.gtids):
        with pytest.raises(TypeError, match=rf"source must be str \| PathLike.*, not (list\[)?{kind}\]?$"):
            read(source)
