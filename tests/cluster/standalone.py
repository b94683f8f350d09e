"""A Spark master and two workers on 127.0.0.1, as processes that end with this one."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyspark

from tools.servers.server import free_port

SPARK = Path(pyspark.__file__).parent
_GUARD = Path(__file__).with_name("write_guard")

#: No process outlives this many seconds, whatever happens to the tests.
LIFE = 3600
#: Far more than it takes, since machines are busy.
_START = 900
_PR_SET_PDEATHSIG = 1

#: For Java that runs for a minute: optimizing its code would cost more than it saves.
_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

_SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "640m",
    "spark.driver.extraJavaOptions": _JAVA,
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": _JAVA,
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
}


class Cluster:
    """The cluster, and jobs submitted to it.

    Its machines have only the packages that a job brings, and executors' Python processes may write only
    below `writable`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = folder / "work"
        self.writable = folder / "writable"
        self.writable.mkdir()
        self.master = f"spark://127.0.0.1:{free_port()}"
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Cluster:
        port = self.master.rpartition(":")[2]
        self.start("master", [*_daemon("Master"), "--port", port, "--webui-port", "0"])
        wait("the master listens", lambda: listens(int(port)))
        for number in (1, 2):
            own = ["--cores", "1", "--memory", "700m", "--port", "0", "--webui-port", "0"]
            arguments = [*own, "--work-dir", str(self.work / f"worker-{number}"), self.master]
            self.start(
                f"worker-{number}",
                [*_daemon("Worker"), *arguments],
                PYTHONPATH=str(_GUARD),
                WRITABLE=str(self.writable),
            )
        wait("both workers are known", lambda: self.log("master").count("Registering worker") == 2)
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._processes):
            process.terminate()
        for process in self._processes:
            process.wait(60)

    def log(self, name: str) -> str:
        """The last lines that a program has said."""
        return (self.folder / f"{name}.log").read_text(errors="replace")[-6000:]

    def start(
        self, name: str, arguments: Sequence[str], cwd: Path | None = None, **variables: str
    ) -> subprocess.Popen[bytes]:
        """Start a program that ends with the cluster; its output goes to the log of its name."""
        conf = self.folder / "conf"
        conf.mkdir(exist_ok=True)
        settings = {"spark.master": self.master, **_SETTINGS}
        (conf / "spark-defaults.conf").write_text("".join(f"{key} {one}\n" for key, one in settings.items()))
        with (self.folder / f"{name}.log").open("wb") as output:
            process = subprocess.Popen(
                # `timeout` passes SIGTERM on to all processes that a script started.
                ["timeout", "--kill-after=20", str(LIFE), *arguments],
                cwd=cwd or self.folder,
                env=environment(SPARK_CONF_DIR=str(conf), **variables),
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, preexec_fn=_end_with_parent,
            )  # fmt: skip
        self._processes.append(process)
        return process

    def kill_executor(self) -> None:
        """Kill one executor, as a machine that goes down would."""
        found = [
            int(folder.name)
            for folder in Path("/proc").glob("[0-9]*")
            if _is_executor(folder) and os.readlink(folder / "cwd").startswith(str(self.work))
        ]
        assert found, "no executor is running"
        os.kill(min(found), signal.SIGKILL)

    def executors(self) -> int:
        """How many executors there have been."""
        return len(list(self.work.glob("worker-*/app-*/[0-9]*")))


def environment(**variables: str) -> dict[str, str]:
    """Variables of a machine that has Spark and Python, and no package: those of this environment are out
    of sight.
    """
    kept = ("JAVA_HOME", "HOME", "LANG", "TMPDIR", "PIP_CACHE_DIR", "PIP_INDEX_URL", "SSL_CERT_FILE")
    found = {name: os.environ[name] for name in kept if name in os.environ}
    own = str(Path(sys.prefix, "bin"))
    path = [one for one in os.environ["PATH"].split(os.pathsep) if os.path.abspath(one) != own]
    return found | {
        "PATH": os.pathsep.join([str(Path(sys.base_prefix, "bin")), *path]),
        "SPARK_HOME": str(SPARK),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "640m",
        "SPARK_DAEMON_JAVA_OPTS": _JAVA,
        "BINLOG_KAITAI_KERNELS": "compiled",
        **variables,
    }


def wait(what: str, is_so: Callable[[], Any], seconds: float = _START) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.05)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _daemon(name: str) -> list[str]:
    return [
        str(SPARK / "bin/spark-class"),
        f"org.apache.spark.deploy.{name.lower()}.{name}",
        "--host",
        "127.0.0.1",
    ]


def _is_executor(process: Path) -> bool:
    try:
        return b"CoarseGrainedExecutorBackend" in (process / "cmdline").read_bytes()
    except OSError:  # it has ended
        return False


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
