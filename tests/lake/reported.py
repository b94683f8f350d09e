"""Expected agreement between the servers' tables and the changes of a lake."""

from __future__ import annotations

#: Cases whose logs do not have all changes: the server was killed, or says that some are lost.
LOST = ("crash", "incident")

#: Tables that are refused, by what the error says.
REFUSED = {
    "types_minimal/t.ints": "changed the key",
    "types_minimal/t.ukey": "no primary key",
    "types_noblob/t.ukey": "no primary key",
    "json_partial/t.jminimal": "JSON documents",
    "system_versions/t.b": "SYSTEM VERSIONING",
    "ddl/t.p": "partitions",
    **dict.fromkeys(("statement/t.s", "statement/t2.x", "mixed/t.s"), "as text"),
    **dict.fromkeys(("mixed/t2.x", "domains/t.a", "payloads/t.a"), "as text"),
    **dict.fromkeys(("system_versions/t.a", "system_versions/t.tr"), "as text"),
}

#: Tables that the changes tell wrongly, and why.
WRONG = {
    "ddl/t.c": "a column was added with a default",
    "ddl/t.fkc": "MariaDB does not log what a foreign key deletes",
}
