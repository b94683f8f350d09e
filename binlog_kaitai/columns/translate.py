"""Machine code made by Numba; the only module that imports it, once, for code that is not kept yet."""

from __future__ import annotations

import os
import re
import types
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numba
from llvmlite import binding

from binlog_kaitai.columns.compile import called_by, is_inlined
from binlog_kaitai.columns.kept_code import Made, cpu_features
from binlog_kaitai.columns.kernel_mode import MODE, Mode
from binlog_kaitai.columns.machine_code import Kind, target_machine

#: Numba's own ways to call what it compiled; `columns.machine_code` has another.
_LEFT_OUT = ("no_cpython_wrapper", "no_cfunc_wrapper")

#: Kernels make no arrays. Without Numba's memory management, it does not count in each of them that calls
#: another how often an array is in use, which takes longer than what most of them do.
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "_nrt": False,
    "boundscheck": MODE is Mode.CHECKED,
    **dict.fromkeys(_LEFT_OUT, True),
}

if MODE is Mode.CHECKED:
    # At the highest level LLVM moves thousands of checks out of loops, for an hour in the largest kernels.
    _config: Any = numba.config
    _config.OPT = type(_config.OPT)(1)

#: What LLVM makes instructions of, or calls of memcpy, memmove and memset.
_OF_LLVM = re.compile(
    r"llvm\.(mem(cpy|move|set)|[su](min|max)|abs|ct(pop|lz|tz)|bswap|fsh[lr]|[su](add|sub)\.sat|fabs|copysign"
    r"|[su](add|sub|mul)\.with\.overflow|assume|lifetime|experimental|vector|masked)\b.*"
)
#: The same but on x86 processors before SSE4.1, where it makes calls of a mathematical library.
_ROUNDING = re.compile(r"llvm\.(rint|nearbyint|floor|ceil|trunc)\b.*")

_DECLARED = re.compile(r"^declare .*?@\"?([^\s\"(]+)", re.MULTILINE)

#: Operations that LLVM makes calls of functions of.
_CALLS = re.compile(r" = (frem|[su](div|rem) i128|[su]itofp i128|fpto[su]i \w+ \S+ to i128)\b")


def translate(function: Callable[..., Any], kinds: list[Kind]) -> tuple[Made, bool]:
    """Machine code for arguments of these kinds, and whether it may be loaded without Numba.

    It may not where it uses functions of Numba's, or addresses of this process.
    """
    signature = tuple(_type(kind) for kind in kinds)
    compiled = _dispatcher(function)
    compiled.compile(signature)
    made = compiled.overloads[signature]
    text = compiled.inspect_llvm(signature)
    kernel = binding.parse_assembly(text).get_function(made.fndesc.llvm_func_name)
    entry = f"{function.__name__.strip('<>')}_{os.urandom(16).hex()}"
    module = binding.parse_assembly(text + _entry(kernel, kinds, entry))
    # Names are Numba's, numbered in each process: in two object files they may stand for different things.
    for one in (*module.functions, *module.global_variables):
        if not one.is_declaration and one.name != entry:
            one.linkage = "internal"
    code = target_machine().emit_object(module)
    can_be_kept = _is_alone(text) and not made.library.has_dynamic_globals
    if not can_be_kept:
        where = f"{function.__module__}.{function.__qualname__}"
        what = f"each process compiles {where}, which cannot run without Numba"
        warnings.warn(what, RuntimeWarning, stacklevel=1)
    return Made(code, entry, _result(made.signature.return_type)), can_be_kept


def _is_alone(text: str) -> bool:
    """Whether a module, as text, needs no function that Numba would bring."""
    uses = [name for name in _DECLARED.findall(text) if not _OF_LLVM.fullmatch(name)]
    can_round = "-sse4.1" not in cpu_features()
    return not _CALLS.search(text) and all(can_round and _ROUNDING.fullmatch(name) for name in uses)


def _type(kind: Kind) -> Any:
    of_values = numba.from_dtype(kind.dtype)
    if not kind.ndim:
        return of_values
    return numba.types.Array(of_values, kind.ndim, "C", readonly=not kind.is_writable)


def _result(type_: Any) -> str:
    """The values of a result, see `Made`."""
    if type_ == numba.types.none:
        return ""
    if hasattr(type_, "types"):
        return "".join(map(_value, type_.types))
    return "1" + _value(type_)


def _value(type_: Any) -> str:
    try:
        return numba.np.numpy_support.as_dtype(getattr(type_, "literal_type", type_)).char
    except numba.core.errors.NumbaError as error:
        raise TypeError(f"a kernel cannot give {type_}") from error


def _entry(kernel: Any, kinds: Iterable[Kind], name: str) -> str:
    """The entry of a kernel, as text of LLVM: it calls the kernel by Numba's convention.

    That is `int kernel(result, exception, arguments)`, in which an array is its owner, the object that it
    was made of, the number of its values, the size of one, its data, its shape, and its strides. The first
    two are null: an array is kept alive by the caller.
    """
    types = [str(argument.type) for argument in kernel.arguments]
    record = "ptr" if types[0] == "ptr" else "i64*"
    exception = "ptr" if types[1] == "ptr" else types[1].removesuffix("*")
    lines = [f"%exception = alloca {exception}"]
    values = ["%result", "%exception"]
    at = 0

    def load() -> str:
        nonlocal at
        at += 1
        lines.append(f"%place{at} = getelementptr i64, {record} %record, i64 {at - 1}")
        lines.append(f"%loaded{at} = load i64, {record} %place{at}")
        return f"%loaded{at}"

    def convert(value: str, how: str) -> str:
        lines.append(f"%value{len(values)} = {how.format(value)} to {types[len(values)]}")
        return f"%value{len(values)}"

    def multiply(value: str, other: str) -> str:
        lines.append(f"%product{len(lines)} = mul i64 {value}, {other}")
        return f"%product{len(lines) - 1}"

    for kind in kinds:
        first = load()
        if not kind.ndim:
            wanted = types[len(values)]
            how = "bitcast i64 {}" if wanted == "double" else "trunc i64 {}"
            values.append(first if wanted == "i64" else convert(first, how))
            continue
        shape = [load() for _ in range(kind.ndim)]
        strides = [str(kind.dtype.itemsize)]
        for length in reversed(shape[1:]):
            strides.insert(0, multiply(strides[0], length))
        count = shape[0]
        for length in shape[1:]:
            count = multiply(count, length)
        values += "null", "null", count, str(kind.dtype.itemsize)
        values.append(convert(first, "inttoptr i64 {}"))
        values += shape + strides
    passed = ", ".join(f"{type_} {value}" for type_, value in zip(types, values, strict=True))
    lines.append(f'%status = call i32 @"{kernel.name}"({passed})')
    lines.append("ret i32 %status")
    return f'\ndefine i32 @"{name}"({record} %record, {types[0]} %result) {{\n' + "\n".join(lines) + "\n}\n"


class _Names(dict[str, Any]):
    """The names of a module; kernels and functions are compiled ones, made when Numba asks for them."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._called = called_by(function)
        names = function.__globals__.items()
        super().__init__((name, value) for name, value in names if name not in self._called)

    def __missing__(self, name: str) -> Any:
        self[name] = _dispatcher(self._called[name])
        return self[name]


@cache
def _dispatcher(function: Callable[..., Any]) -> Any:
    twin = types.FunctionType(function.__code__, _Names(function), function.__name__, function.__defaults__)
    twin.__module__ = function.__module__
    twin.__qualname__ = function.__qualname__
    return numba.njit(**_OPTIONS, forceinline=is_inlined(function))(twin)
