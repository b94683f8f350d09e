"""Programs of an unpacked server, as executable scripts.

A program from another Debian suite needs that suite's C library, so it is started through the dynamic loader
that was unpacked with it.
"""

from __future__ import annotations

import os
from pathlib import Path
from shlex import quote

from tools.servers.catalog import ServerError, Spec, cache, find
from tools.servers.packages import install


def program(spec: Spec, name: str) -> Path:
    """A script in the cache that runs the server's program `name` with its own libraries."""
    if spec.clients_of and name != spec.daemon:
        return program(find(spec.clients_of), name)
    script = cache() / "bin" / spec.name / name
    if not script.exists():
        root = install(spec)
        script.parent.mkdir(parents=True, exist_ok=True)
        draft = script.with_name(f".{name}.{os.getpid()}")
        draft.write_text(_npm_script(root, name) if spec.npm else _debian_script(spec, root, name))
        draft.chmod(0o755)
        draft.rename(script)
    return script


def _npm_script(root: Path, name: str) -> str:
    return f'#!/bin/sh\nLD_LIBRARY_PATH={quote(str(root))} exec {quote(str(root / name))} "$@"\n'


def _debian_script(spec: Spec, root: Path, name: str) -> str:
    paths = [path for path in (root / "usr" / "sbin" / name, root / "usr" / "bin" / name) if path.exists()]
    if not paths:
        raise ServerError(f"{spec.name} has no program {name}")
    folders = [folder for folder in (root / "usr" / "lib").iterdir() if folder.name.endswith("-linux-gnu")]
    libraries = ":".join(str(folder) for folder in [*folders, root / "usr" / "lib"])
    arguments = [str(_loader(spec, root)), "--library-path", libraries, str(paths[0])]
    return f'#!/bin/sh\nexec {" ".join(map(quote, arguments))} "$@"\n'


def _loader(spec: Spec, root: Path) -> Path:
    # In old suites, lib64/ld-linux… is an absolute link, which would point outside this root.
    for pattern in (
        "usr/lib/*-linux-gnu/ld-2.*.so",
        "usr/lib*/ld-linux*.so.*",
        "usr/lib/*-linux-gnu/ld-linux*.so.*",
    ):
        for path in sorted(root.glob(pattern)):
            if path.exists():
                return path
    raise ServerError(f"{spec.name}: no dynamic loader among its packages")
