"""The `@kernel` decorator: functions over arrays that run as machine code or as plain Python.

A kernel is plain Python that Numba can compile. It takes arrays and numbers, checks every bound itself, and
returns the same result either way. The package build compiles all kernels into a library (`tools/kernels`),
which `kernels.library` loads; nothing is compiled at run time.
"""

from __future__ import annotations

import os
import types
import warnings
from collections.abc import Callable
from enum import Enum
from typing import Generic, TypeVar, cast

import numpy as np

from binlog_kaitai.errors import UsageError
from binlog_kaitai.kernels.library import CHECKED, LIBRARY, Library, library

#: The environment variable that selects the mode; read when the first kernel is defined.
VARIABLE = "BINLOG_KAITAI_KERNELS"


class Mode(Enum):
    """How kernels run.

    AUTO
        As machine code; if there is none, as plain Python, with a warning.
    PYTHON
        As plain Python.
    COMPILED
        As machine code; an error if there is none.
    CHECKED
        As machine code with array bounds checks, which raise an error. Built only by tools.
    """

    AUTO = "auto"
    PYTHON = "python"
    COMPILED = "compiled"
    CHECKED = "checked"


_name = os.environ.get(VARIABLE) or Mode.AUTO.value
try:
    MODE = Mode(_name)
except ValueError:
    raise UsageError(f"{VARIABLE}={_name} is not one of {', '.join(mode.value for mode in Mode)}") from None

_inlined: set[Callable[..., object]] = set()

_Function = TypeVar("_Function", bound=Callable[..., object])
_Result = TypeVar("_Result")


class Kernel(Generic[_Result]):
    """A function that can run as written or compiled."""

    def __init__(self, function: Callable[..., _Result]) -> None:
        self.plain = function
        self._compiled: Callable[..., _Result] | None = None

    @property
    def compiled(self) -> Callable[..., _Result]:
        """The machine code; `plain`, with a warning, if there is none.

        Raises `UsageError`: there is no machine code, and the environment variable requires it.
        """
        if self._compiled is None:
            self._compiled = self.plain if MODE is Mode.PYTHON else _find(self.plain) or self.plain
        return self._compiled

    @property
    def run(self) -> Callable[..., _Result]:
        """The function to call: the machine code, or `plain` if the environment variable selects it."""
        return self.plain if MODE is Mode.PYTHON else self.compiled

    def __call__(self, *arguments: object) -> _Result:
        # Other kernels call it; compiled ones call compiled ones.
        return self.plain(*arguments)


def kernel(function: Callable[..., _Result]) -> Kernel[_Result]:
    """Make a kernel, which Python calls, of a function that uses only arrays, numbers and functions like it.

    It is compiled for the types of its annotations, and with it the functions that it calls. Arguments that
    belong together form a named tuple of arrays.
    """
    return Kernel(function)


def inlined(function: _Function) -> _Function:
    """Mark a small function to be inlined into the kernels that use it.

    A call costs about twenty instructions per array argument.
    """
    _inlined.add(function)
    return function


def is_inlined(function: Callable[..., object]) -> bool:
    """Whether a function is marked as inlined."""
    return function in _inlined


def name_of(function: Callable[..., object]) -> str:
    """Name of a kernel in the table of signatures and in a library."""
    return f"{function.__module__}.{function.__qualname__}"


def _find(function: Callable[..., _Result]) -> Callable[..., _Result] | None:
    """The machine code of a function; None, with one warning, if the library has none."""
    path = CHECKED if MODE is Mode.CHECKED else LIBRARY
    loaded = library(path)
    if not isinstance(loaded, Library):
        _complain(f"there is no machine code of kernels: {loaded}", "reading takes 100 times as long")
        return None
    name, file = name_of(function), os.path.basename(path)
    row = loaded.rows.get(name)
    if row is None:
        problem = f"{file} has no kernel {name}"
    elif row.fingerprint and row.fingerprint != fingerprint(function):
        problem = f"{name} has changed since {file} was built"
    else:
        return cast("Callable[..., _Result]", loaded.kernel(name))
    _complain(problem, "run `make kernels`")
    return None


_complaints: set[str] = set()


def _complain(problem: str, advice: str) -> None:
    if MODE is not Mode.AUTO:
        raise UsageError(f"{problem}; {advice}")
    if problem not in _complaints:
        _complaints.add(problem)
        warnings.warn(f"{problem}; it runs as plain Python ({advice})", RuntimeWarning, stacklevel=4)


def called_by(function: Callable[..., object]) -> dict[str, Callable[..., object]]:
    """The functions that a function calls, and that are compiled with it, by name."""
    functions = {}
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if isinstance(value, Kernel):
            functions[name] = value.plain
        elif isinstance(value, types.FunctionType):
            functions[name] = value
    return functions


def fingerprint(function: Callable[..., object]) -> str:
    """A digest of the code of a function and of all functions compiled with it."""
    from hashlib import sha256  # only checkouts have fingerprints, see `library.KernelRow`

    seen, pending = {function}, [function]
    while pending:
        new = [callee for callee in called_by(pending.pop()).values() if callee not in seen]
        seen.update(new)
        pending += new
    return sha256("\n".join(sorted(map(_description, seen))).encode()).hexdigest()[:32]


def _description(function: Callable[..., object]) -> str:
    code = function.__code__
    constants = [constant for constant in code.co_consts if constant != function.__doc__]
    names = [(name, _value_text(function.__globals__.get(name))) for name in code.co_names]
    named = (function.__globals__.get(name) for name in function.__annotations__.values())
    names += [("", " ".join(getattr(hint, "_fields", ()))) for hint in named]
    how = "inlined " if is_inlined(function) else ""
    return f"{how}{function.__module__} {function.__qualname__} {code.co_code.hex()} {constants} {names}"


def _value_text(value: object) -> str:
    """The value of a module-level name, as far as the machine code depends on it."""
    if isinstance(value, (np.ndarray, np.generic)):
        return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, tuple):
        return f"({' '.join(map(_value_text, value))})"
    return repr(value) if isinstance(value, (int, float)) else ""
