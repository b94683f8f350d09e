"""Some mutated logs of a fixed seed, and the guarantees of the fuzzer itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random
from unittest.mock import patch

import pytest

from binlog_kaitai.core.framing import MAGIC, Framer
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.errors import EncryptedError
from binlog_kaitai.sources.source import Source
from tests.corpus_files import CORPUS, case
from tests.extent import rounds, sample
from tests.log_maker import LogMaker, events_of
from tools.fuzz import (
    bases,
    documents,
    entries,
    mixtures,
    mutations,
    nested,
    parts,
    reading,
    remaking,
    statements,
    wrapped,
)
from tools.fuzz.draft import Draft
from tools.fuzz.entries import run_all
from tools.fuzz.fields import leaves_of, number_of, resized, with_number
from tools.fuzz.findings import Finding, read
from tools.fuzz.mutants import mutant
from tools.fuzz.outcome import Problem
from tools.fuzz.run import Run

ROOT = Path(__file__).parents[2]


def _fuzz(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.fuzz", "--jobs", "1", "--to", str(folder), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("kernels", sample(["compiled", "python"], 1))
def test_no_finding_in_some_logs_of_a_fixed_seed(kernels: str, tmp_path: Path) -> None:
    count = rounds(150, 25)
    done = _fuzz(tmp_path, "--logs", str(count), "--seed", "1", "--kernels", kernels)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{count} logs" in done.stdout


def _draft(server: str, case: str, *kinds: EventType) -> Draft:
    """A draft of a log's first transactions that has events of these kinds."""
    for number in range(1000):
        name, draft = bases.chosen(Random(f"{server}/{case}/{number}"))
        if name.startswith(f"{server}/{case}/") and {*kinds} <= {item.type_code for item in draft.items}:
            return draft
    raise LookupError(f"no draft of {server}/{case}")


def test_a_draft_that_is_not_changed_has_no_damage() -> None:
    from binlog_kaitai.check.damage_scan import scan

    for number in range(60):
        name, draft = bases.chosen(Random(f"whole/{number}"))
        if name.startswith(("mysql", "mariadb")) and "relay" not in name and "group" not in name:
            report = scan(Source.of_bytes(draft.log()), is_thorough=True)
            assert [str(error) for error in report.damages] == [], name


def test_a_name_stands_for_the_same_log() -> None:
    for number in range(40):
        one, other = mutant(f"5/{number}"), mutant(f"5/{number}")
        assert one == other
        assert mutant(f"5/{number}", range(9)) == one


_KINDS = (
    mutations.number, mutations.member, mutations.content, mutations.length, mutations.copied,
    mutations.body_bytes, mutations.end, mutations.kind, mutations.left_out, mutations.twice,
    mutations.order, mutations.header, mutations.unsealed, mutations.file_bytes,
    mutations.cut, statements.text, statements.another, nested.pieces, nested.packed_frame,
    nested.deflated, nested.payload((mutations.number,)), nested.payload_in_payload, nested.payload_field,
    mixtures.stranger, mixtures.spliced, mixtures.description, mixtures.table_map, documents.opaque,
    statements.recombined,
)  # fmt: skip


@pytest.mark.parametrize("kind", _KINDS, ids=lambda kind: kind.__name__)
def test_a_mutation_changes_something(kind: mutations.Mutation) -> None:
    for number in range(2000):
        chance = Random(f"{kind.__name__}/{number}")
        _, draft = bases.chosen(chance)
        before = draft.log()
        if kind(chance, draft) is not None and draft.log() != before:
            return
    pytest.fail("no draft is changed by it")


def test_a_longer_field_adjusts_the_lengths_before_it() -> None:
    draft = _draft("mysql-9.7", "mixed", EventType.query_event)
    index = next(at for at, item in enumerate(draft.items) if item.type_code == EventType.query_event)
    leaves = leaves_of(draft, index)
    name = next(leaf for leaf in leaves if leaf.path == "body.schema_name")
    raw = resized(draft.items[index].raw, leaves, name, b"longer" + b"t", adjusts_lengths=True)
    draft.items[index] = draft.items[index].with_raw(raw)
    again = {leaf.path: leaf for leaf in leaves_of(draft, index)}
    assert again["body.schema_name"].value == "longert"
    assert again["body.len_schema_name"].value == 7


def test_a_number_keeps_the_order_of_its_bytes() -> None:
    draft = _draft("mysql-9.7", "mixed", EventType.query_event)
    for index in range(len(draft.items)):
        for leaf in leaves_of(draft, index):
            if number_of(leaf) is not None:
                raw = draft.items[index].raw
                assert with_number(raw, leaf, number_of(leaf) or 0) == raw, leaf.path


def test_a_payload_is_packed_again_with_its_sizes() -> None:
    draft = _draft("mysql-9.7", "payloads", EventType.transaction_payload_event)
    change = nested.payload((statements.text,))
    for number in range(20):
        if change(Random(number), draft) is not None:
            break
    with Source.of_bytes(draft.log()).open() as stream:
        assert len(list(Framer.of_file(stream))) == len(draft.items)


def test_repair_may_name_a_missing_key_after_a_start_that_verify_ends_at(tmp_path: Path) -> None:
    data = (CORPUS / "encrypted/mariadb-11.8/binlog.000002").read_bytes()
    run = Run("start", MAGIC + data[-40:] + data[len(MAGIC) :], tmp_path)
    reading.thorough(run)
    remaking.repair(run)
    reading.blind(run)
    assert isinstance(run.outcomes["repair"].error, EncryptedError)
    assert run.problems == []


def test_a_finding_can_be_replayed(tmp_path: Path) -> None:
    found = mutant("1/3")
    path = Finding(Problem("kind", "sign", "text\n"), found, "python").write(tmp_path)
    assert read(path) == ("1/3", found.data)
    done = _fuzz(tmp_path, "--replay", str(path), "--kernels", "python")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_packed_log_with_an_invalid_tag_is_no_finding(tmp_path: Path) -> None:
    """Its bodies are damaged, not its frames: readers locate such errors in the event."""
    path = CORPUS / "mysql-9.7/gtid_tags/binlog.000002"
    data = path.read_bytes().replace(b"tag1", b"tag\x7f")
    assert data != path.read_bytes()
    run = Run("packed", data, tmp_path)
    reading.read(run)
    wrapped.packed(run)
    assert run.problems == []
    assert run.outcomes["read events"].error is not None


def test_whether_a_log_has_other_formats_is_known_before_its_splits_are_compared(tmp_path: Path) -> None:
    """No server writes a second format description in a log of its own, and a split does not look for it."""
    layout, (head, *groups) = events_of(case("mariadb-11.4", "system_versions").logs[0])
    log = LogMaker(layout)
    log.add_all([*head, *groups[0], head[0], *groups[1]])
    run = Run("formats", bytes(log.data), tmp_path)
    with patch.dict(entries.SOMETIMES, {"views": (parts.views, 1.0)}, clear=True):
        run_all(run)
    assert run.problems == []
    assert run.thorough is not None
    assert [position for position, _ in run.thorough.formats] == [4 + sum(map(len, [*head, *groups[0]]))]
