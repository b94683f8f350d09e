"""The logs for the examples of the documents: two of a server with a table `shop.orders`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType, header_offset
from tests.corpus_files import case
from tests.log_maker import LogMaker, events_of, statement

DDL = "CREATE TABLE shop.orders (id BIGINT PRIMARY KEY, status VARCHAR(200), total DOUBLE)"

#: The server's UUID in the examples.
_UUID = bytes.fromhex("3e11fa4771ca11e19e33c80aa9429562")


def write_logs(folder: Path) -> None:
    """Write the logs, their index, and a dump of the schema."""
    names = "mysql-bin.000066", "mysql-bin.000067", "binlog.000024"
    for name in names:
        _log().write(folder / name)
    (folder / "mysql-bin.index").write_text("".join(f"./{name}\n" for name in names[:2]))
    (folder / "schema.sql").write_text(f"{DDL};\n")


def _log() -> LogMaker:
    """The transactions about `t.s` of a log of the corpus, as those of `shop.orders`."""
    layout, (head, *groups) = events_of(case("mysql-9.7", "mixed").logs[0])
    log = LogMaker(layout)
    log.add_all(head)
    log.add(_of_server(groups[0][0], 1))
    log.add(statement(DDL.encode(), layout))
    chosen = [group for group in groups if any(b"\x01t\0\x01s\0" in raw[:60] for raw in group)]
    for number, group in enumerate(chosen, 2):
        log.add_all(_of_server(raw, number) for raw in _renamed(group))
    return log


def _renamed(group: list[bytes]) -> Iterator[bytes]:
    for raw in group:
        kind = raw[header_offset("type_code")]
        if kind == EventType.table_map_event:
            yield raw.replace(b"\x01t\0\x01s\0", b"\x04shop\0\x06orders\0")
        elif kind == EventType.query_event:
            yield statement(b"BEGIN", events_of(case("mysql-9.7", "mixed").logs[0])[0])
        else:
            yield raw


def _of_server(raw: bytes, number: int) -> bytes:
    """A GTID event with the server's UUID and a number; other events unchanged."""
    if raw[header_offset("type_code")] != EventType.gtid_log_event:
        return raw
    at = 20  # after the header, of 19 bytes, and the flags
    assert len(raw) > at + 24 + CHECKSUM_SIZE
    return raw[:at] + _UUID + number.to_bytes(8, "little") + raw[at + 24 :]
