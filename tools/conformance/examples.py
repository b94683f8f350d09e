"""Builds and runs the programs of `docs/languages.md` as described there; they print GTIDs and tables."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from uuid import UUID

from tools.conformance.languages import GO_RUNTIME, BuildError, given, java_runtime, nim_compiler, run_tool
from tools.generate.compiler import node_command, node_modules
from tools.generate.targets import GO_PACKAGE

PROGRAMS = Path(__file__).parent / "programs"
_GENERATED = Path(__file__).parents[2] / "generated"

Command = tuple[list[str], dict[str, str]]
"""What to run, the log excepted, and variables beyond those of this process."""


def difference(target: str, folder: Path, logs: Iterable[tuple[Path, list[str]]]) -> str | None:
    """The failure of a language's program, built in the folder of its driver; None if it succeeds.

    `logs`: readable logs, each with Python's tree of it.
    """
    place = folder / "program"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    try:
        command, environment = _EXAMPLES[target](folder, place)
    except BuildError as error:
        return f"the program of docs/languages.md does not compile: {error}"
    for log, tree in logs:
        done = subprocess.run(
            [*command, str(log.resolve())],
            cwd=place,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            return f"the program of docs/languages.md failed: {done.stderr.strip()[:1000]}"
        expected = list(_gtids_and_tables(tree))
        for line, printed in zip_longest(expected, done.stdout.splitlines()):
            if line != printed:
                return f"the program of docs/languages.md prints {printed!r}, not {line!r}, for {log}"
    return None


def _gtids_and_tables(tree: list[str]) -> Iterator[str]:
    """What the programs print of a log."""
    for line in tree[1:-1]:
        event = json.loads(line)["event"]
        header, content = event["header"], event["body"]["content"]
        match header["type_code"]:
            case "gtid_log_event":
                yield f"{UUID(content['uuid']['hex'])}:{content['gno']}"
            case "gtid_event":
                yield f"{content['domain_id']}-{header['server_id']}-{content['sequence_number']}"
            case "table_map_event":
                yield f"{content['schema_name']}.{content['table_name']}"


def _python(_: Path, __: Path) -> Command:
    return [sys.executable, str(PROGRAMS / "python.py")], {"PYTHONPATH": str(_GENERATED)}


def _javascript(folder: Path, place: Path) -> Command:
    shutil.copy(PROGRAMS / "javascript.js", place / "program.js")
    path = os.pathsep.join([str(folder / "classes"), str(node_modules() / "node_modules")])
    return [*node_command(), "--stack-size=8000", "program.js"], {"NODE_PATH": path}


def _java(folder: Path, place: Path) -> Command:
    shutil.copy(PROGRAMS / "java.java", place / "Program.java")
    path = os.pathsep.join([str(java_runtime()), str(folder / "built"), "."])
    run_tool(["javac", "-cp", path, "-d", ".", "Program.java"], cwd=place)
    return ["java", "-cp", path, "Program"], {}


def _go(folder: Path, place: Path) -> Command:
    shutil.copytree(folder / "classes", place / GO_PACKAGE)
    shutil.copy(PROGRAMS / "go.go", place / "program.go")
    (place / "go.mod").write_text("module example\n\ngo 1.22\n", encoding="utf-8")
    run_tool(["go", "get", GO_RUNTIME], cwd=place)
    run_tool(["go", "build", "-o", "program", "."], cwd=place)
    return [str(place / "program")], {}


def _cpp(folder: Path, place: Path) -> Command:
    runtime, classes = given("KAITAI_CPP_RUNTIME", "kaitai/kaitaistream.cpp"), folder / "classes"
    own = [folder / "built" / f"{name}.o" for name in ("driver", "visitor")]
    objects = [str(path) for path in sorted((folder / "built").glob("*.o")) if path not in own]
    options = ["-std=c++11", "-DKS_ZLIB", "-DKS_STR_ENCODING_NONE", f"-I{classes}", f"-I{runtime}"]
    run_tool(["g++", *options, str(PROGRAMS / "cpp_stl.cpp"), *objects, "-lz", "-o", str(place / "program")])
    return [str(place / "program")], {}


def _csharp(folder: Path, place: Path) -> Command:
    library = shutil.copy(folder / "built/grammar.dll", place)
    run_tool(["mcs", f"-r:{library}", f"-out:{place / 'program.exe'}", str(PROGRAMS / "csharp.cs")])
    return ["mono", "program.exe"], {}


def _ruby(folder: Path, _: Path) -> Command:
    runtime = given("KAITAI_RUBY_RUNTIME", "lib/kaitai/struct/struct.rb")
    return ["ruby", "-I", str(runtime / "lib"), "-I", str(folder / "classes"), str(PROGRAMS / "ruby.rb")], {}


def _lua(folder: Path, _: Path) -> Command:
    lua = next(filter(shutil.which, ("lua5.4", "lua5.3", "lua")), "lua")
    runtime = given("KAITAI_LUA_RUNTIME", "kaitaistruct.lua")
    return [lua, str(PROGRAMS / "lua.lua")], {"LUA_PATH": f"{runtime}/?.lua;{folder}/classes/?.lua;;"}


def _php(folder: Path, place: Path) -> Command:
    shutil.copytree(folder / "classes", place / "build/php")
    return ["php", "-derror_reporting=0", str(PROGRAMS / "php.php")], {}


def _nim(folder: Path, place: Path) -> Command:
    runtime = given("KAITAI_NIM_RUNTIME", "kaitai_struct_nim_runtime.nim")
    run_tool([*nim_compiler(folder, runtime), f"-o:{place / 'program'}", str(PROGRAMS / "nim.nim")])
    return [str(place / "program")], {}


_EXAMPLES: dict[str, Callable[[Path, Path], Command]] = {
    "python": _python,
    "javascript": _javascript,
    "java": _java,
    "go": _go,
    "cpp_stl": _cpp,
    "csharp": _csharp,
    "ruby": _ruby,
    "lua": _lua,
    "nim": _nim,
    "php": _php,
}
