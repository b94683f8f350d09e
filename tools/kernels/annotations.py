"""The kernels of the package, and the types of their arguments, by their annotations."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np

import binlog_kaitai
from binlog_kaitai.kernels.arrays import WRITTEN
from binlog_kaitai.kernels.compile import Kernel, name_of

#: A line of each module with kernels.
_MARK = "\n@kernel\n"

#: `Any` is a number of any kind in Python, and in machine code an int64.
_NUMBERS: dict[Any, str] = {int: "i8", Any: "i8", bool: "b1", float: "f8", np.uint64: "u8"}


def signatures() -> dict[str, str]:
    """The types of the arguments of each kernel, by its name."""
    from binlog_grammar import walks  # not known yet where a worker imports this module

    package = Path(binlog_kaitai.__file__).parent
    files = [path.relative_to(package.parent) for path in package.rglob("*.py") if _MARK in path.read_text()]
    modules = [importlib.import_module(".".join(path.with_suffix("").parts)) for path in sorted(files)]
    kernels = [
        value.plain
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Kernel) and value.plain.__module__ == module.__name__
    ]
    kernels += [getattr(walks, name) for name in walks.SLOTS]
    return {name_of(function): signature_of(function) for function in kernels}


def find_kernel(name: str) -> Callable[..., Any]:
    """The function of the kernel with this name."""
    module, _, function = name.rpartition(".")
    value = getattr(importlib.import_module(module), function)
    return value.plain if isinstance(value, Kernel) else value


def parameters(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of the parameters, of a group its class; None for one without."""
    return {name: _unmarked(hint) if is_group(_unmarked(hint)) else hint for name, hint in _hints(function)}


def is_group(annotation: Any) -> bool:
    """Whether it is a named tuple of arrays."""
    return isinstance(annotation, type) and issubclass(annotation, tuple)


def _hints(function: Callable[..., Any]) -> list[tuple[str, Any]]:
    hints = get_type_hints(function, include_extras=True)
    return [
        (name, hints.get(name)) for name in function.__code__.co_varnames[: function.__code__.co_argcount]
    ]


def _unmarked(annotation: Any) -> Any:
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def signature_of(function: Callable[..., Any]) -> str:
    """The types of the arguments, by the annotations."""
    return " ".join(name for _, hint in _hints(function) for name in _types(hint))


def _types(annotation: Any) -> Iterator[str]:
    base, marks = _unmarked(annotation), getattr(annotation, "__metadata__", ())
    written = "*" if WRITTEN in marks else ""
    if is_group(base):
        for hint in get_type_hints(base, include_extras=True).values():
            yield from (name if "*" in name else name + written for name in _types(hint))
    elif base in _NUMBERS:
        yield _NUMBERS[base]
    else:
        kind = get_args(base)[-1]  # since NumPy 2.5, `NDArray` is an alias of the type of the elements
        kind = get_args(kind)[0] if get_origin(kind) is np.dtype else kind
        yield f"{np.dtype(kind).str[1:]}[{',' if 2 in marks else ''}]{written}"
