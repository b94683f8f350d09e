"""Write sets that a node of a Galera cluster could not apply, as it saved them (`GRA_*.log`).

    galera/<server>/GRA_THREAD_SEQNO_v2.log

Two nodes run here. A change of one of them alone, with `wsrep_on=OFF`, makes later write sets of the other
fail. The second node starts from a copy of the first one's data, so the state transfer between them only
names the position.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

from tools.corpus.case import CORPUS
from tools.corpus.recorder import facts, writer_for
from tools.servers import Server, ServerError
from tools.servers.catalog import Spec
from tools.servers.packages import install
from tools.servers.server import free_port

SERVERS = ("mariadb-10.11", "mariadb-11.8")
WAIT_SECONDS = 60

#: The Debian suite with the library that a server needs.
_SUITES = {"mariadb-10.11": "bookworm", "mariadb-11.8": "trixie"}

#: A method of state transfer: the donor writes its position into a file, the joiner waits for it.
_TRANSFER = """#!/bin/bash
while [ $# -gt 0 ]; do
    case "$1" in --role) role=$2; shift;; --gtid) gtid=$2; shift;; --address) address=$2; shift;; esac
    shift
done
file="$(dirname "$0")/position"
if [ "$role" = joiner ]; then
    rm -f "$file"
    echo "ready $address/copy"
    for i in $(seq 300); do [ -s "$file" ] && break; sleep 0.1; done
    cat "$file"
else
    echo continue
    sleep 1
    echo "$gtid" > "$file"
    echo "done $gtid"
fi
"""

#: Statements before; those of the second node alone; and those of the first, which fail on the second.
_BEFORE = (
    "CREATE TABLE t.a (id INT PRIMARY KEY, s VARCHAR(20), n DECIMAL(8,3), j JSON, e ENUM('x','y'))",
    "INSERT INTO t.a VALUES (1,'one',1.5,'{\"a\":1}','x'), (2,'two',2.5,NULL,'y'), (3,'three',3,NULL,NULL)",
)
_ALONE = ("DELETE FROM t.a WHERE id IN (1, 3)", "CREATE TABLE t.b (id INT PRIMARY KEY)")
_FAILING = (
    # a row that is not there
    ("DELETE FROM t.a WHERE id=1",),
    # a statement
    ("CREATE TABLE t.b (id INT PRIMARY KEY, s TEXT)",),
    # the second fragment of a streamed transaction
    (
        "SET SESSION wsrep_trx_fragment_unit='statements', SESSION wsrep_trx_fragment_size=1",
        "BEGIN",
        "INSERT INTO t.a VALUES (8,'eight',8,NULL,'y')",
        "DELETE FROM t.a WHERE id=3",
        "COMMIT",
    ),
)
_LAST_ALONE = ("INSERT INTO t.a VALUES (9,'nine',9,NULL,'x')",)
#: Duplicate keys are not ignored: the second node leaves the cluster.
_LAST = (
    "SET SESSION wsrep_trx_fragment_size=0",
    "BEGIN",
    "INSERT INTO t.a VALUES (7,'seven',7,NULL,'y')",
    "UPDATE t.a SET s='zwei' WHERE id=2",
    "INSERT INTO t.a VALUES (9,'neun',9,'[]','y')",
    "COMMIT",
)


def record_galera(name: str) -> list[str]:
    """Create the case of one server; returns what looks wrong."""
    first, second = Server(name, "galera1"), Server(name, "galera2")
    spec = Spec(f"galera-{_SUITES[name]}", "", "", "", 0, _SUITES[name], unpack_only=("galera-4",))
    library = install(spec) / "usr" / "lib" / "galera" / "libgalera_smm.so"
    ports = [free_port(), free_port()]
    writer = writer_for(first, CORPUS / "galera" / name)
    path = os.environ["PATH"]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "wsrep_sst_copy"
        script.write_text(_TRANSFER)
        script.chmod(0o755)
        os.environ["PATH"] = f"{folder}:{path}"
        try:
            _start(first, second, library, ports)
            _run(first, *_BEFORE)
            _run(second, "SET SESSION wsrep_on=OFF", *_ALONE)
            for statements in _FAILING:
                _run(first, *statements)
            _run(second, "SET SESSION wsrep_on=OFF", *_LAST_ALONE)
            _run(first, *_LAST)
            for log in sorted(second.data.glob("GRA_*.log"), key=lambda log: log.name.split("_")[2].zfill(9)):
                writer.add_log(log)
            writer.info(case="galera", **facts(first))
            return writer.oracle()
        finally:
            os.environ["PATH"] = path
            second.stop()
            first.stop()


def _start(first: Server, second: Server, library: Path, ports: list[int]) -> None:
    first.start(fresh=True)
    first.execute("CREATE DATABASE t")
    # Once in a cluster, so that its data have a position.
    for _ in range(2):
        first.stop()
        shutil.rmtree(second.folder, ignore_errors=True)
        shutil.copytree(first.data, second.data, ignore=shutil.ignore_patterns("gvwstate.dat"))
        first.start("--wsrep-new-cluster", *_options(library, ports[0], "gcomm://"))
    second.start(*_options(library, ports[1], f"gcomm://127.0.0.1:{ports[0]}"))
    deadline = time.monotonic() + WAIT_SECONDS
    while second.execute("SHOW STATUS LIKE 'wsrep_local_state_comment'")[0][1] != "Synced":
        if time.monotonic() > deadline:
            raise ServerError(f"the second node does not join the cluster; see {second.error_log}")
        time.sleep(0.2)


def _options(library: Path, port: int, cluster: str) -> list[str]:
    address = f"127.0.0.1:{port}"
    return [
        "--wsrep-on=ON",
        f"--wsrep-provider={library}",
        f"--wsrep-cluster-address={cluster}",
        "--wsrep-cluster-name=corpus",
        f"--wsrep-node-address={address}",
        "--wsrep-node-incoming-address=127.0.0.1",
        "--wsrep-sst-method=copy",
        "--wsrep-provider-options=gcache.size=16M;evs.suspect_timeout=PT60S;evs.inactive_timeout=PT90S;"
        f"base_host=127.0.0.1;base_port={port};gmcast.listen_addr=tcp://{address};"
        f"ist.recv_addr=127.0.0.1:{port + 1}",
        "--innodb-autoinc-lock-mode=2",
        "--log-slave-updates=ON",
    ]


def _run(node: Server, *statements: str) -> None:
    with node.connect() as connection:
        for statement in statements:
            connection.cursor().execute(statement)
    time.sleep(1)  # until the other node has applied them
