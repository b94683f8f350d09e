"""`python -m tools.vectors`: write build/vectors/, a small log for each event type with its tree.

The excerpts (`--choose`) are stored in chosen.json, because searching the corpus takes half a minute.
"""

from __future__ import annotations

import argparse
import json
import logging
import shutil
import sys
from pathlib import Path

from tools.generate.grammar import Grammar
from tools.vectors.build import Chosen, render
from tools.vectors.choose import Excerpt, candidates

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests/corpus"
TARGET = ROOT / "build/vectors"
CHOSEN = Path(__file__).with_name("chosen.json")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.vectors", description=__doc__.partition("\n")[0])
    parser.add_argument("--choose", action="store_true", help="choose the excerpts anew from the corpus")
    parser.add_argument("--to", type=Path, default=TARGET, metavar="FOLDER", help="write here; made anew")
    options = parser.parse_args(arguments)
    if options.choose:
        choose()
        return 0
    shutil.rmtree(options.to, ignore_errors=True)
    count = 0
    for name, data in render(Grammar.load(ROOT / "formats"), CORPUS, load()):
        path = options.to / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        count += name.endswith(".binlog")
    print(f"wrote {count} logs with their trees to {options.to}")
    return 0


def load() -> Chosen:
    """The chosen excerpts."""
    rows = json.loads(CHOSEN.read_text(encoding="utf-8"))
    return {(kind, server): Excerpt(*fields) for kind, server, *fields in rows}


def choose() -> None:
    """Search the corpus for the smallest excerpt of each type and server."""
    logging.disable(logging.WARNING)  # of incidents, which are intentional in the corpus
    best: Chosen = {}
    for kind, server, excerpt in candidates(CORPUS):
        key = kind, server
        best[key] = min(best.get(key, excerpt), excerpt)
    rows = [[*key, e.rank, e.size, e.log, e.start, e.end, e.event] for key, e in sorted(best.items())]
    lines = ",\n".join(json.dumps(row) for row in rows)
    CHOSEN.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
