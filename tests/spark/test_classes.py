"""The archive of Spark's Java classes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from binlog_kaitai.spark.classes import archive_options

pytestmark = pytest.mark.spark

WRITES, READS = "-XX:ArchiveClassesAtExit=", "-XX:SharedArchiveFile="


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def path_in(options: str) -> Path:
    return Path(options.split()[0].partition("=")[2])


def test_it_is_written_where_wanted_and_read_where_it_is(cache: Path) -> None:
    assert archive_options(makes=False) == ""
    written = archive_options(makes=True)
    assert written.startswith(WRITES)
    archive = path_in(written)
    assert archive.parent == cache / "binlog-kaitai"
    archive.write_bytes(b"")
    for makes in (False, True):
        read = archive_options(makes=makes)
        assert read.startswith(READS)
        assert path_in(read) == archive


def test_each_java_and_each_set_of_jars_has_its_own(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, jars = cache / "java", cache / "spark/jars"
    (home / "bin").mkdir(parents=True)
    jars.mkdir(parents=True)
    (home / "bin/java").write_text("17")
    (jars / "spark-core.jar").write_text("4.3.0")
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setenv("SPARK_HOME", str(jars.parent))
    seen = {archive_options(makes=True)}
    (home / "bin/java").write_text("21.0")
    seen.add(archive_options(makes=True))
    (jars / "spark-core.jar").write_text("4.3.1, rebuilt")
    seen.add(archive_options(makes=True))
    (jars / "another.jar").write_text("")
    seen.add(archive_options(makes=True))
    assert len(seen) == 4


def test_there_is_none_where_the_options_could_not_name_it_or_no_java_is_found(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache / "with space"))
    assert archive_options(makes=True) == ""
    (cache / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache / "file"))
    assert archive_options(makes=True) == ""
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setenv("JAVA_HOME", str(cache / "nowhere"))
    assert archive_options(makes=True) == ""


def test_java_writes_one_and_takes_none_without_its_head(cache: Path) -> None:
    """The head is written last, so that this is what is left by a Java that was killed meanwhile."""
    java = os.path.join(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java"

    def run() -> list[str]:
        command = [java, *archive_options(makes=True).split(), "-version"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert not done.stdout
        return done.stderr.splitlines()

    archive = path_in(archive_options(makes=True))
    plain = run()
    assert archive.stat().st_size > 1 << 16
    assert run() == plain
    archive.chmod(0o644)
    with archive.open("r+b") as file:
        file.write(bytes(4096))
    assert run()[:2] == plain[:2]
