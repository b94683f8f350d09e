"""`repair` and `slice` as commands."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run
from tests.corpus_files import CORPUS

_DAMAGED = CORPUS / "damaged/mysql-9.7-flipped_bit/binlog.000001"
_LOG = CORPUS / "mysql-9.7/ddl/binlog.000001"


def test_repair_says_what_it_did(run: Run, tmp_path: Path) -> None:
    done = run("repair", _DAMAGED, "--to", tmp_path / "new")
    assert done.returncode == 0, done.stderr
    first, lost, left_out, *_ = done.stdout.splitlines()
    assert first == f"{_DAMAGED}: damage in 1 place"
    assert lost.startswith("  lost: ")
    assert lost.endswith("checksum mismatch")
    assert left_out.startswith("  dropped: transaction ")
    assert run("verify", tmp_path / "new").returncode == 0


def test_repair_as_json(run: Run, tmp_path: Path) -> None:
    done = run("repair", _DAMAGED, "--to", tmp_path / "new", "--format", "json")
    report = json.loads(done.stdout)
    assert report["result"]["ok"] is True
    assert report["dropped"][0]["gtid"]
    assert [part["reason"] for part in report["lost"]] == ["checksum mismatch"]


def test_repair_needs_one_log(run: Run, tmp_path: Path) -> None:
    done = run("repair", CORPUS / "mysql-9.7/rotate", "--to", tmp_path / "new")
    assert done.returncode == 2
    assert "several logs" in done.stderr


def test_slice(run: Run, tmp_path: Path) -> None:
    done = run("slice", _LOG, "--to", tmp_path / "new", "--event-type", "write_rows")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{_LOG} -> {tmp_path}/new: ")
    assert run("verify", tmp_path / "new").returncode == 0


def test_slice_of_several_logs_needs_a_directory(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    folder = CORPUS / "mysql-9.7/rotate"
    done = run("slice", folder, "--to", tmp_path / "file")
    assert done.returncode == 2
    assert "use a directory" in done.stderr
    done = run("slice", folder, "--to", tmp_path / "new")
    assert done.returncode == 0, done.stderr
    assert run("verify", tmp_path / "new").returncode == 0
