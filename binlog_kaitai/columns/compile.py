"""Kernels: small functions over arrays, run as they are or compiled by Numba.

A kernel is plain Python that Numba can compile. It takes arrays and integers, checks every bound itself,
and gives the same result either way. Importing Numba costs more than reading a file of some KB, so a kernel
is compiled only when there is much to do; machine code is kept on disk for the next process.
"""

from __future__ import annotations

import gc
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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

#: While Numba and kernels are loaded, garbage is searched for when there are so many new objects.
_MANY_OBJECTS = 200_000

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
            with _collecting_less():
                compiled = _compile(self.plain)

            def at_first(*arguments: Any) -> Any:
                with _collecting_less():
                    result = compiled(*arguments)
                self._compiled = compiled
                return result

            self._compiled = at_first
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


@contextmanager
def _collecting_less() -> Iterator[None]:
    """Fewer searches for garbage meanwhile: Numba makes many objects at its start, and most of them stay."""
    usual = gc.get_threshold()
    if 0 < usual[0] < _MANY_OBJECTS:
        gc.set_threshold(_MANY_OBJECTS, *usual[1:])
        try:
            yield
        finally:
            gc.set_threshold(*usual)
    else:
        yield


class _Names(dict[str, Any]):
    """The names of a module, in which kernels and functions are compiled ones, made when Numba asks for them.

    It does not where the machine code comes from the cache.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        names = function.__globals__
        found = ((name, _called(name, function)) for name in function.__code__.co_names)
        self._called = {name: called for name, called in found if called is not None}
        super().__init__((name, value) for name, value in names.items() if name not in self._called)

    def __missing__(self, name: str) -> Any:
        self[name] = _compile(self._called[name])
        return self[name]


def _called(name: str, function: Callable[..., Any]) -> Callable[..., Any] | None:
    """The plain function that a kernel calls by a name, if that is a kernel or of the kernel's module."""
    value = function.__globals__.get(name)
    if isinstance(value, Kernel):
        return value.plain
    return value if _is_part(value, function) else None


@cache
def _compile(function: Callable[..., Any]) -> Callable[..., Any]:
    import numba

    # Numba keeps machine code while the function's own module and what it closes over stay as they are.
    told = f"{_OPTIONS}\n{_code_elsewhere(function)}"
    code = function.__code__.replace(co_freevars=("told",))
    closure = (types.CellType(told),)
    twin = types.FunctionType(code, _Names(function), function.__name__, function.__defaults__, closure)
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
            if (called := _called(name, one)) is not None and called not in seen:
                seen.add(called)
                ahead.append(called)
    elsewhere = [one for one in seen if one.__module__ != function.__module__]
    return "\n".join(sorted(map(_told, elsewhere)))


def _told(function: Callable[..., Any]) -> str:
    code = function.__code__
    values = {name: function.__globals__.get(name) for name in code.co_names}
    numbers = {name: repr(value) for name, value in values.items() if isinstance(value, _NUMBERS)}
    return f"{function.__qualname__} {code.co_code.hex()} {code.co_consts} {numbers}"
