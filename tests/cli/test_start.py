"""Imports of commands: a small log takes hardly more time than starting Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.corpus_files import case
from tests.extent import sample

_CODE = """
import sys
from binlog_kaitai.cli.app import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end
names = "pyarrow", "numpy.ma", "binlog_kaitai.render.sql"
print([name for name in names if name in sys.modules], file=sys.stderr)
"""


@pytest.mark.parametrize(
    "command",
    sample(["rows", "rows --format json", "events", "rows --format csv", "verify", "dump -v"], 3),
)
def test_reading_a_small_log_loads_neither_arrow_nor_what_only_filters_need(command: str) -> None:
    log = case("mysql-9.7", "orders").logs[0]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    arguments = [sys.executable, "-c", _CODE, *command.split(), str(log)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, env=environment)
    assert done.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize(("given", "used"), [(None, "system"), ("mimalloc", "mimalloc")])
def test_arrow_takes_memory_from_the_c_library_unless_told_otherwise(
    given: str | None, used: str, tmp_path: Path
) -> None:
    code = _CODE.partition("names =")[0] + "import pyarrow\nprint(pyarrow.default_memory_pool().backend_name)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    environment.pop("ARROW_DEFAULT_MEMORY_POOL", None)
    if given is not None:
        environment["ARROW_DEFAULT_MEMORY_POOL"] = given
    log = case("mysql-9.7", "orders").logs[0]
    arguments = [
        sys.executable,
        "-c",
        code,
        "export",
        "--view",
        "changes",
        "--to",
        str(tmp_path / "new"),
        str(log),
    ]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.splitlines()[-1] == used
