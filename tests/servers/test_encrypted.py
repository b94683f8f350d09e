"""The scenarios of the corpus on servers that encrypt their logs: each reads like its plain copy."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.sources.source import Source
from binlog_kaitai.views.splits import plan, read_split
from tests.corpus_files import cases
from tests.earlier_logs import files_before
from tests.extent import sample
from tests.sources.test_commands import COMMANDS, run, without_headers
from tools.corpus.case import CaseWriter
from tools.corpus.recorder import Recorder
from tools.corpus.scenario import SCENARIOS, Scenario, all_scenarios, load
from tools.servers import Server
from tools.servers.keys import encryption_options, key_file

pytestmark = pytest.mark.server

#: The key file of a scenario's logs, and the folder of the logs as the server sends them.
_KEYS, _PLAIN = "keys", "plain"

_MORE_COMMANDS = [
    ("transactions", "--format", "json"),
    ("gtids",),
    ("rows",),
    ("sql", "--allow-unnamed", "--undo"),
    ("dump", "--flashback"),
]


class _EncryptingServer(Server):
    """A server that encrypts its logs, however it is restarted."""

    encryption: tuple[str, ...] = ()

    def start(self, *options: str, fresh: bool = False) -> None:
        super().start(*self.encryption, *options, fresh=fresh)


def _record(server: Server, scenario: Scenario, folder: Path) -> None:
    """Run a scenario; leave its logs, the key file and the server's plain copies in a folder."""
    writer = CaseWriter(folder, [])
    recorder = Recorder(server, writer)
    recorder.prepare(*scenario.options)
    recorder.run(scenario)
    recorder.collect(scenario)
    assert recorder.wrong == []
    shutil.copyfile(key_file(server), folder / _KEYS)
    (folder / _PLAIN).mkdir()
    is_mysql = server.spec.flavour == "mysql"
    if is_mysql:
        # With ON, a server does not send transactions without GTIDs.
        server.execute("SET GLOBAL gtid_mode = ON_PERMISSIVE")
    login = ["--host=127.0.0.1", f"--port={server.port}", "--user=root"]
    for log in writer.logs:
        command = [*server.client(), "-R", "--raw", *login, f"--result-file={folder / _PLAIN}/", log.name]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
    if is_mysql:
        server.execute("SET GLOBAL gtid_mode = ON")
    if scenario.options:
        server.restart()


@pytest.fixture(scope="module", params=["mysql-9.7", "mariadb-10.11", "mariadb-11.8"])
def recorded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[Path]]:
    """A folder for each scenario."""
    name = request.param
    server = _EncryptingServer(name, folder=tmp_path_factory.mktemp("server"))
    server.start()
    try:
        server.stop()
        server.encryption = tuple(encryption_options(server))
        server.start()
        scenarios = [
            load(SCENARIOS / "encrypted.sql"),
            *sample([one for one in all_scenarios() if one.runs_on(name)], 8),
        ]
        top = tmp_path_factory.mktemp(name)
        for scenario in scenarios:
            _record(server, scenario, top / scenario.name)
        yield [top / scenario.name for scenario in scenarios]
    finally:
        server.stop()


def _keys(folder: Path) -> bk.Keys:
    path = folder / _KEYS
    return bk.Keys.of(keyring=path) if _is_keyring(path) else bk.Keys.of(key_file=path)


def _is_keyring(path: Path) -> bool:
    return path.read_bytes().startswith(b"{")


def _logs(folder: Path) -> list[Path]:
    return sorted((folder / _PLAIN).iterdir())


def _decrypted(folder: Path, name: str) -> bytes:
    with Source.of_path(str(folder / name), _keys(folder)).open() as stream:
        return stream.read()


def test_decrypted_logs_are_what_the_server_sends(recorded: list[Path]) -> None:
    types = set()
    for folder in recorded:
        for plain in _logs(folder):
            encrypted, expected = (folder / plain.name).read_bytes(), plain.read_bytes()
            assert encrypted != expected
            found = _decrypted(folder, plain.name)
            # A server clears the flag of a log that it did not close when it sends the log.
            begin = 4 + int.from_bytes(expected[13:17], "little")
            assert (
                found[begin - 4 :] == expected[begin - 4 :] if "crash" in folder.name else found == expected
            )
            with bk.open(found) as log:
                types |= {event.type_code for event in log}
    server = recorded[0].parent.name.removesuffix("0")
    scenarios = {folder.name for folder in recorded}
    written = {
        event.type_code for case in cases(server) if case.folder.name in scenarios for event in _all(case)
    }
    assert types >= written


def _all(case: Any) -> Iterator[Any]:
    for log in case.logs:
        yield from case.oracle(log)


@pytest.fixture
def in_turn(
    recorded: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Iterator[Any]]:
    """Each scenario's folder, the names of its logs, and what puts these here, plain or encrypted."""

    def each(count: int = 6) -> Iterator[Any]:
        for folder in sample(recorded, count):
            there = tmp_path / folder.name
            there.mkdir()
            monkeypatch.chdir(there)
            names = [log.name for log in _logs(folder)]

            def use(way: str, folder: Path = folder, names: list[str] = names) -> None:
                for name in names:
                    data = _decrypted(folder, name) if way == _PLAIN else (folder / name).read_bytes()
                    Path(name).write_bytes(data)

            yield folder, names, use

    return each


@pytest.mark.parametrize(
    "command", sample([*COMMANDS, *_MORE_COMMANDS], 4), ids=lambda command: " ".join(command[:3])
)
def test_commands(in_turn: Callable[..., Iterator[Any]], command: tuple[str, ...]) -> None:
    # `explain` takes the most time by far.
    for folder, names, use in in_turn(2 if command[0] == "explain" else 6):
        kind = "--keyring" if _is_keyring(folder / _KEYS) else "--key-file"
        for group in [[name] for name in names] if command[0] in ("repair", "slice") else [names]:
            use(_PLAIN)
            expected = run(command, *group)
            use("encrypted")
            code, output, data = run(command, kind, str(folder / _KEYS), *group)
            if command[0] == "explain" and kind == "--keyring":
                output = without_headers(output)
            assert (code, output, data) == expected


def _rows(names: list[str], size: int, keys: bk.Keys | None, view: str) -> list[dict[str, Any]]:
    splits = plan(names, size, keys)
    return [
        row
        for split in splits
        for batch in read_split(split, view, earlier=files_before(splits, split))
        for row in batch.to_pylist()
    ]


@pytest.mark.parametrize("view", ["events", "transactions", "changes"])
def test_rows_at_any_split_size(in_turn: Callable[..., Iterator[Any]], view: str) -> None:
    for folder, names, use in in_turn():
        use(_PLAIN)
        expected = _rows(names, 0, None, view)
        use("encrypted")
        for size in sample((0, 20_000, 1000), 2):
            assert _rows(names, size, _keys(folder), view) == expected
