"""What is masked or left out is in no byte of an output."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.rows.row_masks import KEY_VARIABLE, Masks
from tests.check.test_masked_slice import secrets_of
from tests.cli.conftest import Run
from tests.corpus_files import case
from tests.render.test_sql import after_definitions
from tests.rows.test_masks import KEY, read

TYPES, PARTIAL = case("mysql-9.7", "types_full").logs, case("mysql-9.7", "json_partial").logs
MIXED = case("mysql-9.7", "mixed").logs
UUID = "a40b4242-e518-11f1-9090-02fc00000001"
FORMATS = ("json", "csv", "debezium", "table", "table -G", "csv -t t.strs")

#: Texts of at least this length do not occur in metadata.
_LONG = 8


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)


def objects(run: Run, logs: Iterable[Path], *words: str) -> list[dict[str, Any]]:
    done = run("rows", "--format", "json", *words, *logs)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.split("\n") if line]


def words_of(value: object) -> set[str]:
    """The words of values that are found in every format: letters and digits."""
    return {
        word
        for word in re.findall(r"[A-Za-z0-9]+", json.dumps(value))
        if len(word) >= _LONG and {*word} != {"0"}
    }


def records(text: str) -> int:
    """How many records there are; texts of CSV contain line ends."""
    return len(list(csv.reader(io.StringIO(text)))) if text.startswith("_") else text.count("\n")


@pytest.mark.parametrize("output", FORMATS)
@pytest.mark.parametrize("method", ["null", "hash"])
@pytest.mark.parametrize("logs", [TYPES, PARTIAL], ids=["types", "partial updates"])
def test_rows_have_no_masked_value(logs: Iterable[Path], method: str, output: str, run: Run) -> None:
    secrets = set[str]()
    for row in objects(run, logs):
        secrets |= words_of([row["before"], row["after"], row.get("diffs")])
    command = ("rows", "--format", *output.split(), *logs)
    plain = run(*command)
    done = run(*command, "--mask", f"*.*.*={method}")
    assert done.returncode == plain.returncode
    if plain.stdout:
        assert any(word in plain.stdout for word in secrets)
        assert not [word for word in secrets if word in done.stdout]
        assert records(done.stdout) == records(plain.stdout)


def test_digests_of_rows_are_those_of_exports(run: Run) -> None:
    """Each value is masked in both images; NULL remains NULL, and columns that are left out are nowhere."""
    words = ("--mask", "t.*.*=hash", "--mask", "t.*.c63=truncate:2", "--exclude-columns", "t.*.c10|vc")
    for table in ("strs", "ints", "temps", "misc", "geo", "js"):
        rows = objects(run, TYPES, *words, "-t", f"t.{table}")
        images = [row[image] for row in rows for image in ("before", "after") if row[image] is not None]
        masks = Masks.of(mask=["t.*.*=hash"], exclude=["t.*.c10|vc"])
        expected = read(f"t.{table}", masks).to_pylist()
        for image, typed in zip(images, expected, strict=True):
            own = {name: value for name, value in typed.items() if not name.startswith("_")}
            assert image == own


def test_columns_without_a_rule_remain(run: Run) -> None:
    plain = objects(run, TYPES, "-t", "t.strs")
    masked = objects(run, TYPES, "-t", "t.strs", "--mask", "t.strs.c63|bin5=truncate:2")
    for row in plain:
        for image in (row["before"] or {}, row["after"] or {}):
            if image.get("c63") is not None:
                image["c63"] = image["c63"][:2]
            if image.get("bin5") is not None:
                image["bin5"] = {"hex": image["bin5"]["hex"][:4]}
    assert masked == plain


def test_messages_without_their_key_columns_have_no_key(run: Run) -> None:
    done = run("rows", "--format", "debezium", "--exclude-columns", "t.ints.id", "-t", "t.ints", *TYPES)
    messages = [json.loads(line) for line in done.stdout.split("\n") if line]
    assert messages
    assert all(message["key"] is None and message["value"] for message in messages)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("rows --show statement --mask *.*.*=null", "statements may contain what is masked"),
        ("rows -t t.ints --mask t.ints.id=truncate:2", "column id: truncate is for text and binary columns"),
        ("rows --mask t.ints.nosuch=null", "t.ints has no column nosuch"),
        ("sql --mask t.strs.c10=hash", "masked values are NULL here; use the method null"),
        ("sql --undo --check --mask t.strs.c10=null", "--check compares all values"),
        ("sql --mask t.strs.nosuch=null", "t.strs has no column nosuch"),
    ],
)
def test_masks_that_cannot_be_applied_are_refused(words: str, reason: str, run: Run) -> None:
    done = run(*words.split(), *TYPES)
    assert done.returncode == 2
    assert reason in done.stderr


def test_a_rule_for_no_table_is_named(run: Run) -> None:
    assert "no table has the columns t.intz.id=null" in run("rows", "--mask", "t.intz.id=null", *TYPES).stderr


def test_tables_without_column_names_are_refused(run: Run, tmp_path: Path) -> None:
    log = after_definitions(case("mysql-9.7", "mixed").logs[0], tmp_path)
    done = run("rows", "--mask", "*.*.email=null", log)
    assert (done.returncode, "unknown; give its CREATE TABLE" in done.stderr) == (2, True)


_READS = {
    "rows": ("rows", "--format", "json"),
    "rows of several threads": ("rows", "--format", "json", "--jobs", "2"),
    "sql": ("sql",),
    "sql --undo": ("sql", "--undo"),
    "export": ("export", "--view", "changes", "--to"),
    "slice": ("slice", "--to"),
}


@pytest.mark.parametrize("way", _READS)
@pytest.mark.parametrize(
    ("mask", "uncovered", "new"),
    [
        (
            "*.*.note=null",
            "t.orders.note is masked or left out, and a statement renames it to t.orders.remark",
            "remark",
        ),
        (
            "*.items.*=null",
            "columns of t.items are masked or left out, and a statement renames it",
            "positions",
        ),
    ],
    ids=["column", "table"],
)
def test_a_statement_that_removes_a_mask_ends_the_reading(
    mask: str, uncovered: str, new: str, way: str, run: Run, tmp_path: Path
) -> None:
    logs, words = case("mysql-9.7", "workload").logs, _READS[way]
    target = [tmp_path / "new"] if words[-1] == "--to" else []
    done = run(*words, *target, "--mask", mask, *logs)
    assert (done.returncode, "QUERY_EVENT" in done.stderr) == (2, True)
    assert uncovered in " ".join(done.stderr.split())
    assert not re.search(f'["`]{new}["`]', done.stdout)
    others = [tmp_path / "others"] if target else []
    covered = run(
        *words, *others, "--mask", mask, "--mask", "*.*.remark=null", "--mask", "*.positions.*=null", *logs
    )
    assert covered.returncode in (0, 3), covered.stderr


def test_statements_about_tables_that_are_not_read_remove_no_mask(run: Run) -> None:
    logs = case("mysql-9.7", "workload").logs
    done = run("rows", "--format", "json", "-t", "t.items", "--mask", "*.*.note=null", *logs)
    assert done.returncode == 0, done.stderr


def test_slices_have_no_masked_value(run: Run, tmp_path: Path) -> None:
    """Tables of the second log have their definitions in the first."""
    paths = case("mysql-9.7", "workload").logs[:2]
    done = run("slice", *paths, "--to", tmp_path / "support", "--mask", "*.*.*=null")
    assert done.returncode == 0, done.stderr
    assert re.search(r"; left out [0-9]+ statements", done.stdout)
    for path in paths:
        data = (tmp_path / "support" / path.name).read_bytes()
        assert not [secret for secret in secrets_of(path) if secret in data]


def script(run: Run, *words: object) -> list[str]:
    """The statements that change rows of tables with a key that is not masked.

    Without updates of columns that may have ON UPDATE: a masked log does not have their definitions.
    """
    done = run("sql", *words)
    assert done.returncode in (0, 3), done.stderr
    lines = [line for line in done.stdout.split("\n") if re.match("INSERT|UPDATE|DELETE|SET @.*CONCAT", line)]
    return [line for line in lines if not re.search("`(nokey|ukey)`|UPDATE `t`.`temps`", line)]


@pytest.mark.parametrize("way", ["--redo", "--undo"])
@pytest.mark.parametrize("logs", [TYPES, PARTIAL, MIXED], ids=["types", "partial updates", "statements"])
def test_scripts_have_no_masked_value_and_no_statement(logs: Iterable[Path], way: str, run: Run) -> None:
    """With masks for all columns, and for those after the first, by which rows are found."""
    secrets = set[str]()
    for row in objects(run, logs):
        secrets |= words_of([row["before"], row["after"], row.get("diffs")])
    for event in (event for log in logs for event in bk.open(log) if event.type == "QUERY_EVENT"):
        secrets |= words_of(re.sub(r"[\w.`]+ ", "", event.body.query.decode("utf-8", "replace")))
    plain = run("sql", way, *logs)
    assert len([word for word in secrets if word in plain.stdout]) > 3
    but_id = "*.*.[!i]*|i|i[!d]*"
    for rule in ("--mask", "*.*.*=null"), ("--exclude-columns", but_id), ("--mask", f"{but_id}=null"):
        done = run("sql", way, *rule, *logs)
        assert done.returncode == 3
        assert not [word for word in secrets if word in done.stdout + done.stderr]


def test_scripts_are_those_of_masked_logs(run: Run, tmp_path: Path) -> None:
    """But for tables whose rows are identified by masked columns."""
    log, target = case("mysql-9.7", "types_metadata").logs[0], tmp_path / "masked"
    rules = ("--mask", "t.*.[!ins]*=null", "--mask", "t.strs.c10|v10=null")
    assert run("slice", log, "--to", target, *rules).returncode == 0
    for way in ("--redo", "--undo"):
        masked = script(run, way, *rules, log)
        assert masked == script(run, way, target)
        assert len(masked) > 20
        assert masked != script(run, way, log)


def test_rows_that_masked_columns_identify_are_comments(run: Run) -> None:
    """A statement would find other rows, or insert a row with another key."""
    done = run("sql", "--exclude-columns", "t.nokey.a", "-t", "t.nokey", *TYPES)
    assert {line.split(" (")[0] for line in done.stdout.split("\n") if "`nokey`" in line} == {
        "INSERT INTO `t`.`nokey`"
    }
    assert "rows are identified by `a`, masked or left out" in done.stderr
    done = run("sql", "--mask", "t.ints.id=null", "-t", "t.ints", *TYPES)
    assert "cannot be replayed: 1 row of insert t.ints" in done.stdout
    assert "`t`.`ints`" not in done.stdout


def log_of(page: Path) -> tuple[str, bytes]:
    """The name and the bytes of the log that a page has."""
    (found,) = re.findall(r'<script id="log"[^>]*>(.*?)</script>', page.read_text(), re.DOTALL)
    data = json.loads(found)
    (part,) = data["parts"]
    return data["name"], base64.b64decode(part["base64"])


@pytest.mark.parametrize("has_range", [False, True])
def test_pages_have_the_masked_log(has_range: bool, run: Run, tmp_path: Path) -> None:
    (log,), page, target = MIXED, tmp_path / "page.html", tmp_path / "masked"
    position = bk.read_transactions(log, include_gtids=f"{UUID}:7").read_all()["position"][0].as_py()
    words = ["--start-position", position, "--stop-position", position + 1] if has_range else []
    done = run("explain", "--html", page, "--mask", "*.*.*=null", *words, log)
    assert done.returncode == 0, done.stderr
    assert re.search(
        rf"-> {page}: {'1 transaction,' if has_range else '[1-9][0-9]+ transactions'}", done.stdout
    )
    run("slice", "--to", target, "--mask", "*.*.*=null", *words, log)
    name, data = log_of(page)
    assert (name, data) == ("binlog.000001 (masked)", target.read_bytes())
    assert not [secret for secret in secrets_of(log) if secret in data]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--html", "page.html", "--at", "235"], "with masks, events have other positions"),
        ([], "and masks need --html"),
    ],
)
def test_pages_with_masks_have_no_positions_of_the_log(words: list[str], reason: str, run: Run) -> None:
    done = run("explain", *words, "--mask", "*.*.*=null", *MIXED)
    assert (done.returncode, reason in done.stderr) == (2, True)


def test_a_rule_of_a_script_for_no_table_is_named(run: Run) -> None:
    assert "no table has the columns t.intz.id=null" in run("sql", "--mask", "t.intz.id=null", *TYPES).stderr
