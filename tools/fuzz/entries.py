"""The entry points, and how often each is run.

Entry points that others are compared with run on every log. Each log also gets a share of the others,
selected by a hash of its name, so that all entry points meet every kind of mutation while a log takes about
25 ms. `verify --thorough` runs on every log that an entry point rejects, and with those compared with it.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tools.fuzz import agreement, parts, printing, reading, remaking, wrapped
from tools.fuzz.bounds import MOST_GROWTH, SLOW, Growth, TooLongError, clock, limited
from tools.fuzz.commands import command
from tools.fuzz.outcome import of_exception
from tools.fuzz.run import Run

Entry = Callable[[Run], None]

ALWAYS: dict[str, Entry] = {
    "read": reading.read,
    "rows": reading.rows,
}

#: Each with the fraction of logs that it runs on.
SOMETIMES: dict[str, tuple[Entry, float]] = {
    "events": (reading.events, 0.2),
    "views": (parts.views, 0.16),
    "objects": (agreement.objects, 0.2),
    "columns": (agreement.columns, 0.2),
    "text": (agreement.text, 0.15),
    "verify": (reading.verify, 0.06),
    "dump": (printing.dump, 0.12),
    "sql": (reading.sql, 0.06),
    "undo": (reading.undo, 0.05),
    "stats": (reading.stats, 0.04),
    "explain": (reading.explain, 0.05),
    "repair": (remaking.repair, 0.06),
    "slice": (remaking.cut_out, 0.04),
    "export": (remaking.export, 0.01),
    "follow": (parts.follow, 0.04),
    "index": (wrapped.index, 0.05),
    "packed": (wrapped.packed, 0.04),
    "encrypted": (wrapped.encrypted, 0.02),
    "server": (wrapped.server, 0.02),
    "command": (command, 0.05),
}

#: Entry points whose results are compared with those of `verify --thorough`, or not, by its `formats`.
_NEED_THOROUGH = frozenset(("verify", "repair", "slice", "stats", "views"))


def run_all(run: Run, *, leaves_none_out: bool = False) -> None:
    """Run a log's share of the entry points, and compare the outcomes."""
    chance, growth = Random(f"{run.name}/entries"), Growth()
    chosen = [name for name, (_, share) in SOMETIMES.items() if chance.random() < share or leaves_none_out]
    if not _NEED_THOROUGH.isdisjoint(chosen):
        _run_one(run, "thorough", reading.thorough)
    for name, entry in ALWAYS.items():
        _run_one(run, name, entry)
    for name in chosen:
        _run_one(run, name, SOMETIMES[name][0])
    if any(outcome.refusal is not None for outcome in run.outcomes.values()):
        if "verify --thorough" not in run.outcomes:
            _run_one(run, "thorough", reading.thorough)
        _run_one(run, "blind", reading.blind)
    _run_one(run, "alone", reading.alone)
    if growth.most > MOST_GROWTH:
        run.note("memory", "too much", f"{growth.most >> 20} MiB for a log of {len(run.data)} bytes")


def _run_one(run: Run, name: str, entry: Entry) -> None:
    """Run an entry point; again if it was slow, which other load on the machine may have caused."""
    before = len(run.problems)
    if _takes_long(run, name, entry):
        del run.problems[before:]
        if _takes_long(run, name, entry) and len(run.problems) == before:
            run.note(f"slow-{name}", "slow", f"more than {SLOW} s for a log of {len(run.data)} bytes")


def _takes_long(run: Run, name: str, entry: Entry) -> bool:
    run.chance, begin = Random(f"{run.name}/{name}"), clock()
    try:
        with limited():
            entry(run)
    except TooLongError as error:
        run.problems.append(of_exception(f"{name}-hangs", error)._replace(sign="does not end"))
    except Exception as error:
        run.problems.append(of_exception(name, error))
    return clock() - begin > SLOW
