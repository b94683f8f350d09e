"""Logs on an object store are followed like those on a disk."""

from __future__ import annotations

import itertools

import pytest

import binlog_kaitai as bk
from binlog_kaitai.errors import SourceError
from binlog_kaitai.following.follower import Follower
from tests.follow.logs import ROTATED, steps
from tests.object_store import serving_logs


def test_spans_of_logs_on_s3() -> None:
    with serving_logs() as url:
        follower = Follower([f"{url}/binlog.0*"])
        checkpoints = steps(follower, follower.earliest(), max_bytes=3000)
        steps_taken = itertools.pairwise(checkpoints)
        between = [step for start, end in steps_taken for step in follower.steps(start, end)]
        rows = [row for step in between for row in bk.read_events(step.source).read_all().to_pylist()]
        with pytest.raises(SourceError):
            Follower([f"{url}/nothing.000001"]).earliest()
    expected = [row for path in ROTATED for row in bk.read_events(path).read_all().to_pylist()]
    offsets = [(row["file"].rpartition("/")[2], row["position"], row["info"]) for row in expected]
    assert [(row["file"].rpartition("/")[2], row["position"], row["info"]) for row in rows] == offsets
    assert len(checkpoints) > 3
