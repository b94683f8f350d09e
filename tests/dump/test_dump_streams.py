"""`dump` of what a server sent to a replica, saved after the magic."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.dump.dump_logs import dump
from binlog_kaitai.dump.dump_options import DumpOptions
from tests.extent import sample
from tests.sources.test_saved_streams import WAYS, written


@pytest.mark.parametrize("way", [WAYS[0], *sample(WAYS[1:], 3)], ids=str)
def test_dump_is_that_of_the_client_of_the_log(way: tuple[str, bool, bool], tmp_path: Path) -> None:
    """With one more event, and other positions."""
    log, stream = written(way, tmp_path)
    size = next(iter(bk.open(stream))).end_position - len(MAGIC)

    def lines(path: Path, moved: int) -> Iterator[str]:
        output = io.BytesIO()
        dump(str(path), output.write, DumpOptions(verbose=1, base64_output="decode-rows"))  # type: ignore[arg-type]
        for line in output.getvalue().decode("utf-8", "replace").splitlines():
            yield re.sub(r"# at (\d+)$", lambda found: f"# at {int(found[1]) - moved}", line)

    moved = list(lines(stream, size))
    index = next(number for number, line in enumerate(moved) if "Rotate to binlog.000010  pos: 4" in line)
    assert moved[index - 1] == f"# at {4 - size}"
    assert moved[: index - 1] + moved[index + 1 :] == list(lines(log, 0))
