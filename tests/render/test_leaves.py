"""Every event of the corpus, dissected to the last byte."""

from __future__ import annotations

import json
import zlib

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.grammar import ROWS_TYPES, EventType
from binlog_kaitai.render.explanation import Explained, dissect
from tests.corpus_files import LogFile, case, logs
from tests.extent import sample
from tests.log_maker import LogMaker, carrier, events_of
from tools.costly.making import Log, bits

#: Row images of larger logs take long; their events are like those of the smaller ones.
SMALL = [log for log in logs() if log.path.stat().st_size < 200_000]
LOGS = [pytest.param(log, id=log.id) for log in sample(SMALL, 16)]


@pytest.mark.parametrize("log", LOGS)
def test_leaves_tile_every_event(log: LogFile) -> None:
    with bk.open(log.path) as reader:
        for event in reader:
            dissection = dissect(event)
            assert dissection.error is None
            end = 0
            for leaf in dissection.leaves:
                assert leaf.offset == end
                assert leaf.size > 0
                assert leaf.path != "unread"
                end = leaf.end
            assert end == len(event.raw)


@pytest.mark.parametrize("log", LOGS[::4])
def test_json_and_text_show_the_same_bytes(log: LogFile) -> None:
    with bk.open(log.path) as reader:
        for event in reader:
            explained = Explained.of(event)
            text, error = explained.json(), explained.error
            assert error is None
            leaves = json.loads(text)
            start = event.position if event.payload_index is None else 0
            assert leaves[0]["offset"] == start
            assert sum(leaf["size"] for leaf in leaves) == len(event.raw)
            lines = Explained.of(event).lines(in_full=True)
            dumped = [line[12:59] for line in list(lines)[1:] if line[:10].strip().isdigit()]
            assert bytes.fromhex("".join(dumped)) == event.raw


def test_cells_of_rows_stand_for_the_bytes_of_their_images() -> None:
    seen = 0
    for log in logs():
        if log.case.folder.name != "types_full":
            continue
        with bk.open(log.path) as reader:
            for event in reader:
                if event.type_code in ROWS_TYPES and len(event.raw) < 2_000:
                    paths = [leaf.path for leaf in dissect(event).leaves]
                    assert any(".rows[0]." in path for path in paths), event
                    assert "body.images" not in paths
                    seen += 1
    assert seen > 50


@pytest.mark.parametrize("rows", [10, 8000])
@pytest.mark.parametrize("is_compressed", [False, True])
def test_rows_are_not_read_if_they_may_have_too_many_cells(rows: int, *, is_compressed: bool) -> None:
    """Of a table with 4096 columns, each row of one byte would have 4096 cells."""
    log = Log(is_mariadb=is_compressed)
    log.query(b"BEGIN")
    log.map(1, b"\x03" * 4096)
    head = (1).to_bytes(6, "little") + b"\1\0\xfc\0\x10" + bits(4096, 7)
    images = b"\1" * rows
    if is_compressed:
        images = b"\x82" + rows.to_bytes(2, "big") + zlib.compress(images)
        log.add(EventType.write_rows_compressed_event_v1, head + images)
    else:
        log.add(EventType.write_rows_event_v1, head + images)
    *_, event = bk.open(bytes(log.data))
    dissection = dissect(event)
    assert sum(leaf.size for leaf in dissection.leaves) == len(event.raw)
    assert dissection.root is not None
    assert hasattr(dissection.root.body.content, "_m_rows") is (rows == 10)
    assert ("body.images" in [leaf.path for leaf in dissection.leaves]) is (rows > 10 and not is_compressed)


def test_fields_of_bits_are_one_leaf_of_the_bytes_they_share() -> None:
    """2024-02-29 as a DATE is one little-endian number, 5 bits of the day below 4 of the month."""
    log = next(log for log in logs() if log.case.id == "mysql-9.7/types_full")
    dates = []
    with bk.open(log.path) as reader:
        for event in reader:
            if event.type_code in ROWS_TYPES and len(event.raw) < 2_000:
                for leaf in dissect(event).leaves:
                    if leaf.parts and set(leaf.value) == {"day", "month", "year"}:
                        dates.append((leaf, event.raw[leaf.offset : leaf.end]))
    assert dates
    for leaf, data in dates:
        number = int.from_bytes(data, "little")
        assert leaf.size == 3
        assert leaf.value == {"day": number & 31, "month": number >> 5 & 15, "year": number >> 9}
        assert leaf.path.endswith(".value")
        assert [(part.path, part.size) for part in leaf.parts] == [
            (f"{leaf.path}.{name}", 0) for name in ("day", "month", "year")
        ]


def test_an_event_that_breaks_off_shows_what_could_be_read() -> None:
    log = next(log for log in logs() if log.case.folder.name == "rotate")
    data = bytearray(log.path.read_bytes())
    query = next(event for event in log.case.oracle(log.path) if event.type_code == 2)
    data[query.position + 19 + 11] = 0xFF  # length of the status variables
    with bk.open(bytes(data), verify_checksums=False) as reader:
        event = next(event for event in reader if event.position == query.position)
    dissection = dissect(event)
    assert dissection.error is not None
    assert dissection.error.field == "body.status_vars"
    assert [leaf.path for leaf in dissection.leaves][-1] == "unread"
    assert sum(leaf.size for leaf in dissection.leaves) == len(event.raw)


def test_a_long_field_is_shown_by_its_beginning() -> None:
    layout, (head, first, *_) = events_of(case("mysql-9.7", "rotate").logs[0])
    log = LogMaker(layout)
    log.add(head[0])
    log.add(carrier(first[0], b"x" * 5000, layout))
    with bk.open(bytes(log.data)) as reader:
        event = list(reader)[-1]
    short, full = Explained.of(event).lines(), Explained.of(event).lines(in_full=True)
    lines, all_lines = list(short), list(full)
    assert "         …  904 more bytes; --full shows them" in lines
    assert len(all_lines) - len(lines) == 57 - 1
