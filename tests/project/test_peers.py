"""What other programs count is read correctly, and a missing toolchain is reported in a word."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from tools.peers import build, runs
from tools.peers.build import Program, UnavailableError
from tools.peers.own import main as own
from tools.peers.runs import Counts, Figure, Run, RunError, best, counted, table

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


def test_a_program_is_measured() -> None:
    """Its last line has the counts; an error is no measurement."""
    line = json.dumps({"rows": 5, "nulls": 2})
    program = Program("peer", (sys.executable, "-c", f"print({line!r})"))
    assert counted(program, LOG) == Counts(5, 2)
    assert best(program, LOG, 2).peak > 1_000_000
    with pytest.raises(RunError):
        counted(Program("peer", (sys.executable, "-c", "raise SystemExit(1)")), LOG)


def test_start_and_slope() -> None:
    """A second for the start and one for each of the 10 MB."""
    least, most = Run(1.0, 2.0, 5_000_000), Run(11.0, 22.0, 5_000_000)
    text = table([Figure("peer", least, most)], (0, 10_000_000), Counts(10_000_000, 0))
    assert "| peer | 11.00 | 22.00 | 1.00 | 2.00 | 1 | 0 | 1.00 | 1.00 | 5 |" in text.splitlines()[2]


def test_own_counts(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """`read_changes` of the first table: row images, and NULLs in its own columns."""
    monkeypatch.setattr(sys, "argv", ["own", "2", str(LOG)])
    own()
    found = json.loads(capsys.readouterr().out)
    assert found["rows"] > 0
    assert found["nulls"] > 0
