"""LOAD DATA as logged before 5.0; printed like `mariadb-binlog`, the last client that supports it."""

from __future__ import annotations

import os
from typing import Any

from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.render.dump.item import Item
from binlog_kaitai.render.dump.printer import Printer
from binlog_kaitai.render.dump.text import encode, identifier, pretty

#: The types of events that contain a statement to execute.
OLD_LOADS = frozenset((EventType.load_event, EventType.new_load_event, EventType.exec_load_event))
_SEPARATORS = ("field_terminator", "enclosure", "line_terminator", "line_start", "escape")


class OldLoads:
    """Prints the events, and keeps those whose file is incomplete."""

    def __init__(self, printer: Printer) -> None:
        self.printer = printer
        self._begun: dict[int, tuple[Item, Any]] = {}
        printer.printers |= {
            EventType.load_event: self.print_load,
            EventType.new_load_event: self.print_load,
            EventType.create_file_event: self.print_create,
            EventType.exec_load_event: self.print_execute,
        }

    def print_load(self, item: Item, body: Any) -> None:
        """Print a statement whose file the server read itself."""
        self._print(item, body, encode(body.file_name))

    def print_create(self, item: Item, body: Any) -> None:
        """Print a statement with the first part of its file, as a comment: it runs once that is complete."""
        self._print(item, body, encode(body.file_name), comment=b"# ")
        self._print_file(body)
        self._begun[body.file_id] = item, body
        self.printer.loads.begin(body.file_id, body.block, os.path.basename(body.file_name))

    def print_execute(self, item: Item, body: Any) -> None:
        """Print the statement of a complete file, with the name of the file written."""
        self.printer.put_comment(item, b"\n#Exec_load: file_id=%d\n" % body.file_id)
        begun, name = self._begun.pop(body.file_id, None), self.printer.loads.take(body.file_id)
        if begun is not None and name is not None:
            self._print(*begun, name, local=b"LOCAL ")
            self._print_file(begun[1])

    def _print_file(self, body: Any) -> None:
        if not self.printer.options.short_form:
            self.printer.out.head.append(b"# file_id: %d  block_len: %d\n" % (body.file_id, len(body.block)))

    def _print(
        self, item: Item, body: Any, file_name: bytes, *, comment: bytes = b"", local: bytes = b""
    ) -> None:
        printer, target = self.printer, body.target
        printer.put_comment(
            item, b"\tQuery\tthread_id=%d\texec_time=%d\n" % (body.thread_id, body.execution_time)
        )
        database = encode(target.schema_name)
        if database and database != printer.state.database:
            printer.put_statement(comment + b"use " + identifier(database))
            if not comment:
                printer.state.database = database
        duplicates = b"REPLACE " if target.is_replace else b"IGNORE " if target.is_ignore else b""
        texts = [pretty(one) for one in _separators(target)]
        optionally = b" OPTIONALLY " if target.is_optionally_enclosed else b""
        text = comment + b"LOAD DATA " + local + b"INFILE '" + file_name + b"' " + duplicates
        text += b"INTO TABLE `" + encode(target.table_name) + b"` FIELDS TERMINATED BY " + texts[0]
        text += optionally + b" ENCLOSED BY " + texts[1] + b" ESCAPED BY " + texts[4]
        text += b" LINES TERMINATED BY " + texts[2] + b" STARTING BY " + texts[3]
        if body.skipped_lines:
            text += b" IGNORE %d LINES" % body.skipped_lines
        if target.field_names:
            text += b" (" + b",".join(identifier(encode(one.name)) for one in target.field_names) + b")"
        printer.put_statement(text)


def _separators(target: Any) -> list[bytes]:
    """The separators in the order of the event; single-byte ones may be flagged as empty."""
    if target.has_long_separators:
        return [bytes(getattr(target.long_separators, name).value) for name in _SEPARATORS]
    short = target.short_separators
    values = [getattr(short, name) for name in _SEPARATORS]
    plain = [bytes([one]) if isinstance(one, int) else bytes(one) for one in values]
    is_empty = [getattr(short, f"is_{name}_empty") for name in _SEPARATORS]
    return [b"" if empty else one for empty, one in zip(is_empty, plain, strict=True)]
