"""Binary JSON as printed by the server: given these bytes, this text; and invalid documents."""

from __future__ import annotations

import struct
import time

import pytest

from binlog_kaitai.core.grammar import JsonBinary, parse_structure
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.values import json_documents
from binlog_kaitai.values.json_documents import JsonDiff, JsonOperation, JsonText, document_text, quote

SMALL_OBJECT, SMALL_ARRAY, LARGE_ARRAY, INT16, STRING = 0x00, 0x02, 0x03, 0x05, 0x0C


def text(data: bytes) -> str:
    return document_text(parse_structure(JsonBinary, data))


def small_array(*entries: tuple[int, int], after: bytes = b"") -> bytes:
    size = 4 + 3 * len(entries) + len(after)
    table = b"".join(struct.pack("<BH", kind, value) for kind, value in entries)
    return struct.pack("<HH", len(entries), size) + table + after


def opaque(kind: int, value: bytes) -> bytes:
    return bytes([0x0F, kind, len(value)]) + value


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"\x04\x00", "null"),
        (b"\x04\x01", "true"),
        (b"\x05\xff\xff", "-1"),
        (b"\x0a" + b"\xff" * 8, "18446744073709551615"),
        (b"\x0b" + struct.pack("<d", 1.0), "1.0"),
        (b"\x0b" + struct.pack("<d", -0.0), "-0.0"),
        (b"\x0b" + struct.pack("<d", 1e15), "1e15"),
        (b"\x0b" + struct.pack("<d", 1e14), "100000000000000.0"),
        (b"\x0b" + struct.pack("<d", 1e-14), "0.00000000000001"),
        (b"\x0b" + struct.pack("<d", 1e-15), "0.000000000000001"),
        (b"\x0b" + struct.pack("<d", 1.7976931348623157e308), "1.7976931348623157e308"),
        (b'\x0c\x07a"\\\n\x01\x1f/', '"a\\"\\\\\\n\\u0001\\u001f/"'),
        (b"\x02" + small_array(), "[]"),
        (b"\x02" + small_array((INT16, 1), (STRING, 10), after=b"\x01x"), '[1, "x"]'),
        (opaque(246, bytes.fromhex("0502 807b32")), "123.50"),
        (opaque(252, b"ab"), '"base64:type252:YWI="'),
        (opaque(252, b"a" * 58), '"base64:type252:' + "YWFh" * 19 + "\\n" + 'YQ=="'),
        (opaque(253, b'a"'), '"a\\""'),
    ],
)
def test_documents(data: bytes, shown: str) -> None:
    assert text(data) == shown


def test_an_offset_that_leads_back_ends_in_an_error() -> None:
    with pytest.raises(GrammarError, match=r"deeper|overlap"):
        text(b"\x02" + small_array((SMALL_ARRAY, 0)))


def test_documents_that_unfold_without_end_are_an_error() -> None:
    data = small_array()
    for _ in range(60):  # each array has the next one twice
        data = small_array((SMALL_ARRAY, 10), (SMALL_ARRAY, 10), after=data)
    started = time.process_time()
    with pytest.raises(GrammarError, match="overlap"):
        text(b"\x02" + data)
    assert time.process_time() - started < 1


@pytest.mark.parametrize(("depth", "is_valid"), [(100, True), (101, False)])
def test_nesting(depth: int, is_valid: bool) -> None:
    data = small_array()
    for _ in range(depth - 1):
        data = small_array((SMALL_ARRAY, 7), after=data)
    if is_valid:
        assert text(b"\x02" + data) == "[" * depth + "]" * depth
    else:
        with pytest.raises(GrammarError, match="deeper than 100"):
            text(b"\x02" + data)


DOCUMENT = '{"a": 1, "bb": [1, {"c": 2.50}, "x\\u0001"], "é": null}'


@pytest.mark.parametrize(
    ("operation", "path", "value", "shown"),
    [
        ("replace", "$.a", "[true]", '{"a": [true], "bb": [1, {"c": 2.50}, "x\\u0001"], "é": null}'),
        ("replace", "$.bb[1].c", "1.0", '{"a": 1, "bb": [1, {"c": 1.0}, "x\\u0001"], "é": null}'),
        ("insert", "$.bb[1]", '"n"', '{"a": 1, "bb": [1, "n", {"c": 2.50}, "x\\u0001"], "é": null}'),
        ("insert", "$.bb[9]", "7", '{"a": 1, "bb": [1, {"c": 2.50}, "x\\u0001", 7], "é": null}'),
        ("insert", "$.b", "7", '{"a": 1, "b": 7, "bb": [1, {"c": 2.50}, "x\\u0001"], "é": null}'),
        (
            "insert",
            '$."b \\"c"',
            "{}",
            '{"a": 1, "bb": [1, {"c": 2.50}, "x\\u0001"], "é": null, "b \\"c": {}}',
        ),
        ("remove", "$.bb", None, '{"a": 1, "é": null}'),
        ("remove", '$."é"', None, '{"a": 1, "bb": [1, {"c": 2.50}, "x\\u0001"]}'),
    ],
)
def test_changes(operation: str, path: str, value: str | None, shown: str) -> None:
    change = JsonOperation(operation, path, None if value is None else JsonText(value))
    assert JsonDiff((change,)).apply(DOCUMENT) == shown


@pytest.mark.parametrize(
    ("operation", "path"),
    [
        ("replace", "$.z"),
        ("remove", "$.bb[3]"),
        ("insert", "$.a"),
        ("replace", "$"),
        ("replace", "$.a["),
        ("remove", "$[0]"),
    ],
)
def test_changes_that_do_not_match(operation: str, path: str) -> None:
    with pytest.raises(GrammarError, match=r"not found in the JSON document|invalid JSON path"):
        JsonDiff((JsonOperation(operation, path, None if operation == "remove" else JsonText("1")),)).apply(
            DOCUMENT
        )


def test_many_insertions_sort_each_member_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sorted_keys, order = list[str](), json_documents._order

    def noted(key: str) -> object:
        sorted_keys.append(key)
        return order(key)

    monkeypatch.setattr(json_documents, "_order", noted)
    paths = [f"$.{key}" for key in ("o.d", "ccc", "o.b", "aa", "o.cc", "b")]
    inserted = JsonDiff(tuple(JsonOperation("insert", path, JsonText("1")) for path in paths))
    assert inserted.apply('{"o": {"c": 0}, "dd": 0}') == (
        '{"b": 1, "o": {"b": 1, "c": 0, "d": 1, "cc": 1}, "aa": 1, "dd": 0, "ccc": 1}'
    )
    assert sorted(sorted_keys) == ["aa", "b", "b", "c", "cc", "ccc", "d", "dd", "o"]


def test_no_change_keeps_the_text() -> None:
    assert JsonDiff(()).apply(DOCUMENT) == DOCUMENT


def test_quote() -> None:
    assert quote("\b\f\n\r\t\x7f€") == '"\\b\\f\\n\\r\\t\x7f€"'
