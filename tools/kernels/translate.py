"""One kernel to an object file, by Numba and LLVM.

The entry of a kernel is a C function, `int entry(const int64_t *record, void *result)`. The record has eight
bytes for each number, and for an array the address of its data and its shape. The entry gives other than 0
where the kernel raised an exception.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import binding

from binlog_kaitai.kernels.compile import called_by, is_inlined
from binlog_kaitai.kernels.library import ArgumentType
from tools.kernels.annotations import is_group, parameters
from tools.kernels.targets import this_machine, triple_of

#: Numba's own ways to call what it compiled, for which the entry stands.
_LEFT_OUT = ("no_cpython_wrapper", "no_cfunc_wrapper")

#: Kernels make no arrays. Without Numba's memory management, it does not count in each of them that calls
#: another how often an array is in use, which takes longer than what most of them do.
_OPTIONS: dict[str, Any] = {"nogil": True, "_nrt": False, **dict.fromkeys(_LEFT_OUT, True)}

#: What LLVM makes instructions of, or calls of memcpy, memmove and memset.
_OF_LLVM = re.compile(
    r"llvm\.(mem(cpy|move|set)|[su](min|max)|abs|ct(pop|lz|tz)|bswap|fsh[lr]|[su](add|sub)\.sat|fabs|copysign"
    r"|[su](add|sub|mul)\.with\.overflow|assume|lifetime|experimental|vector|masked)\b.*"
    r"|llvm\.(rint|nearbyint|floor|ceil|trunc)\b.*"  # instructions from SSE4.1 on, which all targets have
)

#: Passes over a kernel and all that it calls, which Numba optimizes one by one: calls pass only what is used.
_PASSES = "global_opt", "ipsccp", "dead_arg_elimination", "instruction_combine", "simplify_cfg"

_DECLARED = re.compile(r"^declare .*?@\"?([^\s\"(]+)", re.MULTILINE)

#: Operations that LLVM lowers to calls of library functions.
_CALLS = re.compile(r" = (frem|[su](div|rem) i128|[su]itofp i128|fpto[su]i \w+ \S+ to i128)\b")


class Translated(NamedTuple):
    """Machine code of one kernel: the values of its result, as `struct` calls them, and the object file."""

    result: str
    code: bytes


class Translator:
    """Translates kernels for one target.

    Parameters
    ----------
    machine, cpu
        The processor. A process can have one only.
    is_checked
        Check the bounds of arrays: a read or write outside is an exception.
    """

    def __init__(self, machine: str, cpu: str, *, is_checked: bool) -> None:
        # Numba makes vectors of what it knows; the baselines of both machines have such of 128 bits.
        config: Any = numba.config
        config.CPU_NAME = cpu if machine == this_machine() else "generic"
        config.CPU_FEATURES = ""
        if is_checked:
            # At the highest level LLVM moves thousands of checks out of loops, for an hour in the largest.
            config.OPT = type(config.OPT)(1)
        self._options = {**_OPTIONS, "boundscheck": is_checked}
        binding.initialize_all_targets()
        binding.initialize_all_asmprinters()
        self._triple = triple_of(machine)
        self._machine = binding.Target.from_triple(self._triple).create_target_machine(
            cpu=cpu, features="", opt=3, reloc="pic", codemodel="default"
        )
        self._dispatcher = cache(self._make_dispatcher)

    def __call__(self, function: Callable[..., Any], kinds: Iterable[ArgumentType], entry: str) -> Translated:
        """An object file with the function `entry`, which is all that others see of it.

        Raises
        ------
        ValueError
            The kernel uses what only Numba has, or gives something that is no number.
        """
        kinds = tuple(kinds)
        signature = _grouped(function, [_type(kind) for kind in kinds])
        compiled = self._dispatcher(function)
        compiled.compile(signature)
        made = compiled.overloads[signature]
        text = compiled.inspect_llvm(signature)
        if _CALLS.search(text) or made.library.has_dynamic_globals:
            raise ValueError(f"{entry} needs functions of LLVM's runtime, or addresses of Numba's")
        if uses := [name for name in _DECLARED.findall(text) if not _OF_LLVM.fullmatch(name)]:
            raise ValueError(f"{entry} needs Numba when it runs: {', '.join(uses)}")
        kernel = binding.parse_assembly(text).get_function(made.fndesc.llvm_func_name)
        module = binding.parse_assembly(text + _entry(kernel, kinds, entry))
        module.triple, module.data_layout = self._triple, str(self._machine.target_data)
        # Numba numbers names in each process: in two object files they may stand for different things.
        for value in (*module.functions, *module.global_variables):
            if not value.is_declaration and value.name != entry:
                value.linkage = "internal"
        passes = binding.create_new_module_pass_manager()
        for name in _PASSES:
            getattr(passes, f"add_{name}_pass")()
        tuning = binding.create_pipeline_tuning_options()
        passes.run(module, binding.create_pass_builder(self._machine, tuning))
        return Translated(_result(made.signature.return_type), self._machine.emit_object(module))

    def _make_dispatcher(self, function: Callable[..., Any]) -> Any:
        names = _Names(function, self._dispatcher)
        twin = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__)
        twin.__module__ = function.__module__
        twin.__qualname__ = function.__qualname__
        return numba.njit(**self._options, forceinline=is_inlined(function))(twin)


class _Names(dict[str, Any]):
    """The names of a module; kernels and functions are compiled ones, made when Numba asks for them."""

    def __init__(self, function: Callable[..., Any], dispatcher: Callable[..., Any]) -> None:
        self._called = called_by(function)
        self._dispatcher = dispatcher
        names = function.__globals__.items()
        super().__init__((name, value) for name, value in names if name not in self._called)

    def __missing__(self, name: str) -> Any:
        self[name] = self._dispatcher(self._called[name])
        return self[name]


def _type(kind: ArgumentType) -> Any:
    of_values = numba.from_dtype(np.dtype(kind.dtype))
    if not kind.ndim:
        return of_values
    return numba.types.Array(of_values, kind.ndim, "C", readonly=not kind.is_written)


def _grouped(function: Callable[..., Any], types_: list[Any]) -> tuple[Any, ...]:
    """The types of the arguments; those of the fields of a named tuple form one."""
    grouped = []
    for class_ in parameters(function).values():
        count = len(class_._fields) if is_group(class_) else 1
        own, types_ = types_[:count], types_[count:]
        grouped.append(numba.types.NamedTuple(own, class_) if is_group(class_) else own[0])
    return tuple(grouped)


def _result(type_: Any) -> str:
    """The values of a result, each as `struct` calls its type; `1` before a single one."""
    if type_ == numba.types.none:
        return ""
    if hasattr(type_, "types"):
        return "".join(map(_value, type_.types))
    return "1" + _value(type_)


def _value(type_: Any) -> str:
    try:
        return numba.np.numpy_support.as_dtype(getattr(type_, "literal_type", type_)).char
    except numba.core.errors.NumbaError as error:
        raise ValueError(f"a kernel cannot give {type_}") from error


def _entry(kernel: Any, kinds: Iterable[ArgumentType], name: str) -> str:
    """The entry of a kernel, as text of LLVM: it calls the kernel by Numba's convention.

    That is `int kernel(result, exception, arguments)`, in which an array is its owner, the object that it
    was made of, the number of its values, the size of one, its data, its shape, and its strides. The first
    two are null: an array is kept alive by the caller.
    """
    types_ = [str(argument.type) for argument in kernel.arguments]
    record = "ptr" if types_[0] == "ptr" else "i64*"
    exception = "ptr" if types_[1] == "ptr" else types_[1].removesuffix("*")
    lines = [f"%exception = alloca {exception}"]
    values = ["%result", "%exception"]
    loaded = 0

    def load() -> str:
        nonlocal loaded
        loaded += 1
        lines.append(f"%place{loaded} = getelementptr i64, {record} %record, i64 {loaded - 1}")
        lines.append(f"%loaded{loaded} = load i64, {record} %place{loaded}")
        return f"%loaded{loaded}"

    def convert(value: str, how: str) -> str:
        lines.append(f"%value{len(values)} = {how.format(value)} to {types_[len(values)]}")
        return f"%value{len(values)}"

    def multiply(value: str, other: str) -> str:
        lines.append(f"%product{len(lines)} = mul i64 {value}, {other}")
        return f"%product{len(lines) - 1}"

    for kind in kinds:
        first = load()
        if not kind.ndim:
            wanted = types_[len(values)]
            how = "bitcast i64 {}" if wanted == "double" else "trunc i64 {}"
            values.append(first if wanted == "i64" else convert(first, how))
            continue
        size = np.dtype(kind.dtype).itemsize
        shape = [load() for _ in range(kind.ndim)]
        strides = [str(size)]
        for length in reversed(shape[1:]):
            strides.insert(0, multiply(strides[0], length))
        count = shape[0]
        for length in shape[1:]:
            count = multiply(count, length)
        values += "null", "null", count, str(size)
        values.append(convert(first, "inttoptr i64 {}"))
        values += shape + strides
    passed = ", ".join(f"{type_} {value}" for type_, value in zip(types_, values, strict=True))
    lines.append(f'%status = call i32 @"{kernel.name}"({passed})')
    lines.append("ret i32 %status")
    return f'\ndefine i32 @"{name}"({record} %record, {types_[0]} %result) {{\n' + "\n".join(lines) + "\n}\n"
