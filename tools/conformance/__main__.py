"""`python -m tools.conformance`: build the grammar in every language and hold its trees against Python's."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.conformance.languages import LANGUAGES
from tools.conformance.run import Result, corpus, run_all

ROOT = Path(__file__).parents[2]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.conformance", description=__doc__)
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help="only these, by the compiler's name")
    parser.add_argument("--logs", nargs="+", type=Path, metavar="LOG", help="these instead of the corpus")
    options = parser.parse_args(arguments)
    known = {language.target: language for language in LANGUAGES}
    if unknown := set(options.languages) - known.keys():
        parser.error(f"no driver for {unknown.pop()!r}; there are {', '.join(known)}")
    chosen = [known[name] for name in options.languages] or list(LANGUAGES)
    results = run_all(ROOT, chosen, options.logs or corpus(ROOT))
    return 0 if report(results) else 1


def report(results: list[Result]) -> bool:
    """Print what came out; whether nothing failed."""
    failed = 0
    for result in results:
        print(result.line())
        for difference in result.differences[:10]:
            print(f"    {difference}")
        failed += result.has_failed
    passed = sum(result.has_run and not result.has_failed for result in results)
    skipped = sum(not result.has_run and not result.has_failed for result in results)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed == 0


if __name__ == "__main__":
    sys.exit(main())
