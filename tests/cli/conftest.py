"""The command line tool, in this process or in its own."""

from __future__ import annotations

import gc
import io
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from binlog_kaitai.cli import main
from binlog_kaitai.text.output_text import ENCODING_ERRORS

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def run() -> Run:
    """Run `binlog-kaitai` with arguments and return the finished process with its texts.

    Starting Python takes longer than most commands do, so only what reads stdin gets a process of its own.
    """

    def call(*arguments: object, data: bytes | None = None) -> subprocess.CompletedProcess[str]:
        words = list(map(str, arguments))
        command = [sys.executable, "-m", "binlog_kaitai", *words]
        if data is None:
            code, output, errors = _in_this_process(words)
        else:
            done = subprocess.run(command, input=data, capture_output=True, timeout=120)
            code, output, errors = done.returncode, done.stdout, done.stderr
        return subprocess.CompletedProcess(command, code, output.decode(), errors.decode())

    return call


def _in_this_process(words: list[str]) -> tuple[int, bytes, bytes]:
    """Exit code, and the output on stdout and stderr, whether written by Python or to the descriptor."""
    thresholds = gc.get_threshold()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        with (
            warnings.catch_warnings(),
            _redirected("stdout", 1, output.fileno()),
            _redirected("stderr", 2, errors.fileno()),
        ):
            warnings.simplefilter("default")
            code = _exit_code(words)
        gc.set_threshold(*thresholds)
        output.seek(0)
        errors.seek(0)
        return code, output.read(), errors.read()


def _exit_code(words: list[str]) -> int:
    try:
        main(words)
    except SystemExit as ended:
        return int(ended.code or 0)


@contextmanager
def _redirected(name: str, descriptor: int, target: int) -> Iterator[None]:
    """Have a standard stream and its descriptor write to another file."""
    before, kept = getattr(sys, name), os.dup(descriptor)
    before.flush()
    os.dup2(target, descriptor)
    stream = io.TextIOWrapper(
        os.fdopen(descriptor, "wb", closefd=False), encoding="utf-8", errors=ENCODING_ERRORS
    )
    setattr(sys, name, stream)
    try:
        yield
    finally:
        stream.flush()
        setattr(sys, name, before)
        os.dup2(kept, descriptor)
        os.close(kept)
