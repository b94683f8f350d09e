"""A headless Chromium, and pages of statistics to open in it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver

_ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,1000",
)


#: What looks for pages that not everybody can read.
_AXE = "axe-core@4.10.3"
_AXE_FOLDER = Path(__file__).parents[2] / "build" / "axe"


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core, from npm."""
    script = _AXE_FOLDER / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("needs npm, to fetch axe-core")
        _AXE_FOLDER.mkdir(parents=True, exist_ok=True)
        install = [npm, "install", "--no-save", "--no-audit", "--no-fund", "--prefix", str(_AXE_FOLDER), _AXE]
        if subprocess.run(install, capture_output=True).returncode:
            pytest.skip("npm cannot fetch axe-core")
    return script.read_text("utf-8")


@pytest.fixture(scope="session")
def browser() -> Iterator[webdriver.Chrome]:
    """The browser; its log has what pages complain about."""
    programs = shutil.which("chromium"), shutil.which("chromedriver")
    if programs[0] is None or programs[1] is None:
        pytest.skip("needs chromium and chromedriver; tools/need_browser.sh says how to get them")
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for argument in _ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(programs[1]))
    yield driver
    driver.quit()
