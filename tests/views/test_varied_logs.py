"""Logs as varied as a busy server's: the columns agree with the reader."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.grammar import masks
from binlog_kaitai.kernels import compile as kernels_of
from binlog_kaitai.log.body_validator import BodyValidator
from binlog_kaitai.text.line_arrays import escape_bytes, json_sizes, json_text, put_json
from binlog_kaitai.text.listed_values import put_utf8
from tests.corpus_files import case
from tests.extent import sample
from tests.support import blocks, by_columns, by_reader
from tools.bench.make_log import shape_of, statements_of, write


def small_transactions(folder: Path) -> Path:
    log = case("mysql-9.7", "types_metadata").logs[0]
    path = folder / "binlog.000001"
    write(shape_of("small", log, event_size=60), path, 10_000)
    return path


def statements(folder: Path) -> Path:
    path = folder / "binlog.000001"
    write(statements_of("statements", case("mysql-9.7", "types_metadata").logs[0]), path, 10_000)
    return path


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.bench.make_log._CHUNK", 200_000)


@pytest.mark.parametrize("make", [small_transactions, statements])
@pytest.mark.parametrize("mode", sample(["compiled", "plain"], 1))
def test_the_columns_say_what_the_reader_says(
    make: Any, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels_of.Kernel, "run", property(lambda self: getattr(self, mode)))
    path = make(tmp_path)
    lines, error = by_columns(path)
    assert error is None
    assert len(lines) > 1000
    assert lines == by_reader(path)[0]


@pytest.mark.parametrize("make", [small_transactions, statements])
def test_the_reader_reads_no_event_one_by_one(make: Any, tmp_path: Path) -> None:
    validator = BodyValidator()
    for block in blocks(make(tmp_path)):
        if block.is_special:
            continue
        for kind in (kind for kind, count in block.counts.items() if count > 1):
            rows = block.rows_of(kind)
            assert validator.accepts(block, kind, np.ones(len(rows), dtype=np.bool_)).all()
    assert validator.reads < 10  # of table maps


def test_only_the_last_of_repeated_events_ends_the_statement(tmp_path: Path) -> None:
    log, path = case("mysql-9.7", "json_partial").logs[0], tmp_path / "binlog.000001"
    write(shape_of("wide", log, event_size=600, repeat=50), path, 1, chunk=1)
    flags = [event.body.flags for event in bk.open(path) if event.type == "WRITE_ROWS_EVENT"]
    ends = [bool(one & masks.RowsEvent.IS_STATEMENT_END) for one in flags]
    assert ends == 49 * [False] + [True]


def escaped(texts: list[bytes], mode: str) -> list[bytes]:
    """What the kernels make of some texts."""
    measure, put = (getattr(one, mode) for one in (json_sizes, put_json))
    data = np.frombuffer(b"".join(texts) + b"x", dtype=np.uint8)
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    sizes = np.empty(len(texts), dtype=np.int64)
    measure(data, starts, lengths, sizes)
    ends = np.cumsum(sizes)
    out = np.full(int(ends[-1]), 255, dtype=np.uint8)
    put(data, starts, lengths, ends - sizes, out)
    return [bytes(out[end - size : end]) for end, size in zip(ends, sizes, strict=True)]


def wanted(text: bytes) -> bytes | None:
    try:
        return json_text(text.decode())
    except UnicodeDecodeError:
        return None


def texts_of_all_kinds() -> list[bytes]:
    dice = random.Random(3)
    texts = [b"", b'say "x"', b"a\\b\n\r\t\b\f\0\x1f\x7f", "äöü€😀\u2028".encode()]
    texts += [bytes([first, second]) for first in range(256) for second in (0x2F, 0x80, 0xBF, 0xC0)]
    edges = (0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0)
    texts += [bytes([a, b, 0x80]) for a in range(0xE0, 0xF0) for b in edges]
    texts += [bytes([a, b, 0x80, c]) for a in range(0xEF, 0xFA) for b in edges for c in (0x80, 0xC0)]
    return texts + [dice.randbytes(dice.randint(1, 6)) for _ in range(2000)]


def ranges_of(texts: list[bytes]) -> tuple[Any, Any]:
    return np.frombuffer(b"".join(texts), dtype=np.uint8), np.cumsum([0, *map(len, texts)])


@pytest.mark.parametrize("mode", ["plain", "compiled"])
def test_bytes_that_are_no_text_are_escapes(mode: str) -> None:
    texts = texts_of_all_kinds()
    data, offsets = ranges_of(texts)
    out, ends = np.empty(4 * len(data), dtype=np.uint8), np.empty(len(offsets), dtype=np.int64)
    size = getattr(escape_bytes, mode)(data, offsets, out, ends)
    assert bytes(out[:size]) == b"".join(text.decode("utf-8", "backslashreplace").encode() for text in texts)
    assert getattr(escape_bytes, mode)(data, offsets + 1, out, ends) == -1


@pytest.mark.parametrize("mode", ["plain", "compiled"])
@pytest.mark.parametrize("quotes", [0, 1, 2])
def test_json_of_text_and_of_bytes(quotes: int, mode: str) -> None:
    out = np.empty(4096, dtype=np.uint8)
    for text in texts_of_all_kinds():
        data = np.frombuffer(b"-" + text + b"-", dtype=np.uint8)
        end = getattr(put_utf8, mode)(data, 1, len(text), quotes, out, 0)
        is_text = wanted(text) is not None
        expected = wanted(text) or b'{"hex": "%s"}' % text.hex().encode()
        expected = text if is_text and quotes == 0 else expected
        assert bytes(out[:end]) == (expected.replace(b'"', b'""') if quotes == 2 else expected)


@pytest.mark.parametrize("mode", ["plain", "compiled"])
def test_json_strings_of_any_bytes(mode: str) -> None:
    texts = texts_of_all_kinds()
    found = escaped(texts, mode)
    assert found == [json_text(text.decode("utf-8", "surrogateescape")) for text in texts]
    assert json.loads(found[1]) == 'say "x"'


def test_strings_outside_are_left() -> None:
    data, sizes = np.zeros(4, dtype=np.uint8), np.zeros(3, dtype=np.int64)
    json_sizes.plain(data, np.array([-1, 3, 9]), np.array([1, 2, 0]), sizes)
    assert sizes.tolist() == [-1, -1, -1]
