"""`gtids`: the sets of logs, and operations on them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from binlog_kaitai.core.gtids import GtidSet
from tests.cli.conftest import Run
from tests.corpus_files import case

TAGS = case("mysql-9.7", "gtid_tags")
DOMAINS = case("mariadb-11.8", "domains")
OWN = "a40b4242-e518-11f1-9090-02fc00000001"
OTHER = "11111111-2222-3333-4444-555555555555"


def test_logs_stand_for_all_that_their_server_had_executed(run: Run) -> None:
    expected = (
        f"{OTHER}:7,{OTHER}:sometag:3-4:9223372036854775000,"
        f"{OWN}:1-4,{OWN}:tag1:1-3,{OWN}:tag_two_with_a_name_of_32_ch:1\n"
    )
    done = run("gtids", TAGS.folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, expected, "")
    # The last log has no transaction of its own.
    assert run("gtids", TAGS.logs[2]).stdout == expected
    assert run("gtids", "--logged", TAGS.logs[2]).stdout == ""
    assert run("gtids", "--logged", TAGS.logs[1]).stdout == f"{OWN}:4\n"


def test_operations_take_logs_directories_and_literal_sets(run: Run) -> None:
    assert run("gtids", "subtract", TAGS.folder, TAGS.logs[0]).stdout == f"{OWN}:4\n"
    others = f"{OTHER}:1-9:sometag:1-9223372036854775807", f"{OWN}:1-3:tag_two_with_a_name_of_32_ch:1"
    assert run("gtids", "subtract", TAGS.folder, *others).stdout == f"{OWN}:4,{OWN}:tag1:1-3\n"
    assert run("gtids", "union", f"{OWN}:1-2", f"{OWN}:2-5:tag:1", "").stdout == f"{OWN}:1-5,{OWN}:tag:1\n"
    assert (
        run("gtids", "intersect", TAGS.folder, f"{OWN}:2-99:tag1:3-4").stdout == f"{OWN}:2-4,{OWN}:tag1:3\n"
    )


def test_contains_answers_by_its_exit_code(run: Run) -> None:
    done = run("gtids", "contains", TAGS.folder, TAGS.logs[0], f"{OWN}:2-3")
    assert (done.returncode, done.stdout) == (0, "")
    done = run("gtids", "contains", TAGS.logs[0], TAGS.folder)
    assert (done.returncode, done.stdout) == (1, f"{OWN}:4\n")
    done = run("gtids", "contains", "--format", "json", TAGS.logs[0], TAGS.folder)
    assert json.loads(done.stdout) == {"contains": False, "missing": f"{OWN}:4", "count": 1}
    assert done.returncode == 1


def test_contains_does_not_say_no_of_a_damaged_log(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "binlog.000001"
    log.write_bytes(TAGS.logs[0].read_bytes()[:-100])
    assert run("gtids", log).returncode == 1
    done = run("gtids", "contains", log, f"{OWN}:1")
    assert done.returncode == 2
    assert f"{log}, position" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("subtract", TAGS.folder), "subtract needs at least two sets"),
        (("union", f"{OWN}:1-x"), f"'{OWN}:1-x' is not a GTID"),
        (("nosuch",), "nosuch: no such file"),
    ],
)
def test_wrong_usage(run: Run, arguments: tuple[object, ...], reason: str) -> None:
    done = run("gtids", *arguments)
    assert done.returncode == 2
    assert reason in done.stderr


def test_a_set_as_the_client_prints_it_in_batch_mode(run: Run) -> None:
    text = f"{OTHER}:7,\\n{OWN}:1-2"
    assert run("gtids", text).stdout == f"{OTHER}:7,{OWN}:1-2\n"


def test_positions_of_mariadb(run: Run) -> None:
    assert run("gtids", DOMAINS.folder).stdout.startswith("0-118-1..3,0-777-1..9,")
    assert (
        run("gtids", "--positions", DOMAINS.folder).stdout == "0-777-9,4294967295-777-1,5-777-123456789012\n"
    )
    # All of domain 0 up to 2, whichever server made it; the rest of the domains is left.
    left = run("gtids", "--positions", "subtract", DOMAINS.folder, "0-118-2,5-777-123456789012").stdout
    assert left == "0-118-3,0-777-3..9,4294967295-777-1\n"
    assert run("gtids", "--positions", "contains", DOMAINS.folder, "0-777-9").returncode == 0
    done = run("gtids", "--positions", "contains", DOMAINS.folder, "0-777-10")
    assert (done.returncode, done.stdout) == (1, "0-777-10\n")


def test_a_position_stands_for_all_of_its_domain() -> None:
    known = GtidSet.parse("0-1-1..5,0-2-6..9,1-1-3")
    assert str(known.position()) == "0-2-9,1-1-3"
    assert str(GtidSet.parse("0-1-5,0-2-9,1-1-3").up_to_last()) == "0-1-1..5,0-2-1..9,1-1-1..3"
    assert str(GtidSet.parse("0-2-9").up_to_here([known])) == "0-1-1..9,0-2-1..9"
    assert str(GtidSet.parse(f"{OWN}:7").up_to_here([known])) == f"{OWN}:7"


def test_what_is_in_only_one_of_two_sets(run: Run) -> None:
    first, second = case("mysql-9.7", "rotate").logs[:2]
    source = "a40b4242-e518-11f1-9090-02fc00000001"
    done = run("gtids", "diff", "--logged", first, second)
    assert done.returncode == 1
    assert done.stdout == f"only in {first}: {source}:1-3\nonly in {second}: {source}:4\n"
    done = run("gtids", "diff", "--format", "json", first, second)
    assert json.loads(done.stdout) == {
        "only_in_first": {"gtids": "", "count": 0},
        "only_in_second": {"gtids": f"{source}:4", "count": 1},
    }
    done = run("gtids", "diff", first, f"{source}:1-3")
    assert (done.returncode, done.stdout) == (0, "")
    assert run("gtids", "diff", first, first, second).returncode == 2
    assert run("gtids", "diff", first, "/no/such/log").returncode == 2
