"""`python -m tools.peers`: measure other programs on the logs of the bench, and print or write the tables.

Each run is a new process. A program's time counts only if it finds as many row images and NULLs as
`read_changes` does. Of several runs, the one with the least processor time is reported.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from tools.bench.__main__ import SHAPES, folder_of
from tools.bench.make_log import shape_of, write
from tools.bench.report import machine, put_between
from tools.peers.build import Program, libraries, programs
from tools.peers.runs import compare, table, table_of_rows

#: Shapes that all programs can read.
_SHAPES = "bulk rows", "orders", "one-row transactions", "wide rows"

#: MB of the logs whose rows become Python objects, which takes 5 to 20 times as long.
_SIZE_OF_ROWS = 30


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.peers", description=__doc__)
    parser.add_argument("--size", type=int, default=300, metavar="MB", help="size of each log (default 300)")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="runs of each program (default 3)")
    parser.add_argument("--shape", action="append", choices=_SHAPES, help="only this shape; may be repeated")
    parser.add_argument("--only", metavar="WORD", help="only programs whose name contains the word")
    parser.add_argument("--rows", action="store_true", help="only rows as Python objects")
    parser.add_argument("--write", type=Path, metavar="FILE", help="the document to write the tables to")
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="folder in which to keep the logs")
    options = parser.parse_args()
    shapes = options.shape or _SHAPES
    with folder_of(options.logs) as folder:
        if not options.rows:
            _section("peers", list(programs()), options, partial(_tables, shapes, folder, options.size))
        _section("rows", list(libraries()), options, partial(_table_of_rows, shapes, folder))


def _section(
    name: str,
    available: list[Program | str],
    options: argparse.Namespace,
    measured: Callable[[list[Program], int], Iterator[str]],
) -> None:
    """Measure this package, the first of the programs, and the chosen others; print the text and write it."""
    chosen = [program for program in available if isinstance(program, Program)]
    chosen = [*chosen[:1], *(other for other in chosen[1:] if (options.only or "") in other.name)]
    text = [f"{machine()}.\n", *(f"{reason}.\n" for reason in available if isinstance(reason, str))]
    for part in measured(chosen, options.runs):
        text.append(part)
        print(part, flush=True)
    if options.write is not None:
        put_between(options.write, "\n".join(text), name)


def _tables(
    shapes: Sequence[str], folder: Path, size: int, chosen: list[Program], runs: int
) -> Iterator[str]:
    """A table of each shape of log."""
    yield f"Logs of {size} MB.\n"
    for name in shapes:
        log = compare(chosen, *_logs(name, folder, size), runs)
        heading, about = (part[:1].upper() + part[1:] for part in (name, SHAPES[name].about))
        yield f"### {heading}\n\n{about}.\n\n{table(log)}{log.reasons()}"


def _table_of_rows(shapes: Sequence[str], folder: Path, chosen: list[Program], runs: int) -> Iterator[str]:
    """One table of all shapes."""
    logs = {name: compare(chosen, *_logs(name, folder, _SIZE_OF_ROWS), runs) for name in shapes}
    yield table_of_rows(logs) + "".join(log.reasons() for log in logs.values())


def _logs(name: str, folder: Path, size: int) -> tuple[Path, Path]:
    """A log of one transaction, and one of a size in MB."""
    recipe = SHAPES[name]
    shape = shape_of(name, recipe.log, event_size=recipe.size, repeat=recipe.repeat)
    long = folder / f"{name.replace(' ', '-')}-{size}.000001"
    short = long.with_suffix(".small")
    if not long.exists():
        write(shape, long, size * 1_000_000)
    write(shape, short, 1, chunk=1)
    return short, long


if __name__ == "__main__":
    main()
