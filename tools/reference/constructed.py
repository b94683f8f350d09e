"""Examples of structures that the corpus lacks, such as those of old servers: vectors of the grammar's tests.

The choice (`python -m tools.reference --choose`) is stored in constructed.json, with the bytes.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from binlog_kaitai.render.explanation import Dissection, leaves_of
from tools.reference.messages import Piece, parse

CHOSEN = Path(__file__).with_name("constructed.json")
_VECTORS = "tests/grammar"


@dataclass(frozen=True)
class Constructed:
    """The bytes of a structure.

    Attributes
    ----------
    title
        The name of the vector.
    module, structure
        The generated class.
    parameters
        What it is parsed with.
    data
        The bytes, hexadecimal.
    paths
        The structures it is an example of, with their paths in it.
    """

    title: str
    module: str
    structure: str
    parameters: list[Any]
    data: str
    paths: dict[str, str] = field(default_factory=dict)

    def piece(self) -> Piece:
        raw = bytes.fromhex(self.data)
        module = importlib.import_module(f"binlog_grammar.{self.module}")
        root = parse(getattr(module, self.structure), raw, *self.parameters)
        return Piece(0, None, self.title, raw, lambda: Dissection(leaves_of(root, raw), [], None, root))


def load() -> list[Constructed]:
    """The chosen vectors."""
    return [Constructed(**fields) for fields in json.loads(CHOSEN.read_text(encoding="utf-8"))]


def store(chosen: list[Constructed]) -> None:
    CHOSEN.write_text(json.dumps([asdict(vector) for vector in chosen], indent=1) + "\n", encoding="utf-8")


def vectors(root: Path) -> Iterator[Constructed]:
    """The vectors of the grammar's tests whose parameters are numbers, enumerated or not, and booleans."""
    for path in sorted((root / _VECTORS).glob("test_*.py")):
        module = importlib.import_module(f"{_VECTORS.replace('/', '.')}.{path.stem}")
        for name, value in sorted(vars(module).items()):
            if name.isupper() and isinstance(value, list):
                yield from filter(None, map(_constructed, value))


def _constructed(vector: Any) -> Constructed | None:
    """A `tests.grammar.vectors.Vector`; None for other values and for other parameters."""
    if not hasattr(vector, "structure") or not all(isinstance(number, int) for number in vector.parameters):
        return None
    kind = vector.structure
    module = kind.__module__.rpartition(".")[2]
    return Constructed(vector.name, module, kind.__qualname__, list(vector.parameters), vector.data.hex())
