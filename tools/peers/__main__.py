"""`python -m tools.peers`: measure other programs on the logs of the bench, and print or write the tables.

Each run is a new process. A program's time counts only if it finds as many row images and NULLs as
`read_changes` does. Of several runs, the one with the least processor time is reported.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from tools.bench.__main__ import SHAPES, folder_of
from tools.bench.make_log import shape_of, write
from tools.bench.report import machine, put_between
from tools.peers.build import OWN, Program, programs
from tools.peers.runs import Counts, Figure, RunError, best, counted, table

#: Shapes that all programs can read.
_SHAPES = "bulk rows", "orders", "one-row transactions", "wide rows"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.peers", description=__doc__)
    parser.add_argument("--size", type=int, default=300, metavar="MB", help="size of each log (default 300)")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="runs of each program (default 3)")
    parser.add_argument("--shape", action="append", choices=_SHAPES, help="only this shape; may be repeated")
    parser.add_argument("--only", metavar="WORD", help="only programs whose name contains the word")
    parser.add_argument("--write", type=Path, metavar="FILE", help="the document to write the tables to")
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="folder in which to keep the logs")
    options = parser.parse_args()
    found = list(programs())
    skipped = [one for one in found if isinstance(one, str)]
    chosen = [one for one in found if isinstance(one, Program)]
    chosen = [one for one in chosen if one.name == OWN or (options.only or "") in one.name]
    text = [f"{machine()}. Logs of {options.size} MB.\n", *(f"{reason}.\n" for reason in skipped)]
    print("\n".join(text))
    for name in options.shape or _SHAPES:
        text.append(_measured(name, chosen, options.size * 1_000_000, options.runs, options.logs))
        print(text[-1], flush=True)
    if options.write is not None:
        put_between(options.write, "\n".join(text), "peers")


def _measured(name: str, chosen: list[Program], size: int, runs: int, logs: Path | None) -> str:
    """The table of one shape of log."""
    recipe = SHAPES[name]
    shape = shape_of(name, recipe.log, event_size=recipe.size, repeat=recipe.repeat)
    with folder_of(logs) as folder:
        long = folder / f"{name.replace(' ', '-')}.000001"
        short = long.with_suffix(".small")
        if not long.exists():
            write(shape, long, size)
        write(shape, short, 1, chunk=1)
        counts = counted(chosen[0], long)
        lines = list(_figures(chosen, counts, short, long, runs))
        sizes = short.stat().st_size, long.stat().st_size
    figures = [one for one in lines if isinstance(one, Figure)]
    notes = "".join(f"\n{one}.\n" for one in lines if isinstance(one, str))
    heading, about = (text[:1].upper() + text[1:] for text in (name, recipe.about))
    return f"### {heading}\n\n{about}.\n\n{table(figures, sizes, counts)}{notes}"


def _figures(
    chosen: list[Program], counts: Counts, short: Path, long: Path, runs: int
) -> Iterator[Figure | str]:
    """The programs' figures; a sentence in place of one that fails or disagrees."""
    for program in chosen:
        try:
            found = counted(program, long)
            if found != counts:
                yield f"{program.name} does not count: it finds {found}, `read_changes` {counts}"
                continue
            yield Figure(program.name, best(program, short, runs), best(program, long, runs))
        except RunError as error:
            yield f"{program.name} does not count: {error}"


if __name__ == "__main__":
    main()
