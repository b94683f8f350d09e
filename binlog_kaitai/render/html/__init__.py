"""Statistics as one page for a browser, which asks no network for anything.

What comes from the log is put into the page as JSON that no markup can end, and the script makes text of it,
never markup. A content security policy lets no other script run.
"""

from __future__ import annotations

from binlog_kaitai.render.html.page import page

__all__ = ["page"]
