"""Kernels: small functions over arrays, run as they are or as machine code.

A kernel is plain Python that Numba can compile. It takes arrays and numbers, checks every bound itself, and
gives the same result either way. Compiling takes seconds, so it is done only when there is much to do;
machine code is kept on disk for the next process, which loads it in less time than some hundred KB take
without.
"""

from __future__ import annotations

import os
import types
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from binlog_kaitai.columns import kept_code
from binlog_kaitai.columns.kernel_mode import MODE, Mode
from binlog_kaitai.columns.machine_code import MachineCode

#: Bytes of work, of all kernels of the process, from which it pays to load machine code that is kept, and
#: from which a kernel is compiled that has none: that takes longer, but once for all processes.
LOAD_FROM = 256 << 10
COMPILE_FROM = 2 << 20

_work_done = 0

_inlined: set[Callable[..., Any]] = set()

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Kernel:
    """A function that can be run plain or compiled.

    Attributes
    ----------
    plain : callable
        The function as written.
    uncompiled : callable
        What to run for little work: the same, or a function of the same meaning that is faster uncompiled.
    """

    def __init__(self, function: Callable[..., Any], uncompiled: Callable[..., Any] | None = None) -> None:
        self.plain = function
        self.uncompiled = uncompiled or function
        self._compiled: Callable[..., Any] | None = None

    @property
    def compiled(self) -> Callable[..., Any]:
        """The machine code, found or made at the first call with arguments of some types."""
        if self._compiled is None:
            is_off = MODE is Mode.PYTHON or os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
            plain = self.plain
            self._compiled = plain if is_off else MachineCode(plain, lambda: told(plain))
        return self._compiled

    def for_work(self, size: int) -> Callable[..., Any]:
        """The better one for `size` bytes of work, after all that there was before."""
        global _work_done
        if MODE is not Mode.AUTO:
            return self.uncompiled if MODE is Mode.PYTHON else self.compiled
        _work_done += size
        if self._compiled is not None or _work_done >= COMPILE_FROM:
            return self.compiled
        is_near = _work_done >= LOAD_FROM and kept_code.has(self.plain.__name__)
        return self.compiled if is_near else self.uncompiled

    def __call__(self, *arguments: Any) -> Any:
        # Kernels call each other by this; the compiled ones find compiled ones.
        return self.uncompiled(*arguments)


def note_work(size: int) -> None:
    """Count bytes of work done otherwise, which the next call of `for_work` takes into account."""
    global _work_done
    _work_done += size


def kernel(function: Callable[..., Any]) -> Kernel:
    """Make a kernel of a function that uses arrays, numbers, kernels, and functions of its module only."""
    return Kernel(function)


def kernel_or(uncompiled: Callable[..., Any]) -> Callable[[Callable[..., Any]], Kernel]:
    """Make a kernel that has a function of the same meaning beside it, for work too little to compile it."""
    return lambda function: Kernel(function, uncompiled)


def inlined(function: _Function) -> _Function:
    """Have a small function put into each kernel that calls it.

    To call it takes some twenty instructions for each array that it is given.
    """
    _inlined.add(function)
    return function


def is_inlined(function: Callable[..., Any]) -> bool:
    """Whether a function is to be put into what calls it."""
    return function in _inlined


def called_by(function: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """The plain functions that are compiled with one, by name: kernels, and functions of its module."""
    found = {}
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if isinstance(value, Kernel):
            found[name] = value.plain
        elif isinstance(value, types.FunctionType) and value.__module__ == function.__module__:
            found[name] = value
    return found


def told(function: Callable[..., Any]) -> str:
    """What tells the code of a function, and of all that is compiled with it."""
    seen, ahead = {function}, [function]
    while ahead:
        new = [one for one in called_by(ahead.pop()).values() if one not in seen]
        seen.update(new)
        ahead += new
    return "\n".join(sorted(map(_told_alone, seen)))


def _told_alone(function: Callable[..., Any]) -> str:
    code = function.__code__
    constants = [one for one in code.co_consts if one != function.__doc__]
    names = [(name, _told_value(function.__globals__.get(name))) for name in code.co_names]
    how = "inlined " if is_inlined(function) else ""
    return f"{how}{function.__module__} {function.__qualname__} {code.co_code.hex()} {constants} {names}"


def _told_value(value: Any) -> str:
    """What a name of a module stands for, as far as machine code has it."""
    if isinstance(value, (np.ndarray, np.generic)):
        return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, tuple):
        return f"({' '.join(map(_told_value, value))})"
    return repr(value) if isinstance(value, (int, float)) else ""
