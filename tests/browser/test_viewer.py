"""The viewer in a real browser: what it reads from logs is what the library reads, byte for byte."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import binlog_kaitai as bk
from binlog_kaitai.cli.app import main
from binlog_kaitai.core.grammar import read_event
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.render.explanation import dissect
from binlog_kaitai.render.viewer_page import Excerpt, page
from binlog_kaitai.sources.source import Source
from binlog_kaitai.values.column_kinds import OLD_TIMES
from binlog_kaitai.values.json_documents import JsonText
from binlog_kaitai.values.representations import json_form, value_of
from binlog_kaitai.values.schema import NameSource, Schema, is_mariadb, set_old_fractions
from binlog_kaitai.values.strings import has_own_text
from tests.corpus_files import case

pytestmark = pytest.mark.browser

#: Logs of all servers; together they have all types of columns, and events of nearly all types.
LOGS = (
    "mysql-5.6/types_v1_rows",
    "mysql-5.6/mixed",
    "mysql-5.7/types_full",
    "mysql-8.0/json_partial",
    "mysql-8.0/types_metadata",
    "mysql-9.7/charsets",
    "mysql-9.7/gtid_tags",
    "mysql-9.7/json_values",
    "mysql-9.7/odd_values",
    "mysql-9.7/payloads",
    "mysql-9.7/types_full",
    "mysql-9.7/types_metadata",
    "mariadb-10.2/types_compressed",
    "mariadb-10.5/types_metadata",
    "mariadb-10.11/domains",
    "mariadb-11.4/types_compressed",
    "mariadb-11.8/types_full",
    "mariadb-11.8/types_metadata",
    "mariadb-11.8/xa",
)
#: Damaged logs that have whole events.
DAMAGED = [
    f"damaged/{server}-{damage}"
    for server in ("mariadb-10.11", "mysql-9.7")
    for damage in ("flipped_bit", "flipped_size", "garbage_tail", "hole", "huge_size", "in_use", "lost_event")
]
#: Logs of all servers without names of columns, whose statements define the tables.
UNNAMED = (
    "mysql-5.6/types_v1_rows",
    "mysql-5.7/ddl",
    "mysql-5.7/types_full",
    "mysql-8.0/json_partial",
    "mysql-9.7/charsets",
    "mysql-9.7/ddl",
    "mysql-9.7/payloads",
    "mysql-9.7/types_payload",
    "mariadb-10.2/ddl",
    "mariadb-10.11/types_old_temporal",
    "mariadb-11.8/types_full",
)
MIXED = case("mysql-9.7", "mixed").logs[0]
#: An event of that log with two rows, and the GTID of its transaction.
POSITION, GTID = 7156, "a40b4242-e518-11f1-9090-02fc00000001:21"

#: Character sets that browsers do not know, or know otherwise; the page shows such text as bytes.
UNKNOWN_TO_BROWSERS = ("big5", "eucjpms", "ujis")

_DROP = """
    const transfer = new DataTransfer();
    const bytes = Uint8Array.from(atob(arguments[1]), one => one.charCodeAt(0));
    transfer.items.add(new File([bytes], arguments[0]));
    const init = {dataTransfer: transfer, bubbles: true, cancelable: true};
    document.body.dispatchEvent(new DragEvent("drop", init));
"""
_READ = """
    const done = arguments[arguments.length - 1];
    const {leavesOf, rowsOf, summaryOf, typeName, isChecksumRight} = viewer;
    const cell = ({kind, text}) => kind === "number" && Number.isFinite(Number(text)) ? text
        : kind === "json" ? text : kind === "null" ? "null"
        : JSON.stringify(kind === "bytes" ? {hex: text} : kind === "diff" ? {diff: text} : text);
    const image = (values, columns) => values && "{" + values
        .map((value, index) => [value, columns[index].name])
        .filter(([value]) => value.kind !== "absent")
        .map(([value, name]) => JSON.stringify(name) + ":" + cell(value)).join(",") + "}";
    async function read(log, isInside) {
        const events = [];
        for (let index = 0; index < log.frames.count; index++) {
            const event = await log.event(index);
            const found = rowsOf(event, log.isMariadb);
            events.push({
                isInside,
                position: isInside ? null : log.frames.positions[index],
                size: log.frames.sizes[index],
                time: log.frames.times[index],
                type: typeName(log.frames.types[index]),
                isRight: isChecksumRight(event),
                leaves: leavesOf(event.entry.event, event.data)
                    .map(({offset, size, path}) => [offset, size, path]),
                summary: await summaryOf(log, index),
                rows: found && found.rows.map(({before, after}) =>
                    [image(before, found.columns) ?? null, image(after, found.columns) ?? null]),
            });
            if (typeName(log.frames.types[index]) === "TRANSACTION_PAYLOAD_EVENT") {
                events.push(...await read(await log.payload(index), true));
            }
        }
        return events;
    }
    read(viewer.log, false).then((events) => done({events}), (problem) => done({problem: problem.stack}));
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("viewer") / "index.html"
    path.write_bytes(page(bk.__version__))
    return path


@pytest.fixture(scope="module")
def file_with_sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("viewer") / "index.html"
    path.write_bytes(page("1.2.3", sample=Excerpt.of(Source.of_path(str(MIXED)), MIXED.name)))
    return path


Open = Callable[..., Any]


@pytest.fixture
def opened(browser: Any, file: Path) -> Iterator[Open]:
    """A function that opens the page, drops a log on it, and waits until it is shown."""

    def open_page(data: bytes, name: str = "binlog.000001") -> Any:
        browser.get("about:blank")
        browser.get(file.as_uri())
        browser.execute_script(_DROP, name, base64.b64encode(data).decode())
        WebDriverWait(browser, 20).until(
            lambda found: (
                found.find_elements(By.CSS_SELECTOR, "#event h2") or found.find_element(By.ID, "problem").text
            )
        )
        return browser

    browser.set_window_size(1280, 1000)
    yield open_page
    assert browser.get_log("browser") == []


def texts(browser: Any, selector: str) -> list[str]:
    script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText)"
    return [str(text) for text in browser.execute_script(script, selector)]


def title(browser: Any) -> str:
    """The type and position of the event that is shown."""
    found = browser.find_elements(By.CSS_SELECTOR, "#event .facts b")
    return f"{browser.find_element(By.CSS_SELECTOR, '#event h2').text} {found[0].text}"


def wait(browser: Any, condition: Callable[[], object]) -> None:
    WebDriverWait(browser, 20).until(lambda _: condition())


def images(event: ParsedEvent, schema: Schema | None = None) -> list[list[dict[str, object] | None]] | None:
    """The rows of an event in the form of `rows --format json`; without `schema`, by its table map alone."""
    if event.table_map is None:
        return None
    schema = schema or Schema.of(event.table_map, is_mariadb=is_mariadb(event.layout))
    set_old_fractions(event.table_map, schema.old_fractions)
    root, _ = read_event(event.raw, event.type_code, event.layout, event.table_map)
    rows: Any = root.body.content

    def image(cells: Any) -> dict[str, object] | None:
        if cells is None:
            return None
        named = [(cell, column) for cell, column in zip(cells.cells, schema.columns, strict=True)]
        return {
            column.name if column.is_named else f"@{column.index + 1}": plain(cell, column)
            for cell, column in named
            if cell.is_present
        }

    return None if rows.rows is None else [[image(row.before), image(row.after)] for row in rows.rows]


def plain(cell: Any, column: Any) -> object:
    if cell.is_null:
        return None
    if cell.is_partial:
        return "a difference"
    value = value_of(cell.value, column)
    if column.charset in UNKNOWN_TO_BROWSERS and isinstance(value, str) and hasattr(cell.value, "data"):
        return {"hex": cell.value.data.hex()}
    if has_own_text(column):  # which only a definition shows; the page has the bytes
        return {"hex": cell.value.data.ljust(column.length, b"\0").hex()}
    if column.kind in OLD_TIMES and getattr(cell.value, "packed", None):
        return {"hex": cell.value.packed.hex()}
    form = value if isinstance(value, JsonText) else json_form(value, column)
    return json.loads(form if isinstance(form, JsonText) else json.dumps(form))


def from_page(image: str | None) -> dict[str, object] | None:
    if image is None:
        return None
    values = json.loads(image)
    return {
        name: "a difference" if isinstance(value, dict) and value.keys() == {"diff"} else value
        for name, value in values.items()
    }


@pytest.mark.parametrize("name", LOGS)
def test_events_fields_and_rows_are_those_of_the_library(opened: Open, name: str) -> None:
    log = case(*name.split("/")).logs[0]
    answer = opened(log.read_bytes(), log.name).execute_async_script(_READ)
    assert "problem" not in answer, answer
    with bk.open(log, verify_checksums=False) as reader:
        events = list(reader)
    assert len(answer["events"]) == len(events)
    has_rows = 0
    for shown, event in zip(answer["events"], events, strict=True):
        place = f"{log} {event.position} {event.payload_index}"
        is_inside = event.payload_index is not None
        assert (shown["isInside"], shown["position"], shown["type"], shown["size"], shown["time"]) == (
            *(is_inside, None if is_inside else event.position),
            *(event.type, len(event.raw), event.fixed_header.timestamp),
        )
        assert shown["isRight"] == {"ok": True, "bad": False, "none": None}[event.checksum_status], place
        assert shown["leaves"] == [[leaf.offset, leaf.size, leaf.path] for leaf in dissect(event).leaves], (
            place
        )
        if event.type in ("GTID_LOG_EVENT", "GTID_TAGGED_LOG_EVENT", "GTID_EVENT"):
            assert shown["summary"] == event.gtid
        rows = shown["rows"] and [[from_page(image) for image in row] for row in shown["rows"]]
        assert rows == images(event), place
        has_rows += rows is not None
    assert has_rows or name.endswith(("domains", "xa", "gtid_tags", "mixed")), "no rows were compared"


@pytest.mark.parametrize("name", UNNAMED)
def test_rows_have_the_names_of_definitions_that_the_page_has(
    browser: Any, tmp_path: Path, name: str
) -> None:
    log = case(*name.split("/")).logs[0]
    path = tmp_path / "log.html"
    with pytest.raises(SystemExit, match="0"):
        main(["explain", "--html", str(path), str(log)])
    browser.get(path.as_uri())
    wait(browser, lambda: browser.find_elements(By.CSS_SELECTOR, "#event h2"))
    answer = browser.execute_async_script(_READ)
    assert "problem" not in answer, answer
    named = 0
    with bk.open(log, verify_checksums=False) as reader:
        for shown, event in zip(answer["events"], reader, strict=True):
            rows = shown["rows"] and [[from_page(image) for image in row] for row in shown["rows"]]
            assert rows == images(event, event.schema), f"{log} {event.position} {event.payload_index}"
            named += event.schema is not None and event.schema.names_from is NameSource.DEFINITION
    assert named
    assert browser.get_log("browser") == []


def test_the_page_says_where_names_are_from_or_why_there_are_none(
    opened: Open, browser: Any, tmp_path: Path
) -> None:
    log = case("mysql-5.7", "types_full").logs[0]
    insert = next(event for event in bk.open(log) if event.type == "WRITE_ROWS_EVENT")
    assert insert.schema is not None
    names = [column.name for column in insert.schema.columns]

    def shown() -> tuple[list[str], str]:
        browser.execute_script(f"location.hash = 'position={insert.position}'")
        wait(browser, lambda: title(browser) == f"WRITE_ROWS_EVENT {insert.position:,}")
        (remark,) = texts(browser, "#event .remark")
        return texts(browser, "#event th")[1 : len(names) + 1], remark

    def embedded(*arguments: str) -> tuple[list[str], str]:
        path = tmp_path / "log.html"
        with pytest.raises(SystemExit, match="0"):
            main(["explain", "--html", str(path), *arguments])
        browser.get("about:blank")
        browser.get(path.as_uri())
        wait(browser, lambda: browser.find_elements(By.CSS_SELECTOR, "#event h2"))
        return shown()

    numbers = [f"@{number}" for number in range(1, len(names) + 1)]
    opened(log.read_bytes())
    columns, remark = shown()
    assert columns == numbers
    assert "does not follow statements; binlog-kaitai explain --html takes names" in remark
    columns, remark = embedded(str(log))
    assert columns == names
    assert "the names are those of the table’s definition" in remark
    # A log without the statement, and a file with it.
    queries = (str(getattr(event.body, "query_text", "")) for event in bk.open(log))
    query = next(query for query in queries if query.startswith("CREATE TABLE"))
    table = f"`{insert.schema.schema_name}`.`{insert.schema.table_name}`"
    other = tmp_path / "binlog.000002"
    data = bytearray(log.read_bytes())
    for event in bk.open(log):
        if b"CREATE TABLE" in event.raw:
            changed = event.raw[:-4].replace(b"CREATE TABLE", b"INSERT TABLE")
            end = event.position + len(event.raw)
            data[event.position : end] = changed + crc32(changed).to_bytes(4, "little")
    other.write_bytes(data)
    columns, remark = embedded(str(other))
    assert columns == numbers
    assert "No definition in the log, or given with --ddl, fits them." in remark
    ddl = tmp_path / "tables.sql"
    ddl.write_text(f"CREATE TABLE {table} {query[query.index('(') :]};")
    columns, remark = embedded("--ddl", str(ddl), str(other))
    assert columns == names
    assert "the names are those of the table’s definition" in remark


def test_a_chosen_event_has_rows_bytes_and_fields(opened: Open) -> None:
    browser = opened(MIXED.read_bytes())
    assert browser.find_element(By.ID, "count").text == "210 events"
    assert "binlog.000001" in browser.find_element(By.ID, "name").text
    browser.execute_script(f"location.hash = 'position={POSITION}'")
    wait(browser, lambda: title(browser) == "WRITE_ROWS_EVENT 7,156")
    assert texts(browser, "#event tbody td.value") == ["3", "a", "4", "b"]
    event = next(event for event in bk.open(MIXED) if event.position == POSITION)
    codes = bytes.fromhex(" ".join(texts(browser, ".hex .codes")))
    assert codes == event.raw
    row = next(row for row in browser.find_elements(By.CSS_SELECTOR, ".fields tr") if "flags" in row.text)
    ActionChains(browser).scroll_to_element(row).move_to_element(row).perform()
    assert texts(browser, ".hex .codes .on") == ["00 00"]
    about = browser.find_element(By.ID, "field").text
    assert "header.flags" in about
    assert "2 bytes at 7,173" in about
    assert "Bits described by" in about
    cell = browser.find_elements(By.CSS_SELECTOR, ".hex .codes [data-leaf]")[-2]
    ActionChains(browser).scroll_to_element(cell).move_to_element(cell).perform()
    assert browser.find_element(By.ID, "field").text.startswith("@2 = b body.rows[1].after.cells[1]")


def test_keys_and_addresses_lead_to_events(opened: Open, file: Path) -> None:
    browser = opened(MIXED.read_bytes())
    listed = browser.find_element(By.ID, "list")
    browser.switch_to.active_element.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    wait(browser, lambda: title(browser) == "GTID_LOG_EVENT 158")
    assert browser.current_url.endswith("#position=158")
    listed.send_keys(Keys.END)
    wait(browser, lambda: "ROTATE_EVENT" in title(browser) or "STOP_EVENT" in title(browser))
    chosen = browser.find_element(By.CSS_SELECTOR, "[aria-selected='true']")
    assert chosen.get_attribute("id") == listed.get_attribute("aria-activedescendant") == "row-209"
    listed.send_keys(Keys.HOME)
    wait(browser, lambda: title(browser) == "FORMAT_DESCRIPTION_EVENT 4")
    browser.find_elements(By.CSS_SELECTOR, "#rows .row")[3].click()
    wait(browser, lambda: title(browser) == "QUERY_EVENT 235")
    assert texts(browser, "#event .statement")[0].startswith("CREATE ")
    browser.find_element(By.TAG_NAME, "body").send_keys("/")
    assert browser.switch_to.active_element.get_attribute("id") == "query"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (f"position={POSITION + 1}", "WRITE_ROWS_EVENT 7,156"),
        (f"position={POSITION}&inside=0", "WRITE_ROWS_EVENT 7,156"),
        ("position=none", "FORMAT_DESCRIPTION_EVENT 4"),
        ("position=4&field=none", "FORMAT_DESCRIPTION_EVENT 4"),
    ],
)
def test_an_address_that_names_no_event_leads_to_one_before(opened: Open, address: str, shown: str) -> None:
    browser = opened(MIXED.read_bytes())
    browser.execute_script("location.hash = 'position=126'")
    browser.execute_script(f"location.hash = '{address}'")
    wait(browser, lambda: title(browser) == shown)


@pytest.mark.parametrize(
    ("text", "count", "first"),
    [
        (GTID, 6, "GTID_LOG_EVENT"),
        ("t.my", 4, "TABLE_MAP_EVENT"),
        ("DROP DATABASE", 1, "QUERY_EVENT"),
        ("no such thing", 0, ""),
    ],
)
def test_search_finds_transactions_tables_and_statements(
    opened: Open, text: str, count: int, first: str
) -> None:
    browser = opened(MIXED.read_bytes())
    browser.find_element(By.ID, "query").send_keys(text)
    wait(browser, lambda: f"{count} of 210 events" == browser.find_element(By.ID, "count").text)
    assert texts(browser, "#rows .kind")[:1] == [first][:count]
    assert browser.find_element(By.ID, "none").is_displayed() == (count == 0)
    if count == 0:
        assert texts(browser, "#none p") == [f"No event has “{text}” in its GTID, table or statement."]
        browser.find_element(By.ID, "all").click()
        assert browser.find_element(By.ID, "count").text == "210 events"
        assert not browser.find_element(By.ID, "none").is_displayed()


def test_search_finds_positions_and_types(opened: Open) -> None:
    browser = opened(MIXED.read_bytes())
    browser.find_element(By.ID, "query").send_keys(str(POSITION + 3), Keys.ENTER)
    wait(browser, lambda: title(browser) == "WRITE_ROWS_EVENT 7,156")
    browser.find_element(By.ID, "query").clear()
    options = browser.find_elements(By.CSS_SELECTOR, "#type option")
    option = next(option for option in options if option.text.startswith("XID_EVENT"))
    option.click()
    wait(browser, lambda: set(texts(browser, "#rows .kind")) == {"XID_EVENT"})
    count = sum(event.type == "XID_EVENT" for event in bk.open(MIXED))
    assert browser.find_element(By.ID, "count").text == f"{count} of 210 events"


def test_events_inside_a_payload_open_and_are_searched(opened: Open) -> None:
    log = case("mysql-9.7", "payloads").logs[0]
    browser = opened(log.read_bytes())
    inner = [event for event in bk.open(log) if event.payload_index is not None]
    outer = f"{inner[0].position:,}"
    browser.find_element(By.ID, "query").send_keys(f"{inner[0].position}", Keys.ENTER)
    wait(browser, lambda: title(browser) == f"TRANSACTION_PAYLOAD_EVENT {outer}")
    items = browser.find_elements(By.CSS_SELECTOR, ".inside button")
    types = [event.type for event in inner if event.position == inner[0].position]
    assert texts(browser, ".inside b") == types
    items[types.index("WRITE_ROWS_EVENT")].click()
    wait(browser, lambda: texts(browser, "#event tbody td.value")[:2] == ["1", "one"])
    address = browser.current_url
    assert address.endswith(f"#position={inner[0].position}&inside=3")
    browser.find_element(By.CSS_SELECTOR, "#event .facts button").click()
    wait(browser, lambda: title(browser) == f"TRANSACTION_PAYLOAD_EVENT {outer}")
    browser.find_element(By.ID, "query").clear()
    browser.find_element(By.ID, "query").send_keys("values ('one')", Keys.ENTER)
    wait(browser, lambda: " of 25 events" in browser.find_element(By.ID, "count").text)
    assert "TRANSACTION_PAYLOAD_EVENT" in texts(browser, "#rows .kind")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "The file is empty."),
        (b"\xfdbin\x01" + bytes(600), "encrypted by MySQL"),
        (b"\x28\xb5\x2f\xfd" + bytes(40), "unpack it first: zstd -d FILE"),
        (b"\x1f\x8b" + bytes(40), "unpack it first: gunzip FILE"),
        (b"CREATE TABLE", "Not a binary log: it starts with 43 52 45 41"),
        (b"\xfebin" + b"\x05" * 60, "Not a binary log of a known version"),
    ],
)
def test_what_is_no_readable_log_is_refused(opened: Open, data: bytes, sentence: str) -> None:
    browser = opened(data)
    assert sentence in browser.find_element(By.ID, "problem").text
    assert not browser.find_element(By.ID, "list").is_displayed()


def test_a_log_encrypted_by_mariadb_ends_where_encryption_starts(opened: Open) -> None:
    log = case("encrypted", "mariadb-11.8").logs[0]
    browser = opened(log.read_bytes())
    assert "encrypted by MariaDB" in browser.find_element(By.ID, "notice").text
    assert texts(browser, "#rows .kind") == ["FORMAT_DESCRIPTION_EVENT", "START_ENCRYPTION_EVENT"]


@pytest.mark.parametrize(
    ("folder", "sentence"),
    [
        ("mysql-9.7-cut_in_body", "The log ends inside an event: the ROTATE_EVENT has 44 bytes"),
        ("mysql-9.7-cut_in_header", "The log ends inside the header of an event"),
        ("mariadb-10.11-zero_tail", "Zero bytes follow the last event"),
        ("mysql-9.7-in_use", "The log is in use"),
    ],
)
def test_damage_is_reported_and_the_events_before_it_shown(opened: Open, folder: str, sentence: str) -> None:
    log = case("damaged", folder).logs[0]
    browser = opened(log.read_bytes())
    assert browser.find_element(By.ID, "notice").text.startswith(sentence)
    events = []
    try:
        for event in bk.open(log, verify_checksums=False):
            events.append(event.type)
    except bk.BinlogError:
        pass
    assert browser.find_element(By.ID, "count").text == f"{len(events)} events"


def test_a_log_without_events_replaces_the_one_before(opened: Open) -> None:
    browser = opened(MIXED.read_bytes())
    browser.execute_script(_DROP, "binlog.000002", base64.b64encode(b"\xfebin").decode())
    wait(browser, lambda: "binlog.000002" in browser.find_element(By.ID, "name").text)
    assert browser.find_element(By.ID, "notice").text == "The log has no events."
    assert browser.find_element(By.ID, "count").text == "0 events"
    assert texts(browser, "#event h2") == texts(browser, "#rows .kind") == []
    browser.execute_script(_DROP, "notes.txt", base64.b64encode(b"CREATE TABLE").decode())
    wait(
        browser, lambda: browser.find_element(By.ID, "problem").text.startswith("notes.txt: Not a binary log")
    )
    assert browser.find_element(By.ID, "name").text == ""


def test_a_wrong_checksum_is_shown(opened: Open) -> None:
    data = bytearray(MIXED.read_bytes())
    data[POSITION + 40] ^= 1
    browser = opened(bytes(data))
    browser.execute_script(f"location.hash = 'position={POSITION}'")
    wait(browser, lambda: title(browser) == "WRITE_ROWS_EVENT 7,156")
    assert texts(browser, "#event .bad") == ["wrong"]


def checked(browser: Any) -> list[int]:
    """Positions of the events that the page calls damaged, once it has checked all."""
    wait(browser, lambda: not browser.find_element(By.ID, "checked").text.endswith("checked"))
    read = "return [...viewer.damage.keys()].map((index) => viewer.log.frames.positions[index])"
    return sorted(int(position) for position in browser.execute_script(read))


@pytest.mark.parametrize("name", [*DAMAGED, *LOGS])
def test_events_are_damaged_where_verify_finds_damage(opened: Open, name: str) -> None:
    log = case(*name.split("/")).logs[0]
    browser = opened(log.read_bytes())
    (report,) = bk.verify(log)
    positions = browser.execute_script("return [...viewer.log.frames.positions]")
    begins = {int(position) for position in positions if position}
    assert checked(browser) == sorted(begins & {damage.position for damage in report.damages})


def test_damaged_events_are_marked_and_listed(opened: Open) -> None:
    data = bytearray(MIXED.read_bytes())
    data[POSITION + 40] ^= 1
    browser = opened(bytes(data))
    assert checked(browser) == [POSITION]
    browser.find_element(By.ID, "damaged").click()
    wait(browser, lambda: title(browser) == "WRITE_ROWS_EVENT 7,156")
    assert texts(browser, "#rows .row .bad") == ["damaged"]
    (row,) = browser.find_elements(By.CSS_SELECTOR, "#rows .row")
    assert row.get_attribute("title") == "wrong checksum"
    browser.execute_script(_DROP, "binlog.000002", base64.b64encode(MIXED.read_bytes()).decode())
    wait(browser, lambda: browser.find_element(By.ID, "checked").text == "no damage")
    assert not browser.find_element(By.ID, "damaged").is_displayed()


def test_the_page_says_what_it_is_and_has_a_log_to_try(browser: Any, file_with_sample: Path) -> None:
    browser.get(file_with_sample.as_uri())
    assert texts(browser, ".made") == ["binlog-kaitai 1.2.3"]
    browser.find_element(By.ID, "try-sample").click()
    wait(browser, lambda: browser.find_element(By.ID, "count").text == "210 events")
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("width", [360, 1200])
def test_the_place_to_drop_a_log_fills_the_page(browser: Any, file: Path, width: int) -> None:
    metrics = {"width": width, "height": 760, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        browser.get(file.as_uri())
        start, main = (browser.find_element(By.CSS_SELECTOR, name).rect for name in ("#start", "main"))
        assert start == main
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_names_in_a_log_stay_text(opened: Open) -> None:
    log = case("mariadb-11.8", "ddl").logs[0]
    hostile = b"</script><script>window.hit=1</script><img src=x onerror=hit=1>."
    data = log.read_bytes().replace(b"n" * 64, hostile)
    assert len(hostile) == 64
    assert hostile in data
    browser = opened(data)
    browser.find_element(By.ID, "query").send_keys("window.hit")
    wait(browser, lambda: "% searched" not in browser.find_element(By.ID, "count").text)
    wait(browser, lambda: any("</script>" in text for text in texts(browser, "#rows .summary")))
    assert browser.execute_script("return window.hit") is None
    assert browser.execute_script("return document.images.length") == 0


def test_a_large_log_opens_at_once_and_few_of_its_events_are_elements(
    opened: Open, file: Path, tmp_path: Path
) -> None:
    data = MIXED.read_bytes()
    events = list(bk.open(MIXED))
    head, body = data[: events[1].position], data[events[1].position : events[-1].position]
    copies = (96 << 20) // len(body)
    path = tmp_path / "large.000001"
    path.write_bytes(head + body * copies)
    browser = opened(data)
    browser.execute_script("document.getElementById('file').hidden = false")
    begin = time.monotonic()
    browser.find_element(By.ID, "file").send_keys(str(path))
    count = 1 + (len(events) - 2) * copies
    wait(browser, lambda: browser.find_element(By.ID, "count").text == f"{count:,} events")
    assert time.monotonic() - begin < 15
    assert len(browser.find_elements(By.CSS_SELECTOR, "#rows .row")) < 60
    browser.find_element(By.ID, "list").send_keys(Keys.END)
    wait(browser, lambda: browser.find_elements(By.ID, f"row-{count - 1}"))
    wait(browser, lambda: title(browser).startswith(events[-2].type))
    browser.get("about:blank")  # the page reads on, and complains in the next test when the log is removed


def test_explain_writes_the_page_with_a_range(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.html"
    begin = next(event.position for event in bk.open(MIXED) if event.gtid == GTID)
    arguments = [
        "--html",
        str(path),
        "--start-position",
        str(begin),
        "--stop-position",
        "7300",
        "--at",
        "7156",
    ]
    with pytest.raises(SystemExit, match="0"):
        main(["explain", *arguments, str(MIXED)])
    browser.get(path.as_uri())
    wait(browser, lambda: browser.find_elements(By.CSS_SELECTOR, "#event h2"))
    assert title(browser) == "WRITE_ROWS_EVENT 7,156"
    expected = [event.type for event in bk.open(MIXED) if event.position < 7300]
    inside = [event.type for event in bk.open(MIXED) if begin <= event.position < 7300]
    assert len(inside) < len(expected)
    assert texts(browser, "#rows .kind") == [expected[0], *inside]
    assert "a part of the log" in browser.find_element(By.ID, "notice").text
    assert texts(browser, "#event tbody td.value") == ["3", "a", "4", "b"]
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert browser.get_log("browser") == []


def test_the_page_asks_for_nothing(file: Path) -> None:
    text = file.read_text()
    assert "default-src 'none'" in text
    assert "connect-src" not in text
    for name in ("kaitai-struct", "pako", "fzstd"):
        assert f"/* {name} " in text
    assert "Apache License" in text
    assert "MIT License" in text


@pytest.mark.parametrize("width", [360, 1200, 1920])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everybody_can_read_it(
    opened: Open, browser: Any, file: Path, axe: str, theme: str, width: int
) -> None:
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        browser.get("about:blank")
        browser.get(file.as_uri())
        check(browser, axe, theme, width)
        log = case("mysql-9.7", "types_metadata").logs[0]
        update = next(event.position for event in bk.open(log) if event.type == "UPDATE_ROWS_EVENT")
        opened(log.read_bytes(), log.name)
        browser.execute_script(f"location.hash = 'position={update}'")
        wait(browser, lambda: title(browser) == f"UPDATE_ROWS_EVENT {update:,}")
        browser.execute_script("document.querySelector('.fields tr[data-leaf]').focus()")
        check(browser, axe, theme, width)
        opened(case("mysql-9.7", "payloads").logs[0].read_bytes(), "payloads")
        browser.execute_script("location.hash = 'position=662'")
        wait(browser, lambda: title(browser) == "TRANSACTION_PAYLOAD_EVENT 662")
        check(browser, axe, theme, width)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_paper_shows_whole_rows(opened: Open, browser: Any) -> None:
    log = case("mysql-9.7", "orders").logs[0]
    update = next(event.position for event in bk.open(log) if event.type == "UPDATE_ROWS_EVENT")
    opened(log.read_bytes(), log.name)
    browser.execute_script(f"location.hash = 'position={update}'")
    wait(browser, lambda: title(browser) == f"UPDATE_ROWS_EVENT {update:,}")
    metrics = {"width": 740, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 740
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def check(browser: Any, axe: str, theme: str, width: int) -> None:
    browser.execute_script("document.documentElement.dataset.theme = arguments[0]", theme)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    browser.execute_script(axe)
    found = browser.execute_async_script("axe.run(document).then(arguments[0])")
    assert [(one["id"], [node["target"] for node in one["nodes"]]) for one in found["violations"]] == []
