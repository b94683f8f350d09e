"""Mutated statements."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from random import Random

from binlog_kaitai.core.grammar import EventType
from tools.fuzz import bases, values
from tools.fuzz.draft import Draft
from tools.fuzz.fields import leaves_of, resized
from tools.fuzz.mutations import put

_TOKEN = re.compile(rb"`[^`]*`|'[^']*'|\"[^\"]*\"|\w+|\s+|.", re.DOTALL)

#: Tokens to insert into a statement, with or without spaces.
_WORDS = rb"""
` ' " ( ) , ; /* */ /*!50000 /*M!100000 -- # DELIMITER \ 0x N' _gbk'\' -1 99999999999999999999 NULL
CREATE TABLE LIKE SELECT ALTER RENAME TO DROP COLUMN ADD FIRST AFTER CHANGE MODIFY DEFAULT TEMPORARY USE
CHARACTER SET COLLATE PRIMARY KEY UNSIGNED ENUM('a','b') SET('x') DECIMAL(65,30) BIT(64) VARCHAR(1) TIME(6)
GENERATED ALWAYS AS (1) IF EXISTS PARTITION BY WITH SYSTEM VERSIONING BEGIN COMMIT ROLLBACK XA SAVEPOINT
""".split()

#: Complete statements; `%s` is a table of the log.
_WHOLE = rb"""
BEGIN
COMMIT
ROLLBACK
XA END X'61',X'',1
XA COMMIT X'61',X'',1
XA ROLLBACK X'61',X'',1
ROLLBACK TO `a`
SAVEPOINT `a`
TRUNCATE TABLE %s
DROP TABLE %s
DROP DATABASE `t`
RENAME TABLE %s TO b
CREATE TABLE %s (a INT)
CREATE TABLE %s LIKE t1
CREATE TABLE %s (a INT, A INT)
CREATE TEMPORARY TABLE %s (a TIMESTAMP)
CREATE OR REPLACE TABLE %s (id INT PRIMARY KEY, v VARCHAR(9) CHARACTER SET gbk)
ALTER TABLE %s ADD COLUMN z INT FIRST
ALTER TABLE %s DROP COLUMN id
ALTER TABLE %s RENAME COLUMN id TO i
ALTER TABLE %s MODIFY id DECIMAL(5,2), ADD (b BLOB, c JSON)
ALTER TABLE %s CONVERT TO CHARACTER SET latin1
ALTER TABLE %s PARTITION BY HASH(id)
# comment
/*
(
`
""".split(b"\n")

#: What a statement may have between its words, and names that are too long.
_ODD = (
    b"\xc2\xa0", b"\xe3\x80\x80", b"\xe2\x80\x83", b"\xe2\x80\x8b", b"\xef\xbb\xbf", b"\x0b", b"\x0c", b"\0",
    b"/* ' */", b"/*!80000 ", b"/*M! ", b" */", b"/*", b"-- `\n", b"--", b"# \"\n", b"'", b"`", b'"', b";",
    b";;", b"`" + b"n" * 65 + b"`", b"`" + b"n" * 5000 + b"`", b"`a``b`", b"`\xc3\xa9.`", b"n" * 300,
    b"(" * 300, b")",
)  # fmt: skip

_DEFINITION = re.compile(rb"\b(?:CREATE|ALTER|DROP|RENAME|TRUNCATE)\b[^;]{4,4000}", re.IGNORECASE)


@cache
def _definitions() -> tuple[bytes, ...]:
    """The DDL of the corpus."""
    scripts = sorted(bases.CORPUS.glob("**/scenario.sql"))
    return tuple(text for script in scripts for text in _DEFINITION.findall(script.read_bytes()))


def _queries(draft: Draft) -> list[int]:
    return [number for number, item in enumerate(draft.items) if item.type_code == EventType.query_event]


def _put_text(draft: Draft, index: int, text: bytes) -> str | None:
    leaves = leaves_of(draft, index)
    raw = draft.items[index].raw
    leaf = next((leaf for leaf in leaves if leaf.path == "body.query"), None)
    if leaf is None:
        return None
    return put(draft, index, resized(raw, leaves, leaf, text, adjusts_lengths=True), f"query {text[:200]!r}")


def text(chance: Random, draft: Draft) -> str | None:
    """A statement with words removed, duplicated, reordered or replaced."""
    queries = _queries(draft)
    if not queries:
        return None
    index = chance.choice(queries)
    leaf = next((leaf for leaf in leaves_of(draft, index) if leaf.path == "body.query"), None)
    if leaf is None:
        return None
    tokens = _TOKEN.findall(draft.items[index].raw[leaf.offset : leaf.end])
    for _ in range(chance.choice((1, 1, 2, 4))):
        place = chance.randrange(len(tokens) + 1)
        match chance.randrange(6):
            case 0 | 1:
                space = chance.choice((b" ", b" ", b"", b"\n"))
                tokens.insert(place, space + chance.choice(_WORDS) + space)
            case 2:
                del tokens[place : place + chance.choice((1, 1, 2, 5))]
            case 3:
                tokens[place:place] = tokens[: chance.choice((1, 3))]
            case 4 if place < len(tokens):
                tokens[place] = values.spoiled(chance, tokens[place])
            case _ if place < len(tokens):
                other = chance.randrange(len(tokens))
                tokens[place], tokens[other] = tokens[other], tokens[place]
    return _put_text(draft, index, b"".join(tokens))


def another(chance: Random, draft: Draft) -> str | None:
    """A statement that changes tables or ends transactions, as a replacement or in addition."""
    queries = _queries(draft)
    if not queries:
        return None
    index = chance.choice(queries)
    if chance.random() < 0.7:
        place = chance.randrange(1, len(draft.items) + 1)
        draft.items.insert(place, replace(draft.items[index]))
        index = place
    statement = chance.choice(_WHOLE)
    return _put_text(draft, index, statement.replace(b"%s", _table(chance, draft)))


def recombined(chance: Random, draft: Draft) -> str | None:
    """A statement of pieces of real DDL, with odd text between them; perhaps of a table of the log."""
    indexes = _queries(draft)
    if not indexes:
        return None
    index = chance.choice(indexes)
    if chance.random() < 0.5:
        place = chance.randrange(1, len(draft.items) + 1)
        draft.items.insert(place, draft.items[index])
        index = place
    tokens = _TOKEN.findall(chance.choice(_definitions()))
    for _ in range(chance.choice((1, 1, 2))):
        others = _TOKEN.findall(chance.choice(_definitions()))
        begin = chance.randrange(len(others))
        start = chance.randrange(len(tokens) + 1)
        stop = chance.choice((start, start + 3, len(tokens)))
        tokens[start:stop] = others[begin : begin + chance.choice((1, 4, 20, 1000))]
    for _ in range(chance.choice((0, 1, 1, 3))):
        tokens.insert(chance.randrange(len(tokens) + 1), chance.choice(_ODD))
    if chance.random() < 0.6:
        names = [start for start, token in enumerate(tokens) if token[:1] == b"`" or token[:1].islower()]
        for start in names[:1]:
            tokens[start] = _table(chance, draft)
    return _put_text(draft, index, b"".join(tokens))


def _table(chance: Random, draft: Draft) -> bytes:
    """The name of a table of the log."""
    names = []
    for index, item in enumerate(draft.items):
        if item.type_code == EventType.table_map_event:
            names += [
                item.raw[leaf.offset : leaf.end]
                for leaf in leaves_of(draft, index)
                if leaf.path == "body.table_name"
            ]
    return b"`" + chance.choice([*names, b"t1"]) + b"`"
