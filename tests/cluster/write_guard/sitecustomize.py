"""Prevents every Python process of an executor from writing files, except below `WRITABLE`.

The executors of the cluster in these tests find it by their PYTHONPATH. It stands for machines whose file
systems are read-only; permissions would not stop tests that run as root.
"""

import os
import sys

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_ALLOWED = ("/dev/", os.environ.get("WRITABLE", "/dev/"))


def _refuse(event: str, arguments: tuple) -> None:
    if event == "open":
        path, mode, flags = arguments
        writes = set(mode) & set("wax+") if isinstance(mode, str) else flags & _WRITING
    elif event in ("os.mkdir", "os.rename", "os.remove"):
        path, writes = arguments[1 if event == "os.rename" else 0], True
    else:
        return
    if writes and isinstance(path, str | bytes) and not os.fsdecode(path).startswith(_ALLOWED):
        raise PermissionError(f"an executor must not write {path!r} ({event})")


sys.addaudithook(_refuse)
