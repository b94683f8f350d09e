"""Walks over structures agree with the generated classes, on the corpus and on random bytes."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from binlog_grammar.gtid_tagged_event import GtidTaggedEvent
from binlog_grammar.query_event import QueryEvent
from binlog_grammar.query_status_vars import QueryStatusVars
from kaitaistruct import KaitaiStream

from binlog_kaitai.core.grammar import BODIES, EventType, parsed, walk_over
from binlog_kaitai.core.tree import find_leftover
from binlog_kaitai.kernels.compile import kernel
from tests.corpus_files import logs
from tests.support import blocks

ROOM = 64

#: Runs of a walk: the function as it is, and what Numba makes of it.
MODES = ["plain", "compiled"]


@cache
def function(name: str, mode: str) -> tuple[Callable[..., None], int]:
    walk, slots = walk_over(name)
    return (kernel(walk).compiled if mode == "compiled" else walk), slots


def walked(name: str, structures: list[bytes], mode: str) -> tuple[list[bool], Any]:
    """Which structures a walk accepts, and what it records."""
    walk, slots = function(name, mode)
    data = np.frombuffer(b"".join(structures) + bytes(ROOM), dtype=np.uint8)
    sizes = np.array([len(structure) for structure in structures], dtype=np.int64)
    ends = np.cumsum(sizes)
    out, follows = np.zeros((len(sizes), slots), dtype=np.int64), np.empty(len(sizes), dtype=np.bool_)
    walk(data, ends - sizes, ends, out, follows)
    return follows.tolist(), out


def is_read(kind: Any, structure: bytes) -> bool:
    """Whether a generated class reads the structure to its last byte."""
    try:
        return find_leftover(parsed(kind(KaitaiStream(io.BytesIO(structure))))) is None
    except Exception:  # as in `binlog_kaitai.core.grammar.parse_event`
        return False


def bodies(kind: EventType) -> Iterator[Any]:
    for log in logs():
        for block in blocks(log.path):
            for row in block.rows_of(kind)[:40].tolist():
                yield block.event(row).body


@cache
def status_vars() -> list[bytes]:
    found = {body._raw_status_vars for body in bodies(EventType.query_event) if isinstance(body, QueryEvent)}
    return sorted(found)


#: One of each variable, or more where its length depends on its bytes.
MADE = [
    b"\x00" + bytes(4),
    b"\x01" + b"\xff" * 8,
    b"\x02\x03std\x00",
    b"\x03" + bytes(4),
    b"\x04" + bytes(6),
    b"\x05\x06SYSTEM",
    b"\x05\x00",
    b"\x06\x03std",
    b"\x07\x00\x00",
    b"\x08\x08\x00",
    b"\x09" + bytes(8),
    b"\x0a" + bytes(4),
    b"\x0b\x01u\x01h",
    b"\x0b\x00\x00",
    b"\x0c\x02a\x00bc\x00",
    b"\x0c\x00",
    b"\x0c\xfe",
    b"\x0d\x01\x02\x03",
    b"\x0e" + bytes(8),
    b"\x0f" + bytes(16),
    b"\x10\x01",
    b"\x11" + b"\xff" * 8,
    b"\x12\xff\x00",
    b"\x13\x01",
    b"\x14\x01",
    b"\x15\x01",
    b"\x80\x01\x02\x03",
    b"\x81" + bytes(8),
    b"\x82\x02",
    b"\x82\x04" + bytes(8),
    b"\x83\x02" + bytes(8),
    b"\x83\x00",
    b"\xff",
    b"\x2a any bytes",
]


@pytest.mark.parametrize("mode", MODES)
def test_status_variables_of_the_corpus(mode: str) -> None:
    follows, _ = walked("query_status_vars", status_vars(), mode)
    assert len(follows) > 100
    assert all(follows)


@pytest.mark.parametrize("mode", MODES)
def test_status_variables_whole_truncated_and_with_trailing_bytes(mode: str) -> None:
    cut = [one[:length] for one in MADE for length in range(len(one) + 1)]
    longer = [one + bytes(1) for one in MADE] + [one + b"\x0c\x05x" for one in MADE]
    structures = [*MADE, *cut, *longer, b"".join(MADE)]
    follows, _ = walked("query_status_vars", structures, mode)
    assert follows == [is_read(QueryStatusVars, structure) for structure in structures]
    assert not all(follows)


@pytest.mark.parametrize("mode", MODES)
def test_status_variables_of_changed_bytes(mode: str) -> None:
    dice = random.Random(1)
    structures = []
    for one in (status_vars() + MADE) * 20:
        changed = bytearray(one + dice.choice(MADE))
        for _ in range(dice.randint(1, 3)):
            changed[dice.randrange(len(changed))] = dice.choice(
                (0, 1, 2, 11, 12, 131, 254, dice.randrange(256))
            )
        structures.append(bytes(changed))
    follows, _ = walked("query_status_vars", structures, mode)
    assert follows == [is_read(QueryStatusVars, structure) for structure in structures]


@pytest.mark.parametrize("mode", MODES)
def test_ranges_outside_the_data_are_not_followed(mode: str) -> None:
    walk, _ = function("query_status_vars", mode)
    data, out = np.zeros(8, dtype=np.uint8), np.zeros((4, 0), dtype=np.int64)
    follows = np.ones(4, dtype=np.bool_)
    walk(data, np.array([-1, 4, 0, 9]), np.array([3, 2, 9, 9]), out, follows)
    assert not follows.any()


# GTIDs with tags -------------------------------------------------------------------------------------------


def packed(value: int, size: int | None = None) -> bytes:
    """An unsigned integer of variable length; of more bytes than it needs, if asked for."""
    size = size or next(size for size in range(1, 10) if size == 9 or value < 1 << 7 * size)
    if size == 9:
        return b"\xff" + value.to_bytes(8, "little")
    return (value << size | (1 << size - 1) - 1).to_bytes(size, "little")


def signed(value: int) -> bytes:
    return packed(value << 1 if value >= 0 else (-1 - value) << 1 | 1)


def tagged(**fields: Any) -> bytes:
    """The fields of a GTID_TAGGED_LOG_EVENT; those of None are left out."""
    values: dict[str, Any] = {
        "flags": packed(1),
        "uuid": b"".join(packed(byte) for byte in (0, 255, 127, 128, *range(12))),
        "gno": signed(17),
        "tag": packed(3) + b"tag",
        "last_committed": signed(3),
        "sequence_number": signed(4),
        "immediate_commit_timestamp": packed(1_700_000_000_000_000),
        "original_commit_timestamp": None,
        "len_transaction": packed(700),
        "immediate_server_version": packed(90_704),
        "original_server_version": None,
        "commit_group_ticket": None,
    }
    values.update(fields)
    parts = enumerate(values.values())
    return b"".join(bytes([2 * number]) + value for number, value in parts if value is not None)


def made_tagged() -> list[bytes]:
    original = {None: None, "time": packed(1)}
    found = []
    for time in original.values():
        for version in (None, packed(80_400)):
            for ticket in (None, packed(5)):
                found.append(
                    tagged(
                        original_commit_timestamp=time,
                        original_server_version=version,
                        commit_group_ticket=ticket,
                    )
                )
    found += [tagged(flags=packed(77, size)) for size in range(1, 10)]
    found += [tagged(transaction_length=packed((1 << 7 * size) - 1)) for size in range(1, 9)]
    found += [tagged(gno=signed((1 << 62) - 1)), tagged(gno=signed(-9)), tagged(tag=packed(0))]
    found += [tagged() + b"\x18\x02", tagged(uuid=packed(300) * 16)]
    return found


def read_tagged(stream: KaitaiStream) -> Any:
    return GtidTaggedEvent.FieldList(stream, None, None)


SLOTS_OF_TAGGED = {
    "flags": "number.value",
    "gno": "number.signed_value",
    "last_committed": "number.signed_value",
    "sequence_number": "number.signed_value",
    "immediate_commit_timestamp": "number.value",
    "original_commit_timestamp": "number.value",
    "len_transaction": "number.value",
    "immediate_server_version": "number.value",
    "original_server_version": "number.value",
    "commit_group_ticket": "number.value",
}


def slot_of(path: str) -> int:
    fields = BODIES[EventType.gtid_tagged_log_event.value].fields
    return next(field.slot for field in fields if field.path == f"fields.{path}")  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", MODES)
def test_values_of_tagged_gtids(mode: str) -> None:
    structures = made_tagged()
    follows, out = walked("gtid_tagged_event_field_list", structures, mode)
    assert all(follows)
    start = 0
    for structure, row in zip(structures, out.tolist(), strict=True):
        fields = parsed(read_tagged(KaitaiStream(io.BytesIO(structure))))
        for name, value in SLOTS_OF_TAGGED.items():
            number: Any = getattr(fields, name, None)
            for part in value.split(".") if number is not None else ():
                number = getattr(number, part)
            assert row[slot_of(f"{name}.{value}")] == (number or 0), name
        uuid, tag = slot_of("uuid.bytes.value"), slot_of("tag.text")
        assert row[uuid : uuid + 16] == [one.value for one in fields.uuid.bytes]
        place, length = row[tag] - start, row[tag + 1]
        assert structure[place : place + length].decode() == fields.tag.text
        start += len(structure)


@pytest.mark.parametrize("mode", MODES)
def test_tagged_gtids_cut_and_changed(mode: str) -> None:
    dice = random.Random(2)
    whole = made_tagged()
    structures = [whole[-1][:length] for length in range(len(whole[-1]))]
    for one in whole * 40:
        changed = bytearray(one)
        changed[dice.randrange(len(changed))] = dice.choice((0, 1, 14, 20, 22, 127, 255, dice.randrange(256)))
        structures.append(bytes(changed))
    follows, _ = walked("gtid_tagged_event_field_list", structures, mode)
    wanted = [is_read(read_tagged, structure) for structure in structures]
    for structure, follow, want in zip(structures, follows, wanted, strict=True):
        # What is beyond 63 bits is left to the reader.
        assert follow == want or (want and b"\xff" in structure), structure.hex()
    assert 50 < sum(wanted) < len(wanted) - 50
