"""Creates the pictures of the README: `explain` in a terminal, the viewer and `stats` in a browser.

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
from binlog_kaitai.render import viewer_page
from binlog_kaitai.render.explanation import Explained
from binlog_kaitai.sources.source import Source
from binlog_kaitai.statistics import stats_page

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

#: A log with the names of columns, and a field of an update in it.
ORDERS = LOGS / "orders" / "binlog.000001"
ORDERS_FIELD = "position=27725&field=body.rows[0].before.cells[4].value.digits"

WIDTH, LINES = 132, 25


def main() -> None:
    """Create all."""
    IMAGES.mkdir(exist_ok=True)
    os.chdir(LOGS)  # the page shows the paths of logs as given
    (IMAGES / "explain.svg").write_text(_explained(), encoding="utf-8")
    paths = sorted(path for folder in SCENARIOS for path in Path(folder).glob("binlog.0*"))
    _photograph(IMAGES / "stats.webp", stats_page.page(bk.stats(paths), bk.__version__), 900)
    viewer = viewer_page.page(
        bk.__version__, viewer_page.Excerpt.of(Source.of_path(str(ORDERS)), ORDERS.name)
    )
    _photograph(IMAGES / "viewer.webp", viewer, 820, ORDERS_FIELD)


def _explained() -> str:
    with bk.open(LOG) as log:
        event = next(event for event in log if event.position == POSITION)
        lines = Explained.of(event).lines(WIDTH)
        shown = [line for _, line in zip(range(LINES), lines, strict=False)]
    command = f"$ binlog-kaitai explain binlog.000001 --at {POSITION}"
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    console.print(Text(command, style="bold"), *map(Text, shown), sep="\n")
    return console.export_svg(title="binlog-kaitai explain")


def _photograph(path: Path, page: bytes, height: int, fragment: str = "") -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("Chromium is missing")
    with tempfile.TemporaryDirectory() as folder:
        html = Path(folder) / "page.html"
        html.write_bytes(page)
        subprocess.run(
            [browser, "--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size=1200,{height}",
             "--virtual-time-budget=10000", f"--screenshot={path}", f"{html.as_uri()}#{fragment}"],
            check=True, capture_output=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
