"""`make vectors`: a real log for each event type with its tree, reproducible byte for byte."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai
from binlog_kaitai.core.grammar import EventType
from tests.corpus_files import absent_types, present_types
from tools.conformance.reference import document
from tools.conformance.schema import enums, schema
from tools.generate.grammar import Grammar
from tools.vectors.__main__ import ROOT, main

Index = dict[str, Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vectors")
    assert main(["--to", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def index(folder: Path) -> Index:
    index: Index = json.loads((folder / "index.json").read_text())
    return index


def test_every_event_type_has_a_log_or_a_reason(index: Index) -> None:
    assert {one["type"] for one in index["vectors"]} == set(present_types())
    assert all(EventType(one["type"]).name.upper() == one["name"] for one in index["vectors"])
    absent = {one["name"]: one["reason"] for one in index["event_types_without_a_log"]}
    assert absent == absent_types()


def test_the_index_names_every_file(folder: Path, index: Index) -> None:
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    named = {one[key] for one in index["vectors"] for key in ("log", "tree")}
    assert files == {*named, "index.json", "README.md"}
    for one in index["vectors"]:
        for key in ("log", "tree"):
            assert hashlib.sha256((folder / one[key]).read_bytes()).hexdigest() == one[f"{key}_sha256"]


def test_each_log_is_valid_and_shows_its_event(folder: Path, index: Index) -> None:
    for one in index["vectors"]:
        with binlog_kaitai.open(folder / one["log"]) as log:
            events = {event.position: event for event in log if event.payload_index is None}
        assert events[one["event_position"]].type == one["name"], one["log"]
        assert {event.checksum_status for event in events.values()} <= {"ok", "none"}
        ends = {event.end_position for event in events.values()}
        assert ends - events.keys() == {one["bytes"]}
        assert events[4].body.server_version.startswith(one["server_version"].partition("-")[0])


def test_each_log_parses_to_its_tree(folder: Path, index: Index) -> None:
    grammar = Grammar.load(ROOT / "formats")
    table, known = schema(grammar), enums(grammar)
    for one in index["vectors"]:
        found = document((folder / one["log"]).read_bytes(), table, known)
        assert json.loads((folder / one["tree"]).read_text()) == found, one["log"]


def test_the_bytes_are_the_same_at_every_run(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "left over").write_text("")
    assert main(["--to", str(tmp_path)]) == 0
    for path in filter(Path.is_file, folder.rglob("*")):
        assert (tmp_path / path.relative_to(folder)).read_bytes() == path.read_bytes()
    assert not (tmp_path / "left over").exists()
