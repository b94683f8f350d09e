"""Machine code of kernels: loaded by LLVM, called with arrays and numbers.

Numba is imported to make it only; a process that finds all it needs among the kept files does without. The
entry of a kernel's object file is `int entry(record, result)`. The record has eight bytes for each number,
and for an array the address of its data and its shape; the entry makes of them what Numba's calling
convention wants. It gives other than 0 where the kernel raised an exception.
"""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.columns import kept_code

#: How the values of the record lie, by the kind of their type.
_NUMBERS = {"b": "?7x", "i": "q", "u": "Q", "f": "d"}

#: Types of arguments that are no NumPy type.
_TYPES = {bool: np.dtype(np.bool_), int: np.dtype(np.int64), float: np.dtype(np.float64)}

#: Addresses of entries and results of calls, by what tells the machine code; and who may look for more.
_loaded: dict[str, tuple[int, str]] = {}
_lock = threading.RLock()


class Kind(NamedTuple):
    """The type of an argument.

    Attributes
    ----------
    dtype : numpy.dtype
        Of the number, or of the values of the array.
    ndim : int
        Dimensions of the array; 0 is a number.
    is_writable : bool
        Whether the kernel may write into the array.
    """

    dtype: np.dtype[Any]
    ndim: int
    is_writable: bool

    def __str__(self) -> str:
        return f"{self.dtype.str}{self.ndim}{'w' if self.is_writable else ''}"


class MachineCode:
    """A compiled kernel, called like the function that it is made of.

    Parameters
    ----------
    function : callable
        The function.
    told : callable
        Gives what tells the code of the function and of all that it calls.

    Raises
    ------
    TypeError
        In a call: an argument that no kernel can have.
    OverflowError
        In a call: an integer that is too large for its type; of a Python integer, INT64.
    """

    def __init__(self, function: Callable[..., Any], told: Callable[[], str]) -> None:
        self._function = function
        self._name = f"{function.__module__}.{function.__qualname__}"
        self._told = told
        self._calls: dict[tuple[Any, ...], Callable[[list[Any]], Any]] = {}

    def __call__(self, *arguments: Any) -> Any:
        types: list[Any] = []
        values: list[Any] = []
        for one in arguments:
            if isinstance(one, np.ndarray):
                flags = one.flags
                types += (one.dtype, one.ndim, flags.carray or (flags.c_contiguous and flags.aligned and 2))
                values += (_address(one), *one.shape)
            else:
                types.append(type(one))
                values.append(one)
        call = self._calls.get(tuple(types))
        if call is None:
            if any(map(_is_scattered, arguments)):
                return self._with_copies(arguments)
            call = self._calls[tuple(types)] = self._prepared(arguments)
        try:
            return call(values)
        except struct.error as error:
            raise OverflowError(f"{self._name} was given an integer that is too large: {error}") from error

    def _with_copies(self, arguments: tuple[Any, ...]) -> Any:
        """Call with arrays in one piece for those that are not; what is written goes where it belongs."""
        scattered = {place: one for place, one in enumerate(arguments) if _is_scattered(one)}
        copies = {place: np.array(one, order="C") for place, one in scattered.items()}
        for place, one in scattered.items():
            copies[place].flags.writeable = one.flags.writeable
        result = self(*(copies.get(place, one) for place, one in enumerate(arguments)))
        for place, one in scattered.items():
            if one.flags.writeable:
                one[...] = copies[place]
        return result

    def _prepared(self, arguments: tuple[Any, ...]) -> Callable[[list[Any]], Any]:
        """What calls the kernel with the values of a record, for arguments of these types."""
        kinds = [_kind(one, f"argument {place} of {self._name}") for place, one in enumerate(arguments)]
        types = f"{self._name} {' '.join(map(str, kinds))}"
        told = f"{types}\n{self._told()}"
        with _lock:
            loaded = _loaded.get(told)
            if loaded is None:
                name = kept_code.name_of(self._function.__name__, types)
                loaded = _loaded[told] = self._load(kinds, name, told)
        address, result = loaded
        slots = "".join("P" + "q" * kind.ndim if kind.ndim else _NUMBERS[kind.dtype.kind] for kind in kinds)
        return _caller(address, slots, result, self._name)

    def _load(self, kinds: list[Kind], name: str, told: str) -> tuple[int, str]:
        """Find or make the machine code; gives the address of its entry, and what values a call gives."""
        from llvmlite import binding

        made = kept_code.find(name, told)
        if made is None:
            from binlog_kaitai.columns.translate import translate

            made, can_be_kept = translate(self._function, kinds)
            if can_be_kept:
                kept_code.keep(name, told, made)
        engine = _engine()
        engine.add_object_file(binding.ObjectFileRef.from_data(made.code))
        engine.finalize_object()
        return engine.get_function_address(made.entry), made.result


def _is_scattered(one: Any) -> bool:
    """Whether an array does not lie in one piece, which machine code goes by."""
    return isinstance(one, np.ndarray) and one.ndim > 0 and not (one.flags.c_contiguous and one.flags.aligned)


def _kind(one: Any, where: str) -> Kind:
    if isinstance(one, np.ndarray):
        kind = Kind(one.dtype, one.ndim, one.flags.writeable)
        is_fit = one.ndim > 0
    else:
        dtype = one.dtype if isinstance(one, np.generic) else _TYPES.get(type(one))
        kind = Kind(dtype or np.dtype(object), 0, False)
        is_fit = True
    is_number = kind.dtype.kind in "biu" or kind.dtype == np.float64
    if not (is_fit and is_number and kind.dtype.isnative):
        can_be = "it can be a number, or an array of numbers"
        raise TypeError(f"{where} is a {type(one).__name__} of {kind.dtype}; {can_be}")
    return kind


def _caller(address: int, slots: str, result: str, name: str) -> Callable[[list[Any]], Any]:
    pack = struct.Struct("@" + slots).pack
    values_of = struct.Struct("@" + result)
    room = ctypes.c_char * max(values_of.size, 16)
    # ctypes lets other threads run meanwhile.
    entry = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(address)
    nowhere = room()

    def check(status: int) -> None:
        if status:
            raise RuntimeError(f"{name} raised an exception, of which machine code tells a number: {status}")

    def call(values: list[Any]) -> Any:
        found = room()
        check(entry(pack(*values), found))
        return unpack(found)

    def call_for_one(values: list[Any]) -> Any:
        found = room()
        check(entry(pack(*values), found))
        return unpack(found)[0]

    def call_for_none(values: list[Any]) -> None:
        check(entry(pack(*values), nowhere))

    unpack = values_of.unpack_from
    if not result:
        return call_for_none
    return call_for_one if result.startswith("1") else call


_HEAD, _number_at = object.__basicsize__, ctypes.c_size_t.from_address


def _first_field(array: Any) -> int:
    """The address of an array's data, which NumPy's ABI has first behind the head of the object."""
    return _number_at(id(array) + _HEAD).value


def _documented(array: Any) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


#: The documented way takes ten times as long.
_address = _first_field if _first_field(probe := np.ones(3)) == _documented(probe) else _documented


@cache
def _engine() -> Any:
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.create_mcjit_compiler(binding.parse_assembly(""), target_machine())


@cache
def target_machine() -> Any:
    """LLVM's settings for this processor and code that is loaded where it runs, as Numba has them."""
    from llvmlite import binding

    target = binding.Target.from_triple(binding.get_process_triple())
    return target.create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=kept_code.cpu_features(),
        opt=3,
        reloc="static" if target.name.startswith("x86") else "default",
        codemodel="jitdefault",
        jit=True,
    )
