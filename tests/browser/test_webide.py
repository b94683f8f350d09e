"""The folded grammar in the real Kaitai Web IDE. `KAITAI_WEBIDE` names the folder of its built files.

It must be built with the released compiler (0.11): a snapshot that its lock file names loses parentheses.
In a clone of kaitai_struct_webide: `npm ci`, `npm install --no-save kaitai-struct-compiler@0.11.0`,
`node vendor_build.js`, then `./build`, which writes the folder `out`.
"""

from __future__ import annotations

import base64
import functools
import http.server
import os
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.support.ui import WebDriverWait

from binlog_kaitai.core.grammar import EventType
from tests.corpus_files import CORPUS
from tools.generate.__main__ import ENTRY, ROOT
from tools.generate.grammar import Grammar
from tools.generate.webide import render
from tools.vectors.__main__ import load
from tools.vectors.build import cut

pytestmark = pytest.mark.browser

_DROP = """
    const transfer = new DataTransfer();
    const bytes = Uint8Array.from(atob(arguments[1]), one => one.charCodeAt(0));
    transfer.items.add(new File([bytes], arguments[0]));
    document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: transfer, bubbles: true}));
"""
_HAS_TREE = """
    const app = window.kaitaiIde && kaitaiIde.app;
    return Boolean(app && app.inputFsItem && app.inputFsItem.fn.endsWith(arguments[0])
        && kaitaiIde.root && kaitaiIde.root.object.fields.entries
        && app.ui.parsedDataTreeHandler && app.ui.parsedDataTreeHandler.jstree);
"""
# Opens what is closed, a level at a time: the tree reads a node when it is opened.
_OPEN = """
    const tree = kaitaiIde.app.ui.parsedDataTreeHandler.jstree;
    const area = kaitaiIde.app.ui.parsedDataTreeCont.getElement()[0];
    const closed = [...area.querySelectorAll("li.jstree-closed")];
    closed.forEach(one => tree.open_node(one));
    return closed.length + area.querySelectorAll(".jstree-loading").length;
"""
_TEXTS = """
    const area = kaitaiIde.app.ui.parsedDataTreeCont.getElement()[0];
    return [...area.querySelectorAll("a.jstree-anchor")].map(one => one.textContent);
"""
_IS_READY = (
    "return Boolean(window.kaitaiIde && kaitaiIde.app && kaitaiIde.app.ui && kaitaiIde.app.formatReady)"
)
_HAS_GRAMMAR = "return (kaitaiIde.app.lastKsyFsItem || {fn: ''}).fn.endsWith('mysql_binlog.ksy')"
_UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_ERROR = """
    const shown = kaitaiIde.app.errors.errorWnd;
    return shown ? shown.getElement()[0].innerText : null;
"""
_FIRST = "/formats/archive/zip.ksy"


class _Server(http.server.SimpleHTTPRequestHandler):
    """Serves the Web IDE's files, and replaces the grammar that it opens first, if missing."""

    def do_GET(self) -> None:
        if self.path != _FIRST or Path(self.translate_path(self.path)).exists():
            super().do_GET()
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"meta:\n  id: zip\n")

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the Web IDE is served, on this machine alone."""
    folder = Path(os.environ.get("KAITAI_WEBIDE", ""))
    if not os.environ.get("KAITAI_WEBIDE") or not (folder / "js/v1/app.js").exists():
        pytest.skip("KAITAI_WEBIDE does not name a built Web IDE")
    handler = functools.partial(_Server, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def _drop(browser: Any, name: str, data: bytes) -> None:
    browser.execute_script(_DROP, name, base64.b64encode(data).decode())


def _shown(browser: Any, address: str, name: str, log: bytes) -> list[str]:
    """All that the tree shows of a log once everything is open."""
    wait = WebDriverWait(browser, 120)
    browser.get(address)
    wait.until(lambda b: b.execute_script(_IS_READY))
    _drop(browser, "mysql_binlog.ksy", render(Grammar.load(ROOT / "formats"), ENTRY).encode())
    wait.until(lambda b: b.execute_script(_HAS_GRAMMAR))
    _drop(browser, name, log)
    wait.until(lambda b: b.execute_script(_HAS_TREE, name))
    quiet = 0  # a node that was just opened may not be there yet
    while quiet < 3:
        quiet = 0 if browser.execute_script(_OPEN) else quiet + 1
        time.sleep(0.2)
    assert browser.execute_script(_ERROR) is None
    texts: list[str] = browser.execute_script(_TEXTS)
    return texts


@pytest.mark.parametrize(
    ("kind", "server", "cells"),
    [
        (EventType.write_rows_event, "mysql-9.7", ["@1 = 1", '@2 = "one"', "@1 = 2", '@2 = "two"']),
        (EventType.gtid_tagged_log_event, "mysql-9.7", None),
        (EventType.write_rows_event_v1, "mariadb-11.8", ["@1 = "]),
        (EventType.gtid_list_event, "mariadb-11.8", None),
    ],
    ids=str,
)
def test_gtids_have_uuids_and_cells_have_names(
    browser: Any, address: str, kind: EventType, server: str, cells: list[str] | None
) -> None:
    excerpt = load()[kind, server]
    log, _ = cut(CORPUS / excerpt.log, excerpt)
    texts = _shown(browser, address, f"{server}-{kind.name}.binlog", log)
    assert any("_EVENT" in text for text in texts)
    gtids = [text for text in texts if re.search(r"\[Gtid(Tagged)?Event\]", text)]
    tag = r"\w+:" if kind == EventType.gtid_tagged_log_event else ""
    assert all(re.search(rf"\]: {_UUID}:{tag}\d+$", text) for text in gtids)
    assert bool(gtids) is (kind in (EventType.write_rows_event, EventType.gtid_tagged_log_event))
    shown = [text.partition("]: ")[2] for text in texts if "[Cell]" in text]
    if cells is not None:
        assert shown[: len(cells)] == cells or all(any(c in one for one in shown) for c in cells)
    assert all(" = " in one for one in shown)
