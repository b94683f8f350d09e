"""The page of statistics in a real browser."""

from __future__ import annotations

import io
import zlib
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By

import binlog_kaitai as bk
from binlog_kaitai.render.explanation import dissect
from binlog_kaitai.statistics.stats_page import page
from tests.corpus_files import case

pytestmark = pytest.mark.browser

MIXED = case("mysql-9.7", "mixed").logs[0]

#: As long as the longest name of a table in the corpus.
HOSTILE = b"</script><script>window.hit=1</script><img src=x onerror=hit=1>."
LONG_NAME = b"n" * 64


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Any:
    """A function that makes the page of logs, and opens it."""

    def open_page(source: Any) -> Any:
        path = tmp_path / "page.html"
        path.write_bytes(page(bk.stats(source), bk.__version__))
        browser.get(path.as_uri())
        return browser

    yield open_page
    assert browser.get_log("browser") == []


def texts(browser: Any, selector: str) -> list[str]:
    return [found.text for found in browser.find_elements(By.CSS_SELECTOR, selector)]


def several_times(count: int) -> bytes:
    """A log whose transactions are some seconds apart, with adjusted commit times."""
    data = bytearray(MIXED.read_bytes())
    number = 0
    events = list(bk.open(MIXED))
    start = events[0].fixed_header.timestamp
    for event in events:
        if event.type == "GTID_LOG_EVENT":
            number += 1
            offsets = {leaf.path.rpartition(".")[2]: leaf for leaf in dissect(event).leaves}
            leaf = offsets["immediate_commit_timestamp_low"]
            moment = start * 1_000_000 + number // 10 * 1_000_000 * count
            raw = bytearray(event.raw)
            raw[leaf.offset : leaf.offset + 7] = moment.to_bytes(7, "little")
            raw[-4:] = zlib.crc32(raw[:-4]).to_bytes(4, "little")
            data[event.position : event.end_position] = raw
    return bytes(data)


def test_names_in_the_log_stay_text(opened: Any) -> None:
    log = case("mariadb-11.8", "ddl").logs[0]
    data = bytearray(log.read_bytes())
    assert len(HOSTILE) == len(LONG_NAME)
    for event in list(bk.open(log)):
        if LONG_NAME in event.raw:
            raw = event.raw[:-4].replace(LONG_NAME, HOSTILE)
            data[event.position : event.end_position] = raw + zlib.crc32(raw).to_bytes(4, "little")
    browser = opened(bytes(data))
    browser.find_element(By.CSS_SELECTOR, "#part-tables .foot button").click()
    assert HOSTILE.decode() in texts(browser, "#part-tables td.table")
    assert browser.execute_script("return window.hit") is None
    assert browser.execute_script("return document.images.length") == 0
    assert browser.execute_script("return document.scripts.length") == 2


def test_totals_and_tables_are_shown_and_sorted(opened: Any) -> None:
    browser = opened(MIXED)
    cards = dict(zip(texts(browser, ".card .label"), texts(browser, ".card .value"), strict=True))
    assert (cards["Transactions"], cards["Events"]) == ("49", "210")
    assert texts(browser, "#part-tables td.rows") == ["704", "3", "5", "5"]
    by_rows = browser.find_element(By.XPATH, "//*[@id='part-tables']//th/button[text()='rows']")
    by_rows.click()
    assert texts(browser, "#part-tables td.rows") == ["704", "5", "5", "3"]
    browser.find_element(By.XPATH, "//*[@id='part-tables']//th[@aria-sort='descending']/button").click()
    assert texts(browser, "#part-tables td.rows") == ["3", "5", "5", "704"]
    search = browser.find_element(By.CSS_SELECTOR, "#part-statements input")
    search.send_keys("trigger")
    assert texts(browser, "#part-statements td.statement") == ["CREATE TRIGGER"]


def test_a_sentence_sums_up_and_footnotes_come_last(opened: Any) -> None:
    browser = opened(MIXED)
    assert browser.find_element(By.ID, "summary").text == (
        "49 transactions within a second inserted 714 rows, updated 3 and deleted 0 in 3 tables. "
        "t.s has 99 % of the bytes in rows events."
    )
    assert not browser.find_element(By.ID, "error").is_displayed()
    opened(case("damaged", "mysql-9.7-flipped_bit").logs[0])
    assert "checksum mismatch" in browser.find_element(By.ID, "error").text
    opened(io.BytesIO(MIXED.read_bytes()))
    assert texts(browser, ".note") == [""]
    notes = browser.find_elements(By.CSS_SELECTOR, "#parts ~ footer p")
    assert [note.text.partition(" ")[0] for note in notes] == ["Transactions", "0"]


def test_the_timeline_zooms_to_what_is_dragged_over(opened: Any) -> None:
    browser = opened(several_times(60))
    chart = browser.find_element(By.ID, "chart")
    whole = browser.find_element(By.ID, "range").text
    bars = len(browser.find_elements(By.CSS_SELECTOR, "#chart .bar"))
    assert bars == 5
    drag = ActionChains(browser).move_to_element_with_offset(chart, -300, 0).click_and_hold()
    drag.move_by_offset(200, 0).release().perform()
    assert browser.find_element(By.ID, "range").text != whole
    assert len(browser.find_elements(By.CSS_SELECTOR, "#chart .bar")) < bars
    browser.find_element(By.ID, "reset").click()
    assert browser.find_element(By.ID, "range").text == whole
    browser.find_element(By.CSS_SELECTOR, "[data-series='rows']").click()
    assert browser.find_elements(By.CSS_SELECTOR, "#chart .rows_inserted")


def test_a_transaction_opens_and_shows_each_byte_as_explain_does(opened: Any) -> None:
    browser = opened(MIXED)
    browser.find_element(By.CSS_SELECTOR, "#part-biggest button.open").click()
    events = [event for event in bk.open(MIXED) if 7288 <= event.position < 42100]
    assert texts(browser, "#detail-events .type") == [event.type for event in events]
    browser.find_elements(By.CSS_SELECTOR, "#detail-events button")[3].click()
    leaves = dissect(events[3]).leaves
    fields = texts(browser, "#detail-event .leaves td.field")
    paths = [one.path for leaf in leaves for one in (leaf, *leaf.parts)]
    assert fields[: len(paths)] == paths
    shown = bytes.fromhex("".join(texts(browser, "#detail-event .hex [data-leaf]")))
    assert shown == events[3].raw
    field = browser.find_elements(By.CSS_SELECTOR, "#detail-event .leaves tbody tr")[1]
    ActionChains(browser).move_to_element(field).perform()
    lit = texts(browser, "#detail-event .hex .lit")
    assert lit == [events[3].raw[leaves[1].offset : leaves[1].end].hex()]
    browser.find_element(By.ID, "detail-close").click()
    assert not browser.find_element(By.ID, "detail").is_displayed()


def test_light_and_dark(opened: Any) -> None:
    browser = opened(MIXED)

    def background() -> str:
        return str(browser.execute_script("return getComputedStyle(document.body).backgroundColor"))

    before = background()
    browser.find_element(By.ID, "theme").click()
    assert background() != before


def test_a_bar_opens_the_transactions_of_its_table(opened: Any) -> None:
    log = case("mysql-9.7", "types_full").logs[0]
    browser = opened(log)
    stats = bk.stats(log)
    sums: dict[str, int] = {}
    for row in stats.parts["tables"].objects():
        name = f"{row['schema']}.{row['table']}"
        sums[name] = sums.get(name, 0) + row["bytes"]
    names = sorted(sums, key=lambda name: -sums[name])
    assert texts(browser, "#bars .name") == names[:12]
    browser.find_elements(By.CSS_SELECTOR, "#bars button")[1].click()
    assert browser.find_element(By.ID, "detail-title").text == names[1]
    changes = [row for row in stats.parts["by_table"].objects() if row["table"] == names[1]]
    assert len(texts(browser, "#detail-events .type")) == len(changes) == 5
    browser.find_elements(By.CSS_SELECTOR, "#detail-events button")[0].click()
    assert browser.find_element(By.ID, "detail-title").text == f"Transaction at {changes[0]['position']:,}"
    assert "WRITE_ROWS_EVENT" in texts(browser, "#detail-events .type")
    browser.find_element(By.CSS_SELECTOR, "#detail-events .back").click()
    assert browser.find_element(By.ID, "detail-title").text == names[1]


@pytest.mark.parametrize("width", [1280, 600])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everybody_can_read_it(opened: Any, axe: str, theme: str, width: int) -> None:
    browser = opened(case("mysql-9.7", "types_full").logs[0])
    browser.set_window_size(width, 1000)
    browser.execute_script("document.documentElement.dataset.theme = arguments[0]", theme)
    browser.execute_script(axe)
    steps = [
        "",
        "[data-series='rows']",
        "#bars button",
        "#detail-events button",
        "#detail-events li:nth-child(5) button",
    ]
    for selector in steps:
        if selector:
            browser.execute_script("document.querySelector(arguments[0]).click()", selector)
        found = browser.execute_async_script("axe.run(document).then(arguments[0])")
        assert [(one["id"], [node["target"] for node in one["nodes"]]) for one in found["violations"]] == []
    browser.set_window_size(1280, 1000)


@pytest.mark.parametrize("width", [360, 1200, 1920])
def test_it_fits(opened: Any, width: int) -> None:
    browser = opened([case("mysql-9.7", name).logs[0] for name in ("types_full", "orders")])
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        for table in browser.find_elements(By.CSS_SELECTOR, ".scroll") if width >= 1200 else ():
            assert table.get_property("scrollWidth") <= table.get_property("clientWidth")
        for link in browser.find_elements(By.CSS_SELECTOR, "nav a"):
            assert 0 <= link.rect["x"] <= link.rect["x"] + link.rect["width"] <= width, link.text
        cards = [card.rect for card in browser.find_elements(By.CSS_SELECTOR, ".card")]
        rows = {card["y"]: card["x"] + card["width"] for card in cards}  # the last card of each row is last
        right = browser.find_element(By.CSS_SELECTOR, ".cards").rect
        assert [*rows.values()] == pytest.approx([right["x"] + right["width"]] * len(rows), abs=1)
        tracks = browser.find_elements(By.CSS_SELECTOR, "#bars .track")
        parts = [
            sum(part.rect["width"] for part in track.find_elements(By.CSS_SELECTOR, ".part"))
            for track in tracks
        ]
        assert max(parts) > width / 3 > 2 * min(parts), "bars have different lengths"
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
