"""The reference of the format as a site, opened from disk in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.corpus_files import CORPUS
from tools.generate.grammar import Grammar
from tools.reference import samples, site

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, grammar: Grammar) -> Path:
    path = tmp_path_factory.mktemp("site") / "docs"
    site.write(grammar, samples.load(CORPUS), path)
    return path


@pytest.fixture
def quiet(browser: Any) -> Iterator[Any]:
    """The browser, which must have had nothing to complain about in the end."""
    yield browser
    assert browser.get_log("browser") == []


def test_every_page_opens_and_every_link_leads_to_a_heading(folder: Path, quiet: Any) -> None:
    for page in sorted(folder.glob("*.html")):
        quiet.get(page.as_uri())
        assert quiet.find_elements(By.CSS_SELECTOR, "main h1")
        for link in quiet.find_elements(By.CSS_SELECTOR, "main a"):
            target, _, name = link.get_attribute("href").partition("#")
            if target.startswith("https://github.com/"):
                continue  # the servers' sources
            path = Path(target.removeprefix("file://"))
            assert path.exists(), target
            assert not name or f'id="{name}"' in path.read_text(), f"{page.name}: {target}#{name}"


def test_bytes_and_fields_highlight_each_other(folder: Path, quiet: Any) -> None:
    quiet.get((folder / "gtid_event.html").as_uri())
    sample = quiet.find_element(By.CSS_SELECTOR, ".sample")
    row = next(row for row in sample.find_elements(By.CSS_SELECTOR, "tbody tr") if "uuid" in row.text)
    ActionChains(quiet).move_to_element(row).perform()
    assert len(sample.find_elements(By.CSS_SELECTOR, ".hex .on")) == 16
    first = sample.find_element(By.CSS_SELECTOR, '.hex [data-field="0"]')
    ActionChains(quiet).move_to_element(first).perform()
    marked = sample.find_elements(By.CSS_SELECTOR, ".decoded .on")
    assert ["flags" in one.text for one in marked] == [True]


@pytest.mark.parametrize(
    ("text", "page", "name"),
    [
        ("commit_group_ticket", "gtid_event.html", "gtid_event.commit_group_ticket"),
        ("Q_SQL_MODE_CODE", "binlog_enums.html", "sql_mode"),
        ("event_type 40", "binlog_enums.html", "transaction_payload"),
    ],
)
def test_search_finds_fields_servers_names_and_numbers(
    folder: Path, quiet: Any, text: str, page: str, name: str
) -> None:
    quiet.get((folder / "index.html").as_uri())
    box = quiet.find_element(By.ID, "search")
    box.send_keys(text)
    assert name in quiet.find_element(By.CSS_SELECTOR, "#results a").text
    box.send_keys(Keys.ENTER)
    assert quiet.current_url.partition("#")[0].endswith(page)


@pytest.mark.parametrize("width", [360, 1200, 1920])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_and_everybody_can_read_them(
    folder: Path, quiet: Any, axe: str, scheme: str, width: int
) -> None:
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    quiet.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    quiet.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    try:
        for name in ("index", "gtid_event", "binlog_enums"):
            quiet.get((folder / f"{name}.html").as_uri())
            assert quiet.execute_script("return document.documentElement.scrollWidth") <= width, name
            quiet.execute_script(axe)
            found = quiet.execute_async_script("axe.run(document, {preload: false}).then(arguments[0])")
            assert [
                (one["id"], [node["target"] for node in one["nodes"]]) for one in found["violations"]
            ] == []
        quiet.get((folder / "gtid_event.html").as_uri())
        table = quiet.find_element(By.CSS_SELECTOR, ".wide")
        is_cut = table.get_property("scrollWidth") > table.get_property("clientWidth")
        assert is_cut == (width < 1200), "on a desk the meaning of a field is in sight"
    finally:
        quiet.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        quiet.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_names_break_after_underscores_and_nowhere_else(folder: Path) -> None:
    text = (folder / "gtid_event.html").read_text()
    assert "<code>sequence_<wbr>number</code>" in text
    assert 'href="large_transaction_header_event.html"' in text
    assert "8.0.14" in text
