"""`python -m tools.seeded_bugs`: put bugs into copies of the tree; the tests must find each.

Arguments are words that the names of the bugs to try contain. The exit code is 1 if a bug is not found.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.seeded_bugs.bugs import BUGS, Bug

ROOT = Path(__file__).parents[2]

#: What a copy does not need, or has as a link.
_LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "node_modules")

_FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", re.MULTILINE)

#: Exit codes of pytest.
_PASSED, _TESTS_FAILED = 0, 1


class SeedError(Exception):
    """A bug cannot be tried."""


def main(words: list[str]) -> int:
    """Try the bugs; returns the exit code."""
    chosen = [bug for bug in BUGS if all(word in bug.name for word in words)]
    missed = 0
    for bug in chosen:
        test = noticed_by(bug)
        missed += test is None
        print(f"{'NOT CAUGHT' if test is None else 'caught'}\t{bug.name}\t{test or ''}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} bugs caught")
    return 1 if missed else 0


def noticed_by(bug: Bug) -> str | None:
    """The first test that fails with a bug and passes without it; None if there is none.

    Raises
    ------
    SeedError
        The line is not there, or the tests do not run.
    """
    with tempfile.TemporaryDirectory(prefix="seeded-") as folder:
        root = _copy(Path(folder) / "tree")
        path = root / "binlog_kaitai" / bug.file
        text = path.read_text(encoding="utf-8")
        if text.count(bug.right) != 1:
            raise SeedError(f"{bug.file} has {text.count(bug.right)} times {bug.right!r}")
        path.write_text(text.replace(bug.right, bug.wrong), encoding="utf-8")
        code, output = _pytest(root, *(f"tests/{name}" for name in bug.tests))
        if code == _PASSED:
            return None
        match = _FAILED.search(output)
        if code != _TESTS_FAILED or match is None:
            raise SeedError(f"{bug.name}: pytest ended with exit code {code}:\n{output[-3000:]}")
        path.write_text(text, encoding="utf-8")
        code, output = _pytest(root, match[1])
        if code != _PASSED:
            raise SeedError(f"{match[1]} fails without the bug, too:\n{output[-3000:]}")
        return match[1]


def _copy(root: Path) -> Path:
    """A copy of the tree. Compiled kernels are shared, so that only changed ones are compiled."""
    shutil.copytree(ROOT, root, ignore=_LEFT_OUT)
    (ROOT / "build/kernels").mkdir(parents=True, exist_ok=True)
    (root / "build").mkdir()
    (root / "build/kernels").symlink_to(ROOT / "build/kernels")
    return root


def _pytest(root: Path, *tests: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root / "generated")])}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except SeedError as error:
        sys.exit(f"error: {error}")
