"""Statistics as a self-contained HTML page, which makes no network requests.

Data from the log is embedded as JSON that markup cannot terminate, and the script inserts it as text, never
as markup. A content security policy blocks all other scripts.
"""

from __future__ import annotations

from binlog_kaitai.render.html.page import page

__all__ = ["page"]
