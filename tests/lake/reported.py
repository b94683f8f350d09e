"""The cases and tables whose computed content does not equal that of the server, each with the reason."""

from __future__ import annotations

#: Cases whose logs do not have all changes: the server was killed, or logged that some are lost.
LOST = ("crash", "incident")

#: Tables whose content cannot be computed, with a part of the error's message.
REFUSED = {
    "types_minimal/t.ints": "changed the key",
    **dict.fromkeys(
        (f"types_{images}/t.ukey" for images in ("minimal", "noblob", "full_nodup")), "no primary key"
    ),
    **dict.fromkeys((f"types_{images}/t.nokey" for images in ("minimal", "noblob")), "no primary key"),
    "json_partial/t.jminimal": "JSON documents",
    "system_versions/t.b": "SYSTEM VERSIONING",
    "ddl/t.c": "converts values of n",
    "ddl/t.p": "partitions",
    "ddl/t.fkc": "a foreign key changes its rows",
    "ddl/t.sq": "sequence",
    **dict.fromkeys(("statement/t.s", "statement/t2.x", "mixed/t.s"), "as text"),
    **dict.fromkeys(("mixed/t2.x", "domains/t.a", "payloads/t.a"), "as text"),
    **dict.fromkeys(("system_versions/t.a", "system_versions/t.tr"), "as text"),
}

#: Tables whose computed content is known to be wrong, and why.
WRONG = {
    "ddl/t.c": "a column was added with a default",
    "mariadb-10.2/ddl/t.gen": "virtual columns are NULL in the log",
}
