"""Runs the servers' test suites: `make test-suites`."""

from __future__ import annotations

import argparse
import fnmatch
import os
import re
import shutil
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import pymysql

from tools.servers import Server, ServerError
from tools.suites.evidence import Witness
from tools.suites.judge import Difference, Trial, differences
from tools.suites.player import Player
from tools.suites.trees import SERVERS, LeftOutError, tree_of

_HERE = Path(__file__).parent
#: Global variables of each pass; a test runs in one of them, or in all with --all-passes.
_MYSQL = {
    "full": {"binlog_row_metadata": "FULL"},
    "minimal": {"binlog_row_metadata": "MINIMAL"},
    "image": {"binlog_row_metadata": "MINIMAL", "binlog_row_image": "MINIMAL"},
    "json": {"binlog_row_metadata": "MINIMAL", "binlog_row_value_options": "PARTIAL_JSON"},
    "packed": {"binlog_row_metadata": "FULL", "binlog_transaction_compression": "ON"},
}
_MARIADB = {
    "full": {"binlog_row_metadata": "FULL"},
    "minimal": {"binlog_row_metadata": "MINIMAL"},
    "no_log": {"binlog_row_metadata": "NO_LOG"},
    "image": {"binlog_row_metadata": "NO_LOG", "binlog_row_image": "MINIMAL"},
    "packed": {"binlog_row_metadata": "FULL", "log_bin_compress": "ON", "log_bin_compress_min_len": "10"},
}
_OPTIONS = {
    "mysql": ("--performance-schema=OFF", "--table-open-cache=400"),
    "mariadb": ("--character-set-server=latin1", "--aria-pagecache-buffer-size=8M"),
}
_SECONDS = 40.0


class Known(NamedTuple):
    """A line of known.txt: which differences it explains, as patterns, and the reason."""

    server: str
    test: str
    setting: str
    comparison: str
    reason: str


def known_differences() -> list[Known]:
    """The lines of known.txt."""
    lines = (line for line in (_HERE / "known.txt").read_text().splitlines() if line and line[0] != "#")
    return [Known(*line.split(None, 4)) for line in lines]


class Run:
    """Runs tests of a server's suite, and counts."""

    def __init__(self, options: argparse.Namespace, name: str) -> None:
        self._options = options
        self._name = name
        self._tree = tree_of(name)
        self._passes = _MYSQL if name.startswith("mysql") else _MARIADB
        self._known = known_differences()
        self.servers = Server(name, options.label), Server(name, f"{options.label}-second")
        self._witnesses: tuple[Witness, ...] = ()
        self.counts: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.used: set[Known] = set()

    def __call__(self) -> None:
        chosen = list(self._chosen())
        self._restart(fresh=False)
        try:
            for number, (test, path) in enumerate(chosen):
                if self._options.seconds and time.monotonic() - _START > self._options.seconds:
                    self.left_out["no time left"] += len(chosen) - number
                    break
                for setting in self._settings(test):
                    self._one(test, path, setting)
        finally:
            for server in self.servers:
                server.stop()

    def _chosen(self) -> Iterator[tuple[str, Path]]:
        tests = dict(self._tree.tests())
        if self._options.tests:
            patterns = self._options.tests
            wanted = [name for name in tests if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]
        elif self._options.whole:
            wanted = list(tests)
        else:
            lines = (_HERE / "sample.txt").read_text().split("\n")
            wanted = [line.split()[1] for line in lines if line.startswith(f"{self._name} ")]
        wanted.sort(key=lambda name: tests[name].stat().st_size)  # many small ones first
        part, parts = map(int, self._options.part.split("/"))
        yield from ((name, tests[name]) for index, name in enumerate(wanted) if index % parts == part - 1)

    def _settings(self, test: str) -> list[str]:
        if self._options.passes:
            return list(self._passes) if "all" in self._options.passes else self._options.passes
        return [list(self._passes)[crc32(test.encode()) % len(self._passes)]]

    def _restart(self, *, fresh: bool = True) -> None:
        for server, more in zip(self.servers, ((), ("--skip-log-bin",)), strict=True):
            if server.pid is not None:
                server.kill()
            server.start(*_OPTIONS[server.spec.flavour], *more, fresh=fresh)
        self._witnesses = tuple(map(Witness, self.servers))

    def _one(self, test: str, path: Path, setting: str) -> None:
        start = time.monotonic()
        first, second = self._witnesses
        player = Player(self.servers[0], self._tree, first.after, self._options.limit)
        cut = ""
        try:
            first.reset(self._passes[setting])
            first.begin(self._tree.root)
            try:
                player.play(path)
            except LeftOutError as error:
                cut = str(error)
            if not player.statements:
                self.left_out[cut or "no statements"] += 1
                return
            before = first.position()
            first.change_rows()
            reported = first.points, first.tables(), first.columns()
            trial = Trial(self.servers[0], second, first.logs(), *reported, before[1])
            differing = list(differences(trial))
            self._keep_logs(trial, differing, f"{self._name}-{test.replace('/', '.')}-{setting}")
        except LeftOutError as error:
            self.left_out[str(error)] += 1
            return
        except (pymysql.Error, ServerError, OSError, ValueError) as error:
            self.left_out["the server"] += 1
            print(f"{self._name} {test} [{setting}] the server: {error!r:.200}", flush=True)
            self._restart()
            return
        numbers = (
            f"{player.statements} statements, {player.refused} refused, {time.monotonic() - start:.1f} s"
        )
        self._report(test, setting, differing, cut, numbers)

    def _keep_logs(self, trial: Trial, differing: list[Difference], name: str) -> None:
        """Copy the logs of a test with differences to `build/suites`."""
        if any(not item.is_refusal for item in differing):
            folder = Path("build", "suites", name)
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            for log in trial.logs:
                shutil.copy(log, folder)

    def _report(self, test: str, setting: str, differing: list[Difference], cut: str, done: str) -> None:
        wrong = []
        for item in differing:
            if item.is_refusal:
                reason = re.sub(r"[0-9]+", "N", item.text.rpartition(": ")[2])
                self.refusals[f"{item.comparison}: {reason[:60]}"] += 1
            elif self._is_known(test, setting, item):
                self.counts["known"] += 1
            else:
                wrong.append(item)
        state = "failed" if wrong else "cut" if cut else "passed"
        self.counts[state] += 1
        self.counts[f"{state} in {setting}"] += 1
        if cut:
            self.left_out[f"from there on: {cut}"] += 1
        why = f" ({cut})" if cut else ""
        print(f"{self._name} {test} [{setting}] {done}: {state}{why}", flush=True)
        for item in differing if self._options.verbose else wrong:
            print(f"    {'(said) ' if item.is_refusal else ''}{item.comparison}: {item.text}", flush=True)

    def _is_known(self, test: str, setting: str, item: Difference) -> bool:
        names = (self._name, test, setting, item.comparison)
        for known in self._known:
            if all(map(fnmatch.fnmatch, names, known)):
                self.used.add(known)
                return True
        return False


_START = time.monotonic()


def main() -> int:
    """Run the chosen tests; returns 1 if there are unexplained differences."""
    parser = argparse.ArgumentParser(prog="python -m tools.suites", description=__doc__)
    parser.add_argument("tests", nargs="*", metavar="SUITE.TEST", help="patterns such as 'gcol.*'")
    parser.add_argument("--server", choices=SERVERS, action="append", help="default: both")
    parser.add_argument("--whole", action="store_true", help="all tests of the suites")
    add = parser.add_argument
    add("--pass", dest="passes", action="append", help="run in this pass, or in `all`; default: one of them")
    parser.add_argument("--part", default="1/1", help="N/M: the Nth of M parts of the tests")
    parser.add_argument("--seconds", type=float, help="begin no test after this time")
    parser.add_argument("--limit", type=float, default=_SECONDS, help="seconds that a test may take")
    parser.add_argument("--label", default="suites", help="of the servers' data, to run several at a time")
    parser.add_argument("--verbose", action="store_true", help="print known differences and refusals, too")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    os.environ["TZ"] = "UTC"
    time.tzset()
    warnings.simplefilter("ignore")
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    counts: Counter[str] = Counter()
    for name in options.server or SERVERS:
        try:
            run = Run(options, name)
        except ServerError as error:
            print(f"the suite of {name} is skipped: {error}", file=sys.stderr)
            continue
        run()
        counts += run.counts
        for title, numbers in ("left out", run.left_out), ("said to be unknown", run.refusals):
            for text, number in numbers.most_common(25):
                print(f"{name} {title}: {number} × {text}")
        print(f"{name}: {dict(run.counts)}")
        if options.whole and not options.seconds:
            for known in set(known_differences()) - run.used:
                if fnmatch.fnmatch(name, known.server):
                    print(f"{name}: no longer different: {known}")
    ends = ((counts["passed"], "passed"), (counts["cut"], "passed in part"), (counts["failed"], "failed"))
    print(*(f"{number} {name}," for number, name in ends), f"{counts['known']} known differences")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
