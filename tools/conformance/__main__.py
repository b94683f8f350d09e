"""`python -m tools.conformance`: build the grammar in every language and compare the trees with Python's."""

from __future__ import annotations

import argparse
import platform
import re
import sys
from importlib.metadata import version
from pathlib import Path

from tools.conformance.languages import LANGUAGES
from tools.conformance.run import Result, corpus, run_all

PROGRAMS = Path(__file__).parent / "programs"

#: Marks a program whose language is missing on the machine that writes the document.
NOT_RUN = "*This program has not been run.*"

TEMPLATE = Path(__file__).with_name("languages.md.in")


def render(results: list[Result], python: tuple[str, str, int, float]) -> str:
    """The document. `python` is the reference: its version, runtime, number of logs, and MB/s."""
    tool, runtime, logs, speed = python
    rows = [f"| Python | {tool} | {runtime} | the reference, {logs} | {speed:.1f} |"]
    rows += [_row(result) for result in results]
    programs = [
        "\n## Programs\n\nEach prints the GTIDs and the tables of a log.\n",
        _program("python", "Python", ""),
    ]
    for result in results:
        remark = "" if result.built else f"{NOT_RUN}\n\n"
        programs.append(_program(result.language.target, result.language.title, remark))
    template = TEMPLATE.read_text(encoding="utf-8")
    return template.replace("{rows}", "\n".join(rows)).replace("{programs}", "\n".join(programs))


def _program(target: str, title: str, remark: str) -> str:
    (path,) = PROGRAMS.glob(f"{target}.*")
    text = path.read_text(encoding="utf-8").rstrip()
    return f"### {title}\n\n{remark}```{path.suffix[1:]}\n{text}\n```\n"


def _row(result: Result) -> str:
    title = result.language.title
    if result.built is None:
        return f"| {title} | {'not tried' if result.is_missing else 'does not compile'} | | | |"
    same = result.logs - len(result.differences)
    speed = f"{result.read / 1e6 / result.seconds:.1f}" if result.seconds else ""
    version = re.sub(r"^kaitai-struct-runtime-", "kaitai-struct-runtime ", result.built.runtime)
    return f"| {title} | {result.built.tool} | {version} | {same} of {result.logs} | {speed} |"


ROOT = Path(__file__).parents[2]
DOCUMENT = "docs/languages.md"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.conformance", description=__doc__)
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help="only these, by the compiler's name")
    parser.add_argument("--logs", nargs="+", type=Path, metavar="LOG", help="these instead of the corpus")
    parser.add_argument("--write", action="store_true", help=f"write {DOCUMENT}")
    options = parser.parse_args(arguments)
    known = {language.target: language for language in LANGUAGES}
    if unknown := set(options.languages) - known.keys():
        parser.error(f"no driver for {unknown.pop()!r}; there are {', '.join(known)}")
    chosen = [known[name] for name in options.languages] or list(LANGUAGES)
    logs: list[Path] = options.logs or corpus(ROOT)
    speed: list[float] = []
    results = run_all(ROOT, chosen, logs, speed)
    if options.write:
        python = f"Python {platform.python_version()}", f"kaitaistruct {version('kaitaistruct')}"
        (ROOT / DOCUMENT).write_text(render(results, (*python, len(logs), speed[0])), encoding="utf-8")
    return 0 if report(results) else 1


def report(results: list[Result]) -> bool:
    """Print the results; returns whether all succeeded."""
    failed = 0
    for result in results:
        print(result.line())
        for difference in [*([result.program] if result.program else []), *result.differences[:10]]:
            print(f"    {difference}")
        failed += result.has_failed
    passed = sum(result.has_run and not result.has_failed for result in results)
    skipped = sum(not result.has_run and not result.has_failed for result in results)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed == 0


if __name__ == "__main__":
    sys.exit(main())
