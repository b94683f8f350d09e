"""Links object files to a shared library, with the machine's C compiler or with `ziglang` from PyPI."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tools.kernels.targets import TARGETS, this_machine

if TYPE_CHECKING:
    from binlog_kaitai.kernels.library import KernelRow  # `compiler` does not need it

_SOURCE = Path(__file__).with_name("library.c")


class LinkError(Exception):
    """The shared library cannot be linked; contains the reason."""


def link(
    output: Path, table: Iterable[KernelRow], objects: Iterable[Path], machine: str, folder: Path
) -> None:
    """Write a library from object files, with the table of its kernels.

    Raises
    ------
    LinkError
    """
    text = "".join("\t".join(row) + "\n" for row in table)
    source, draft = folder / f"library.{os.getpid()}.c", output.with_name(f"{output.name}.{os.getpid()}")
    source.write_text(f"const char binlog_kaitai_kernels[] = {json.dumps(text)};\n{_SOURCE.read_text()}")
    command = [*compiler(machine), "-shared", "-fPIC", "-O2", "-s", "-o", str(draft)]
    command.append(f"-DLEVELS={len(TARGETS[machine].levels)}")
    command += ["-nostdlib"] if "linux" in TARGETS[machine].triple else []
    try:
        files = [str(source), *map(str, objects)]
        subprocess.run([*command, *files], check=True, capture_output=True, text=True)
        draft.replace(output)
    except subprocess.CalledProcessError as error:
        raise LinkError(f"{command[0]} cannot link: {error.stderr.strip()}") from error
    finally:
        source.unlink()
        draft.unlink(missing_ok=True)


def compiler(machine: str) -> list[str]:
    """The command of a C compiler for a machine; raises `LinkError` if there is none."""
    if machine == this_machine():
        if chosen := os.environ.get("CC"):
            return shlex.split(chosen)
        for name in ("cc", "gcc", "clang"):
            if path := shutil.which(name):
                return [path]
    if machine in TARGETS and importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc", "-target", TARGETS[machine].linked_for]
    raise LinkError(f"there is no C compiler for {machine}: pip install ziglang, or install gcc or clang")
