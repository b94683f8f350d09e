"""A folder of the corpus: the logs of a case, and everything known about them.

binlog.000001 …      the logs as the server left them
scenario.sql         the statements that made them
info.json            server, version, date, variables, how the oracle was made
events.tsv.gz        the oracle: the header of every event as the server's own client prints it
show.tsv.gz          SHOW BINLOG EVENTS of each log, where the server was asked
vv.txt.gz            what `mysqlbinlog -vv` prints for the logs, one after another
tables.jsonl.gz      the tables afterwards (tables.LABEL.jsonl.gz: at a moment in between)
"""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.corpus.oracle import EventLine, client_output, event_lines, gaps

CORPUS = Path(__file__).resolve().parents[2] / "tests" / "corpus"
# Longer `-vv` output is omitted; it can be reproduced from the log.
VV_LIMIT = 3_000_000


@dataclass
class CaseWriter:
    """Fills `folder`; `client` is the command that prints a log, `dump_options` are its options."""

    folder: Path
    client: Sequence[str]
    dump_options: Sequence[str] = ()
    logs: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def add_log(self, log: Path, name: str = "") -> None:
        target = self.folder / (name or log.name)
        shutil.copyfile(log, target)
        self.logs.append(target)

    def text(self, name: str, content: str | bytes) -> None:
        data = content.encode() if isinstance(content, str) else content
        if name.endswith(".gz"):
            data = gzip.compress(data, mtime=0)
        (self.folder / name).write_bytes(data)

    def table(self, name: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        lines = ["\t".join(columns), *("\t".join(_cell(value) for value in row) for row in rows)]
        self.text(name, "\n".join(lines) + "\n")

    def oracle(self, *, strict: bool = True, vv: bool = True) -> list[str]:
        """Run the client on each log; returns where its output has gaps."""
        rows: list[EventLine] = []
        missing: list[str] = []
        for log in self.logs:
            events = event_lines(self.client, log, *self.dump_options, strict=strict)
            missing += gaps(events, log.stat().st_size)
            rows += events
        self.table("events.tsv.gz", EventLine._fields, rows)
        options = ("-vv", "--base64-output=decode-rows")
        texts = [client_output(self.client, log, *options, strict=False) for log in self.logs] if vv else []
        if vv and sum(map(len, texts)) <= VV_LIMIT:
            headings = (f"### {log.name}\n".encode() for log in self.logs)
            self.text("vv.txt.gz", b"".join(head + text for head, text in zip(headings, texts, strict=True)))
        return missing

    def info(self, **facts: Any) -> None:
        facts["logs"] = [log.name for log in self.logs]
        self.text("info.json", json.dumps(facts, indent=1, default=str, ensure_ascii=False) + "\n")


def _cell(value: object) -> str:
    return str(value).replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
