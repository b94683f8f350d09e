"""A broker of Kafka on this machine, from Maven."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import pytest

from tests.lakes.recipes import ROOT

_POM = """<project><modelVersion>4.0.0</modelVersion><groupId>tests</groupId><artifactId>broker</artifactId>
<version>1</version><dependencies><dependency><groupId>org.apache.kafka</groupId>
<artifactId>kafka_2.13</artifactId><version>4.3.1</version></dependency></dependencies></project>
"""

_PROPERTIES = """process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
log.dirs={folder}/data
num.partitions=3
offsets.topic.replication.factor=1
"""

#: How long a broker may take to start, in seconds.
_START = 120


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Start a broker, with an empty folder for its data; yields its address.

    Skips the test if there is no Maven, or no network.
    """
    (folder / "pom.xml").write_text(_POM)
    build = ["mvn", "--quiet", "--batch-mode", "dependency:build-classpath", "-Dmdep.outputFile=classpath"]
    # Not in the user's repository: Spark reads it, too, and would miss jars that are only described there.
    build.append(f"-Dmaven.repo.local={ROOT / 'build/maven'}")
    try:
        subprocess.run(build, cwd=folder, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("Kafka comes from Maven")
    with socket.socket() as one, socket.socket() as other:
        for free in (one, other):
            free.bind(("127.0.0.1", 0))
        port, controller = (free.getsockname()[1] for free in (one, other))
    text = _PROPERTIES.format(port=port, controller=controller, folder=folder)
    (folder / "server.properties").write_text(text)
    java = ["java", "-Xmx400m", "-cp", (folder / "classpath").read_text().strip()]
    prepare = [*java, "kafka.tools.StorageTool", "format", "--standalone", "-c", "server.properties"]
    subprocess.run([*prepare, "-t", "A" * 21 + "Q"], cwd=folder, check=True, capture_output=True)
    with (folder / "broker.log").open("wb") as log:
        broker = subprocess.Popen(
            [*java, "kafka.Kafka", "server.properties"], cwd=folder, stdout=log, stderr=log
        )
    try:
        _wait(broker, port)
        yield f"127.0.0.1:{port}"
    finally:
        broker.terminate()
        broker.wait(60)


def _wait(broker: subprocess.Popen[bytes], port: int) -> None:
    """Wait until a broker accepts connections."""
    end = monotonic() + _START
    while broker.poll() is None and monotonic() < end:
        with socket.socket() as trial:
            if trial.connect_ex(("127.0.0.1", port)) == 0:
                return
        sleep(0.5)
    raise AssertionError(f"the broker has not started: {broker.poll()}")
