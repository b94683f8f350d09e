"""A real S3 server on this machine, with logs in it."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

from moto.server import ThreadedMotoServer
from pyarrow import fs

from binlog_kaitai.sources import remote
from tests.corpus_files import case

LOGS = case("mysql-9.7", "rotate").logs

logging.getLogger("werkzeug").setLevel(logging.WARNING)


@contextmanager
def serving() -> Iterator[tuple[fs.S3FileSystem, int]]:
    """A store with an empty bucket, `logs`, and its port; URLs of this process refer to it."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    settings = {
        "AWS_ACCESS_KEY_ID": "somebody",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_REGION": "us-east-1",
    }
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    remote._system.cache_clear()  # an earlier server's, which had another port
    system = fs.S3FileSystem(endpoint_override=f"{host}:{port}", scheme="http", allow_bucket_creation=True)
    system.create_dir("logs")
    yield system, port
    server.stop()
    for name, value in before.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value


@contextmanager
def serving_logs() -> Iterator[str]:
    """The URL of a folder with the logs, and their index, as a server would have them."""
    with serving() as (system, _):
        system.create_dir("logs/server")
        for log in LOGS:
            with system.open_output_stream(f"logs/server/{log.name}") as file:
                file.write(log.read_bytes())
        with system.open_output_stream("logs/server/binlog.index") as file:
            file.write("".join(f"./{log.name}\n" for log in LOGS[1:3]).encode())
        yield "s3://logs/server"
