"""A headless Chromium, and pages of statistics to open in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

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
