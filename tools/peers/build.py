"""Builds the programs in `build/peers`, from copies of their sources, and finds the servers' clients.

A program whose toolchain is missing, or whose build fails, is left out; the reason is reported.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from binlog_kaitai.log.threads import default_threads
from tools.bench.__main__ import clients

ROOT = Path(__file__).parents[2]
_SOURCES, _BUILT = Path(__file__).parent, ROOT / "build/peers"

#: A Python library that makes objects of rows, and its version.
_LIBRARIES = {"mysql-event-stream": "1.8.0", "mysql-replication": "1.0.17"}

#: Names of Python's free-threaded build.
_FREE_THREADED = "python3.14t", "python3.13t"

_MODULE = "-m", "tools.peers.in_python"
_IN_PYTHON = sys.executable, *_MODULE


class Program(NamedTuple):
    """A command; the path of a log and `options` are added."""

    name: str
    command: tuple[str, ...]
    options: tuple[str, ...] = ()
    is_client: bool = False  # prints rows as text instead of counts


class UnavailableError(Exception):
    """A program cannot be built here; the text says why."""


def programs() -> Iterator[Program | str]:
    """This package, then every other program; the reason in words in place of those that are missing."""
    own = *_IN_PYTHON, "read_changes"
    yield Program("`read_changes`, into Arrow", own, ("1",))
    if (threads := default_threads(None)) > 1:
        yield Program(f"the same in {threads} threads", own, (str(threads),))
    for title, build in _BUILDS.items():
        try:
            yield from build()
        except UnavailableError as error:
            yield f"{title} is skipped: {error}"
    known = clients(Path())
    for name in ("mysqlbinlog -vv", "mariadb-binlog -vv"):
        if name in known:
            yield Program(f"`{name}`", tuple(known[name][:-1]), is_client=True)
        else:
            yield f"`{name}` is skipped: the client is not installed and cannot be downloaded"


def _free_threaded() -> Iterator[Program]:
    """`read_changes` again, in an environment of its own."""
    base = next(filter(None, map(shutil.which, _FREE_THREADED)), None)
    if base is None:
        raise UnavailableError(f"{' or '.join(_FREE_THREADED)} not found")
    python = str(_BUILT / "free-threaded/bin/python")
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    _run(base, "-m", "venv", str(_BUILT / "free-threaded"), cwd=ROOT)
    _run(python, "-m", "pip", "install", "--quiet", *needed, cwd=ROOT)
    for threads in dict.fromkeys((1, default_threads(None))):
        name = f"`read_changes`, free-threaded Python, threads: {threads}"
        yield Program(name, (python, *_MODULE, "read_changes"), (str(threads),))


def libraries() -> Iterator[Program | str]:
    """`read_rows`, then the Python libraries that make objects of rows, each in a folder of its own."""
    yield Program("`read_rows`", (*_IN_PYTHON, "read_rows"))
    for name, version in _LIBRARIES.items():
        folder, wanted = str(_BUILT / f"{name}-{version}"), f"{name}=={version}"
        try:
            if not Path(folder).exists():
                _run(sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, wanted, cwd=ROOT)
            yield Program(f"{name} {version}", (*_IN_PYTHON, name), (folder,))
        except UnavailableError as error:
            yield f"{name} is skipped: {error}"


def _rust() -> Iterator[Program]:
    folder = _copied("rust", "cargo")
    # Both this package and a tuned program choose instructions for the machine.
    _run("cargo", "build", "--release", "--quiet", cwd=folder, RUSTFLAGS="-C target-cpu=native")
    peer = str(folder / "target/release/peer")
    yield Program("Rust, tuned by hand on mysql_common", (peer, "tuned"))
    yield Program("Rust, mysql_common, columns prepared per table map", (peer, "prepared"))
    yield Program("Rust, mysql_common, its API", (peer, "api"))


def _java() -> Iterator[Program]:
    folder = _copied("java", "java", "javac", "mvn")
    _run("mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=jars", cwd=folder)
    _run("javac", "-cp", "jars/*", "Peer.java", cwd=folder)
    command = ("java", "-cp", f"{folder}/jars/*{os.pathsep}{folder}", "Peer")
    # Two passes in one process, which measures each itself; the last one counts.
    yield Program("Java, mysql-binlog-connector, second pass, no CRC", command, ("2",))


def _go() -> Iterator[Program]:
    folder = _copied("go", "go")
    _run("go", "mod", "tidy", "-e", cwd=folder)  # -e: without the tests of other modules
    _run("go", "build", "-o", "peer", ".", cwd=folder)
    yield Program("Go, go-mysql", (str(folder / "peer"),))


_BUILDS: dict[str, Callable[[], Iterator[Program]]] = {
    "Python's free-threaded build": _free_threaded,
    "Rust's mysql_common": _rust,
    "Java's connector": _java,
    "Go's go-mysql": _go,
}


def _copied(name: str, *tools: str) -> Path:
    """A folder to build in, with the present sources; what was built there before is reused."""
    if missing := [tool for tool in tools if shutil.which(tool) is None]:
        raise UnavailableError(f"{', '.join(missing)} not found")
    return Path(shutil.copytree(_SOURCES / name, _BUILT / name, dirs_exist_ok=True))


def _run(*command: str, cwd: Path, **variables: str) -> None:
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise UnavailableError(f"`{' '.join(command[:2])}` failed: {''.join(last)}")
