"""Keyword options that several functions take: declared, documented and checked once.

A `TypedDict` declares them, each as ``Annotated[type, Option("What it does.")]``. A function unpacks it
(``**options: Unpack[LogOptions]``) and is decorated with ``@takes(LogOptions)``: type checkers, `help` and
`inspect.signature` know the options like the function's own parameters, and the function gets all of them.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, wraps
from numbers import Integral, Real
from types import UnionType
from typing import (
    Annotated,
    Any,
    BinaryIO,
    Literal,
    NamedTuple,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from binlog_kaitai.errors import WrongTypeError

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

#: In a docstring: the entry that stands for the options.
_ENTRY = re.compile(r"^( *)\*\*\w+\n(?:\1 +.*\n)+", re.MULTILINE)

#: Length of a line in the docstrings.
_WIDTH = 110


class Option(NamedTuple):
    """What an option does, and its value if it is omitted."""

    text: str
    default: object = None


def takes(
    declaration: object,
) -> Callable[[Callable[_Parameters, _Result]], Callable[_Parameters, _Result]]:
    """Decorate a function that unpacks a `TypedDict`: its signature and docstring get the options.

    Options that a call omits are passed with their defaults; unknown keywords raise a `TypeError` that names
    a similar one, arguments of a wrong type a `WrongTypeError` that names them.
    """
    hints = get_type_hints(declaration, include_extras=True)
    options: dict[str, Option] = {name: hint.__metadata__[0] for name, hint in hints.items()}

    def decorate(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
        signature = inspect.signature(function)
        *own, _ = signature.parameters.values()
        shared = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=option.default,
                annotation=hints[name].__origin__,
            )
            for name, option in options.items()
        ]
        defaults = {name: option.default for name, option in options.items()}
        known = [parameter.name for parameter in (*own, *shared)]
        positional = [param.name for param in own if param.kind is not inspect.Parameter.KEYWORD_ONLY]

        @cache
        def types() -> dict[str, Any]:
            return get_type_hints(function) | {name: hint.__origin__ for name, hint in hints.items()}

        @wraps(function)
        def checked(*arguments: _Parameters.args, **keywords: _Parameters.kwargs) -> _Result:
            for name in keywords:
                if name not in known:
                    raise TypeError(_unknown(function.__qualname__, name, known))
            for name, value in (*zip(positional, arguments, strict=False), *keywords.items()):
                if not _fits(value, hint := types().get(name, Any)):
                    raise WrongTypeError(f"{name} must be {_shown(hint)}, not {_kind(value)}")
            complete: Any = {**defaults, **keywords}
            return function(*arguments, **complete)

        described: Any = checked  # mypy knows no attributes of functions
        described.__signature__ = signature.replace(parameters=[*own, *shared])
        described.__doc__ = _ENTRY.sub(lambda entry: _entries(options, entry[1]), function.__doc__ or "")
        return checked

    return decorate


def part_of(options: Mapping[str, object], declaration: type) -> dict[str, Any]:
    """Those of some options that a `TypedDict` declares."""
    return {name: options[name] for name in declaration.__annotations__ if name in options}


def _fits(value: object, hint: Any) -> bool:
    """Whether a value is of an annotated type, as far as that shows without reading an iterator."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, argument) for argument in arguments)
    if origin is Literal or hint is str:
        return isinstance(value, str)
    if origin is Annotated:
        return _fits(value, arguments[0])
    if hint in (bool, int, float):  # flags may be numbers, and both may be NumPy's
        return isinstance(value, Real if hint is float else Integral) or type(value).__name__ in (
            "bool",
            "bool_",
        )
    if origin is Callable:
        return callable(value)
    if origin in (Iterable, Sequence, list) and isinstance(
        value, list | tuple | set | frozenset | dict | bytes
    ):
        return isinstance(value, origin) and all(_fits(item, arguments[0]) for item in value)
    kind = origin or hint
    if kind is BinaryIO:
        return hasattr(value, "read")
    return kind is Any or not isinstance(kind, type) or isinstance(value, kind)


def _shown(hint: Any) -> str:
    """A type as it is written in annotations, without modules."""
    return re.sub(r"(?:\w+\.)+", "", hint.__name__ if isinstance(hint, type) else str(hint))


def _kind(value: object) -> str:
    """The type of a value; of a list with that of its first item."""
    first = next(iter(value), None) if isinstance(value, list | tuple) else None
    return type(value).__name__ if first is None else f"{type(value).__name__}[{type(first).__name__}]"


def _entries(options: dict[str, Option], indent: str) -> str:
    """The options as entries of a docstring."""
    texts = {
        name: textwrap.fill(
            option.text, _WIDTH, initial_indent=f"{indent}    ", subsequent_indent=f"{indent}    "
        )
        for name, option in options.items()
    }
    return "".join(f"{indent}{name}\n{text}\n" for name, text in texts.items())


def _unknown(function: str, name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"{function}() got an unexpected keyword argument {name!r}{hint}"
