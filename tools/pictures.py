"""Creates the pictures of the README: `explain` in a terminal, and the page of `stats` in a browser.

Run as ``python -m tools.pictures``; needs Chromium.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

import binlog_kaitai as bk
from binlog_kaitai.render.explanation import Explained
from binlog_kaitai.render.stats_page import page

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
LOGS = ROOT / "tests" / "corpus" / "mysql-9.7"
LOG = LOGS / "mixed" / "binlog.000001"

#: Folders whose logs were written within half an hour.
SCENARIOS = (
    "charsets",
    "crash",
    "ddl",
    "gtid_tags",
    "json_partial",
    "no_checksum",
    "partitions",
    "types_full",
)

#: An event of that log with two short rows.
POSITION = 7156

WIDTH, LINES = 132, 25


def main() -> None:
    """Create both."""
    IMAGES.mkdir(exist_ok=True)
    os.chdir(LOGS)  # the page shows the paths of logs as given
    (IMAGES / "explain.svg").write_text(_explained(), encoding="utf-8")
    _photograph(IMAGES / "stats.png")


def _explained() -> str:
    with bk.open(LOG) as log:
        event = next(one for one in log if one.position == POSITION)
        lines = Explained.of(event).lines(WIDTH)
        shown = [line for _, line in zip(range(LINES), lines, strict=False)]
    command = f"$ binlog-kaitai explain binlog.000001 --at {POSITION}"
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    console.print(Text(command, style="bold"), *map(Text, shown), sep="\n")
    return console.export_svg(title="binlog-kaitai explain")


def _photograph(path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("Chromium is missing")
    with tempfile.TemporaryDirectory() as folder:
        html = Path(folder) / "stats.html"
        html.write_bytes(
            page(
                bk.stats(sorted(path for one in SCENARIOS for path in Path(one).glob("binlog.0*"))),
                bk.__version__,
            )
        )
        subprocess.run(
            [browser, "--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1200,900",
             f"--screenshot={path}", html.as_uri()],
            check=True, capture_output=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
