"""The archive of Spark's Java classes."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
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


def draft_in(options: str) -> Path:
    assert options.startswith(WRITES)
    return path_in(options)


def archive_of(content: bytes) -> Path:
    """The archive that becomes of a draft."""
    draft_in(archive_options(makes=True)).write_bytes(content)
    options = archive_options(makes=False)
    assert options.startswith(READS)
    return path_in(options)


def test_what_one_run_writes_the_next_ones_read(cache: Path) -> None:
    assert archive_options(makes=False) == ""
    assert list(cache.iterdir()) == []
    draft = draft_in(archive_options(makes=True))
    assert draft.parent == cache / "binlog-kaitai"
    archive = archive_of(b"not what Java takes")
    for makes in (False, True):
        options = archive_options(makes=makes)
        assert options.startswith(READS)
        assert "-XX:+VerifySharedSpaces" in options
        assert path_in(options) == archive


def test_a_draft_without_its_head_is_being_written_or_was_left(cache: Path) -> None:
    draft = draft_in(archive_options(makes=True))
    draft.write_bytes(bytes(4096))
    assert archive_options(makes=True) == ""
    hour = time.time() - 2 * 3600
    os.utime(draft, (hour, hour))
    assert draft_in(archive_options(makes=True)) != draft
    assert not draft.exists()


@pytest.mark.parametrize("length", [0, 10])
def test_one_of_another_length_is_none(cache: Path, length: int) -> None:
    archive = archive_of(b"not what Java takes")
    os.truncate(archive, length)
    assert draft_in(archive_options(makes=True))
    assert not archive.exists()


def test_what_nobody_uses_any_more_is_removed(cache: Path) -> None:
    archive = archive_of(b"not what Java takes")
    other = archive.with_name("spark-0123456789abcdef-19.jsa")
    other.write_bytes(b"of other jars, long ago")
    year = time.time() - 365 * 86400
    os.utime(other, (year, year))
    new = archive.with_name("spark-fedcba9876543210-19.jsa")
    new.write_bytes(b"of other jars, of today")
    assert path_in(archive_options(makes=True)) == archive
    assert sorted(archive.parent.iterdir()) == sorted([archive, new])


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


def test_java_writes_one_and_no_damage_ends_it(cache: Path) -> None:
    java = os.path.join(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java"

    def run(options: str) -> list[str]:
        command = [java, *options.split(), "-version"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=cache)
        assert not done.stdout
        return done.stderr.splitlines()[:2]

    written = archive_options(makes=True)
    plain, whole = run(written), draft_in(written).read_bytes()
    assert len(whole) > 1 << 16
    read = archive_options(makes=False)
    archive = path_in(read)
    assert read.startswith(READS)
    assert archive.stat().st_size == len(whole)
    assert run(read) == plain
    choose = random.Random(1)
    archive.chmod(0o644)
    for start in (0, *(choose.randrange(len(whole)) for _ in range(8))):
        with archive.open("r+b") as file:
            file.seek(start)
            length = min(4096, len(whole) - start)
            file.write(choose.choice([bytes(length), choose.randbytes(length)]))
        assert run(archive_options(makes=False)) == plain
        archive.write_bytes(whole)
    # Java dies of one that is cut, so a draft is tried before.
    archive.rename(draft := draft_in(written))
    os.truncate(draft, len(whole) // 2)
    assert draft_in(archive_options(makes=True)) != draft
    assert list(archive.parent.iterdir()) == []


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="no /proc")
def test_what_java_does_when_it_ends_holds_no_pipe(cache: Path) -> None:
    code = """if True:
        import os
        from binlog_kaitai.spark.session import session, stop
        spark = session("local[1]")
        java = spark._jvm.java.lang.ProcessHandle.current().pid()
        stop(spark)
        print(*(os.readlink(f"/proc/{java}/fd/{number}") for number in (1, 2)))
    """
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["/dev/null", "/dev/null"], run.stderr
