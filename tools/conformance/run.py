"""Runs drivers on logs and compares their output with Python's trees."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tools.conformance.compare import Comparison
from tools.conformance.examples import difference
from tools.conformance.languages import BuildError, Built, Language, MissingError, prepare
from tools.conformance.reference import lines
from tools.conformance.schema import enums, render, schema
from tools.generate.grammar import Grammar


@dataclass
class Result:
    """The result for one language."""

    language: Language
    built: Built | None = None
    problem: str = ""
    is_missing: bool = False
    logs: int = 0
    differences: list[str] = field(default_factory=list)
    program: str | None = None
    read: int = 0
    seconds: float = 0.0

    @property
    def has_run(self) -> bool:
        return self.built is not None

    @property
    def has_failed(self) -> bool:
        return bool(self.differences or self.program) or bool(self.problem and not self.is_missing)

    def line(self) -> str:
        title = f"{self.language.title:<12}"
        if self.built is None:
            return f"{title}{'skipped: ' if self.is_missing else 'does not build: '}{self.problem}"
        same = self.logs - len(self.differences)
        speed = f"{self.read / 1e6 / self.seconds:.1f} MB/s" if self.seconds else ""
        return f"{title}{same} of {self.logs} logs the same  {speed}  {self.built.tool}, {self.built.runtime}"


def corpus(root: Path) -> list[Path]:
    """Every log of the corpus, including damaged and encrypted ones."""
    paths = (root / "tests/corpus").glob("**/*.0*")
    return sorted(path for path in paths if path.suffix[1:].isdigit() and path.is_file())


def run_all(
    root: Path, languages: list[Language], logs: list[Path], speed: list[float] | None = None
) -> list[Result]:
    """Build each language and compare its trees of all logs. Python's MB/s is appended to `speed`."""
    grammar = Grammar.load(root / "formats")
    table, known, folder = schema(grammar), enums(grammar), root / "build/conformance"
    trees = [list(lines(log.read_bytes(), table, known)) for log in logs]
    if speed is not None:
        read = [(log.stat().st_size, float(tree[-1][4:])) for log, tree in zip(logs, trees, strict=True)]
        whole = [(size, seconds) for size, seconds in read if seconds > 0]
        speed.append(sum(size for size, _ in whole) / 1e6 / max(sum(seconds for _, seconds in whole), 1e-9))
    return [_run(language, grammar, folder / language.target, logs, trees) for language in languages]


def _run(
    language: Language, grammar: Grammar, folder: Path, logs: list[Path], trees: list[list[str]]
) -> Result:
    result = Result(language)
    try:
        result.built = prepare(language, grammar, render(grammar), folder)
    except MissingError as error:
        result.problem, result.is_missing = str(error), True
        return result
    except BuildError as error:
        result.problem = str(error)
        return result
    zero_names = frozenset(members[0] for members in enums(grammar).values() if 0 in members)
    comparison = Comparison(language.leniency, zero_names)
    with _started(result.built) as driver:
        assert driver.stdin is not None
        assert driver.stdout is not None
        for log, tree in zip(logs, trees, strict=True):
            with contextlib.suppress(BrokenPipeError):
                print(log.resolve(), file=driver.stdin, flush=True)
            _compare(result, comparison, log, tree, list(_answer(driver.stdout)))
        with contextlib.suppress(BrokenPipeError):
            driver.stdin.close()
    result.program = difference(language.target, folder, _samples(logs, trees))
    return result


def _samples(logs: list[Path], trees: list[list[str]]) -> Iterator[tuple[Path, list[str]]]:
    """The first readable log with GTIDs and tables of each server, for the programs of the document."""
    for gtid in ('"gtid_log_event"', '"gtid_event"'):
        for log, tree in zip(logs, trees, strict=True):
            if all(any(word in line for line in tree) for word in (gtid, '"table_map_event"')):
                yield log, tree
                break


def _started(built: Built) -> subprocess.Popen[str]:
    return subprocess.Popen(
        built.command,
        env={**os.environ, **built.environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
    )


def _answer(stdout: Iterator[str]) -> Iterator[str]:
    """The lines for one log; the last one has the time taken."""
    for line in stdout:
        yield line.rstrip("\n")
        if line.startswith("end "):
            return


def _compare(
    result: Result, comparison: Comparison, log: Path, expected: list[str], actual: list[str]
) -> None:
    result.logs += 1
    end = actual.pop() if actual and actual[-1].startswith("end ") else ""
    if not end:
        result.differences.append(f"{log}: the driver stopped")
    elif len(expected) - 1 != len(actual):
        result.differences.append(f"{log}: {len(expected) - 1} lines expected, not {len(actual)}")
    else:
        for number, (wanted, other) in enumerate(zip(expected, actual, strict=False)):
            if what := comparison.difference(wanted, other):
                result.differences.append(f"{log}: line {number}{what}"[:300])
                break
    if end and float(end[4:]) > 0:
        result.read += log.stat().st_size
        result.seconds += float(end[4:])
