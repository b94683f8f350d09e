"""The library of kernels: machine code runs only for the types and the source that it was compiled for."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from binlog_kaitai.core.grammar import BODIES
from binlog_kaitai.kernels import compile as compiling
from binlog_kaitai.kernels.arrays import Bytes, Ints, OutInts
from binlog_kaitai.kernels.byte_kernels import read_u4
from binlog_kaitai.kernels.compile import fingerprint, inlined, kernel, name_of
from binlog_kaitai.kernels.library import LIBRARY, Library, MachineCode, argument_types, library
from tests.corpus_files import case
from tests.extent import sample
from tools.bench.make_log import shape_of, write
from tools.kernels.annotations import find_kernel, is_group, parameters, signature_of, signatures
from tools.kernels.build import BuildError, build
from tools.kernels.targets import own_level

BYTES = np.arange(8, dtype=np.uint8)


def total(values: Any, factor: int) -> int:
    found = 0
    for value in values:
        found += value * factor
    return found


def total_of_bytes(values: Any, factor: int) -> int:
    return total(values, factor)


def fill(values: Any, value: int) -> None:
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            values[row, column] = value + 10 * row + column


def of_many(number: int, is_wanted: bool, ratio: float) -> tuple[int, bool, float]:
    return number + 1, not is_wanted, ratio / 2


def divided(number: int, by: int) -> int:
    return number // by


def at(data: Any, index: int) -> Any:
    return data[index]


def sorted_out(values: Any) -> Any:
    return np.sort(values)[0]


class Sums(NamedTuple):
    data: Bytes
    out: OutInts


def add_up(sums: Sums, weights: Ints, factor: int) -> int:
    for index in range(weights.shape[0]):
        sums.out[index] = sums.data[index] * weights[index] * factor
    return sums.out.shape[0]


_SIGNATURES: dict[Callable[..., Any], str] = {
    total: "i8[] i8",
    total_of_bytes: "u1[] i8",
    fill: "i2[,]* i8",
    of_many: "i8 b1 f8",
    divided: "i8 i8",
    at: "u1[] i8",
    add_up: signature_of(add_up),
}


def made(folder: Path, *functions: Callable[..., Any], is_checked: bool = False) -> Library:
    path = folder / "kernels.so"
    own = {name_of(function): _SIGNATURES[function] for function in functions}
    build(path, own, levels=[own_level()], is_checked=is_checked)
    return Library(str(path))


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Callable[..., Any]], MachineCode]:
    """The machine code of each function above."""
    found = made(tmp_path_factory.mktemp("library"), *_SIGNATURES)
    return lambda function: found.kernel(name_of(function))


def test_numbers_and_arrays_are_passed_and_returned(code: Any) -> None:
    assert code(total)(np.array([5, -7, 1 << 62]), 2) == (1 << 63) - 4
    assert code(total_of_bytes)(np.array([1, 255], dtype=np.uint8), np.int64(-1)) == -256
    assert code(total)(np.empty(0, dtype=np.int64), np.uint8(2)) == 0
    assert code(of_many)(1, True, 3.0) == (2, False, 1.5)
    assert code(of_many)(-(1 << 63), np.bool_(False), np.float64(-1)) == (1 - (1 << 63), True, -0.5)
    room = np.zeros((2, 3), dtype=np.int16)
    assert code(fill)(room, 5) is None
    assert room.tolist() == [[5, 6, 7], [15, 16, 17]]


def test_arguments_that_belong_together_are_a_named_tuple(code: Any) -> None:
    assert signature_of(add_up) == "u1[] i8[]* i8[] i8"
    sums = Sums(np.array([2, 3], dtype=np.uint8), np.zeros(2, dtype=np.int64))
    assert code(add_up)(sums, np.array([5, 7]), -1) == 2
    assert sums.out.tolist() == [-10, -21]
    sums.out.flags.writeable = False
    with pytest.raises(TypeError, match=r"argument 1 of .*add_up is a read-only array"):
        code(add_up)(sums, np.array([5, 7]), -1)


@pytest.mark.parametrize(
    "values",
    [[1], "1", None, 1, BYTES, np.array(1), np.array([1], dtype=">i8"), np.ones((1, 1), dtype=np.int64)],
    ids=str,
)
def test_arguments_of_other_types_are_rejected(values: Any, code: Any) -> None:
    with pytest.raises(TypeError, match=r"argument 0 of .*total is .*; it is compiled for i8\[\]"):
        code(total)(values, 1)


@pytest.mark.parametrize("number", [1.0, True, "1", BYTES])
def test_numbers_of_other_types_are_rejected(number: Any, code: Any) -> None:
    with pytest.raises(TypeError, match=r"argument 1 of .*total is"):
        code(total)(np.ones(1, dtype=np.int64), number)


def test_another_number_of_arguments_is_rejected(code: Any) -> None:
    with pytest.raises(TypeError, match="total takes 2 arguments, not 1"):
        code(total)(np.ones(1, dtype=np.int64))


def test_strided_and_unaligned_arrays_are_read_and_written(code: Any) -> None:
    assert code(total_of_bytes)(BYTES[::2], 1) == 12
    assert code(total)(np.ones(17, dtype=np.uint8)[1:].view(np.int64), 1) == 2 * 0x0101010101010101
    whole = np.zeros((3, 4), dtype=np.int16)
    code(fill)(whole.T[::2], 5)
    assert whole.tolist() == [[5, 0, 15, 0], [6, 0, 16, 0], [7, 0, 17, 0]]


@pytest.mark.parametrize("factor", [1 << 63, -(1 << 63) - 1])
def test_integers_do_not_wrap(factor: int, code: Any) -> None:
    with pytest.raises(OverflowError, match="total"):
        code(total_of_bytes)(BYTES, factor)


def test_arrays_that_are_read_only_stay_so(code: Any) -> None:
    values = np.ones((2, 2), dtype=np.int16)
    values.flags.writeable = False
    for one in (values, values.T):
        with pytest.raises(TypeError, match="a read-only array"):
            code(fill)(one, 5)
    assert values.all()


def test_a_kernel_that_writes_must_say_so(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="Cannot modify readonly array"):
        build(tmp_path / "kernels.so", {name_of(fill): "i2[,] i8"}, levels=[own_level()])


def test_a_kernel_that_needs_numba_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="sorted_out"):
        build(tmp_path / "kernels.so", {name_of(sorted_out): "i8[]"}, levels=[own_level()])


def test_an_exception_in_machine_code_is_one(code: Any) -> None:
    assert code(divided)(7, -2) == -4
    with pytest.raises(RuntimeError, match="divided raised an exception"):
        code(divided)(7, 0)


def test_bounds_can_be_checked(tmp_path: Path) -> None:
    checked = made(tmp_path, at, is_checked=True).kernel(name_of(at))
    assert checked(BYTES, 3) == 3
    with pytest.raises(RuntimeError, match="at raised an exception"):
        checked(BYTES[:4], 6)


def test_unchanged_kernels_are_not_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path, at)
    (tmp_path / "kernels.so").unlink()
    monkeypatch.setattr(subprocess, "Popen", None)
    with pytest.raises(TypeError):  # to link it is a process
        made(tmp_path, at)


def test_without_a_compiler_the_build_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setitem(sys.modules, "ziglang", None)
    with pytest.raises(BuildError, match="no C compiler"):
        build(tmp_path / "kernels.so", signatures())


def test_there_is_machine_code_of_all_kernels_as_they_are() -> None:
    found = library(LIBRARY)
    assert isinstance(found, Library)
    assert set(found.rows) == set(signatures())
    for name, row in found.rows.items():
        function = find_kernel(name)
        assert row.fingerprint == fingerprint(function)
        arguments = [len(one._fields) if is_group(one) else 1 for one in parameters(function).values()]
        assert len(argument_types(row.signature)) == sum(arguments)
        assert callable(found.kernel(name))


def test_there_is_machine_code_of_all_walks() -> None:
    fields = [field for layout in BODIES.values() for field in layout.fields]
    walks = {walk for field in fields if (walk := getattr(field, "walk", None))}
    assert walks
    assert {f"binlog_grammar.walks.{walk}" for walk in walks} <= set(signatures())


def test_an_edited_kernel_runs_as_python_until_it_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    edited = kernel(eval(f"lambda data, at: {at.__code__.co_argcount}"))
    edited.plain.__module__ = read_u4.plain.__module__
    edited.plain.__qualname__ = read_u4.plain.__qualname__
    monkeypatch.setattr(compiling, "_complaints", set())
    with pytest.warns(
        RuntimeWarning, match="read_u4 has changed since .* was built; it runs as plain Python"
    ):
        assert edited.run(BYTES, 0) == 2
    assert read_u4.run(BYTES, np.uint64(1)) == 0x04030201


def test_a_kernel_without_a_signature_runs_as_python_with_one_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compiling, "_complaints", set())
    with pytest.warns(RuntimeWarning, match="has no kernel .*total; it runs as plain Python"):
        assert kernel(total).run(BYTES, 1) == 28
    with warnings.catch_warnings(action="error"):
        assert kernel(total).run(BYTES, 1) == 28


def test_a_fingerprint_covers_everything_that_a_function_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    def uses() -> Any:
        return VALUE

    seen = set()
    for value in (1, 2, 1.0, np.uint64(1), (1, 2), (1, 3), np.arange(3000), np.arange(3000) // 2999):
        monkeypatch.setitem(globals(), "VALUE", value)
        seen.add(fingerprint(uses))
    seen.add(fingerprint(inlined(uses)))
    assert len(seen) == 9


VALUE: Any = 0


@pytest.mark.parametrize("task", sample(["verify", "batches", "changes", "dump", "stats"], 2))
def test_no_compiler_is_loaded(task: str, tmp_path: Path) -> None:
    log = tmp_path / "binlog.000001"
    write(shape_of("small", case("mysql-9.7", "types_metadata").logs[0], event_size=60), log, 5_000_000)
    program = (
        "import sys; from tools.bench.measure import TASKS; TASKS[sys.argv[1]](sys.argv[2])\n"
        "print({'numba', 'llvmlite'} & set(sys.modules))"
    )
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", program, task, str(log)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={"PYTHONPATH": ":".join(sys.path)}
    )
    assert done.stdout.split()[-1] == "set()"
