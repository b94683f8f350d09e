"""The documents and the reference of the format as a site, opened from disk in a real browser."""

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
        links = "return [...document.querySelectorAll('main a')].map((link) => link.href)"
        for link in quiet.execute_script(links):
            target, _, name = link.partition("#")
            if target.startswith("http"):
                continue
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
        ("binlog_row_metadata=FULL viewer", "cli.html", "The viewer"),
    ],
)
def test_search_finds_documents_fields_servers_names_and_numbers(
    folder: Path, quiet: Any, text: str, page: str, name: str
) -> None:
    quiet.get((folder / "index.html").as_uri())
    box = quiet.find_element(By.ID, "search")
    box.send_keys(text)
    assert name in quiet.find_element(By.CSS_SELECTOR, "#results a").text
    box.send_keys(Keys.ENTER)
    assert quiet.current_url.partition("#")[0].endswith(page)


@pytest.mark.parametrize("text", ["gtid_event", "verify", "flags", "xid", "row"])
def test_whole_names_are_found_first(folder: Path, quiet: Any, text: str) -> None:
    quiet.get((folder / "index.html").as_uri())
    quiet.find_element(By.ID, "search").send_keys(text)
    names = [link.text.splitlines()[0] for link in quiet.find_elements(By.CSS_SELECTOR, "#results a")]
    are_whole = [name == text or name.endswith(f".{text}") for name in names]
    assert are_whole[0]
    assert are_whole == sorted(are_whole, reverse=True)
    assert len(set(names)) > 1


def test_what_is_shown_of_a_text_begins_and_ends_with_words(folder: Path, quiet: Any) -> None:
    quiet.get((folder / "index.html").as_uri())
    quiet.find_element(By.ID, "search").send_keys("binlog_row_metadata")
    shown = [one.text for one in quiet.find_elements(By.CSS_SELECTOR, "#results small")]
    texts = quiet.execute_script("return ENTRIES.flatMap((entry) => [entry[1], entry[3] ?? ''])")
    words = {word for text in texts for word in text.split()} | {"…", "·"}
    assert any(text.startswith("Command line · … ") and text.endswith(" …") for text in shown)
    assert {word for text in shown for word in text.split()} <= words


def test_all_documents_are_there_and_narrow_screens_have_a_menu(folder: Path, quiet: Any) -> None:
    documents = {path.stem for path in (CORPUS.parents[1] / "docs").rglob("*.md")}
    assert documents <= {path.stem for path in folder.glob("*.html")}
    metrics = {"width": 360, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    quiet.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        quiet.get((folder / "index.html").as_uri())
        assert not quiet.find_element(By.ID, "pages").is_displayed()
        quiet.find_element(By.ID, "menu").click()
        quiet.find_element(By.LINK_TEXT, "Command line").click()
        assert quiet.current_url.endswith("/cli.html")
    finally:
        quiet.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


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
        for name in ("index", "sealed", "gtid_event", "binlog_enums"):
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
