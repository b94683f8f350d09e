"""Kernels: small functions over arrays, run as they are or as machine code.

A kernel is plain Python that Numba can compile. It takes arrays and numbers, checks every bound itself, and
gives the same result either way. The build of the package compiles all kernels into one library
(`tools/kernels`), which `columns.kernel.library` loads; nothing is compiled when they run.
"""

from __future__ import annotations

import importlib
import types
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from binlog_kaitai.columns.kernel.library import CHECKED, LIBRARY, Library, library
from binlog_kaitai.columns.kernel.mode import MODE, Mode
from binlog_kaitai.errors import UsageError

_inlined: set[Callable[..., Any]] = set()

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Kernel:
    """A function that can be run plain or compiled.

    Attributes
    ----------
    plain : callable
        The function as written.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.plain = function
        self._compiled: Callable[..., Any] | None = None

    @property
    def compiled(self) -> Callable[..., Any]:
        """The machine code; `plain`, with a warning, where there is none.

        Raises
        ------
        UsageError
            There is none, and the environment asks for it.
        """
        if self._compiled is None:
            self._compiled = self.plain if MODE is Mode.PYTHON else _find(self.plain) or self.plain
        return self._compiled

    @property
    def run(self) -> Callable[..., Any]:
        """What to run: the machine code, or `plain` if that is asked for."""
        return self.plain if MODE is Mode.PYTHON else self.compiled

    def __call__(self, *arguments: Any) -> Any:
        # Kernels call each other by this; the compiled ones find compiled ones.
        return self.plain(*arguments)


def kernel(function: Callable[..., Any]) -> Kernel:
    """Make a kernel of a function that uses arrays, numbers, kernels, and functions of its module only.

    What Python code calls needs its types in `columns.kernel.signatures`.
    """
    return Kernel(function)


def inlined(function: _Function) -> _Function:
    """Have a small function put into each kernel that calls it.

    To call it takes some twenty instructions for each array that it is given.
    """
    _inlined.add(function)
    return function


def is_inlined(function: Callable[..., Any]) -> bool:
    """Whether a function is to be put into what calls it."""
    return function in _inlined


def name_of(function: Callable[..., Any]) -> str:
    """The name of a kernel in the table of signatures and in a library."""
    return f"{function.__module__}.{function.__qualname__}"


def find_kernel(name: str) -> Callable[..., Any]:
    """The function of a kernel of this name."""
    module, _, function = name.rpartition(".")
    found = getattr(importlib.import_module(module), function)
    return found.plain if isinstance(found, Kernel) else found


def _find(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """The machine code of a function; None, with one warning, if a library has none."""
    path = CHECKED if MODE is Mode.CHECKED else LIBRARY
    found = library(path)
    if not isinstance(found, Library):
        _complain(f"there is no machine code of kernels: {found}", "reading takes 100 times as long so")
        return None
    name = name_of(function)
    row = found.rows.get(name)
    if row is None:
        _complain(f"{path.name} has no kernel {name}", "state its types in columns/kernel/signatures.py")
    elif row.fingerprint and row.fingerprint != fingerprint(function):
        _complain(f"{name} is not what {path.name} was made of", "run `make kernels`")
    else:
        return found.kernel(name)
    return None


_complaints: set[str] = set()


def _complain(problem: str, advice: str) -> None:
    if MODE is not Mode.AUTO:
        raise UsageError(f"{problem}; {advice}")
    if problem not in _complaints:
        _complaints.add(problem)
        warnings.warn(f"{problem}; it runs as plain Python ({advice})", RuntimeWarning, stacklevel=4)


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


def fingerprint(function: Callable[..., Any]) -> str:
    """A digest of the code of a function, and of all that is compiled with it."""
    from hashlib import sha256  # only checkouts have fingerprints, see `library.Row`

    seen, pending = {function}, [function]
    while pending:
        new = [one for one in called_by(pending.pop()).values() if one not in seen]
        seen.update(new)
        pending += new
    return sha256("\n".join(sorted(map(_description, seen))).encode()).hexdigest()[:32]


def _description(function: Callable[..., Any]) -> str:
    code = function.__code__
    constants = [one for one in code.co_consts if one != function.__doc__]
    names = [(name, _value_text(function.__globals__.get(name))) for name in code.co_names]
    how = "inlined " if is_inlined(function) else ""
    return f"{how}{function.__module__} {function.__qualname__} {code.co_code.hex()} {constants} {names}"


def _value_text(value: Any) -> str:
    """What a name of a module stands for, as far as machine code has it."""
    if isinstance(value, (np.ndarray, np.generic)):
        return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, tuple):
        return f"({' '.join(map(_value_text, value))})"
    return repr(value) if isinstance(value, (int, float)) else ""
