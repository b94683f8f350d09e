"""The argument types of a kernel, by its annotations."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np

from binlog_kaitai.kernels.arrays import WRITTEN
from binlog_kaitai.kernels.compile import Kernel

_NUMBERS = {int: "i8", bool: "b1", float: "f8"}


def find_kernel(name: str) -> Callable[..., Any]:
    """The function of the kernel with this name."""
    module, _, function = name.rpartition(".")
    value = getattr(importlib.import_module(module), function)
    return value.plain if isinstance(value, Kernel) else value


def parameters(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of the parameters; None for one without."""
    hints = get_type_hints(function, include_extras=True)
    return {name: hints.get(name) for name in function.__code__.co_varnames[: function.__code__.co_argcount]}


def is_group(annotation: Any) -> bool:
    """Whether it is a named tuple of arrays."""
    return isinstance(annotation, type) and issubclass(annotation, tuple)


def signature_of(function: Callable[..., Any]) -> str:
    """The types of the arguments, by the annotations."""
    return " ".join(one for hint in parameters(function).values() for one in _types(hint))


def _types(annotation: Any) -> Iterator[str]:
    if is_group(annotation):
        for hint in get_type_hints(annotation, include_extras=True).values():
            yield from _types(hint)
    elif annotation in _NUMBERS:
        yield _NUMBERS[annotation]
    else:
        is_written = get_origin(annotation) is Annotated and WRITTEN in annotation.__metadata__
        _, dtype = get_args(get_args(annotation)[0] if is_written else annotation)
        yield f"{np.dtype(get_args(dtype)[0]).str[1:]}[]" + "*" * is_written
