"""Encrypted logs with their keys, and the same logs decrypted by the server.

        encrypted/<server>/binlog.000001 …   as stored on disk
    encrypted/<server>/plain/…           the same, read through a replication connection
    encrypted/<server>/keyring.json      MySQL's keys, or keys.txt with MariaDB's

The oracle (events.tsv.gz, vv.txt.gz) describes the decrypted logs.
"""

from __future__ import annotations

import shutil
import subprocess

from tools.corpus.case import CORPUS
from tools.corpus.recorder import Recorder, writer_for
from tools.corpus.scenario import SCENARIOS, load
from tools.servers import Server
from tools.servers.keys import encryption_options, key_file

SERVERS = ("mysql-9.7", "mariadb-10.11", "mariadb-11.8")


def record_encrypted(name: str) -> list[str]:
    """Create the case of one server; returns what looks wrong."""
    server = Server(name, "encrypted")
    server.start(fresh=True)
    try:
        folder = CORPUS / "encrypted" / name
        writer = writer_for(server, folder)
        recorder = Recorder(server, writer)
        scenario = load(SCENARIOS / "encrypted.sql")
        recorder.prepare(*encryption_options(server))
        recorder.run(scenario)
        recorder.collect(scenario)
        (folder / "plain").mkdir()
        for log in writer.logs:
            _fetch(server, log.name, f"{folder}/plain/")
            (folder / "plain" / log.name).chmod(0o644)
        shutil.copyfile(key_file(server), folder / key_file(server).name)
        writer.logs = [folder / "plain" / log.name for log in writer.logs]
        return writer.oracle() + recorder.wrong
    finally:
        server.stop()


def _fetch(server: Server, log: str, target: str) -> None:
    login = ["--host=127.0.0.1", f"--port={server.port}", "--user=root"]
    subprocess.run(
        [*server.client(), "-R", "--raw", *login, f"--result-file={target}", log],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
