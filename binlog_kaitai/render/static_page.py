"""Self-contained HTML pages, which make no network requests.

A content security policy allows the page's own style and script only, by their digests.
"""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files


def assemble(folder: str, script: str, data: str) -> bytes:
    """The page of a folder such as ``render/viewer``, from its `page.html` and `page.css`, as UTF-8.

    `data` replaces the placeholder ``<!--data-->``, so it must be safe markup.
    """
    style = read(folder, "page.css")
    policy = f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; img-src data:"
    text = read(folder, "page.html")
    # The data is inserted last, so that it is not searched for placeholders.
    for name, value in (("policy", policy), ("style", style), ("script", script), ("data", data)):
        head, _, tail = text.partition(f"<!--{name}-->")
        text = head + value + tail
    return text.encode()


def script_of(*sources: str) -> str:
    """A script in strict mode whose names are its own."""
    return "(function () {\n'use strict';\n" + "".join(sources) + "})();\n"


def read(folder: str, name: str) -> str:
    """The text of a file in a folder of the package."""
    return files("binlog_kaitai").joinpath(folder, name).read_text("utf-8")


def as_script_data(value: object) -> str:
    """JSON that is safe in a script element: it can neither end the element nor begin a comment."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def _digest(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
