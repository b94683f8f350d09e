"""Entry points that read a packed or encrypted log, one of an index file, or one of a server."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from unittest.mock import patch

import binlog_kaitai as bk
from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.check.verify_report import MAX_DAMAGES
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.lines.event_lines import write_json
from binlog_kaitai.live import address, connection, fetch, fetching
from binlog_kaitai.sources.keys import Keys
from binlog_kaitai.sources.source import Source, resolve
from tests.live import scripted_server
from tests.live.fake_source import END_OF_STREAM, TORN
from tests.live.fake_source import Source as ServerLogs
from tests.live.scripted_server import NUMBER, TEXT, Raw, ScriptedServer
from tests.sources.packing import PACKERS, seekable_zstd
from tools.fuzz import values
from tools.fuzz.bases import CORPUS
from tools.fuzz.outcome import Outcome
from tools.fuzz.reading import line_of, lines_of
from tools.fuzz.run import Run

_PACKERS: tuple[Callable[[bytes], bytes], ...] = (*PACKERS.values(), seekable_zstd)

_LOG = "binlog.000001"

#: Lines of index files that name no log.
_LINES = (
    b"", b" ", b"\t./\t", b"#", b".", b"..", b"./", b"/", b"C:\\logs\\" + _LOG.encode(),
    b"..\\" + _LOG.encode(), b"\\\\host\\share\\" + _LOG.encode(), b"a\x1b[2J.000001", b"\0", b"\xff\xfe",
    b"\xef\xbb\xbf", b"n" * 300, b"x/" * 3000, b"mysql://u@127.0.0.1:1/", b"s3://", b"*.000001",
    b"logs.index", b"-", b"\xe2\x80\xa8",
)  # fmt: skip


def _agree(run: Run, name: str, source: Source) -> Outcome:
    """Reader and columns return the same events and error, which `verify --thorough` reports."""
    expected = run.gather(f"{name} read", lambda: map(line_of, bk.open(source)))
    run.differ(f"diff-{name}", expected, run.gather(name, lambda: lines_of(write_json(source))))
    report = run.attempt(f"{name} verify", lambda: scan(source, is_thorough=True)).value
    error = expected.refusal
    if error is None or report is None or report.damage_count > MAX_DAMAGES:
        return expected
    named = [*report.damages, *([] if report.not_checked is None else [report.not_checked])]
    if error.position not in {damage.position for damage in named}:
        run.note(f"verify-blind-{name}", error.reason, "\n".join(map(str, [error, *named])))
    return expected


def packed(run: Run) -> None:
    """A packed log reads like the plain one; one with changed bytes, to an error or to its end."""
    data = run.chance.choice(_PACKERS)(run.data)
    is_changed = run.chance.random() < 0.8
    if is_changed:
        data = _changed(run.chance, data)
    name = "<packed>" if is_changed else run.source.name
    outcome = _agree(run, "packed", Source.of_bytes(data, name))
    if not is_changed:
        run.differ("diff-packed-plain", run.outcomes["read events"], outcome)


def _changed(chance: Random, data: bytes) -> bytes:
    """Data with changes, often close to its start or its end, where headers and tables are."""
    start = chance.choice((0, max(len(data) - 40, 0), chance.randrange(len(data) + 1)))
    start = min(start + chance.randrange(40), len(data))
    stop = start + chance.choice((1, 4, 16))
    return data[:start] + values.spoiled(chance, data[start:stop]) + data[stop:]


@cache
def _encrypted_logs() -> tuple[tuple[Path, Keys], ...]:
    folders = sorted((CORPUS / "encrypted").iterdir())
    return tuple((log, _keys_of(folder)) for folder in folders for log in sorted(folder.glob("*.0*")))


def _keys_of(folder: Path) -> Keys:
    keyring, key_file = folder / "keyring.json", folder / "keys.txt"
    return Keys.of(
        keyring=[keyring] if keyring.exists() else (), key_file=[key_file] if key_file.exists() else ()
    )


def encrypted(run: Run) -> None:
    """An encrypted log of the corpus with changed bytes."""
    path, keys = run.chance.choice(_encrypted_logs())
    data = path.read_bytes()
    for _ in range(run.chance.choice((1, 1, 2))):
        data = _changed(run.chance, data[: run.chance.choice((600, 3000, len(data)))])
    _agree(run, "encrypted", Source.of_bytes(data, "<encrypted>", keys))


def index(run: Run) -> None:
    """An index file with wrong lines yields logs or an error that names it."""
    name = run.path.name.encode()
    lines = [b"./" + name, name, b"/nowhere/" + name, b"D:\\logs\\" + name, b".\\" + name]
    wrong = [values.spoiled(run.chance, name), *run.chance.choices(_LINES, k=2)]
    count = run.chance.choice((0, 1, 2, 4, 3000))
    data = run.chance.choice((b"\n", b"\r\n", b"\n\n")).join(
        run.chance.choices([*lines, *run.chance.choices((lines[0], *wrong), k=2)], k=count)
    )
    data = values.spoiled(run.chance, data) if run.chance.random() < 0.3 else data
    path = run.folder / "logs.index"
    path.write_bytes(data)
    try:
        sources = resolve(str(path))
    except BinlogError as error:
        run.keep("index", Outcome(None, error))
        if error.file != str(path):
            run.note("noplace-index", error.reason, error)
        return
    for source in sources[:2]:
        run.gather("index", lambda source=source: (event.type for event in bk.open(source)))  # type: ignore[misc]


def server(run: Run) -> None:
    """From a server that lies, fetching and reading come to an end, perhaps to an error that names it."""
    chance, folder = run.chance, run.folder / "archive"
    answers = _answers(chance, len(run.data))
    hello = scripted_server.greeting()
    if chance.random() < 0.1:
        hello = values.spoiled(chance, hello) or Raw(b"\0")
    lying = ScriptedServer({_LOG: len(run.data)}, _messages(run), answers=answers, hello=hello)
    lying.closes_after = chance.randrange(40) if chance.random() < 0.1 else None
    with (
        lying,
        patch.object(fetching, "pause_after", lambda failures: 0.0),
        patch.object(fetching, "TRIES", 1),
        patch.object(connection, "_TIMEOUTS", 1),
        patch.object(address, "OPTION_FILES", ()),
        patch.object(scripted_server, "_PATIENCE", 0.2),
    ):
        try:
            for outcome in (
                run.attempt("server fetch", lambda: fetch(lying.url, folder)),
                run.gather("server read", lambda: (event.type for event in bk.open(lying.url))),
            ):
                file = "" if outcome.error is None else str(outcome.error.file)
                if outcome.error is not None and not file.startswith((lying.name, str(folder))):
                    run.note("noplace-server", outcome.error.reason, outcome.error)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _messages(run: Run) -> list[bytes]:
    """A dump of the log, up to its first damage, with changed messages."""
    chance, messages = run.chance, list[bytes]()
    with suppress(BinlogError):
        messages.extend(ServerLogs({_LOG: run.data}).messages(_LOG, 4))
    messages.append(END_OF_STREAM if chance.random() < 0.9 else TORN)
    for _ in range(chance.choice((0, 1, 1, 2))):
        place = chance.randrange(len(messages))
        match chance.randrange(6):
            case 0:
                messages.insert(place, messages[chance.randrange(len(messages))])
            case 1 if len(messages) > 1:
                del messages[place]
            case 2:
                messages[place] = Raw(values.spoiled(chance, messages[place]))
            case 3:
                messages[place:place] = [messages[place]] * chance.choice((3, 50))
            case _:
                messages[place] = values.spoiled(chance, messages[place])
    return messages


def _answers(chance: Random, size: int) -> dict[str, Iterable[bytes]]:
    """A wrong answer to one query, usually none."""
    listed = scripted_server.answer([TEXT, NUMBER], (_LOG, size))
    if chance.random() < 0.7:
        return {}
    place = chance.randrange(len(listed))
    listed[place] = values.spoiled(chance, listed[place])
    words = ("SHOW BINARY LOGS", "SHOW BINARY LOG STATUS", "@@version", "@@server_id", "checksum", "@@")
    return {chance.choice(words): listed}
