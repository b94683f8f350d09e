"""`python -m tools.fuzz`: run every entry point on mutated logs; exits with 1 if an invariant is violated.

The same seed and number give the same log, as long as corpus and mutations do not change. The file of a
finding contains its log: `--replay FILE` runs every entry point on it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
FINDINGS = ROOT / "build" / "fuzz"

_KERNELS = ("python", "checked", "compiled")


def main() -> int:
    given = _arguments()
    # Kernels are created when their modules are imported, here and in child processes.
    os.environ["BINLOG_KAITAI_KERNELS"] = given.kernels
    if given.kernels != "python":
        from tools.kernels.build import build_here

        build_here(is_checked=given.kernels == "checked")
    return _replay(given.replay) if given.replay is not None else _work(given)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    parser.add_argument("--logs", type=int, default=2000, help="number of logs")
    parser.add_argument(
        "--seed", type=int, default=int(time.time()), help="selects the logs; random by default"
    )
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="number of processes")
    parser.add_argument("--kernels", choices=_KERNELS, default="checked", help="how kernels run")
    parser.add_argument("--all", action="store_true", help="run every entry point on every log")
    parser.add_argument("--to", type=Path, default=FINDINGS, help="folder for findings")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="a finding, or a log")
    return parser.parse_args()


def _work(given: argparse.Namespace) -> int:
    from tools.fuzz.work import Plan, work

    begin = time.monotonic()
    plan = Plan(given.seed, given.logs, given.seconds, given.jobs, given.kernels, given.all, given.to)
    print(f"seed {given.seed}, kernels {given.kernels}", flush=True)
    done, findings = work(plan, lambda text: print(text, flush=True))
    for line in findings.lines():
        print(line)
    seconds = time.monotonic() - begin
    print(f"{done} logs in {seconds:.0f} s; {len(findings.counts)} kinds of findings")
    return 1 if findings.counts else 0


def _replay(path: Path) -> int:
    from tools.fuzz import findings
    from tools.fuzz.mutants import Mutant
    from tools.fuzz.work import prepare, problems_of

    name, data = findings.read(path)
    folder = prepare()
    try:
        problems = problems_of(Mutant(name, "", (), (), data), folder, leaves_none_out=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for problem in problems:
        print(f"{problem.kind}: {problem.sign}\n{problem.text}\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
