"""The build backend, and its step that compiles the kernels: a wheel has code for one kind of machine.

`BINLOG_KAITAI_MACHINE` names one of `tools.kernels.targets.TARGETS`. With `BINLOG_KAITAI_LEVEL=native` the
code is for processors like this one only, which takes half the time.
"""

from __future__ import annotations

import os
import platform
import sys
import sysconfig
from pathlib import Path
from typing import Any

# Under pip, Hatchling builds the wheel to get its metadata, since hooks may add dependencies. Ours adds none.
os.environ.pop("PIP_BUILD_TRACKER", None)

from hatchling.build import *  # noqa: F403
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MACHINE = "BINLOG_KAITAI_MACHINE"
LEVEL = "BINLOG_KAITAI_LEVEL"
KERNELS = "binlog_kaitai/kernels"
_UNDERSCORES = str.maketrans("-.", "__")


class KernelsHook(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles; where that is impossible, the wheel has the reason, and kernels are plain Python."""

    def dependencies(self) -> list[str]:
        """What compiles, where it has wheels, and what links, where the machine has no C compiler."""
        if os.environ.get("BINLOG_KAITAI_KERNELS") == "python" or not (numba := _numba()):
            return []
        sys.path.insert(0, self.root)
        from tools.kernels.linking import LinkError, compiler
        from tools.kernels.targets import this_machine

        try:
            compiler(os.environ.get(MACHINE) or this_machine())
        except LinkError:
            return [numba, "ziglang"]
        return [numba]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile and link, and put what came of it into the wheel."""
        root = Path(self.root)
        sys.path[:0] = [str(root), str(root / "generated")]
        from tools.kernels.build import BuildError, build_here

        is_left_out = os.environ.get("BINLOG_KAITAI_KERNELS") == "python"
        try:
            if is_left_out:
                raise BuildError("BINLOG_KAITAI_KERNELS=python was set when the package was built")
            if version == "editable":
                build_here()
            else:
                self._put_library(build_data)
        except BuildError as error:
            if os.environ.get(MACHINE):
                raise
            if not is_left_out:
                self.app.display_warning(f"No machine code, so reading will take 100 times as long: {error}")
            if version != "editable":
                self._put_reason(str(error), build_data)

    def _put_reason(self, text: str, build_data: dict[str, Any]) -> None:
        path = self._folder() / "libkernels.txt"
        path.write_text(f"{text}\n")
        build_data["force_include"][str(path)] = f"{KERNELS}/{path.name}"

    def _folder(self) -> Path:
        folder = Path(self.root) / "build/wheel"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _put_library(self, build_data: dict[str, Any]) -> None:
        from tools.kernels.annotations import signatures
        from tools.kernels.build import build
        from tools.kernels.targets import TARGETS, own_level, this_machine

        machine = os.environ.get(MACHINE, "")
        library = self._folder() / f"libkernels{machine}"
        is_native = os.environ.get(LEVEL) == "native" and not machine
        levels: dict[str, Any] = {"levels": [own_level()]} if is_native else {}
        build(library, signatures(), machine=machine, is_in_place=False, **levels)
        # Python on a Mac may be for two processors.
        is_plain = not machine and sys.platform != "darwin"
        target = machine or this_machine()
        platform = sysconfig.get_platform().translate(_UNDERSCORES) if is_plain else TARGETS[target].tag
        ending = "dll" if target.endswith("windows") else "so"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        build_data["force_include"][str(library)] = f"{KERNELS}/libkernels.{ending}"


def _numba() -> str:
    """The requirement for Numba; "" where no wheels of Numba exist, for example on musl."""
    is_intel_mac = sys.platform == "darwin" and platform.machine() == "x86_64"
    is_known = platform.machine() in ("x86_64", "AMD64", "aarch64", "arm64")
    if not is_known or sys.implementation.name != "cpython" or (is_intel_mac and sys.version_info >= (3, 14)):
        return ""
    if sys.platform == "linux" and platform.libc_ver()[0] != "glibc":
        return ""
    return "numba>=0.62,<0.63" if is_intel_mac else "numba>=0.62"
