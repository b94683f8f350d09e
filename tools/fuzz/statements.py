"""Texts of statements."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

from binlog_kaitai.grammar import EventType
from tools.fuzz import values
from tools.fuzz.draft import Draft
from tools.fuzz.fields import leaves_of, resized
from tools.fuzz.mutations import _put

_TOKEN = re.compile(rb"`[^`]*`|'[^']*'|\"[^\"]*\"|\w+|\s+|.", re.DOTALL)

_WORDS = (
    b"`", b"'", b"\"", b"(", b")", b",", b";", b"/*", b"*/", b"/*!50000 ", b"/*M!100000 ", b"--  ", b"#", b"\n",
    b" CREATE ", b" TABLE ", b" LIKE ", b" SELECT ", b" ALTER ", b" RENAME ", b" TO ", b" DROP ", b" COLUMN ", b" ADD ",
    b" FIRST ", b" AFTER ", b" CHANGE ", b" MODIFY ", b" CHARACTER SET ", b" COLLATE ", b" DEFAULT ", b" PRIMARY KEY ",
    b" UNSIGNED ", b" ENUM('a','b') ", b" SET('x') ", b" DECIMAL(65,30) ", b" BIT(64) ", b" VARCHAR(1) ", b" TIME(6) ",
    b" GENERATED ALWAYS AS (1) ", b" IF EXISTS ", b" TEMPORARY ", b" PARTITION BY ", b" WITH SYSTEM VERSIONING ",
    b" BEGIN", b"COMMIT", b"ROLLBACK", b"XA START X'00',X'',1", b"SAVEPOINT a", b"USE ", b" NULL ", b" 0 ", b" -1 ",
    b" 99999999999999999999 ", b"0x", b"N'", b"_gbk'\x95\\'", b"DELIMITER ",
)  # fmt: skip

_WHOLE = (
    b"BEGIN", b"COMMIT", b"ROLLBACK", b"XA END X'61',X'',1", b"XA COMMIT X'61',X'',1", b"XA ROLLBACK X'61',X'',1",
    b"ROLLBACK TO `a`", b"SAVEPOINT `a`", b"TRUNCATE TABLE %s", b"DROP TABLE %s", b"DROP DATABASE `t`",
    b"CREATE TABLE %s (a INT)", b"CREATE TABLE %s LIKE t1", b"CREATE TABLE %s (a INT, A INT)", b"RENAME TABLE %s TO b",
    b"ALTER TABLE %s ADD COLUMN z INT FIRST", b"ALTER TABLE %s DROP COLUMN id", b"ALTER TABLE %s RENAME COLUMN id TO i",
    b"ALTER TABLE %s MODIFY id DECIMAL(5,2), ADD (b BLOB, c JSON)", b"CREATE TEMPORARY TABLE %s (a TIMESTAMP)",
    b"CREATE OR REPLACE TABLE %s (id INT PRIMARY KEY, v VARCHAR(9) CHARACTER SET gbk)", b"", b"\0", b"(", b"`",
    b"ALTER TABLE %s CONVERT TO CHARACTER SET latin1", b"ALTER TABLE %s PARTITION BY HASH(id)", b"# comment", b"/* ",
)  # fmt: skip


def _queries(draft: Draft) -> list[int]:
    return [at for at, item in enumerate(draft.items) if item.type_code == EventType.query_event]


def _put_text(draft: Draft, index: int, text: bytes) -> str | None:
    leaves = leaves_of(draft, index)
    raw = draft.items[index].raw
    leaf = next((one for one in leaves if one.path == "body.content.query"), None)
    if leaf is None:
        return None
    return _put(draft, index, resized(raw, leaves, leaf, text, tells=True), f"query {text[:200]!r}")


def text(chance: Random, draft: Draft) -> str | None:
    """A statement with words left out, twice, in another order, or others."""
    found = _queries(draft)
    if not found:
        return None
    index = chance.choice(found)
    leaf = next((one for one in leaves_of(draft, index) if one.path == "body.content.query"), None)
    if leaf is None:
        return None
    tokens = _TOKEN.findall(draft.items[index].raw[leaf.offset : leaf.end])
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(tokens) + 1)
        match chance.randrange(6):
            case 0 | 1:
                tokens.insert(at, chance.choice(_WORDS))
            case 2:
                del tokens[at : at + chance.choice((1, 1, 2, 5))]
            case 3:
                tokens[at:at] = tokens[: chance.choice((1, 3))]
            case 4 if at < len(tokens):
                tokens[at] = values.spoiled(chance, tokens[at])
            case _ if at < len(tokens):
                other = chance.randrange(len(tokens))
                tokens[at], tokens[other] = tokens[other], tokens[at]
    return _put_text(draft, index, b"".join(tokens))


def another(chance: Random, draft: Draft) -> str | None:
    """A statement that changes tables or ends transactions, in the place of one or besides."""
    found = _queries(draft)
    if not found:
        return None
    index = chance.choice(found)
    if chance.random() < 0.7:
        place = chance.randrange(1, len(draft.items) + 1)
        draft.items.insert(place, replace(draft.items[index]))
        index = place
    statement = chance.choice(_WHOLE)
    return _put_text(draft, index, statement.replace(b"%s", _table(chance, draft)))


def _table(chance: Random, draft: Draft) -> bytes:
    """The name of a table of the log."""
    names = []
    for index, item in enumerate(draft.items):
        if item.type_code == EventType.table_map_event:
            names += [
                item.raw[leaf.offset : leaf.end]
                for leaf in leaves_of(draft, index)
                if leaf.path == "body.content.table_name"
            ]
    return b"`" + chance.choice([*names, b"t1"]) + b"`"
