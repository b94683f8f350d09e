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
    inputs = [name for name in INPUTS if any(fnmatch.fnmatch(name, pattern) for pattern in given.inputs)]
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
    return any(_exceeds(cost) for of_input in costs.values() for cost in of_input.values())


def _costs(name: str, commands: list[str], kept: Path, folder: Path) -> dict[str, Cost]:
    path = kept / f"{name}.000001"
    if not path.exists():
        path.write_bytes(INPUTS[name]())
    costs = {command: cost(command, path, folder) for command in commands}
    slowest, largest = _worst(costs)
    print(
        f"{name} ({path.stat().st_size / 1e6:.1f} MB): {costs[slowest].seconds:.1f} s {slowest}, "
        f"{costs[largest].memory / 1e6:.0f} MB {largest}",
        flush=True,
    )
    for command, spent in costs.items():
        if _exceeds(spent):
            print(
                f"  {command}: {spent.seconds:.1f} s, {spent.memory / 1e6:.0f} MB, {spent.code} {spent.said}",
                flush=True,
            )
    return costs


def _worst(costs: dict[str, Cost]) -> tuple[str, str]:
    """The names of the costs with most CPU time, and most memory."""
    return max(costs, key=lambda c: costs[c].seconds), max(costs, key=lambda c: costs[c].memory)


def _exceeds(spent: Cost) -> bool:
    return spent.seconds > SECONDS or spent.memory > MEMORY or spent.code < 0 or "Traceback" in spent.said


def _table(costs: dict[str, dict[str, Cost]], commands: list[str]) -> list[str]:
    """For each command the inputs that take most CPU time, and most memory."""
    lines = ["| command | most CPU s | input | most memory, MB | input |", "|---|---:|---|---:|---|"]
    for command in commands:
        slowest, largest = _worst({name: by_command[command] for name, by_command in costs.items()})
        lines.append(
            f"| `{command}` | {costs[slowest][command].seconds:.1f} | {slowest.replace('-', ' ')} | "
            f"{costs[largest][command].memory / 1e6:.0f} | {largest.replace('-', ' ')} |"
        )
    return lines


if __name__ == "__main__":
    sys.exit(main())
