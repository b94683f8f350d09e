"""How the grammar is built and run in each language: compiler, runtime, driver."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tools.conformance import cpp, nim
from tools.conformance.compare import STRICT, Leniency
from tools.generate.compiler import node_command, node_modules, write_target
from tools.generate.grammar import Grammar
from tools.generate.targets import GO_PACKAGE, compile_for

DRIVERS = Path(__file__).parent / "drivers"
JAVA_RUNTIME = "io.kaitai:kaitai-struct-runtime:0.11"
GO_RUNTIME = "github.com/kaitai-io/kaitai_struct_go_runtime/kaitai@v0.11.0"


class MissingError(Exception):
    """Something required for a language is missing on this machine."""


class BuildError(Exception):
    """A compiler rejected the generated classes or the driver."""


@dataclass(frozen=True)
class Built:
    """A driver that is ready to run.

    Attributes
    ----------
    command
        Reads file names, one per line, and prints trees.
    tool, runtime
        The compiler or interpreter and the Kaitai runtime, with versions.
    environment
        Additional environment variables.
    """

    command: list[str]
    tool: str
    runtime: str
    environment: dict[str, str]


@dataclass(frozen=True)
class Language:
    """A target language of the Kaitai compiler.

    Attributes
    ----------
    target
        The compiler's name of the language.
    title
        The name of the language.
    build
        Builds the driver in a folder that contains `classes/` and `schema.tsv`.
    leniency
        Limitations of its runtime.
    """

    target: str
    title: str
    build: Callable[[Grammar, Path], Built]
    leniency: Leniency = STRICT


def prepare(language: Language, grammar: Grammar, schema: str, folder: Path) -> Built:
    """Compile the grammar to a language and build its driver."""
    write_target(compile_for(grammar, language.target), folder / "classes")
    (folder / "schema.tsv").write_text(schema, encoding="utf-8")
    return language.build(grammar, folder)


def _java(_: Grammar, folder: Path) -> Built:
    _need("javac", "java")
    jar = java_runtime()
    out = folder / "built"
    sources = [*folder.glob("classes/**/*.java"), DRIVERS / "Driver.java"]
    run_tool(["javac", "-nowarn", "-d", str(out), "-cp", str(jar), *map(str, sources)])
    command = ["java", "-Xss64m", "-cp", f"{out}{os.pathsep}{jar}", "Driver", str(folder / "schema.tsv")]
    return Built(command, _version("javac", "-version"), jar.stem, {})


def java_runtime() -> Path:
    """The jar from Maven's cache; downloaded if necessary."""
    if given := os.environ.get("KAITAI_JAVA_RUNTIME"):
        return Path(given)
    group, name, version = JAVA_RUNTIME.split(":")
    place = Path(group.replace(".", "/")) / name / version / f"{name}-{version}.jar"
    jar = Path.home() / ".m2/repository" / place
    if not jar.exists():
        _need("mvn")
        run_tool(["mvn", "-q", "-B", "dependency:get", f"-Dartifact={JAVA_RUNTIME}"])
    return jar


def _go(_: Grammar, folder: Path) -> Built:
    _need("go")
    module = folder / "module"
    shutil.rmtree(module, ignore_errors=True)
    shutil.copytree(folder / "classes", module / GO_PACKAGE)
    shutil.copy(DRIVERS / "driver.go", module / "main.go")
    (module / "go.mod").write_text("module conformance\n\ngo 1.22\n", encoding="utf-8")
    run_tool(["go", "get", GO_RUNTIME], cwd=module)
    run_tool(["go", "build", "-o", "driver", "."], cwd=module)
    command = [str(module / "driver"), str(folder / "schema.tsv")]
    return Built(command, _version("go", "version"), GO_RUNTIME.rpartition("/")[2].replace("@", " "), {})


def _javascript(_: Grammar, folder: Path) -> Built:
    command = [*node_command(), "--stack-size=8000", str(DRIVERS / "driver.mjs"), str(folder / "classes")]
    modules = node_modules() / "node_modules"
    version = re.search(r'"version": "([^"]+)"', (modules / "kaitai-struct/package.json").read_text("utf-8"))
    runtime = f"kaitai-struct {version[1] if version else ''}"
    command.append(str(folder / "schema.tsv"))
    return Built(command, _version(*node_command(), "--version"), runtime, {"NODE_PATH": str(modules)})


def _cpp(grammar: Grammar, folder: Path) -> Built:
    _need("g++")
    runtime = given("KAITAI_CPP_RUNTIME", "kaitai/kaitaistream.cpp")
    (folder / "visitor.cpp").write_text(cpp.render(grammar), encoding="utf-8")
    classes, out = folder / "classes", folder / "built"
    out.mkdir(exist_ok=True)
    options = ["-std=c++11", "-DKS_ZLIB", "-DKS_STR_ENCODING_NONE", f"-I{runtime}", f"-I{classes}"]
    options.append(f"-I{DRIVERS}")
    sources = [*sorted(classes.glob("*.cpp")), runtime / "kaitai/kaitaistream.cpp", folder / "visitor.cpp"]
    sources.append(DRIVERS / "driver.cpp")
    makefile = "".join(
        f"{out / source.stem}.o: {source} {DRIVERS / 'driver.h'}\n\tg++ {' '.join(options)} -c -o $@ $<\n"
        for source in sources
    )
    objects = " ".join(str(out / f"{source.stem}.o") for source in sources)
    makefile = f"{out / 'driver'}: {objects}\n\tg++ -o $@ $^ -lz\n{makefile}"
    (folder / "Makefile").write_text(makefile, encoding="utf-8")
    run_tool(["make", "-s", "-j2", "-f", str(folder / "Makefile")])
    return Built([str(out / "driver")], _version("g++", "--version"), _runtime(runtime), {})


def _ruby(_: Grammar, folder: Path) -> Built:
    _need("ruby")
    runtime = given("KAITAI_RUBY_RUNTIME", "lib/kaitai/struct/struct.rb")
    driver = [str(DRIVERS / "driver.rb"), str(folder / "classes"), str(folder / "schema.tsv")]
    command = ["ruby", f"-I{runtime / 'lib'}", *driver]
    return Built(command, _version("ruby", "--version"), _runtime(runtime), {})


def _php(_: Grammar, folder: Path) -> Built:
    _need("php")
    runtime = given("KAITAI_PHP_RUNTIME", "lib/Kaitai/Struct/Stream.php")
    arguments = [str(folder / "classes"), str(runtime), str(folder / "schema.tsv")]
    command = ["php", "-derror_reporting=0", str(DRIVERS / "driver.php"), *arguments]
    return Built(command, _version("php", "--version"), _runtime(runtime), {})


def _csharp(_: Grammar, folder: Path) -> Built:
    _need("mcs", "mono")
    runtime = given("KAITAI_CSHARP_RUNTIME", "KaitaiStream.cs")
    out = folder / "built"
    out.mkdir(exist_ok=True)
    sources = [*sorted((folder / "classes").glob("*.cs")), *sorted(runtime.glob("*.cs"))]
    library, driver = out / "grammar.dll", out / "driver.exe"
    run_tool(["mcs", "-nowarn:1591", "-target:library", f"-out:{library}", *map(str, sources)])
    run_tool(["mcs", f"-r:{library}", f"-out:{driver}", str(DRIVERS / "Driver.cs")])
    command = ["mono", str(driver), str(folder / "schema.tsv")]
    return Built(command, f"{_version('mcs', '--version')} (Mono)", _runtime(runtime), {})


def _lua(_: Grammar, folder: Path) -> Built:
    lua = next(filter(shutil.which, ("lua5.4", "lua5.3", "lua")), None)
    if lua is None:
        raise MissingError("no lua")
    runtime = given("KAITAI_LUA_RUNTIME", "kaitaistruct.lua")
    given("KAITAI_LUA_RUNTIME", "zzlib/zzlib.lua")  # a submodule, empty in a plain clone
    command = [lua, str(DRIVERS / "driver.lua"), str(folder / "classes"), str(folder / "schema.tsv")]
    return Built(command, _version(lua, "-v"), _runtime(runtime), {"LUA_PATH": f"{runtime}/?.lua;;"})


def _nim(grammar: Grammar, folder: Path) -> Built:
    _need("nim")
    runtime = given("KAITAI_NIM_RUNTIME", "kaitai_struct_nim_runtime.nim")
    (folder / "visitors.nim").write_text(nim.render(grammar), encoding="utf-8")
    paths = [f"--path:{folder}", f"--path:{DRIVERS}"]
    run_tool([*nim_compiler(folder, runtime), *paths, f"-o:{folder / 'driver'}", str(DRIVERS / "driver.nim")])
    return Built([str(folder / "driver")], _version("nim", "--version"), _runtime(runtime), {})


def nim_compiler(folder: Path, runtime: Path) -> list[str]:
    """The start of a command that compiles a program against the generated modules."""
    paths = [f"--path:{folder / 'classes'}", f"--path:{runtime}", f"--nimcache:{folder / 'cache'}"]
    return ["nim", "c", "-d:release", "--hints:off", "--warnings:off", *paths]


def _need(*names: str) -> None:
    for name in names:
        if shutil.which(name) is None:
            raise MissingError(f"no {name}")


def given(variable: str, file: str) -> Path:
    """The folder of a runtime, from an environment variable."""
    folder = Path(os.environ.get(variable, ""))
    if not os.environ.get(variable):
        raise MissingError(f"{variable} does not name the runtime's folder")
    if not (folder / file).exists():
        raise MissingError(f"{variable}: no {file} in {folder}")
    return folder


def _runtime(folder: Path) -> str:
    """The version according to the runtime's own files."""
    for path in [
        *folder.glob("lib/**/struct.rb"),
        *folder.glob("*.csproj"),
        *folder.glob("kaitai/kaitaistream.h"),
        *folder.glob("*.nimble"),
    ]:
        text = path.read_text(encoding="utf-8", errors="replace")
        if match := re.search(
            r"VERSION = '([\d.]+)'|<Version>([\d.]+)|^version += \"([\d.]+)", text, re.MULTILINE
        ):
            return match[1] or match[2] or match[3]
        if match := re.search(r"KAITAI_STRUCT_VERSION (\d+)L", text):
            return f"0.{int(match[1]) // 1000}"
    return "from its repository"


def run_tool(command: list[str], cwd: Path | None = None) -> None:
    """Run a compiler; raise a `BuildError` with its output if it fails."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"{command[0]}: {(done.stderr + done.stdout).strip()[:4000]}")


def _version(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    match = re.search(r"\d+(\.\d+)+\w*", done.stdout + done.stderr)
    return f"{Path(command[0]).name} {match[0]}" if match else Path(command[0]).name


LANGUAGES = (
    Language("javascript", "JavaScript", _javascript, Leniency(numbers_are_rounded=True)),
    Language("java", "Java", _java, Leniency(unknown_enum_is_null=True)),
    Language("go", "Go", _go, Leniency(absent_is_zero=True)),
    Language("cpp_stl", "C++", _cpp),
    Language("csharp", "C#", _csharp, Leniency(absent_enum_is_zero=True)),
    Language("ruby", "Ruby", _ruby),
    Language("lua", "Lua", _lua, Leniency(unknown_enum_is_null=True, unreadable_text_is_anything=True)),
    Language("nim", "Nim", _nim, Leniency(absent_is_zero=True)),
    Language("php", "PHP", _php, Leniency(numbers_are_rounded=True, unreadable_text_is_lost=True)),
)
