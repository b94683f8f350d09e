"""Spark Connect as in docs/spark.md, with a client that has no Spark."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cluster.recipe import HOST, TABLE, block, commands, replaced, same
from tests.cluster.standalone import LIFE, SPARK, Cluster, listens, wait
from tools.servers.server import free_port

pytestmark = pytest.mark.cluster

_JOB = """
import pyarrow.parquet as pq

options = {{"table": {table!r}, "splitSize": "2m"}}
pq.write_table(spark.read.format("binlog").options(**options).load({log!r}).toArrow(), "batch.parquet")
stream = spark.readStream.format("binlog").options(**options).load({log!r}).writeStream.format("parquet")
query = stream.option("checkpointLocation", {checkpoint!r}).trigger(availableNow=True).start({stream!r})
query.awaitTermination()
"""


def test_a_batch_and_a_stream(
    workplace: Path, client: Path, cluster: Cluster, log: Path, expected: pa.Table, tmp_path: Path
) -> None:
    port = free_port()
    here = {"$SPARK_HOME": str(SPARK), HOST: cluster.master}
    settings = {"spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": port}
    options = " ".join(f"--conf {name}={value}" for name, value in settings.items())
    line = replaced(commands("start-connect-server.sh")[-1], here)
    server = cluster.start("connect", ["bash", "-c", f"{line} {options}"], workplace)
    wait("the server of Spark Connect listens", lambda: listens(port) or server.poll() is not None)
    assert server.poll() is None, cluster.log("connect")

    archive = workplace / "binlog-kaitai.tar.gz"
    address = {"sc://host:15002": f"sc://127.0.0.1:{port}", "binlog-kaitai.tar.gz": str(archive)}
    text = replaced(block("python", "sc://host:15002"), address)
    names = {"log": log, "stream": tmp_path / "stream", "checkpoint": tmp_path / "checkpoint"}
    (tmp_path / "job.py").write_text(
        text + _JOB.format(table=TABLE, **{name: str(path) for name, path in names.items()})
    )
    job = cluster.start("client", [str(client), "job.py"], tmp_path)
    assert job.wait(LIFE) == 0, cluster.log("client")
    server.terminate()
    same(pq.read_table(tmp_path / "batch.parquet"), expected)
    same(pq.read_table(tmp_path / "stream"), expected)
