"""Spark's Java classes as Java keeps them from one run to the next, so that it starts in half the time.

To load and to verify some 15,000 classes is most of the work of a Spark that does little. Java can write
what came of it into an archive when it ends, and map that into memory when it starts (class data sharing).
It takes no archive that another Java or other jars made.

A damaged archive must not end a run
------------------------------------
1. Java writes a draft, its head last: one that was not finished has none. A later run tries the draft with a
   Java of its own, and gives it a name with its length: from then on it is the archive.
2. One of another length is none. Java would die of one that is cut.
3. Whatever else is wrong with it, Java finds by its checksums, and goes on without it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
import uuid
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from binlog_kaitai.columns.kept_code import users_folder

#: What Java says of classes that no archive can have is for nobody.
_QUIET = "-Xlog:cds*=off"
_CHECKED = "-XX:+VerifySharedSpaces"

#: Seconds after which a draft has no writer, and an archive no user, any more.
_WRITTEN, _UNUSED = 3600, 90 * 86400


def archive_options(*, makes: bool) -> str:
    """Java's options for the archive of the Spark that this process would start; none where there is none.

    Parameters
    ----------
    makes
        Have Java write the archive when it ends, if there is none: some seconds of work, which nobody waits
        for.
    """
    place = _Place.of_spark()
    if place is None:
        return ""
    try:
        if makes:
            place.folder.mkdir(parents=True, exist_ok=True)
        place.clear()
        archive = place.archive()
        is_ours = makes and not place.drafts() and os.access(place.folder, os.W_OK)
    except OSError:
        return ""
    if archive is not None:
        return f"-XX:SharedArchiveFile={archive} {_CHECKED} {_QUIET}"
    return f"-XX:ArchiveClassesAtExit={place.new_draft()} {_QUIET}" if is_ours else ""


class _Place(NamedTuple):
    """Where archives lie, in the user's cache, and what those for this Java and these jars are called."""

    folder: Path
    name: str
    java: str

    @classmethod
    def of_spark(cls) -> _Place | None:
        from pyspark.find_spark_home import _find_spark_home

        home = os.environ.get("JAVA_HOME")
        java = (os.path.join(home, "bin", "java") if home else shutil.which("java")) or ""
        try:
            folder = users_folder()
            files = [Path(java).resolve(strict=True), *sorted(Path(_find_spark_home(), "jars").iterdir())]
            told = [(str(one), (state := one.stat()).st_size, state.st_mtime_ns) for one in files]
        except (OSError, RuntimeError):
            return None
        # Spark divides its list of options at spaces, and `*` and `%` mean something in names for Java.
        is_plain = str(folder).isascii() and not set(str(folder)) & set(" *%\"'\\:")
        name = f"spark-{sha256(repr(told).encode()).hexdigest()[:16]}"
        return cls(folder, name, java) if is_plain else None

    def archive(self) -> Path | None:
        """The archive, if there is one, or a draft that becomes one."""
        for path in self.folder.glob(f"{self.name}-*.jsa"):
            if path.name == self._name_of(path):
                os.utime(path)
                return path
            path.unlink()
        for draft in self.drafts():
            if self._is_whole(draft):
                return draft.rename(self.folder / self._name_of(draft))
        return None

    def _name_of(self, path: Path) -> str:
        return f"{self.name}-{path.stat().st_size}.jsa"

    def drafts(self) -> list[Path]:
        return [*self.folder.glob(f"{self.name}.*.draft")]

    def new_draft(self) -> Path:
        return self.folder / f"{self.name}.{uuid.uuid4().hex}.draft"

    def _is_whole(self, draft: Path) -> bool:
        with draft.open("rb") as file:
            if not any(file.read(4)):
                return False
        with tempfile.TemporaryDirectory() as folder:  # where Java would tell of its death
            command = [self.java, f"-XX:SharedArchiveFile={draft}", _CHECKED, _QUIET, "-version"]
            if subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0:
                return True
        draft.unlink()
        return False

    def clear(self) -> None:
        """Remove what nobody writes or uses any more, also of other Javas and jars."""
        for pattern, age in (("spark-*.draft", _WRITTEN), ("spark-*.jsa", _UNUSED)):
            for path in self.folder.glob(pattern):
                if path.stat().st_mtime < time.time() - age:
                    path.unlink()
