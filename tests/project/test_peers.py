"""What other programs count is read correctly, and a missing toolchain is reported in a word."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from tools.peers import build, runs
from tools.peers.build import Program, UnavailableError
from tools.peers.in_python import main as in_python
from tools.peers.runs import Comparison, Counts, Figure, Run, compare, table, table_of_rows

LOG = Path(__file__).parents[1] / "corpus/mysql-9.7/types_metadata/binlog.000001"

TEXT = b"""### INSERT INTO `a`.`t`
### SET
###   @1=1 /* INT meta=0 nullable=0 is_null=0 */
###   @2=NULL /* VARSTRING(4) meta=4 nullable=1 is_null=1 */
### UPDATE `a`.`t`
### WHERE
###   @1=1
###   @2=NULL
### SET
###   @1=2
###   @2='=NULL'
# at 300
"""


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_rows_and_nulls_in_the_clients_text(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """An UPDATE has two row images; text that looks like a NULL does not count."""
    monkeypatch.setattr(runs, "_CHUNK", size)
    assert runs.counts(io.BytesIO(TEXT)) == (3, 2)


def test_a_missing_toolchain_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason names the tool."""
    monkeypatch.setattr("tools.peers.build.shutil.which", lambda tool: None)
    with pytest.raises(UnavailableError, match="cargo not found"):
        list(build._rust())


def test_a_library_that_cannot_be_installed_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(build, "_BUILT", tmp_path)
    monkeypatch.setattr(build, "_LIBRARIES", {"mysql-event-stream": "no.version"})
    own, reason = build.libraries()
    assert isinstance(own, Program)
    assert isinstance(reason, str)
    assert reason.startswith("mysql-event-stream is skipped: ")
    assert not list(tmp_path.iterdir())


def _printing(rows: int) -> Program:
    line = json.dumps({"rows": rows, "nulls": 2})
    return Program(f"peer of {rows}", (sys.executable, "-c", f"print({line!r})"))


def test_programs_are_measured() -> None:
    """The last line has the counts; an error is no measurement, nor is a program that counts otherwise."""
    failing = Program("failing peer", (sys.executable, "-c", "raise SystemExit(1)"))
    log = compare([_printing(5), _printing(6), failing], LOG, LOG, 2)
    assert log.counts == Counts(5, 2)
    (figure,) = log.figures
    assert figure.most.peak > 1_000_000
    assert [note.partition(":")[0] for note in log.notes] == [
        "peer of 6 does not count",
        "failing peer does not count",
    ]


def test_start_and_slope() -> None:
    """A second for the start and one for each of the 10 MB."""
    least, most = Run(1.0, 2.0, 5_000_000), Run(11.0, 22.0, 5_000_000)
    log = Comparison([Figure("peer", least, most)], [], (0, 10_000_000), Counts(10_000_000, 0))
    assert "| peer | 11.00 | 22.00 | 1.00 | 2.00 | 1 | 0 | 1.00 | 1.00 | 5 |" in table(log).splitlines()[2]
    other = log._replace(figures=[])
    assert table_of_rows({"orders": log, "bulk": other}).splitlines()[::2] == [
        "|  | orders | bulk |",
        "| peer | 1000 |  |",
    ]


@pytest.mark.parametrize("arguments", [("read_changes", str(LOG), "2"), ("read_rows", str(LOG))])
def test_own_counts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    """Row images, and NULLs in their columns."""
    monkeypatch.setattr(sys, "argv", ["in_python", *arguments])
    in_python()
    counts = json.loads(capsys.readouterr().out)
    assert counts["rows"] > 0
    assert counts["nulls"] > 0
