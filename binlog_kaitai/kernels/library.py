"""Loads the shared library of compiled kernels and calls its functions.

The library has a table of its kernels, and the code of each for several processor levels. The entry point of
a kernel is `int entry(record, result)`. The record has eight bytes for each number; for an array, it has the
address of its data and its shape. The return value is nonzero if the kernel raised an exception.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
from collections.abc import Callable
from functools import cache
from itertools import chain
from typing import NamedTuple, TypeGuard

import numpy as np

from binlog_kaitai.kernels.arrays import Array

#: Arrays up to this size are kept when freed; and so much memory in all, in bytes: glibc's own maxima.
_ARRAY, _KEPT = 32 << 20, 64 << 20

#: So many arenas for all threads: what one of them frees, another uses.
_ARENAS = 2

#: Size of a huge page, in bytes.
_HUGE = 2 << 20

#: Parameters of mallopt, from malloc.h.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8

_SETTINGS = "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_ARENA_MAX", "GLIBC_TUNABLES"


def keep_freed_memory() -> None:
    """Set the limits, unless the environment sets any; does nothing with another C library than glibc."""
    if os.name == "nt":
        return
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt") and not any(map(os.environ.get, _SETTINGS)):
        libc.mallopt(_M_MMAP_THRESHOLD, _ARRAY)
        libc.mallopt(_M_TRIM_THRESHOLD, _KEPT)
        libc.mallopt(_M_ARENA_MAX, _ARENAS)
        _ask_for_huge_pages(libc)


def _ask_for_huge_pages(libc: ctypes.CDLL) -> None:
    """Let the system use huge pages for the memory that is kept; each page costs a fault when first used."""
    libc.malloc.restype = ctypes.c_void_p
    size = ctypes.c_size_t(_ARRAY - _HUGE)
    starts = [start for _ in range(_KEPT // _ARRAY) if (start := libc.malloc(size)) is not None]
    for start in starts:
        begin, end = start + -start % _HUGE, start + size.value
        libc.madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), mmap.MADV_HUGEPAGE)
    for start in reversed(starts):
        libc.free(ctypes.c_void_p(start))


_ENDING = "dll" if os.name == "nt" else "so"

#: The library, the one with bounds checks, which only tools build, and, if the first could not be built, the
#: file with the reason.
LIBRARY, CHECKED, REASON = (
    os.path.join(os.path.dirname(__file__), name)
    for name in (f"libkernels.{_ENDING}", f"libkernels-checked.{_ENDING}", "libkernels.txt")
)

#: Formats of the numbers in the record, by kind of type.
_NUMBERS = {"b": "?7x", "i": "q", "u": "Q", "f": "d"}

#: Kinds of Python and NumPy number types, and the kinds that a parameter accepts.
_PYTHON = {bool: "b", int: "i", float: "f"}
_TAKEN = {"b": "b", "i": "iu", "u": "iu", "f": "fiu"}


class ArgumentType(NamedTuple):
    """Type of an argument: its dtype, dimensions (0 for a number), and whether the kernel writes to it."""

    dtype: str
    ndim: int
    is_written: bool


def argument_types(signature: str) -> list[ArgumentType]:
    """The types of the arguments, in order; see `tools/kernels/annotations.py`."""
    parts = ((word, *word.partition("[")) for word in signature.split())
    return [
        ArgumentType(dtype, rest.count(",") + 1 if bracket else 0, word.endswith("*"))
        for word, dtype, bracket, rest in parts
    ]


class KernelRow(NamedTuple):
    """A kernel in the table of a library.

    `signature`: types of its arguments, see `argument_types`.
    `entry`: symbol, without the processor level.
    `fingerprint`: digest of the source, see `compile.fingerprint`; empty in an installed package.
    `result`: the returned values, as `struct` formats; preceded by `1` for a single value.
    """

    name: str
    signature: str
    entry: str
    fingerprint: str
    result: str


class Library:
    """A shared library of kernels.

    Raises `OSError`: the file does not exist, or is for another platform.
    """

    def __init__(self, path: str) -> None:
        self._library = ctypes.CDLL(path)
        self._level = self._library.binlog_kaitai_level()
        if self._level < 0:
            raise OSError(f"{os.path.basename(path)} has no code for a processor as old as this one")
        table = ctypes.string_at(self._library.binlog_kaitai_kernels).decode()
        self.rows = {row.name: row for row in (KernelRow(*line.split("\t")) for line in table.splitlines())}

    def kernel(self, name: str) -> MachineCode:
        """A kernel of the library; KeyError if it does not contain it."""
        row = self.rows[name]
        entry = self._library[f"{row.entry}_{self._level}"]
        entry.argtypes = (ctypes.c_char_p, ctypes.c_void_p)
        return MachineCode(row, entry)


@cache
def library(path: str) -> Library | OSError:
    """The library in a file, loaded once, or the reason why it is not available."""
    keep_freed_memory()
    try:
        return Library(path)
    except OSError as error:
        if path == LIBRARY and os.path.exists(REASON):
            with open(REASON) as file:
                return OSError(file.read().strip())
        return error


class MachineCode:
    """A compiled kernel, called like the function it was compiled from.

    Raises `TypeError`: on a call: an argument has a type that the kernel is not compiled for;
    `OverflowError`: on a call: an integer is too large for its type.
    """

    def __init__(self, row: KernelRow, entry: _Entry) -> None:
        self._row = row
        self._kinds = argument_types(row.signature)
        slots = "".join(
            "P" + "q" * kind.ndim if kind.ndim else _NUMBERS[kind.dtype[0]] for kind in self._kinds
        )
        self._call = _caller(entry, slots, row.result, row.name)
        #: Argument types already accepted.
        self._known: set[tuple[object, ...]] = set()

    def __call__(self, *arguments: object) -> object:
        if any(map(_is_group, arguments)):
            arguments = tuple(chain.from_iterable(item if _is_group(item) else (item,) for item in arguments))
        types: list[object] = []
        values: list[object] = []
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                flags = argument.flags
                is_plain = flags.carray or (flags.c_contiguous and flags.aligned and 2)
                types += (argument.dtype, argument.ndim, is_plain)
                values += (_address(argument), *argument.shape)
            else:
                types.append(type(argument))
                values.append(argument)
        key = tuple(types)
        if key not in self._known:
            if any(map(_is_scattered, arguments)):
                return self._with_copies(arguments)
            self._check(arguments)
            self._known.add(key)
        try:
            return self._call(values)
        except struct.error as error:
            message = f"{self._row.name} was given an integer that is too large: {error}"
            raise OverflowError(message) from error

    def _with_copies(self, arguments: tuple[object, ...]) -> object:
        """Call with contiguous copies of non-contiguous arrays; outputs are copied back."""
        scattered = {number: array for number, array in enumerate(arguments) if _is_scattered(array)}
        copies = {number: np.array(array, order="C") for number, array in scattered.items()}
        for number, array in scattered.items():
            copies[number].flags.writeable = array.flags.writeable
        result = self(*(copies.get(number, argument) for number, argument in enumerate(arguments)))
        for number, array in scattered.items():
            if array.flags.writeable:
                array[...] = copies[number]
        return result

    def _check(self, arguments: tuple[object, ...]) -> None:
        if len(arguments) != len(self._kinds):
            raise TypeError(f"{self._row.name} takes {len(self._kinds)} arguments, not {len(arguments)}")
        for number, (argument, kind) in enumerate(zip(arguments, self._kinds, strict=True)):
            if reason := _mismatch(argument, kind):
                wanted = self._row.signature.split()[number]
                raise TypeError(
                    f"argument {number} of {self._row.name} is {reason}; it is compiled for {wanted}"
                )


def _is_group(argument: object) -> TypeGuard[tuple[object, ...]]:
    """Whether it is a named tuple of arrays, whose items machine code takes one by one."""
    return isinstance(argument, tuple)


def _is_scattered(argument: object) -> TypeGuard[Array]:
    """Whether it is an array that is not contiguous, which machine code requires."""
    if not isinstance(argument, np.ndarray):
        return False
    return argument.ndim > 0 and not (argument.flags.c_contiguous and argument.flags.aligned)


def _mismatch(argument: object, kind: ArgumentType) -> str:
    """Why an argument does not match; empty if it does."""
    if not isinstance(argument, np.ndarray):
        number = argument.dtype.kind if isinstance(argument, np.generic) else _PYTHON.get(type(argument), "")
        is_match = not kind.ndim and number and number in _TAKEN[kind.dtype[0]]
        return "" if is_match else f"a {type(argument).__name__}"
    if argument.ndim != kind.ndim or not argument.ndim or argument.dtype != np.dtype(kind.dtype):
        return f"an array of {argument.dtype} with {argument.ndim} dimensions"
    return "a read-only array" if kind.is_written and not argument.flags.writeable else ""


#: The C function of a kernel: takes packed arguments and room for the result, and returns a status.
_Entry = Callable[[bytes, object], int]


def _caller(entry: _Entry, slots: str, result: str, name: str) -> Callable[[list[object]], object]:
    pack = struct.Struct("@" + slots).pack
    values_of = struct.Struct("@" + result)
    room = ctypes.c_char * max(values_of.size, 16)
    # ctypes releases the GIL during the call.
    nowhere = room()

    def check(status: int) -> None:
        if status:
            raise RuntimeError(f"{name} raised an exception; machine code reports only its number: {status}")

    def call(values: list[object]) -> object:
        results = room()
        check(entry(pack(*values), results))
        return unpack(results)

    def call_for_one(values: list[object]) -> object:
        results = room()
        check(entry(pack(*values), results))
        return unpack(results)[0]

    def call_for_none(values: list[object]) -> None:
        check(entry(pack(*values), nowhere))

    unpack = values_of.unpack_from
    if not result:
        return call_for_none
    return call_for_one if result.startswith("1") else call


_HEAD, _number_at = object.__basicsize__, ctypes.c_size_t.from_address


def _first_field(array: Array) -> int:
    """Address of an array's data, which NumPy's ABI stores directly after the object header."""
    return _number_at(id(array) + _HEAD).value


def _documented(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


#: The documented way takes ten times as long.
_address = _first_field if _first_field(probe := np.ones(3)) == _documented(probe) else _documented
