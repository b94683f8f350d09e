"""`python -m tools.costly`: run every command on small costly inputs; exits with 1 if a limit is exceeded.

Each run is a process of its own, limited in CPU time and address space. The table has the CPU seconds and
the peak memory in MB of the worst command for each input, and all that exceed the limits.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
import tempfile
from pathlib import Path

from tools.costly.inputs import INPUTS
from tools.costly.measure import COMMANDS, PROGRAMS, Cost, cost

#: What no input of 2 MB may exceed: CPU seconds, and bytes.
SECONDS, MEMORY = 10.0, 500_000_000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.costly", description=__doc__)
    parser.add_argument("inputs", nargs="*", default=["*"], help="names of inputs, or patterns")
    parser.add_argument("--command", action="append", help="only these commands, or patterns")
    parser.add_argument("--keep", type=Path, help="folder for the inputs, which are not made again")
    parser.add_argument("--list", action="store_true", help="list inputs and commands")
    parser.add_argument("--markdown", action="store_true", help="print a table by command in Markdown, too")
    given = parser.parse_args()
    inputs = [name for name in INPUTS if any(fnmatch.fnmatch(name, one) for one in given.inputs)]
    patterns = given.command or ["*"]
    names = (*COMMANDS, *PROGRAMS)
    commands = [name for name in names if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]
    if given.list:
        print("\n".join((*inputs, "", *commands)))
        return 0
    with tempfile.TemporaryDirectory(prefix="costly-") as folder:
        kept = given.keep or Path(folder, "inputs")
        kept.mkdir(exist_ok=True, parents=True)
        costs = {name: _costs(name, commands, kept, Path(folder, "out")) for name in inputs}
    if given.markdown:
        print("\n".join(_table(costs, commands)))
    return any(_exceeds(one) for of_input in costs.values() for one in of_input.values())


def _costs(name: str, commands: list[str], kept: Path, folder: Path) -> dict[str, Cost]:
    path = kept / f"{name}.000001"
    if not path.exists():
        path.write_bytes(INPUTS[name]())
    found = {command: cost(command, path, folder) for command in commands}
    slowest, largest = _worst(found)
    print(
        f"{name} ({path.stat().st_size / 1e6:.1f} MB): {found[slowest].seconds:.1f} s {slowest}, "
        f"{found[largest].memory / 1e6:.0f} MB {largest}",
        flush=True,
    )
    for command, one in found.items():
        if _exceeds(one):
            print(
                f"  {command}: {one.seconds:.1f} s, {one.memory / 1e6:.0f} MB, {one.code} {one.said}",
                flush=True,
            )
    return found


def _worst(found: dict[str, Cost]) -> tuple[str, str]:
    """The names of the costs with most CPU time, and most memory."""
    return max(found, key=lambda c: found[c].seconds), max(found, key=lambda c: found[c].memory)


def _exceeds(one: Cost) -> bool:
    return one.seconds > SECONDS or one.memory > MEMORY or one.code < 0 or "Traceback" in one.said


def _table(costs: dict[str, dict[str, Cost]], commands: list[str]) -> list[str]:
    """For each command the inputs that take most CPU time, and most memory."""
    lines = ["| command | most CPU s | input | most memory, MB | input |", "|---|---:|---|---:|---|"]
    for command in commands:
        slowest, largest = _worst({name: found[command] for name, found in costs.items()})
        lines.append(
            f"| `{command}` | {costs[slowest][command].seconds:.1f} | {slowest.replace('-', ' ')} | "
            f"{costs[largest][command].memory / 1e6:.0f} | {largest.replace('-', ' ')} |"
        )
    return lines


if __name__ == "__main__":
    sys.exit(main())
