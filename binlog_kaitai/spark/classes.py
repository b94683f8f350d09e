"""Spark's Java classes as Java keeps them from one run to the next, so that it starts in half the time.

To load and to verify some 15,000 classes is most of the work of a Spark that does little. Java can write
what came of it into an archive when it ends, and map that into memory when it starts (class data sharing).
It takes no archive that another Java or other jars made, and writes the head of one last, so that one that
was not finished is none.
"""

from __future__ import annotations

import os
import shutil
from hashlib import sha256
from pathlib import Path

#: What Java says of classes that no archive can have is for nobody.
_QUIET = "-Xlog:cds*=off"


def archive_options(*, makes: bool) -> str:
    """Java's options for the archive of the Spark that this process would start; none where there is none.

    Parameters
    ----------
    makes
        Have Java write the archive when it ends, if there is none: some seconds of work, which nobody waits
        for.
    """
    archive = _archive()
    if archive is None:
        return ""
    if archive.exists():
        return f"-XX:SharedArchiveFile={archive} {_QUIET}"
    try:
        archive.parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        return ""
    is_ours = makes and os.access(archive.parent, os.W_OK)
    return f"-XX:ArchiveClassesAtExit={archive} {_QUIET}" if is_ours else ""


def _archive() -> Path | None:
    """Where the archive lies or would lie, in the user's cache: a file for each Java and set of jars."""
    from pyspark.find_spark_home import _find_spark_home

    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        files = [Path(java or "").resolve(strict=True), *sorted(Path(_find_spark_home(), "jars").iterdir())]
        told = [(str(one), (state := one.stat()).st_size, state.st_mtime_ns) for one in files]
    except (OSError, RuntimeError):
        return None
    # Spark divides its list of options at spaces, and `*` and `%` mean something in names for Java.
    path = folder / "binlog-kaitai" / f"spark-{sha256(repr(told).encode()).hexdigest()[:16]}.jsa"
    return path if str(path).isascii() and not set(str(path)) & set(" *%\"'\\:") else None
