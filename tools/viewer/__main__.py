"""`python -m tools.viewer`: write build/viewer/index.html, the page on which binary logs are opened."""

from __future__ import annotations

from pathlib import Path

import binlog_kaitai as bk
from binlog_kaitai.render.viewer_page import Excerpt, page
from binlog_kaitai.sources.source import Source

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "build" / "viewer" / "index.html"
SAMPLE = ROOT / "tests/corpus/mysql-9.7/orders/binlog.000001"

if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_bytes(page(bk.__version__, sample=Excerpt.of(Source.of_path(str(SAMPLE)), SAMPLE.name)))
    print(f"wrote {PAGE}")
