"""Keyword options that several functions take: declared, documented and checked once.

A `TypedDict` declares them, each as ``Annotated[type, Option("What it does.")]``. A function unpacks it
(``**options: Unpack[LogOptions]``) and is decorated with ``@takes(LogOptions)``: type checkers, `help` and
`inspect.signature` know the options like the function's own parameters, and the function gets all of them.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar, get_type_hints

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
    a similar one.
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

        @wraps(function)
        def checked(*arguments: _Parameters.args, **keywords: _Parameters.kwargs) -> _Result:
            for name in keywords:
                if name not in known:
                    raise TypeError(_unknown(function.__qualname__, name, known))
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
