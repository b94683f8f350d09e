"""Findings, one file for each kind, and replaying them."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from tools.fuzz.mutants import Mutant
from tools.fuzz.outcome import Problem


class Finding(NamedTuple):
    """A problem, and the log that caused it.

    Attributes
    ----------
    problem : Problem
    mutant : Mutant
    kernels : str
        How kernels were run.
    """

    problem: Problem
    mutant: Mutant
    kernels: str

    @property
    def key(self) -> str:
        """Identifies the kind of the finding."""
        digest = hashlib.sha256(self.problem.sign.encode("utf-8", "surrogateescape")).hexdigest()
        return f"{self.problem.kind.replace(' ', '-').replace('/', '-')}-{digest[:10]}"

    def write(self, folder: Path) -> Path:
        """Write a file that describes the finding and can be replayed."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.key}.json"
        again = f"python -m tools.fuzz --replay {path.name} --kernels {self.kernels}"
        described: dict[str, Any] = {
            "kind": self.problem.kind,
            "sign": self.problem.sign,
            "again": again,
            "name": self.mutant.name,
            "kernels": self.kernels,
            "base": self.mutant.base,
            "mutations": list(self.mutant.done),
            "text": self.problem.text.splitlines(),
            "size": len(self.mutant.data),
            "log": base64.b64encode(zlib.compress(self.mutant.data, 9)).decode(),
        }
        path.write_text(json.dumps(described, indent=1, ensure_ascii=True) + "\n")
        return path


def read(path: Path) -> tuple[str, bytes]:
    """The name of a mutant and its log, from a file written by `Finding.write`, or from a log."""
    data = path.read_bytes()
    if not data.startswith(b"{"):
        return path.stem, data
    described = json.loads(data)
    return str(described["name"]), zlib.decompress(base64.b64decode(described["log"]))


class Findings:
    """The kinds of findings, each with its first log and the number of occurrences.

    Parameters
    ----------
    folder
        Folder for the files.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.counts: Counter[str] = Counter()
        self.problems: dict[str, Problem] = {}

    def is_new(self, finding: Finding) -> bool:
        """Count a finding; returns whether it is the first of its kind."""
        self.counts[finding.key] += 1
        self.problems.setdefault(finding.key, finding.problem)
        return self.counts[finding.key] == 1

    def lines(self) -> list[str]:
        """One line per kind, the most frequent first."""
        return [
            f"{count:7}  {key}  {self.problems[key].sign[:110]}" for key, count in self.counts.most_common()
        ]
