"""Flushes files and folders to disk, and replaces files."""

from __future__ import annotations

import os
from pathlib import Path

from binlog_kaitai.errors import writing_to


def sync(path: Path) -> None:
    """Flush a file or folder to disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def replace_file(path: Path, text: str) -> None:
    """Replace a file atomically: afterwards, either the new or the old text is on disk."""
    draft = path.with_name(f".{path.name}.new")
    with writing_to(str(path)):
        with draft.open("w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
