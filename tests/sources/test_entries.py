"""Every function that reads logs takes keys, and treats an encrypted log like the plain one."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import binlog_kaitai as bk
from binlog_kaitai.cli.app import app
from binlog_kaitai.errors import EncryptedError, FilterWarning, UsageError
from tests.corpus_files import Case, special_cases
from tests.sources.test_encrypted import keys_of

ENCRYPTED = special_cases("encrypted")


def _follow(source: str, **options: Any) -> list[bytes]:
    return [event.raw for event in bk.follow(source, idle_timeout=0, **options)]


def _follow_rows(source: str, **options: Any) -> list[Any]:
    rows = bk.follow_rows(source, idle_timeout=0, **options)
    return [replace(row, schema=None) for row in rows]  # type: ignore[arg-type]


def _read_rows(source: str, **options: Any) -> list[Any]:
    return [replace(row, schema=None) for row in bk.read_rows(source, **options)]  # type: ignore[arg-type]


def _stats(source: str, **options: Any) -> Any:
    stats = bk.stats(source, **options)
    if stats.error is not None:
        raise stats.error
    return stats.totals, [part.objects() for part in stats.parts.values()]


def _verify(source: str, **options: Any) -> list[Any]:
    (found,) = bk.verify(source, **options)
    if found.not_checked is not None:
        raise found.not_checked
    return [found.is_ok, found.size, found.events, str(found.gtids)]


def _find(source: str, **options: Any) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FilterWarning)  # the log begins later
        try:
            return bk.find("2001-01-01", source, **options).to_pylist()
        except UsageError as none:  # a log without a transaction
            return [str(none)]


def _copied(copy: Callable[..., object], source: str, **options: Any) -> bytes:
    copy(source, f"{source}.copy", overwrite=True, **options)
    return Path(f"{source}.copy").read_bytes()


#: What reads logs, and its result as something that can be compared.
READERS: dict[str, Callable[..., Any]] = {
    "find": _find,
    "follow": _follow,
    "follow_rows": _follow_rows,
    "gtids": lambda source, **options: str(bk.gtids(source, **options)),
    "open": lambda source, **options: [event.raw for event in bk.open(source, **options)],
    "read_changes": lambda source, **options: bk.read_changes(source, **options).read_all().to_pylist(),
    "read_ddl": lambda source, **options: bk.read_ddl(source, **options).read_all().to_pylist(),
    "read_events": lambda source, **options: bk.read_events(source, **options).read_all().to_pylist(),
    "read_rows": _read_rows,
    "read_transactions": lambda source, **options: (
        bk.read_transactions(source, **options).read_all().to_pylist()
    ),
    "repair": partial(_copied, bk.repair),
    "slice": partial(_copied, bk.slice),
    "sql_script": lambda source, **options: list(bk.sql_script(source, allow_unnamed=True, **options)),
    "stats": _stats,
    "verify": _verify,
}

#: Commands without options about keys, and why.
WITHOUT_KEYS = {
    "fetch": "servers send plain logs",
    "lake": "a lake is not a log",
    "pipeline": "other processes read the logs: the environment names the keys",
}


def test_all_readers_are_here() -> None:
    functions = (getattr(bk, name) for name in bk.__all__)
    readers = [
        one for one in functions if inspect.isfunction(one) and "source" in inspect.signature(one).parameters
    ]
    assert {reader.__name__ for reader in readers} == set(READERS)
    assert all("keys" in inspect.signature(reader).parameters for reader in readers)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("case", ENCRYPTED, ids=lambda case: case.id)
def test_functions(case: Case, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = READERS[name]
    monkeypatch.chdir(tmp_path)
    for log, plain in zip(case.logs, case.plain_logs, strict=True):
        path = Path(log.name)
        path.write_bytes(plain.read_bytes())
        expected = read(log.name)
        path.write_bytes(log.read_bytes())
        assert read(log.name, keys=keys_of(case)) == expected
        with pytest.raises(EncryptedError, match="was not given"):
            read(log.name)
        path.unlink()


@pytest.mark.parametrize("name", app.list_commands(None))  # type: ignore[arg-type]
def test_commands_take_keys(name: str) -> None:
    text = CliRunner().invoke(app, [name, "--help"]).output
    assert ("--key-file" in text) == (name not in WITHOUT_KEYS)
