"""The search for definitions skips repeated table maps, and finds what it finds without skipping."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.rows import log_definitions
from binlog_kaitai.rows.log_definitions import tables_of
from binlog_kaitai.sources.source import Source, resolve
from tests.core.test_pieces import LOG, in_pieces
from tests.extent import sample
from tools.bench.make_log import shape_of, write

CORPUS = Path(__file__).parents[1] / "corpus"
LOGS = sorted(
    path
    for name in ("ddl", "payloads", "mixed", "types_compressed")
    for path in CORPUS.glob(f"m*/{name}/binlog.000001")
)
DEFAULTS = BlockReader.__init__.__kwdefaults__ or {}


def names(log: Path) -> list[str]:
    """The tables of a log."""
    found = {}
    with log.open("rb") as stream:
        for block in BlockReader.of_file(stream, str(log)):
            for row in block.rows_of(EventType.table_map_event).tolist():
                body = block.event(row).body
                found[f"{body.schema_name}.{body.table_name}"] = 1
    return list(found)


def keep_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the search for definitions read all events."""
    monkeypatch.setattr(
        log_definitions, "BlockOptions", lambda **options: {**options, "only_definitions": False}
    )


@pytest.mark.parametrize("log", sample(LOGS, 2, 8), ids=lambda log: "-".join(log.parts[-3:-1]))
def test_the_same_definitions_are_found(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With statements between equal table maps, several tables, and transaction payloads."""
    sources = resolve(str(log))

    def found(name: str) -> list[object]:
        return [table.schema for table in tables_of(sources, name, None)]

    tables = names(log)
    # The second time, table maps repeat across blocks.
    skipping = [found(name) for name in tables]
    monkeypatch.setattr("binlog_kaitai.log.block_reader._FRAMED_AT_ONCE", 1 << 10)
    monkeypatch.setattr(BlockReader.__init__, "__kwdefaults__", {**DEFAULTS, "block_size": 1 << 10})
    in_small_blocks = [found(name) for name in tables]
    keep_all(monkeypatch)
    assert skipping == in_small_blocks == [found(name) for name in tables]


def test_repeated_table_maps_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of thousands of transactions in several blocks, one table map is kept."""
    source = CORPUS / "mysql-9.7/types_metadata/binlog.000001"
    log = tmp_path / "binlog.000001"
    write(shape_of("", source, event_size=60), log, 1 << 20, chunk=1 << 18)
    kept = []

    def counted(block: Block) -> Iterator[Block]:
        kept.append((block.counts.get(EventType.table_map_event, 0), len(block)))
        yield block

    monkeypatch.setattr(log_definitions, "expand", counted)
    monkeypatch.setattr(BlockReader.__init__, "__kwdefaults__", {**DEFAULTS, "block_size": 1 << 18})
    (name,) = names(log)
    assert len(list(tables_of([Source.of_path(str(log))], name, None))) == 1
    assert sum(maps for maps, _ in kept) == 1
    assert sum(count for _, count in kept) < 10


@pytest.mark.parametrize("has_damage", [False, True])
def test_a_missing_piece_ends_the_search(has_damage: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of rows events are not skipped."""
    log = Source.of_bytes(in_pieces(3, lambda pieces: pieces[has_damage:]))

    def found() -> list[str]:
        return [one for one in names(LOG) if list(tables_of([log], one, None))]

    skipping = found()
    assert (len(skipping) < len(names(LOG))) == has_damage
    keep_all(monkeypatch)
    assert skipping == found()
