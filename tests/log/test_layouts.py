"""The record layouts agree with the generated classes, for every field of every event of the corpus."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
import pytest

from binlog_kaitai.core.grammar import BODIES, EventType
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.body_validator import ALONE
from tests.corpus_files import LogFile, logs
from tests.support import blocks

#: Of one type in one block more events are not compared.
SAMPLE = 25


def of_grammar(body: Any, path: str) -> Any:
    """A field of a generated object, or those of the items of a list; of a substructure its bytes."""
    *parents, name = path.split(".")
    for parent in parents:
        if body is None:
            return None
        body = getattr(body, parent)
    if isinstance(body, list):
        return tuple(getattr(item, name) for item in body)
    value = None if body is None else getattr(body, f"_raw_{name}", None) or getattr(body, name)
    return value.value if isinstance(value, Enum) else value


def of_layout(block: Block, kind: int, index: int, path: str) -> Any:
    body = block.body(kind)
    if not body.mask(path)[index]:
        return None
    kind_of_field = type(body.field(path)).__name__
    if kind_of_field in ("Number", "Value", "Inner"):
        return body.numbers(path)[index].item()
    if kind_of_field == "InnerList":
        return tuple(body.lists(path)[:, index].tolist())
    starts, lengths = body.ranges(path)
    raw = bytes(block.data[starts[index] : starts[index] + lengths[index]])
    is_text = body.field(path).encoding is not None
    return raw.decode("utf-8", "surrogateescape") if is_text else raw


def compare(block: Block, kind: int, index: int, row: int) -> None:
    body = block.event(row).body
    for field in block.body(kind).layout.fields:
        wanted = of_grammar(body, field.path)
        found = of_layout(block, kind, index, field.path)
        if wanted is None and type(field).__name__ == "Inner":
            wanted = 0  # a walk notes nothing of what is not there
        if wanted is None or isinstance(wanted, (int, str, bytes, tuple)):
            assert found == wanted, f"{block.file}, position {block.positions[row]}: {field.path}"
        elif not isinstance(wanted, list):
            assert isinstance(found, (bytes, float)), field.path


def is_too_long(event: Any) -> bool:
    """Whether an event has an integer beyond 63 bits, which walks leave to the reader."""
    return event.type_code == EventType.gtid_tagged_log_event and bool(event.body.gno >= 1 << 62)


@pytest.mark.parametrize("log", logs(), ids=lambda log: log.id)
def test_fields_equal_those_of_the_generated_classes(log: LogFile) -> None:
    for block in blocks(log.path):
        for kind in block.kinds:
            rows, matches = block.rows_of(kind), block.body(kind).matches
            assert all(is_too_long(block.event(row)) for row in rows[~matches].tolist()), EventType(kind)
            for field in block.body(kind).layout.fields:
                if getattr(field, "walk", None):
                    assert block.body(kind).follows(field.path)[matches].all(), field.path
            for index in np.flatnonzero(matches).tolist()[:: max(len(rows) // SAMPLE, 1)]:
                compare(block, kind, index, int(rows[index]))


def test_headers_equal_those_of_the_generated_classes() -> None:
    log = logs("mysql-9.7")[0]
    for block in blocks(log.path):
        for row in range(len(block)):
            header = block.event(row).header
            for name in ("timestamp", "server_id", "len_event", "next_position", "flags", "is_artificial"):
                assert np.broadcast_to(block.header.numbers(name), len(block))[row] == getattr(header, name)


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        (EventType.query_event, "query_text"),
        (EventType.table_map_event, "table_name"),
        (EventType.write_rows_event, "images"),
        (EventType.gtid_log_event, "len_transaction"),
        (EventType.gtid_event, "sequence_number"),
        (EventType.xid_event, "xid"),
    ],
)
def test_layouts_reach_what_the_columns_live_on(kind: EventType, path: str) -> None:
    assert path in [field.path for field in BODIES[kind.value].fields]


def test_structures_that_layouts_pass_over_are_known() -> None:
    """What `validator` does about each of them depends on what they need besides their own bytes."""
    paths = {
        field.path
        for layout in BODIES.values()
        if layout.complete
        for field in layout.fields
        if getattr(field, "is_structure", False) and not getattr(field, "walk", None)
    }
    in_context = {"compressed_images", "compressed_query.deflated", "value"}
    assert paths == in_context | set(ALONE)
