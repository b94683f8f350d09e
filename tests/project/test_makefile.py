"""`make help` lists exactly the public targets."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

TARGETS = {
    "help",
    "setup",
    "run",
    "test",
    "test-all",
    "test-servers",
    "test-browser",
    "test-cluster",
    "test-lakes",
    "test-spark-versions",
    "generate",
    "kernels",
    "wheel",
    "sdist",
    "check",
    "fuzz",
    "bench",
    "bench-peers",
    "webide",
    "gallery",
    "docs",
    "vectors",
    "viewer",
    "test-languages",
    "test-seeded",
    "test-suites",
    "test-wheels",
    "test-emulated",
}


@pytest.fixture(scope="module")
def makefile() -> str:
    return (ROOT / "Makefile").read_text()


def test_help_lists_every_target(makefile: str) -> None:
    done = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {line.split()[0] for line in done.stdout.splitlines()} == TARGETS


def test_every_target_is_phony_and_has_a_rule(makefile: str) -> None:
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony is not None
    assert set(phony[1].split()) == TARGETS
    assert set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE)) == TARGETS


@pytest.mark.parametrize(
    "script",
    [
        "tools/setup_venv.sh",
        "tools/need_java.sh",
        "tools/need_maven.sh",
        "tools/need_browser.sh",
        "tools/need_packages.sh",
        "tools/need_spark.sh",
        ".ci/run",
    ],
)
def test_scripts_can_be_run(script: str) -> None:
    path = ROOT / script
    assert path.stat().st_mode & 0o111
    subprocess.run(["bash", "-n", str(path)], check=True)
