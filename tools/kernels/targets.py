"""Processor levels that a library has code for, the best first."""

from __future__ import annotations

import platform

#: LLVM's processor names, by Python's machine name. The numbers of `binlog_kaitai_level`, in `library.c`, are
#: indexes into these lists.
LEVELS = {"x86_64": ["x86-64-v3", "x86-64-v2"], "aarch64": ["generic"]}


def this_machine() -> str:
    """The machine that this process runs on, by its name in `LEVELS`, or else by Python's name."""
    name = platform.machine()
    return {"AMD64": "x86_64", "arm64": "aarch64"}.get(name, name)


def own_level() -> str:
    """The best level of this processor."""
    from llvmlite import binding

    levels, features = LEVELS.get(this_machine(), []), binding.get_host_cpu_features()
    is_new = all(features.get(name) for name in ("avx2", "bmi", "bmi2", "fma"))
    return levels[0 if is_new else -1] if levels else ""


def triple_of(machine: str) -> str:
    """LLVM's name of a Linux machine, or of this machine with its own system."""
    from llvmlite import binding

    return binding.get_process_triple() if machine == this_machine() else f"{machine}-unknown-linux-gnu"
