"""Processors: which levels a library has code for, the best first."""

from __future__ import annotations

import platform

#: By the machine, as Python calls it: LLVM's names of processors. The numbers of `binlog_kaitai_level`, in
#: `library.c`, are places in these lists.
LEVELS = {"x86_64": ["x86-64-v3", "x86-64-v2"], "aarch64": ["generic"]}


def this_machine() -> str:
    """The machine that this process runs on, as `LEVELS` names it, or as Python does where it has none."""
    name = platform.machine()
    return {"AMD64": "x86_64", "arm64": "aarch64"}.get(name, name)


def own_level() -> str:
    """The best level that this processor has."""
    from llvmlite import binding

    levels, features = LEVELS.get(this_machine(), []), binding.get_host_cpu_features()
    is_new = all(features.get(name) for name in ("avx2", "bmi", "bmi2", "fma"))
    return levels[0 if is_new else -1] if levels else ""


def triple_of(machine: str) -> str:
    """What LLVM calls a Linux machine, or this one, whatever it runs."""
    from llvmlite import binding

    return binding.get_process_triple() if machine == this_machine() else f"{machine}-unknown-linux-gnu"
