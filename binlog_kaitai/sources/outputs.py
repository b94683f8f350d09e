"""Refuses outputs that are also inputs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

from binlog_kaitai.errors import UsageError


def refuse_inputs(target: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str] | None]) -> None:
    """Refuse to write to a file that is read, under this name, another one, or a link.

    Parameters
    ----------
    target
        The path to write to, which need not exist.
    inputs
        The paths to read; None (a stream) and URLs are not local files.

    Raises
    ------
    UsageError
        The target is one of the inputs.
    """
    for path in inputs:
        with suppress(OSError):
            if path is not None and os.path.samefile(target, path):
                reason = f"is an input, too ({os.fspath(path)}); write to another file"
                raise UsageError(reason, file=os.fspath(target))
