"""`python -m tools.generate`: write all files generated from formats/, or check that they are up to date."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.generate import (
    classes,
    collection,
    decoders,
    layouts,
    masks,
    meanings,
    names,
    sizes,
    stubs,
    targets,
    unsigned,
    webide,
)
from tools.generate.compiler import (
    LANGUAGES,
    UNSUPPORTED,
    CompileError,
    Target,
    compile_grammar,
    write_target,
)
from tools.generate.grammar import Grammar, GrammarError
from tools.viewer import bundle

ROOT = Path(__file__).parents[2]
ENTRY = "mysql_binlog"
WEBIDE = Path("build/webide/mysql_binlog.ksy")
COLLECTION = Path("build/collection")


def render_all(grammar: Grammar) -> dict[str, str]:
    """Every generated file of the repository, by path from the root."""
    (python,) = compile_grammar(grammar.specs, Target("python", debug=True))
    files = {
        **classes.render(grammar, python),
        **stubs.render(grammar),
        **layouts.render(grammar),
        "masks.py": masks.render(grammar),
        "meanings.py": meanings.render(grammar),
        "sizes.py": sizes.render(grammar),
        **decoders.render(grammar),
        **{f"viewer/{name}": text for name, text in bundle.render(grammar).items()},
    }
    return {f"generated/binlog_grammar/{name}": text for name, text in files.items()}


def present(root: Path) -> dict[str, str]:
    """The existing generated files, by path from the root."""
    paths = [p for p in (root / "generated").rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def write(root: Path, files: dict[str, str]) -> None:
    old = present(root)
    for name in old.keys() - files.keys():
        (root / name).unlink()
    for name, text in files.items():
        if old.get(name) != text:
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def drift(root: Path, files: dict[str, str]) -> list[str]:
    """The differences between the tree and `files`, one line per file."""
    old = present(root)
    return [
        f"{name}: {'missing' if name not in old else 'not generated' if name not in files else 'out of date'}"
        for name in sorted(old.keys() | files.keys())
        if old.get(name) != files.get(name)
    ]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.generate", description=__doc__)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="write nothing; fail if a file is out of date")
    mode.add_argument("--target", choices=LANGUAGES, help="write this language to build/LANGUAGE/")
    mode.add_argument("--webide", action="store_true", help=f"write {WEBIDE}, one file without imports")
    mode.add_argument(
        "--collection", action="store_true", help=f"write {COLLECTION}/, for Kaitai's collection"
    )
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    try:
        return run(options)
    except (GrammarError, CompileError) as error:
        print(error, file=sys.stderr)
        return 1


def run(options: argparse.Namespace) -> int:
    grammar = Grammar.load(options.root / "formats")
    names.check(grammar, options.root / "formats")
    unsigned.check(grammar, options.root / "formats")
    if options.target:
        folder = options.root / "build" / options.target
        files = targets.compile_for(grammar, options.target)
        write_target(files, folder)
        print(f"wrote {len(files)} files to {folder}")
        if options.target in UNSUPPORTED:
            reason = f"{options.target} is not supported: the compiler's files do not work"
            print(f"{reason}; see docs/languages.md", file=sys.stderr)
        return 0
    if options.webide:
        write_target({WEBIDE.name: webide.render(grammar, ENTRY)}, (options.root / WEBIDE).parent)
        print(f"wrote {WEBIDE}")
        return 0
    if options.collection:
        collection.write(grammar, ENTRY, options.root / "tests/corpus", options.root / COLLECTION)
        print(f"wrote {COLLECTION}")
        return 0
    files = render_all(grammar)
    if not options.check:
        write(options.root, files)
        return 0
    if differences := drift(options.root, files):
        print("\n".join(differences), file=sys.stderr)
        print("generated/ is out of date: run `make generate`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
