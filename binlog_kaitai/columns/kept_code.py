"""Files of machine code: one for each kernel and the types of its arguments.

A file begins with a digest of all that the machine code goes by and of the rest of the file. So what is
damaged, or was made of other code, by other versions or for another processor, is not found.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from binlog_kaitai.columns.kernel_mode import MODE, Mode

#: How machine code is made, kept and called; another number with each change of that.
_CONVENTION = 1

_ENDING = ".machine-code"

_DIGEST = hashlib.sha256().digest_size


class Made(NamedTuple):
    """Machine code.

    Attributes
    ----------
    code : bytes
        An object file; see `columns.machine_code` for how it is called.
    entry : str
        The name of its entry; no other object file has it.
    result : str
        The values that a call gives, each as `struct` calls its type; `1` in front of a single one.
    """

    code: bytes
    entry: str
    result: str


def name_of(function: str, types: str) -> str:
    """The name of the file for a function and types of arguments."""
    return f"{function.strip('<>')}-{hashlib.sha256(types.encode()).hexdigest()[:16]}"


@cache
def has(function: str) -> bool:
    """Whether there is machine code of a function of this name; not whether it is of any use."""
    return any(file.startswith(f"{function.strip('<>')}-") for file in _files())


@cache
def _files() -> list[str]:
    found = []
    for folder in _folders():
        with suppress(OSError):
            found += [file for file in os.listdir(folder) if file.endswith(_ENDING)]
    return found


def find(name: str, told: str) -> Made | None:
    """The machine code of this name, made of what is told; None if there is none."""
    for folder in _folders():
        with suppress(OSError):
            content = (folder / _file(name)).read_bytes()
            seal, rest = content[:_DIGEST], content[_DIGEST:]
            if seal == _seal(told, rest):
                entry, result, code = rest.split(b"\n", 2)
                return Made(code, entry.decode(), result.decode())
    return None


def keep(name: str, told: str, made: Made) -> None:
    """Write the machine code into the first folder that can be written, if there is one."""
    rest = f"{made.entry}\n{made.result}\n".encode() + made.code
    for folder in _folders():
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            temporary = folder / f"{_file(name)}.{os.getpid()}.{os.urandom(4).hex()}"
            try:
                temporary.write_bytes(_seal(told, rest) + rest)
                temporary.replace(folder / _file(name))
            except OSError:
                temporary.unlink(missing_ok=True)
                raise
            return


def _file(name: str) -> str:
    """Files for other versions and processors have other names, so that they stay beside each other."""
    return f"{name}-{hashlib.sha256(_environment().encode()).hexdigest()[:12]}{_ENDING}"


def _seal(told: str, rest: bytes) -> bytes:
    return hashlib.sha256(f"{_environment()}\n{told}\n".encode() + rest).digest()


def _folders() -> list[Path]:
    """Where machine code may lie, the best place first."""
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return [Path(chosen)]
    folders = [Path(importlib.util.cache_from_source(__file__)).parent]
    with suppress(RuntimeError):  # the user has no home
        folders.append(users_folder())
    return folders


def users_folder() -> Path:
    """The user's cache for this package; raises RuntimeError if the user has no home."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "binlog-kaitai"


def cpu_features() -> str:
    """What LLVM knows of this processor."""
    from llvmlite import binding

    try:
        features: str = binding.get_host_cpu_features().flatten()
    except RuntimeError:  # it knows nothing
        return ""
    return features


@cache
def _environment() -> str:
    """What machine code goes by beside the kernel: versions, the processor, Numba's options."""
    import llvmlite
    from llvmlite import binding

    cpu = f"{binding.get_process_triple()} {binding.get_host_cpu_name()} {cpu_features()}"
    options = sorted((name, value) for name, value in os.environ.items() if name.startswith("NUMBA_"))
    shown = [option for option in options if option[0] != "NUMBA_CACHE_DIR"]
    bounds = "checked" if MODE is Mode.CHECKED else "not checked"
    return f"{_CONVENTION} {sys.version} {llvmlite.__version__} {_numba()}\n{cpu}\n{shown}\n{bounds}"


def _numba() -> str:
    """Numba's version, read from its file: to import Numba takes longer than all of this."""
    found = importlib.util.find_spec("numba")
    if found is None or found.origin is None:
        return ""
    return Path(found.origin).with_name("_version.py").read_text()
