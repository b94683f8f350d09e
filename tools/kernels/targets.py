"""The systems and processors that libraries of kernels are built for.

The code of a kernel calls nothing but `memcpy`, `memmove` and `memset`. On Linux these are taken from the C
library of the process: one library serves glibc and musl.
"""

from __future__ import annotations

import platform
import sys
from typing import NamedTuple


class Target(NamedTuple):
    """What a library is built for.

    `triple`: LLVM's name.
    `levels`: LLVM's names of processors, the best first. The numbers of `binlog_kaitai_level`, in
    `library.c`, are indexes into this list.
    `linked_for`: the name that zig has for it.
    `tag`: the platforms in the name of a wheel.
    """

    triple: str
    levels: list[str]
    linked_for: str
    tag: str


#: By processor, and system unless that is Linux. Each level takes as long to compile again.
TARGETS = {
    "x86_64": Target(
        "x86_64-unknown-linux-gnu",
        ["x86-64-v3", "x86-64-v2"],
        "x86_64-linux-gnu",
        "manylinux_2_17_x86_64.musllinux_1_1_x86_64",
    ),
    "aarch64": Target(
        "aarch64-unknown-linux-gnu",
        ["generic"],
        "aarch64-linux-gnu",
        "manylinux_2_17_aarch64.musllinux_1_1_aarch64",
    ),
    "x86_64-macos": Target(
        "x86_64-apple-macosx11.0.0", ["x86-64-v2"], "x86_64-macos.11.0", "macosx_11_0_x86_64"
    ),
    "aarch64-macos": Target(
        "arm64-apple-macosx11.0.0", ["apple-m1"], "aarch64-macos.11.0", "macosx_11_0_arm64"
    ),
    "x86_64-windows": Target("x86_64-pc-windows-gnu", ["x86-64-v2"], "x86_64-windows-gnu", "win_amd64"),
}

_SYSTEMS = {"darwin": "-macos", "win32": "-windows"}


def this_machine() -> str:
    """The processor and system of this process, by their name in `TARGETS` if they are there."""
    name = platform.machine()
    return {"AMD64": "x86_64", "arm64": "aarch64"}.get(name, name) + _SYSTEMS.get(sys.platform, "")


def own_level() -> str:
    """The best level of this processor."""
    from llvmlite import binding

    target, features = TARGETS.get(this_machine()), binding.get_host_cpu_features()
    is_new = all(features.get(name) for name in ("avx2", "bmi", "bmi2", "fma"))
    return target.levels[0 if is_new else -1] if target else ""


def triple_of(machine: str) -> str:
    """LLVM's name of a machine."""
    from llvmlite import binding

    return binding.get_process_triple() if machine == this_machine() else TARGETS[machine].triple
