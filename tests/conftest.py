"""How tests run: how many logs and examples each test has, and which tests share a process.

Property tests have no time limit, and always the same examples on CI.
"""

from __future__ import annotations

import gc
import json
import os
import signal
from contextlib import suppress
from pathlib import Path, PurePosixPath
from zlib import crc32

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from tests import extent
from tools.generate.grammar import Grammar
from tools.kernels.build import build_here

settings.register_profile("whole", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.register_profile("sample", settings.get_profile("whole"), max_examples=40)

#: Where tests with a marker are, so that their names tell what they share.
_FOLDERS = {
    "spark": ("tests/spark", "tests/servers"),
    "server": ("tests/servers",),
    "cluster": ("tests/cluster",),
    "lakes": ("tests/lakes",),
    "browser": ("tests/browser",),
    "wheels": ("tests/wheels",),
}


#: Tests of no more logs than this read them all.
_FEW = 8

#: A folder in memory, and how many bytes of it tests may need.
_MEMORY, _ROOM = "/dev/shm", 12 << 30


class SharedStarts(LoadScopeScheduling):
    """Each test goes to whichever process is free, but one process runs all that share a Spark, a cluster,
    a browser or an installed wheel, or the servers of a file."""

    def _split_scope(self, nodeid: str) -> str:
        path = PurePosixPath(nodeid.split("::")[0])
        match path.parts[:2]:
            case ("tests", "spark" | "cluster" | "lakes" | "browser" | "wheels"):
                return str(path.parent)
            case ("tests", "servers"):
                return str(path)
        return nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> SharedStarts:
    # Not by groups that tests name (--dist loadgroup): with pytest 9.2, pytest-xdist 3.8 overlooks them.
    config.option.loadscopereorder = False
    return SharedStarts(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--whole-corpus",
        action="store_true",
        help="run the tests of all logs with every log of the corpus, and the thorough tests",
    )
    parser.addoption(
        "--passed",
        type=Path,
        metavar="FILE",
        help="write the names of tests that pass to a file; with --whole-corpus, leave out those in it that "
        "would do the same again, because they depend on their parameters alone",
    )


class Passed:
    """Names the tests that pass in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._names: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self._names.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self._path.write_text(json.dumps(self._names))


def pytest_configure(config: pytest.Config) -> None:
    """Kernels that were edited are compiled before the first test.

    SIGINT ends commands, even if it is ignored here, as in what a shell starts in the background.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.getoption("--whole-corpus"):
        extent.cover_everything()
    settings.load_profile("whole" if extent.covers_everything() else "sample")
    if not hasattr(config, "workerinput"):
        _use_memory()
        build_here()
        if (path := config.getoption("--passed")) is not None and not extent.covers_everything():
            config.pluginmanager.register(Passed(path))


def _use_memory() -> None:
    """Put temporary folders in memory if there is room: lakes and servers wait for a disk at each commit."""
    with suppress(OSError, AttributeError):
        facts = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        available, folder = int(facts["MemAvailable"].removesuffix("kB")) << 10, os.statvfs(_MEMORY)
        is_large = min(available, folder.f_bavail * folder.f_frsize) >= _ROOM
        if is_large and not folder.f_flag & os.ST_NOEXEC:  # tests run programs there
            os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", _MEMORY)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without `--whole-corpus`, leave out thorough tests and most logs; begin with what takes longest."""
    if not config.getoption("--whole-corpus"):
        kept: list[pytest.Item] = []
        left_out: list[pytest.Item] = []
        for item in items:
            (left_out if item.get_closest_marker("thorough") or _is_of_other_log(item) else kept).append(item)
        kept, also_left_out = _some_of_the_logs(kept)
        config.hook.pytest_deselected(items=[*left_out, *also_left_out])
        items[:] = kept
    elif (path := config.getoption("--passed")) is not None:
        passed = frozenset(json.loads(path.read_text()))
        again = {item for item in items if item.nodeid in passed and _depends_on_parameters_alone(item)}
        config.hook.pytest_deselected(items=[*again])
        items[:] = [item for item in items if item not in again]
    for item in items:
        for kind, folders in _FOLDERS.items():
            if item.get_closest_marker(kind) and not item.nodeid.startswith(folders):
                raise pytest.UsageError(f"{item.nodeid}: tests marked {kind} lie in {' or '.join(folders)}")
    items.sort(key=_turn)


def pytest_collection_finish() -> None:
    """The garbage collector overlooks what exists by now, and runs as rarely as in the command line tool."""
    gc.freeze()
    gc.set_threshold(20_000)


def _some_of_the_logs(items: list[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Leave each test of many logs some of them, others for each test; returns those kept and left out.

    About eight are kept, or an eighth of very many.
    """
    by_test: dict[str, list[pytest.Item]] = {}
    for item in items:
        if _is_of_a_log(item):
            by_test.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out: set[str] = set()
    for name, own in by_test.items():
        if len(own) > _FEW:
            step = min(8, len(own) // _FEW + 1)
            first = crc32(name.encode()) % step
            left_out.update(item.nodeid for at, item in enumerate(own) if at % step != first)
    kept = [item for item in items if item.nodeid not in left_out]
    return kept, [item for item in items if item.nodeid in left_out]


def _is_of_a_log(item: pytest.Item) -> bool:
    call = getattr(item, "callspec", None)
    return any(map(extent.is_of_the_corpus, call.params.values() if call else ()))


def _is_of_other_log(item: pytest.Item) -> bool:
    call = getattr(item, "callspec", None)
    return any(map(extent.is_left_out, call.params.values() if call else ()))


def _depends_on_parameters_alone(item: pytest.Item) -> bool:
    """Whether a test has parameters, and no examples of its own, of which a whole run has more."""
    return hasattr(item, "callspec") and not hasattr(getattr(item, "function", None), "hypothesis")


def _turn(item: pytest.Item) -> int:
    return 0 if item.get_closest_marker("spark") else 1


@pytest.fixture(scope="session")
def grammar() -> Grammar:
    """The project's grammar."""
    return Grammar.load(Path(__file__).parents[1] / "formats")
