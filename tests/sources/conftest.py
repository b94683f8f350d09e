"""Hides the keys of the user who runs the tests."""

from __future__ import annotations

import pytest

from binlog_kaitai.sources import keys


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (keys.KEYRING, keys.KEYS, keys.KEY_FILE, keys.SECRET, keys.ROUNDS):
        monkeypatch.delenv(name, raising=False)
