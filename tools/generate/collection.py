"""The grammar for kaitai_struct_formats, Kaitai's collection of formats: one file, with logs as samples.

The collection compiles every file for every language, with its root as the base of imports; 82 files of ours
would fill a folder with types of a single format.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tools.generate.grammar import Grammar
from tools.generate.webide import render

#: The file within the collection, and the samples within kaitai_struct_samples.
FILE, SAMPLES = "database/mysql_binlog.ksy", "database/mysql_binlog"

#: What the servers' makers publish about the format, in their newest versions.
_DOCUMENTATION = (
    "https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_replication.html",
    "https://mariadb.com/docs/server/reference/clientserver-protocol/replication-protocol",
)

#: Small logs of both servers, below tests/corpus/.
_LOGS = ("mysql-9.7/orders/binlog.000001", "mariadb-11.8/types_metadata/binlog.000001")


def write(grammar: Grammar, entry: str, corpus: Path, folder: Path) -> None:
    """Write the file and the samples below a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    file, samples = folder / "kaitai_struct_formats" / FILE, folder / "kaitai_struct_samples" / SAMPLES
    file.parent.mkdir(parents=True)
    top = grammar.specs[entry]
    top = {**top, "doc-ref": [top["doc-ref"], *_DOCUMENTATION]}
    file.write_text(render(Grammar({**grammar.specs, entry: top}), entry), encoding="utf-8")
    samples.mkdir(parents=True)
    for log in _LOGS:
        server, _, name = log.split("/")
        shutil.copyfile(corpus / log, samples / f"{server}.{name.rpartition('.')[2]}")
