"""A standalone Spark cluster on this machine, and the packages that docs/spark.md names."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import binlog_kaitai as bk
from tests.cluster.recipe import ROOT, TABLE, commands
from tests.cluster.standalone import Cluster, environment
from tests.corpus_files import CORPUS
from tools.bench.make_log import shape_of, write


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel of this checkout, for this processor alone, for pip to find."""
    folder = tmp_path_factory.mktemp("wheels")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    variables = {**os.environ, "BINLOG_KAITAI_LEVEL": "native"}
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, "."], cwd=ROOT, env=variables, check=True)
    return folder


@pytest.fixture(scope="session")
def workplace(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that jobs are submitted from, after the commands that pack the environment."""
    folder = tmp_path_factory.mktemp("workplace")
    new, *lines = (line for line in commands("venv-pack") if "spark-submit" not in line)
    install([new, *commands("deltalake"), *lines], folder, wheels)
    return folder


@pytest.fixture(scope="session")
def client(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a machine that has no Spark, only a client of Spark Connect."""
    folder = tmp_path_factory.mktemp("client")
    lines = [line.replace("pip", "venv/bin/pip", 1) for line in commands("pyspark-client")]
    install(["python -m venv venv", *lines], folder, wheels)
    return folder / "venv/bin/python"


def install(lines: list[str], folder: Path, wheels: Path) -> None:
    """Run commands that install the package, which is that of this checkout."""
    subprocess.run(
        ["bash", "-euc", "\n".join(lines)],
        cwd=folder,
        env=environment(PIP_FIND_LINKS=str(wheels), PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_QUIET="1"),
        stdout=subprocess.DEVNULL,  # bars of progress
        check=True,
    )


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as made:
        yield made


@pytest.fixture(scope="session")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of many tasks."""
    path = tmp_path_factory.mktemp("logs") / "binlog.000001"
    write(shape_of("bulk", CORPUS / "mysql-9.7/mixed/binlog.000001", event_size=8192), path, 6_000_000)
    return path


@pytest.fixture(scope="session")
def expected(log: Path) -> pa.Table:
    return bk.read_changes(log, table=TABLE).read_all()
