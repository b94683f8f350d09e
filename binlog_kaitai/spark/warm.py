"""A Python with all that the source of a stream imports, which becomes one at once.

For the source of each query of a stream Spark starts a Python, and waits while that imports PySpark, PyArrow
and this package: half a second in which nothing else is done. In a session of the command line one is started
ahead, beside Java. The launcher of workers (`worker-python`) runs this file as a script, without packages;
that has the one which waits make a copy of itself, and ends with the copy. If nobody answers, it becomes such
a Python itself, as if there were no other.
"""

from __future__ import annotations

import os
import socket
import sys

#: Names the socket at which it waits.
WARM = "BINLOG_KAITAI_WARM"

_MODULE = "pyspark.sql.streaming.python_streaming_source_runner"
_STANDARD = (0, 1, 2)


def start() -> dict[str, str]:
    """Start one for this process; gives the variable of the environment by which launchers find it."""
    import atexit
    import subprocess
    import tempfile

    address = os.path.join(tempfile.mkdtemp(prefix="binlog-kaitai-"), "warm")
    command = [sys.executable, "-m", __name__, address]
    # In a session of its own, so that an interrupt from the terminal is for who started it alone.
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
    )
    atexit.register(process.communicate)  # the end of its input is its own
    return {WARM: address}


def serve(address: str) -> None:
    """Wait for who wants a copy, until standard input ends."""
    import runpy
    import select
    import shutil
    import signal

    with socket.socket(socket.AF_UNIX) as listener:
        try:
            listener.bind(address)
            runpy.run_module(_MODULE, run_name="imported")
            import llvmlite.binding  # noqa: F401, which the kernels of a large log need

            import binlog_kaitai.spark.pipeline  # noqa: F401

            listener.listen()
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
                line, _ = listener.accept()
                if os.fork() == 0:
                    listener.close()
                    _become(line)
                line.close()
        finally:
            shutil.rmtree(os.path.dirname(address), ignore_errors=True)


def _become(line: socket.socket) -> None:
    """Be what the process at the other end of a line was started as, with its streams and variables."""
    import runpy
    import signal
    import threading

    def follow() -> None:
        line.recv(1)
        os._exit(1)

    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _, files, _, _ = socket.recv_fds(line, 1, len(_STANDARD))
        for number, file in zip(_STANDARD, files, strict=True):
            os.dup2(file, number)
            os.close(file)
        with line.makefile("rb") as told:
            variables = told.readline().rstrip(b"\n")
        os.environb.clear()
        for one in bytes.fromhex(variables.decode()).split(b"\0"):
            name, _, value = one.partition(b"=")
            os.environb[name] = value
        threading.Thread(target=follow, daemon=True).start()
        runpy.run_module(_MODULE, run_name="__main__", alter_sys=True)
        status = 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def borrow(address: str) -> None:
    """Have a copy do what this process was started for, and wait for its end; raises ``OSError``."""
    variables = b"\0".join(name + b"=" + value for name, value in os.environb.items())
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(address)
        socket.send_fds(line, [b"\0"], _STANDARD)
        line.sendall(variables.hex().encode() + b"\n")
        line.recv(1)


if __name__ == "__main__":
    if sys.argv[1] == "-m":
        try:
            borrow(os.environ[WARM])
        except OSError:
            os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
    else:
        serve(sys.argv[1])
