"""Each log of the corpus, in the modes of a dump, against the client of its server, run here and now."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from binlog_kaitai.render.dump import Base64Output, DumpOptions, dump
from tests import corpus_files
from tests.render.dump_cases import CASES, DumpCase, ask, normalised

pytestmark = pytest.mark.server

MODES = {
    "plain": ((), DumpOptions()),
    "v": (("-v",), DumpOptions(verbose=1)),
    "vv": (("-vv",), DumpOptions(verbose=2)),
    "short": (("-s",), DumpOptions(short_form=True)),
    "hexdump": (
        ("-H", "-v", "--base64-output=decode-rows"),
        DumpOptions(hexdump=True, verbose=1, base64_output=Base64Output.DECODE_ROWS),
    ),
    "metadata": (
        ("--print-table-metadata", "--base64-output=decode-rows"),
        DumpOptions(print_table_metadata=True, base64_output=Base64Output.DECODE_ROWS),
    ),
}
#: Logs whose client stops: see docs/supported.md.
_CLIENT_STOPS = ("types_v1_rows", "types_old_temporal")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "server", ["mysql-5.6", "mysql-9.7", "mariadb-10.5", "mariadb-10.11", "mariadb-11.8"]
)
def test_logs_read_as_the_client_prints_them(
    server: str, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    arguments, options = MODES[mode]
    for log in corpus_files.logs():
        if log.case.folder.parent.name != server or log.case.folder.name in _CLIENT_STOPS:
            continue
        pieces: list[bytes] = []
        dump(str(log.path), pieces.append, DumpOptions(**{**vars(options), "local_load": str(tmp_path)}))
        assert normalised(b"".join(pieces)) == ask(server, [str(log.path)], arguments), log.id


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_is_kept_is_what_the_clients_print(case: DumpCase) -> None:
    assert ask(case.server, case.paths, case.arguments) == case.expected
