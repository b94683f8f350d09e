"""Machine code: called with what it was made for, kept, and found again only where nothing has changed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from binlog_kaitai.columns import kept_code, machine_code
from binlog_kaitai.columns.compile import inlined, kernel, told
from binlog_kaitai.columns.machine_code import MachineCode
from tests.corpus_files import case
from tools.bench.make_log import shape_of, write

#: What a process says of itself when it is done.
LOADED = "\nprint('numba' in sys.modules, 'llvmlite' in sys.modules, 'pyarrow' in sys.modules)"

BYTES = np.arange(8, dtype=np.uint8)


def total(values: Any, factor: int) -> int:
    found = 0
    for value in values:
        found += value * factor
    return found


def fill(values: Any, value: int) -> None:
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            values[row, column] = value + 10 * row + column


def of_many(number: int, is_wanted: bool, ratio: float) -> tuple[int, bool, float]:
    return number + 1, not is_wanted, ratio / 2


def divided(number: int, by: int) -> int:
    return number // by


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for machine code, and nothing loaded."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(machine_code, "_loaded", {})
    return tmp_path


def compiled(function: Callable[..., Any]) -> MachineCode:
    return MachineCode(function, lambda: told(function))


def run(program: str, *arguments: str, folder: Path | None = None) -> list[str]:
    environment = {"PYTHONPATH": ":".join(sys.path)}
    if folder is not None:
        environment["NUMBA_CACHE_DIR"] = str(folder)
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.split()


def test_numbers_and_arrays_come_and_go(folder: Path) -> None:
    assert compiled(total)(np.array([5, -7, 1 << 62]), 2) == (1 << 63) - 4
    assert compiled(total)(np.array([1, 255], dtype=np.uint8), np.int64(-1)) == -256
    assert compiled(total)(np.empty(0, dtype=np.int32), 2) == 0
    assert compiled(of_many)(1, True, 3.0) == (2, False, 1.5)
    assert compiled(of_many)(-(1 << 63), np.bool_(False), np.float64(-1)) == (1 - (1 << 63), True, -0.5)
    room = np.zeros((2, 3), dtype=np.int16)
    assert compiled(fill)(room, 5) is None
    assert room.tolist() == [[5, 6, 7], [15, 16, 17]]


@pytest.mark.parametrize(
    "values",
    [[1], "1", None, np.array(1), np.array([1], dtype=">i4"), np.array(["a"])],
    ids=str,
)
def test_what_no_kernel_can_have_is_refused(values: Any) -> None:
    with pytest.raises(TypeError, match=r"argument 0 of .*total is a"):
        compiled(total)(values, 1)


def test_arrays_in_pieces_are_read_and_written(folder: Path) -> None:
    assert compiled(total)(BYTES[::2], 1) == 12
    assert compiled(total)(np.ones(17, dtype=np.uint8)[1:].view(np.int64), 1) == 2 * 0x0101010101010101
    whole = np.zeros((3, 4), dtype=np.int16)
    compiled(fill)(whole.T[::2], 5)
    assert whole.tolist() == [[5, 0, 15, 0], [6, 0, 16, 0], [7, 0, 17, 0]]
    whole.flags.writeable = False
    with pytest.raises(Exception, match="Cannot modify readonly array"):
        compiled(fill)(whole.T, 5)


@pytest.mark.parametrize("factor", [1 << 63, -(1 << 63) - 1])
def test_integers_do_not_wrap(factor: int) -> None:
    with pytest.raises(OverflowError, match="total"):
        compiled(total)(BYTES, factor)


def test_arrays_that_are_read_only_stay_so(folder: Path) -> None:
    values = np.ones((2, 2))
    values.flags.writeable = False
    with pytest.raises(Exception, match="Cannot modify readonly array"):
        compiled(fill)(values, 5)
    assert compiled(total)(values[0], 1) == 2
    assert values.all()


def test_an_exception_in_machine_code_is_one(folder: Path) -> None:
    assert compiled(divided)(7, -2) == -4
    with pytest.raises(RuntimeError, match="divided raised an exception"):
        compiled(divided)(7, 0)


def test_what_is_kept_is_found_again(folder: Path) -> None:
    made = kept_code.Made(bytes(range(256)), "entry", "1q")
    kept_code.keep("total", "told", made)
    assert kept_code.find("total", "told") == made
    assert kept_code.find("total", "told otherwise") is None
    assert kept_code.find("other", "told") is None


def test_a_damaged_file_is_none(folder: Path) -> None:
    kept_code.keep("total", "told", kept_code.Made(b"code", "entry", ""))
    (file,) = folder.iterdir()
    content = file.read_bytes()
    for size in range(len(content)):
        file.write_bytes(content[:size])
        assert kept_code.find("total", "told") is None
        file.write_bytes(content[:size] + bytes([content[size] ^ 1]) + content[size + 1 :])
        assert kept_code.find("total", "told") is None
    file.write_bytes(content + b"\0")
    assert kept_code.find("total", "told") is None
    file.write_bytes(content)
    assert kept_code.find("total", "told") is not None


def test_damaged_machine_code_is_made_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiled(total)(BYTES, 1) == 28
    (file,) = folder.iterdir()
    content = file.read_bytes()
    file.write_bytes(content[:-1])
    monkeypatch.setattr(machine_code, "_loaded", {})
    assert compiled(total)(BYTES, 1) == 28
    assert len(file.read_bytes()) == len(content)


def test_other_code_of_the_same_name_is_not_taken(folder: Path) -> None:
    def other(values: Any, factor: int) -> int:
        return len(values) - factor

    other.__name__, other.__qualname__ = total.__name__, total.__qualname__
    assert compiled(total)(BYTES, 5) == 140
    assert compiled(other)(BYTES, 5) == 3
    assert compiled(total)(BYTES, 5) == 140


def test_all_that_a_function_goes_by_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def uses() -> Any:
        return VALUE

    seen = set()
    for value in (1, 2, 1.0, np.uint64(1), (1, 2), (1, 3), np.arange(3000), np.arange(3000) // 2999):
        monkeypatch.setitem(globals(), "VALUE", value)
        seen.add(told(uses))
    seen.add(told(inlined(uses)))
    assert len(seen) == 9


VALUE: Any = 0

ADD_UP = """
import sys, numpy
from binlog_kaitai.columns.kernels import read_u4
print(read_u4.compiled(numpy.arange(8, dtype=numpy.uint8), numpy.uint64(1)), end=" ")
""" + LOADED
FOUND = str(0x04030201)


def test_processes_may_make_the_same_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", ADD_UP]
    environment = {"PYTHONPATH": ":".join(sys.path), "NUMBA_CACHE_DIR": str(tmp_path)}
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(2)]
    assert [one.communicate()[0].split()[0] for one in both] == [FOUND, FOUND]
    assert len(list(tmp_path.iterdir())) == 1
    assert run(ADD_UP, folder=tmp_path) == [FOUND, "False", "True", "False"]


def test_kernels_compile_where_nothing_can_be_written(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_bytes(b"")
    assert run(ADD_UP, folder=place)[:2] == [FOUND, "True"]


def test_a_small_log_does_without_machine_code() -> None:
    program = """
import sys
from binlog_kaitai.columns.events import write_json
assert sum(len(lines) for lines in write_json(sys.argv[1])) > 1000
"""
    log = Path(__file__).parents[1] / "corpus/mysql-9.7/xa/binlog.000001"
    assert run(program + LOADED, str(log)) == ["False", "False", "False"]


@pytest.mark.parametrize("task", ["verify", "batches", "changes", "dump", "stats"])
def test_a_process_that_finds_machine_code_does_without_numba(task: str, tmp_path: Path) -> None:
    log = tmp_path / "binlog.000001"
    write(shape_of("small", case("mysql-9.7", "types_metadata").logs[0], event_size=60), log, 5_000_000)
    program = "import sys; from tools.bench.measure import TASKS; TASKS[sys.argv[1]](sys.argv[2])" + LOADED
    run(program, task, str(log))
    assert run(program, task, str(log))[:2] == ["False", "True"]


def test_a_kernel_may_be_had_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert kernel(total).compiled is total
