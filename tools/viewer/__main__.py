"""`python -m tools.viewer`: write build/viewer/index.html, the page on which binary logs are opened."""

from __future__ import annotations

from pathlib import Path

from binlog_kaitai.render.viewer_page import page

PAGE = Path(__file__).parents[2] / "build" / "viewer" / "index.html"

if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_bytes(page())
    print(f"wrote {PAGE}")
