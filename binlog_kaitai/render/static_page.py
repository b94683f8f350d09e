"""Self-contained HTML pages, which make no network requests.

A content security policy allows the page's own style and script only, by their digests.
"""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files

_COMMON = "render/page"


def assemble(folder: str, title: str, version: str, script: str, data: str) -> bytes:
    """The page of a folder such as ``render/viewer``, from its `page.html` and `page.css`, as UTF-8.

    `version` is the package's, `data` markup from `as_script_data`.
    """
    style = read(_COMMON, "base.css") + read(folder, "page.css")
    policy = f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; img-src data:"
    text = read(_COMMON, "page.html").replace("<!--body-->", read(folder, "page.html"))
    text = text.replace("<!--version-->", version).replace("<!--title-->", title)
    # The data is inserted last, so that it is not searched for placeholders.
    for name, value in (("policy", policy), ("style", style), ("script", script), ("data", data)):
        head, _, tail = text.partition(f"<!--{name}-->")
        text = head + value + tail
    return text.encode()


def script_of(*sources: str) -> str:
    """A script in strict mode whose names are its own and those of `base.js`."""
    return "(function () {\n'use strict';\n" + "".join((read(_COMMON, "base.js"), *sources)) + "})();\n"


def read(folder: str, name: str) -> str:
    """The text of a file in a folder of the package."""
    return files("binlog_kaitai").joinpath(folder, name).read_text("utf-8")


def as_script_data(name: str, value: object) -> str:
    """An element with JSON, which can neither end the element nor begin a comment; `name` is its ID."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    text = text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")
    return f'<script id="{name}" type="application/json">{text}</script>'


def _digest(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
