"""An example of each structure: its location in the corpus, and its bytes field by field.

Structures of logs are taken from logs, those of the protocol from captured streams. Those that
the corpus lacks are constructed.

The choice of examples (`python -m tools.reference --choose`) is stored in samples.json, so that writing the
reference parses a few dozen events instead of the whole corpus.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from binlog_grammar.binlog_event import BinlogEvent
from kaitaistruct import KaitaiStruct, KaitaiStructError

import binlog_kaitai
from binlog_kaitai.core.framing import ENCRYPTED_MAGIC
from binlog_kaitai.core.grammar import field_path, sizes
from binlog_kaitai.core.tree import parameters_of
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.render.explanation import Leaf, dissect, dissect_header
from tools.reference import constructed
from tools.reference.constructed import Constructed
from tools.reference.messages import FROM_REPLICA, FROM_SERVER, Piece, messages

CHOSEN = Path(__file__).with_name("samples.json")

_INDEX = re.compile(r"\[\d+\]")

#: Maximum length of example events, so that a whole structure fits on a page.
_LONGEST = 1500
#: Larger examples are used only if there is no other, in bytes.
_PAGE = 288
#: Number of events of one type and size to examine per log; logs contain many similar ones.
_ALIKE = 4


@dataclass(frozen=True)
class Place:
    """Location of an example: file of the corpus, event or message in it, path of the structure within.

    A constructed example is in no file.
    """

    log: str
    position: int
    payload_index: int | None
    path: str


@dataclass(frozen=True)
class Sample:
    """An example with its bytes; offsets are relative to the start of the structure."""

    place: Place
    title: str  # the type of the event, or a description in a stream
    data: bytes
    leaves: list[Leaf]


def load(corpus: Path) -> dict[str, Sample]:
    """The chosen examples, by generated class."""
    chosen = {name: Place(**fields) for name, fields in json.loads(CHOSEN.read_text()).items()}
    by_log: dict[str, dict[str, Place]] = {}
    for name, place in chosen.items():
        by_log.setdefault(place.log, {})[name] = place
    samples = {
        name: sample for log, wanted in by_log.items() for name, sample in _load_file(corpus / log, wanted)
    }
    return samples | dict(_load_constructed())


def _load_constructed() -> Iterator[tuple[str, Sample]]:
    for vector in constructed.load():
        piece = vector.piece()
        leaves = piece.dissect().leaves
        for name, path in vector.paths.items():
            yield name, _sample(piece, leaves, Place("", 0, None, path))


def _load_file(path: Path, wanted: dict[str, Place]) -> Iterator[tuple[str, Sample]]:
    for piece in _pieces(path):
        key = (piece.position, piece.payload_index)
        names = [name for name, place in wanted.items() if (place.position, place.payload_index) == key]
        leaves = piece.dissect().leaves if names else []
        for name in names:
            yield name, _sample(piece, leaves, wanted[name])


def _pieces(path: Path) -> Iterator[Piece]:
    if path.name in (FROM_REPLICA, FROM_SERVER):
        yield from messages(path)
        return
    if (header := path.read_bytes()[: sizes.EncryptionHeader.HEADER_LENGTH]).startswith(ENCRYPTED_MAGIC):
        yield Piece(0, None, "Header", header, partial(dissect_header, header))
        return
    with binlog_kaitai.open(path) as log:
        for event in log:
            take_apart = partial(dissect, event)
            yield Piece(event.position, event.payload_index, event.type, event.raw, take_apart)


def _sample(piece: Piece, leaves: list[Leaf], place: Place) -> Sample:
    own = _below(leaves, place.path)
    if not own:
        raise LookupError(f"{place.log} at {place.position} has no {place.path}: run --choose")
    start, end = own[0].offset, own[-1].end
    cut = [
        leaf._replace(
            offset=leaf.offset - start,
            path=_relative(leaf.path, place.path),
            parts=tuple(part._replace(path=_relative(part.path, place.path)) for part in leaf.parts),
        )
        for leaf in own
    ]
    return Sample(place, piece.title, piece.raw[start:end], cut)


def _below(leaves: list[Leaf], path: str) -> list[Leaf]:
    inside = (f"{path}.", f"{path}[") if path else ""
    return [leaf for leaf in leaves if leaf.path == path or leaf.path.startswith(inside)]


def _relative(path: str, root: str) -> str:
    return path[len(root) :].lstrip(".") if root else path


def choose(corpus: Path, root: Path) -> None:
    """Search the corpus for the best example of each structure, and store their locations.

    For a structure that the corpus lacks, store a test vector.
    """
    best: dict[str, tuple[tuple[int, ...], Place]] = {}
    for path in _files(corpus):
        file = path.relative_to(corpus).as_posix()
        try:
            for piece in _different(path):
                for name, score, inner in _candidates(piece):
                    if name not in best or score > best[name][0]:
                        best[name] = score, Place(file, piece.position, piece.payload_index, inner)
        except BinlogError as error:
            logging.warning("%s: %s", file, error)
    text = json.dumps({name: asdict(best[name][1]) for name in sorted(best)}, indent=1)
    CHOSEN.write_text(text + "\n")
    _choose_constructed(root, best.keys())


def _choose_constructed(root: Path, real: Collection[str]) -> None:
    best: dict[str, tuple[tuple[int, ...], Constructed, str]] = {}
    for vector in constructed.vectors(root):
        try:
            piece = vector.piece()
        except KaitaiStructError:  # a vector of what the grammar rejects
            continue
        for name, score, path in _candidates(piece):
            if name not in real and (name not in best or score > best[name][0]):
                best[name] = score, vector, path
    chosen: dict[tuple[str, str], Constructed] = {}
    for name, (_, vector, path) in sorted(best.items()):
        chosen.setdefault((vector.title, vector.structure), vector).paths[name] = path
    constructed.store(list(chosen.values()))


def _files(corpus: Path) -> list[Path]:
    """Logs, then decrypted ones, encrypted ones and captured streams.

    Newer servers are first, because the first of equal examples is used.
    """
    logs = [path for path in corpus.glob("m*-*/*/*.0*") if path.is_file()]
    plain = corpus.glob("encrypted/*/plain/*.0*")
    headers = corpus.glob("encrypted/mysql-*/*.0*")
    streams = [path for name in (FROM_REPLICA, FROM_SERVER) for path in corpus.glob(f"network/*/{name}")]
    return [
        *sorted(logs, key=lambda path: (_version(path.parent.parent.name), path.as_posix())),
        *sorted(plain),
        *sorted(headers),
        *sorted(streams, key=lambda path: (_version(path.parent.name.rpartition("-")[0]), path.as_posix())),
    ]


def _version(server: str) -> tuple[int, ...]:
    return tuple(-int(part) for part in server.rpartition("-")[2].split("."))


def _different(path: Path) -> Iterator[Piece]:
    """The pieces of a file, a few of each type and size."""
    seen: dict[tuple[str, int], int] = {}
    for piece in _pieces(path):
        key = (piece.title, len(piece.raw))
        seen[key] = seen.get(key, 0) + 1
        if len(piece.raw) <= _LONGEST and seen[key] <= _ALIKE:
            yield piece


def _structures(node: KaitaiStruct, path: str = "") -> Iterator[tuple[str, KaitaiStruct]]:
    """A generated object and all nested structures, including evaluated instances, with their paths."""
    pending, seen = [(path, node)], {id(node)}
    while pending:
        path, node = pending.pop()
        yield path, node
        parameters = parameters_of(node.__class__)
        for attribute, value in vars(node).items():
            name = attribute.removeprefix("_m_")
            if name.startswith("_") or name in parameters:
                continue
            items = enumerate(value) if isinstance(value, list) else [(None, value)]
            for index, item in items:
                if isinstance(item, KaitaiStruct) and id(item) not in seen:
                    seen.add(id(item))
                    label = name if index is None else f"{name}[{index}]"
                    pending.append((f"{path}.{label}" if path else label, item))


def _candidates(piece: Piece) -> Iterator[tuple[str, tuple[int, ...], str]]:
    """Each structure in a piece: its class, the quality of the example, and its path."""
    dissection = piece.dissect()
    if dissection.error is not None:
        return
    is_of_log = isinstance(dissection.root, BinlogEvent)
    for path, node in ((field_path(path), node) for path, node in _structures(dissection.root)):
        own = _below(dissection.leaves, path)
        if own:
            # Structures that logs contain are shown from logs.
            yield type(node).__qualname__, (is_of_log, *_score(own)), path


def _score(own: list[Leaf]) -> tuple[int, ...]:
    """Prefer more kinds of fields, as far as they fit a page, then fewer bytes, but not only zeros."""
    size = own[-1].end - own[0].offset
    is_short = size <= _PAGE
    kinds = len({_INDEX.sub("", leaf.path) for leaf in own}) if is_short else 0
    return is_short, kinds, any(leaf.value not in (0, b"", "") for leaf in own), -size
