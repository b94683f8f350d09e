"""docs/grammar: readable tables, links that exist, examples from the corpus."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import pytest
import yaml

from tests.corpus_files import CORPUS
from tools.generate.grammar import Grammar, camel_case
from tools.reference import constructed, pages, samples
from tools.reference.__main__ import ROOT, main
from tools.reference.fields import anchor, split_since

TYPE = """
meta: {id: event, endian: le}
doc: An event. Since 5.6.
params:
  - {id: version, type: u1, doc: Version of the log.}
seq:
  - {id: kind, -orig-id: m_kind, type: u1, enum: kind, doc: What it is.}
  - {id: low, type: b4}
  - {id: high, type: b4}
  - {id: when, type: u4, if: version > 1, doc: A time. Since 8.0.14.}
  - {id: where, type: u2, if: version > 1, -published-wrong: Given as a size.}
  - {id: name, size: kind.to_i}
  - {id: rest, size-eos: true}
enums:
  kind: {1: first, 2: {id: second, -orig-id: SECOND_KIND, doc: The other.}}
"""


@cache
def shown() -> list[str]:
    small = Grammar({"events/event": yaml.safe_load(TYPE)})
    return pages.page(small, small.top("event"), {}).splitlines()


@pytest.mark.parametrize(
    "row",
    [
        "| 0 | 1 | `kind` | `u1`, [kind](#event) | `m_kind` |  | What it is. |",
        "| 1, bit 0 | 4 bits | `low` | `b4` |  |  |  |",
        "| 1, bit 4 | 4 bits | `high` | `b4` |  |  |  |",
        "| 2 | 4 | `when` | `u4` |  | 8.0.14 | *if* `version > 1`: A time. |",
        "| 6 | 2 | `where` | `u2` |  |  | *if* `version > 1` **Published wrong:** Given as a size. |",
        "|  | `kind.to_i` | `name` | bytes |  |  |  |",
        "|  | rest | `rest` | bytes |  |  |  |",
        "| 2 | `second` | The other. (`SECOND_KIND`) |",
        "- `version`: Version of the log.",
    ],
)
def test_a_row_for_each_field(row: str) -> None:
    assert row in shown()


@pytest.mark.parametrize(
    ("doc", "since", "rest"),
    [
        ("A time. Since 8.0.14.", "8.0.14", "A time."),
        ("Since MariaDB 5.3. A time.", "MariaDB 5.3", "A time."),
        ("A time since 8.0.14.", "", "A time since 8.0.14."),
        ("A time. Since 5.6 in all logs.", "", "A time. Since 5.6 in all logs."),
    ],
)
def test_the_version_is_a_sentence_of_its_own(doc: str, since: str, rest: str) -> None:
    assert split_since(doc) == (since, rest)


def headings(path: Path) -> set[str]:
    return {anchor(title) for title in re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)}


def test_every_link_has_its_heading() -> None:
    documents = [ROOT / "docs/grammar.md", *(ROOT / "docs/grammar").glob("*.md")]
    for document in documents:
        for target, name in re.findall(r"\]\(([^)#]*)#([^)]+)\)", document.read_text()):
            page = document.parent / target if target else document
            assert name in headings(page), f"{document.name}: {target}#{name}"


def test_the_pages_are_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().err


def test_every_event_type_says_since_when(grammar: Grammar) -> None:
    unknown = {"large_transaction_header_event"}  # in no release
    for top in grammar.tops():
        if top.spec.startswith("events/") and top.id not in unknown:
            assert split_since(" ".join(str(top.node["doc"]).split()))[0], top.spec


def test_an_example_is_what_the_log_has() -> None:
    examples = samples.load(CORPUS)
    assert len(examples) > 140
    for name, sample in examples.items():
        is_packed = sample.place.payload_index is not None
        if sample.place.log:
            assert is_packed or sample.data in (CORPUS / sample.place.log).read_bytes(), name
        ends = [leaf.end for leaf in sample.leaves]
        assert [leaf.offset for leaf in sample.leaves] == [0, *ends[:-1]], name
        assert ends[-1] == len(sample.data), name


def test_an_event_type_of_the_corpus_has_an_example(grammar: Grammar) -> None:
    examples = samples.load(CORPUS)
    content = next(field for field in grammar.top("event_body").seq if isinstance(field.get("type"), dict))
    for use in set(content["type"]["cases"].values()):
        name = use.partition("(")[0]
        if camel_case(name) not in examples:
            assert name in WITHOUT_EXAMPLE, name


#: Those without bytes, and the one that no server at hand writes and that needs a table map.
WITHOUT_EXAMPLE = {
    "pre_ga_rows_event",
    "stop_event",
    "unknown_event",
}


def test_a_message_of_the_protocol_has_an_example(grammar: Grammar) -> None:
    examples = samples.load(CORPUS)
    sent = {type_.class_path for type_ in grammar if type_.spec.startswith("network/")}
    assert sent <= examples.keys()
    constructed = {name for name in sent if not examples[name].place.log}
    assert constructed == {"ComTableDump"}  # MySQL 5.1 and older
    packet = examples["NetworkPacket"]
    assert [leaf.path for leaf in packet.leaves][-1] == "payload"
    assert examples["ComBinlogDumpGtid"].leaves[0].path == "command"


def test_an_example_that_the_corpus_lacks_is_a_vector_of_the_tests() -> None:
    vectors = {(one.title, one.data) for one in constructed.vectors(ROOT)}
    chosen = constructed.load()
    assert {(one.title, one.data) for one in chosen} <= vectors
    real = json.loads(samples.CHOSEN.read_text())
    assert not real.keys() & {name for one in chosen for name in one.paths}


def test_a_page_says_that_an_example_is_not_from_the_corpus() -> None:
    page = (ROOT / "docs/grammar/com_table_dump.md").read_text(encoding="utf-8")
    assert "Not in the corpus; from a test of the grammar (dump of a table):" in page
