"""Kernels: small functions over arrays, run as they are or compiled by Numba.

A kernel is plain Python that Numba can compile. It takes arrays and integers, checks every bound itself,
and gives the same result either way. Importing Numba costs more than reading a file of some KB, so a kernel
is compiled only when there is much to do; machine code is kept on disk for the next process.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

#: Bytes of work, of all kernels of the process, from which compiled ones pay, their loading included.
COMPILE_FROM = 2 << 20

#: What machine code has of a module's names.
_NUMBERS = (int, float, np.generic, np.ndarray)

#: Kernels make no arrays. Without Numba's memory management, it does not count in each of them that calls
#: another how often an array is in use, which takes longer than what most of them do.
_OPTIONS: dict[str, Any] = {"nogil": True, "_nrt": False}

_work_done = 0


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
        """The compiled function; compiles, or loads from the cache, at its first call."""
        if self._compiled is None:
            self._compiled = _compile(self.plain)
        return self._compiled

    def for_work(self, size: int) -> Callable[..., Any]:
        """The better one for `size` bytes of work; the compiled one wherever Numba is loaded already."""
        global _work_done
        _work_done += size
        if self._compiled is not None or _work_done >= COMPILE_FROM or "numba" in sys.modules:
            return self.compiled
        return self.uncompiled

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
    """Make a kernel that has a function of the same meaning beside it, for work that is not worth Numba."""
    return lambda function: Kernel(function, uncompiled)


def _is_part(value: Any, function: Callable[..., Any]) -> bool:
    """Whether a function uses another one of its module, which is compiled with it."""
    return isinstance(value, types.FunctionType) and value.__module__ == function.__module__


@cache
def _compile(function: Callable[..., Any]) -> Callable[..., Any]:
    import numba

    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        if isinstance(names.get(name), Kernel):
            names[name] = names[name].compiled
        elif _is_part(names.get(name), function):
            names[name] = _compile(names[name])
    # Numba keeps machine code while the function's own module and what it closes over stay as they are.
    told = f"{_OPTIONS}\n{_code_elsewhere(function)}"
    code = function.__code__.replace(co_freevars=("told",))
    closure = (types.CellType(told),)
    twin = types.FunctionType(code, names, function.__name__, function.__defaults__, closure)
    twin.__module__ = function.__module__
    twin.__qualname__ = function.__qualname__
    try:
        compiled: Callable[..., Any] = numba.njit(cache=True, **_OPTIONS)(twin)
    except RuntimeError:
        # Neither the package's folder nor the user's cache folder can be written.
        compiled = numba.njit(**_OPTIONS)(twin)
    return compiled


def _code_elsewhere(function: Callable[..., Any]) -> str:
    """What tells the code of other modules that a kernel calls."""
    seen, ahead = {function}, [function]
    while ahead:
        one = ahead.pop()
        for name in one.__code__.co_names:
            value = one.__globals__.get(name)
            called = value.plain if isinstance(value, Kernel) else value if _is_part(value, one) else None
            if called is not None and called not in seen:
                seen.add(called)
                ahead.append(called)
    elsewhere = [one for one in seen if one.__module__ != function.__module__]
    return "\n".join(sorted(map(_told, elsewhere)))


def _told(function: Callable[..., Any]) -> str:
    code = function.__code__
    values = {name: function.__globals__.get(name) for name in code.co_names}
    numbers = {name: repr(value) for name, value in values.items() if isinstance(value, _NUMBERS)}
    return f"{function.__qualname__} {code.co_code.hex()} {code.co_consts} {numbers}"
