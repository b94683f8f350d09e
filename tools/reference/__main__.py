"""`python -m tools.reference`: write docs/grammar/ from formats/ and the corpus, or a static site."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.generate.grammar import Grammar
from tools.reference import pages, samples, site

ROOT = Path(__file__).parents[2]
INDEX = "docs/grammar.md"
FOLDER = "docs/grammar"
SITE = Path("build/docs")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.reference", description=__doc__)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="write nothing; fail if a page is out of date")
    mode.add_argument("--choose", action="store_true", help="choose the examples anew")
    mode.add_argument("--site", action="store_true", help=f"write the static site to {SITE}")
    options = parser.parse_args(arguments)
    corpus = ROOT / "tests/corpus"
    if options.choose:
        samples.choose(corpus, ROOT)
        return 0
    grammar = Grammar.load(ROOT / "formats")
    examples = samples.load(corpus)
    if options.site:
        site.write(grammar, examples, ROOT / SITE)
        print(f"open {SITE}/index.html")
        return 0
    texts = {INDEX: pages.index(grammar, folder="grammar/")}
    texts |= {f"{FOLDER}/{top.id}.md": pages.page(grammar, top, examples) for top in grammar.tops()}
    return check(texts) if options.check else write(texts)


def present() -> dict[str, str]:
    """The existing pages, by path from the root."""
    paths = [ROOT / INDEX, *sorted((ROOT / FOLDER).glob("*.md"))]
    there = [path for path in paths if path.exists()]
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in there}


def write(texts: dict[str, str]) -> int:
    for name in present().keys() - texts.keys():
        (ROOT / name).unlink()
    for name, text in texts.items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


def check(texts: dict[str, str]) -> int:
    old = present()
    if stale := sorted(name for name in old.keys() | texts.keys() if old.get(name) != texts.get(name)):
        print("\n".join(f"{name}: out of date" for name in stale), file=sys.stderr)
        print("run make generate", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
