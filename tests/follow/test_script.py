"""The SQL script of logs that are followed, span by span, is that of the logs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from binlog_kaitai.core.filters import Filters
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.following.feed import FeedFollower
from binlog_kaitai.following.span_pages import FollowedPages
from binlog_kaitai.render.sql import OmissionReport, SqlOptions, write_followed, write_sql
from binlog_kaitai.sources.source import Source
from tests.corpus_files import CORPUS, Case, cases
from tests.extent import sample


def _spans(logs: FeedFollower, size: int, **filters: Any) -> Iterator[tuple[Source, Mapping[str, Any]]]:
    before = None
    while before != logs.checkpoint:
        before = logs.checkpoint
        for source in logs.spans(size):
            yield source, filters


def _lines(script: Iterator[memoryview | bytes]) -> list[bytes]:
    return b"".join(map(bytes, script)).splitlines()


@pytest.mark.parametrize("size", [1000, 1 << 20])
@pytest.mark.parametrize("case", sample(cases(), 30, 60), ids=lambda case: case.id)
def test_the_script_is_that_of_the_logs(case: Case, size: int) -> None:
    paths = [str(path) for path in case.logs]
    whole, followed = (OmissionReport(lambda warning: None) for _ in range(2))
    try:
        expected = _lines(write_sql(paths, Filters(), SqlOptions(allow_unnamed=True), whole))
        feed = FeedFollower(paths, "earliest")
    except BinlogError:
        pytest.skip("cannot be read to its end, or not be followed")
    pages = FollowedPages(_spans(feed, size), None)
    found = _lines(write_followed(pages, Filters(), SqlOptions(allow_unnamed=True), followed))
    # The heading names the logs; an open transaction at the end is not yet read.
    is_open = any(b"incomplete transaction" in line for line in expected)
    assert found[1:] == expected[1:] or (is_open and _is_beginning(found[1:], expected[1:]))


def _is_beginning(found: list[bytes], whole: list[bytes]) -> bool:
    same = next(number for number, pair in enumerate(zip(found, whole, strict=False)) if pair[0] != pair[1])
    return whole[same].startswith(b"-- ") and len(found) - same < 5


def test_a_span_within_a_log_has_its_format(tmp_path: Path) -> None:
    """Which says how the server's statements are to be read."""
    log = str(shutil.copy(CORPUS / "mariadb-11.8/workload/binlog.000001", tmp_path))
    expected = _lines(write_sql(log, Filters(), SqlOptions(), OmissionReport(print)))
    feed = FeedFollower([log], "earliest")
    spans = list(_spans(feed, 1000))
    begin = next(number for number, (source, _) in enumerate(spans) if source.span and source.span.start)
    pages = FollowedPages(iter(spans[begin:]), None)
    found = _lines(write_followed(pages, Filters(), SqlOptions(), OmissionReport(print)))
    # After the settings of the script, some of the last statements.
    rest = found[next(number for number, line in enumerate(found) if line.startswith(b"-- ") and number) :]
    assert len(rest) > 50
    assert rest == expected[-len(rest) :]
