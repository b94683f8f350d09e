"""How tests run: property tests without a time limit for an example, and on CI always with the same examples;
beside each other, where what is dear to start is started once."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")

#: Tests with these markers share a Spark, a set of servers, a browser: one process runs all of a kind.
_TOGETHER = ("spark", "server", "browser")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for kind in _TOGETHER:
            if item.get_closest_marker(kind):
                item.add_marker(pytest.mark.xdist_group(kind))
                break
