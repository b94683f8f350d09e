"""Arguments of a wrong type: the error of every public function names the parameter and the type."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import binlog_kaitai as bk
from tests.corpus_files import case

LOG = case("mysql-9.7", "mixed").logs[0]
FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: getattr(bk, name) for name in bk.__all__ if inspect.isfunction(getattr(bk, name))
}
FUNCTIONS["Filters.of"] = bk.Filters.of


class Thing:
    """Of no type that a function takes."""


KINDS = {Thing: "Thing", list: "list[Thing]", dict: "dict"}


def parameters() -> Iterator[tuple[str, str]]:
    for name, function in FUNCTIONS.items():
        yield from ((name, parameter) for parameter in inspect.signature(function).parameters)


def arguments_of(function: Callable[..., Any], folder: Path) -> dict[str, Any]:
    """Valid ones for the parameters without a default."""
    needed = [one for one in inspect.signature(function).parameters.values() if one.default is one.empty]
    valid = {"source": LOG, "target": folder / "new" if function in (bk.slice, bk.repair) else "2026-01-01"}
    return {one.name: valid[one.name] for one in needed}


@pytest.mark.parametrize(("name", "parameter"), list(parameters()))
def test_a_wrong_type_is_named(name: str, parameter: str, tmp_path: Path) -> None:
    function = FUNCTIONS[name]
    arguments = arguments_of(function, tmp_path)
    for value in (Thing(), [Thing()], {Thing(): 1}):
        if parameter == "start" and isinstance(value, dict):
            continue  # a checkpoint, whose keys are checked
        with pytest.raises(bk.UsageError) as caught:
            function(**{**arguments, parameter: value})
        assert isinstance(caught.value, TypeError)
        assert f"{parameter} must be " in str(caught.value)
        assert str(caught.value).endswith(f"not {KINDS[type(value)]}")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("name", "wrong", "reason"),
    [
        ("read_events", {"database": 3}, "database must be str | Iterable[str] | None, not int"),
        ("read_events", {"table": b"a.b"}, "table must be str | Iterable[str] | None, not bytes"),
        ("read_events", {"threads": "2"}, "threads must be int | None, not str"),
        ("read_rows", {"ddl": Path("schema.sql")}, "ddl must be str | None, not PosixPath"),
        ("read_rows", {"keys": "keyring"}, "keys must be Keys | None, not str"),
        ("read_events", {"progress": 1}, "progress must be Callable[[Source, int], object], not int"),
        ("follow", {"interval": "2s"}, "interval must be float, not str"),
    ],
)
def test_the_error_says_what_is_taken(name: str, wrong: dict[str, Any], reason: str) -> None:
    with pytest.raises(TypeError) as caught:
        FUNCTIONS[name](LOG, **wrong)
    assert reason in str(caught.value)


def test_values_of_related_types_are_taken() -> None:
    names = (one for one in ["t.s"])
    options: dict[str, Any] = {"server_id": np.int64(97), "table": names, "threads": np.int32(1)}
    assert bk.read_events(LOG, verify_checksums=np.True_, **options).read_all().num_rows  # type: ignore[arg-type]
    options = {"server_id": [np.uint32(97)], "verify_checksums": 1}
    assert list(bk.read_rows(LOG, **options))
