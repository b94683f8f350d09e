"""What the statements of a script cause besides: triggers fire again, foreign keys change other rows.

A server logs the rows that triggers change like all others, so a script has them, and its statements fire
the triggers again. What ON DELETE and ON UPDATE of foreign keys do is logged by MySQL since 9.6 only, so
`sql --undo` does not restore it.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.definition_changes import DdlKind, changes_of
from binlog_kaitai.ddl.lexer import TokenCursor, UnreadableError, tokens_of
from binlog_kaitai.ddl.statements import qualified
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.values.sql_text import SqlDialect
from binlog_kaitai.values.table_definition import ForeignKey, TableDefinition

#: Number of an event in the script: of its page, and of the event in the block.
Place = tuple[int, int]
Key = tuple[str, str]

#: Statements that may define or drop a trigger.
_MATTERS = re.compile(rb"(?i)[^a-z]*(?:/\*[^*]*\*/[^a-z]*)*(?:create|drop)\b")
_OTHERS = ("TABLE", "VIEW", "PROCEDURE", "FUNCTION", "EVENT", "PACKAGE", "INDEX", "SERVER", "USER", "ROLE")
_MOST_TOKENS = 80

_INVERSE = {"insert": "delete", "delete": "insert"}

#: The first version of MySQL that logs what foreign keys change.
_LOGS_CASCADES = (9, 6)


class Trigger(NamedTuple):
    """A trigger that the log defines; `changes` are those that fire it: ``insert`` and the like."""

    table: Key
    changes: frozenset[str]
    place: Place


class SideEffects:
    """Collects the triggers of the logs, and the changes in the script.

    `undo`: the script has the inverse of each change, and runs after the end of the logs.
    """

    def __init__(self, *, undo: bool) -> None:
        self._undo = undo
        self._triggers: dict[Key, Trigger] = {}
        self._last: dict[Key, dict[str, Place]] = {}
        self._flagged: dict[Key, str] = {}
        self._has_cascades = False
        self._notes: dict[str, None] = {}

    def changed(self, table: Table, changes: Iterable[str], place: Place, dialect: SqlDialect) -> None:
        """Take note of changes in the script; ``key`` is an update of a primary key."""
        last = self._last.setdefault(table.key, {})
        for change in changes:
            last[_INVERSE.get(change, change) if self._undo else change] = place
        self._has_cascades |= dialect.is_mariadb or dialect.version < _LOGS_CASCADES
        if dialect.is_mariadb and table.has_triggers:
            self._flagged[table.key] = "triggers"
        elif not dialect.is_mariadb and table.has_referencing_keys:
            self._flagged[table.key] = "foreign keys"

    def observe(self, body: Any, place: Place) -> None:
        """Follow the body of a QUERY_EVENT."""
        try:
            query = bytes(body.query)
            if _MATTERS.match(query) is None:
                return
            tokens = tokens_of(query.decode("utf-8", "surrogateescape"))
            cursor = TokenCursor(list(islice(tokens, _MOST_TOKENS)))
            is_new = cursor.skip_one("CREATE", "DROP") == "CREATE"
            while cursor and cursor.keyword() not in ("TRIGGER", *_OTHERS):
                cursor.next()
            if cursor.skip("TRIGGER"):
                self._take(cursor, body.schema_name, place, is_new=is_new)
                return
        except (UnreadableError, zlib.error):
            return
        changes = () if is_new else changes_of(body, Definitions())
        dropped = {ddl.key for ddl in changes if ddl.kind in (DdlKind.DROP_TABLE, DdlKind.DROP_DATABASE)}
        for name, trigger in [*self._triggers.items()]:
            if trigger.table in dropped or (trigger.table[0], "") in dropped:
                self._drop(name)

    def _take(self, cursor: TokenCursor, schema: str, place: Place, *, is_new: bool) -> None:
        cursor.skip("IF")
        cursor.skip("NOT")
        cursor.skip("EXISTS")
        name = qualified(cursor.dotted_name(), schema)
        if not is_new:
            self._drop(name)
            return
        words = set[str]()
        while not cursor.skip("ON"):
            words.add(cursor.next().keyword.lower())
        table = qualified(cursor.dotted_name(), schema)
        self._triggers[name] = Trigger(table, frozenset(words & {"insert", "update", "delete"}), place)

    def _drop(self, name: Key) -> None:
        trigger = self._triggers.pop(name, None)
        if trigger is not None and not self._undo:
            self._fire(name, trigger)

    def _fire(self, name: Key, trigger: Trigger) -> None:
        last = self._last.get(trigger.table, {})
        fired = [op for op in trigger.changes if op in last and (self._undo or last[op] > trigger.place)]
        if fired:
            verbs = " and ".join(sorted(verb.upper() for verb in fired))
            text = f"the trigger {'.'.join(name)} fires again, by {verbs} of {'.'.join(trigger.table)}"
            self._notes[f"{text}; what it changed is in the script, too, if it is selected"] = None

    def notes(self, foreign_keys: Iterable[tuple[TableDefinition, ForeignKey]]) -> Iterator[str]:
        """What to say before the script runs."""
        for name, trigger in self._triggers.items():
            self._fire(name, trigger)
        yield from self._notes
        if not self._undo:
            return
        known = {trigger.table for trigger in self._triggers.values()}
        for definition, key in foreign_keys if self._has_cascades else ():
            child, parent = (definition.schema_name, definition.table_name), (key.parent[0], key.parent[-1])
            known |= {child, parent}
            last = self._last.get(parent, {})
            if (key.on_delete and ("insert" in last or "delete" in last)) or (
                key.on_update and "key" in last
            ):
                effect = (
                    "such changes are not in the log: the script does not revert them, and may cause others"
                )
                yield f"a foreign key of {'.'.join(child)} changes its rows with {'.'.join(parent)}; {effect}"
        for table, what in self._flagged.items():
            matters = what == "triggers" or (self._has_cascades and self._last[table].keys() - {"update"})
            if table not in known and matters:
                yield f"{'.'.join(table)} has {what}, by its table map, which may change more with the script"
