"""The file of `pipeline --servers`: what is wrong is named, with its file, source and key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from binlog_kaitai.errors import UsageError
from binlog_kaitai.pipeline.fleet_file import read_fleet
from binlog_kaitai.pipeline.pipeline_command import _OF_SOURCES, _jobs, pipeline

pytest.importorskip("pyspark")

LOGS = 'logs = "/mnt/logs"\n'


def context(tmp_path: Path, text: str, *options: str) -> click.Context:
    file = tmp_path / "fleet.toml"
    file.write_text(text)
    command = ["--to", str(tmp_path / "lake"), "--servers", str(file), *options]
    return pipeline.make_context("pipeline", command)


def sources(tmp_path: Path, text: str, *options: str) -> dict[str, dict[str, Any]]:
    found = context(tmp_path, text, *options)
    return dict(read_fleet(str(tmp_path / "fleet.toml"), found, _OF_SOURCES))


def test_options_of_a_source_take_precedence(tmp_path: Path) -> None:
    text = '[a]\nlogs = ["/x", "/y"]\nbatch-size = "9k"\nstate = true\ntables = "t.*"\n[b]\nlogs = "/z"\n'
    found = sources(tmp_path, text, "--batch-size", "1m", "--tables", "u.x", "--tables", "u.y")
    names = ("sources", "batch_size", "state", "tables")
    assert [[one[name] for name in names] for one in found.values()] == [
        [("/x", "/y"), "9k", True, ("t.*",)],
        [("/z",), "1m", False, ("u.x", "u.y")],
    ]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ('"mysql://repl@db1/"', "mysql://repl@db1/"),
        ('["mysql://repl@db1:3307/", "mysql://repl@db2"]', "mysql://repl@db1:3307,db2/"),
        ('["mysql://u:p%40w@a/?ssl-mode=REQUIRED", "mysql://u:p%40w@b/?ssl-mode=REQUIRED"]',
         "mysql://u:p%40w@a,b/?ssl-mode=REQUIRED"),
    ],
)  # fmt: skip
def test_urls_of_a_list_are_one_for_failover(url: str, expected: str, tmp_path: Path) -> None:
    assert sources(tmp_path, f"[db]\nurl = {url}\n")["db"]["sources"] == (expected,)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[a\n", "not a valid TOML file: line 1, column 3"),
        ("\xff", "not a valid TOML file"),
        ("", "no source; add one, such as"),
        ("a = 1\n", "[a]: must be a table, such as [db1]"),
        (f'["a/b"]\n{LOGS}', "[a/b]: a name has letters, digits"),
        (f"[_sources]\n{LOGS}", "[_sources]: a name has letters, digits"),
        ("[a]\nstate = true\n", "[a]: one of url and logs is required, and not both"),
        (f'[a]\n{LOGS}url = "mysql://a/"\n', "[a]: one of url and logs is required, and not both"),
        ('[a]\nurl = "/mnt/logs"\n', "[a]: url must be the URL of a server"),
        ('[a]\nurl = "mysql://a:0/"\n', "[a]: the port of a server must be"),
        ('[a]\nurl = ["mysql://u@a/", "mysql://v@b/"]\n', "[a]: the servers of one url must have the same"),
        ("[a]\nlogs = []\n", "[a]: logs must be a text or a list of texts"),
        (f"[a]\n{LOGS}interval = 3\n", "[a]: unknown key interval; use url, logs, tables, view, state,"),
        (f"[a]\n{LOGS}state = 1\n", "[a]: state must be true or false"),
        (f"[a]\n{LOGS}tables = 1\n", "[a]: tables must be a text or a list of texts"),
        (f"[a]\n{LOGS}start = true\n", "[a]: start must be a text or a number"),
        (f'[a]\n{LOGS}mode = "never"\n', "[a]: mode: 'never' is not one of"),
        (f"[a]\n{LOGS}snapshot-readers = 99\n", "[a]: snapshot-readers: 99 is not in the range"),
    ],
)
def test_what_is_wrong_is_named(text: str, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "fleet.toml"
    file.write_bytes(text.encode("latin-1"))
    command = ["--to", str(tmp_path / "lake"), "--servers", str(file)]
    with pytest.raises(UsageError) as caught:
        list(read_fleet(str(file), pipeline.make_context("pipeline", command), _OF_SOURCES))
    assert str(caught.value).startswith(f"{file}: {reason}")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"[a]\n{LOGS}snapshot = true\n", "[a]: --snapshot requires a server"),
        (f'[a]\n{LOGS}start = "soon"\n', "[a]: option --start: 'soon' is not earliest, latest, or JSON"),
        (f'[a]\n{LOGS}batch-size = "big"\n', "[a]: option --batch-size: 'big' is not a valid size"),
        (f'[a]\n{LOGS}mask = "x.y.z=blur"\n', "[a]: "),
    ],
)
def test_options_are_checked_as_on_the_command_line(text: str, reason: str, tmp_path: Path) -> None:
    found = context(tmp_path, text)
    with found, pytest.raises(UsageError) as caught:
        _jobs(found)
    assert str(caught.value).startswith(f"{tmp_path / 'fleet.toml'}: {reason}")


def test_each_source_has_its_folders(tmp_path: Path) -> None:
    text = f'[a]\n{LOGS}[b]\nurl = "mysql://repl@db1/"\n'
    lake = tmp_path / "lake"
    for into, folders, work in (
        ("folders", (lake / "a", lake / "b"), (lake / "a" / "_work", lake / "b" / "_work")),
        ("one", (lake, lake), (lake / "_work" / "a", lake / "_work" / "b")),
    ):
        found = context(tmp_path, text, "--into", into)
        with found:
            jobs = _jobs(found)
        assert [(job.source, job.lake, job.work) for job in jobs] == [
            (name, str(folder), str(place)) for name, folder, place in zip("ab", folders, work, strict=True)
        ]
        assert jobs[1].following.paths == (str(work[1] / "spool"),)
        assert [job.is_shared for job in jobs] == [into == "one"] * 2


def test_all_lakes_have_the_credentials_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "s3.toml"
    file.write_text('AWS_ACCESS_KEY_ID = "key"\nAWS_SECRET_ACCESS_KEY = "hidden"\n')
    options = "--to", "s3://logs/lake", "--storage-options", str(file)
    found = context(tmp_path, f"[a]\n{LOGS}[b]\n{LOGS}", *options)
    with found, pytest.MonkeyPatch.context() as patch:
        patch.setattr("binlog_kaitai.lake.storage.Storage.names", lambda _: [])
        jobs = _jobs(found)
    expected = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "hidden"}
    assert [(job.lake, job.storage_options) for job in jobs] == [
        (f"s3://logs/lake/{name}", expected) for name in "ab"
    ]
    assert "hidden" not in repr(jobs)


def test_partitions_are_one_choice_for_all_sources(tmp_path: Path) -> None:
    found = context(tmp_path, f"[a]\n{LOGS}[b]\n{LOGS}", "--no-dates")
    with found:
        assert [job.has_dates for job in _jobs(found)] == [False, False]
    found = context(tmp_path, f"[a]\n{LOGS}no-dates = true\n")
    with found, pytest.raises(UsageError, match=r"\[a\]: unknown key no-dates"):
        _jobs(found)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["/mnt/logs"], "--servers names the sources; omit SOURCE"),
        (["--spool", "spool"], "--spool and --snapshot-from are for one source; set them in "),
    ],
)
def test_options_that_do_not_fit(options: list[str], reason: str, tmp_path: Path) -> None:
    found = context(tmp_path, f"[a]\n{LOGS}", *options)
    with found, pytest.raises(UsageError) as caught:
        _jobs(found)
    assert str(caught.value).startswith(reason)


def test_a_lake_does_not_become_a_folder_of_lakes(tmp_path: Path) -> None:
    (tmp_path / "lake" / "_pipeline").mkdir(parents=True)
    found = context(tmp_path, f"[a]\n{LOGS}")
    with found, pytest.raises(UsageError, match="is a lake; use a folder for the lakes of the sources"):
        _jobs(found)
