"""PyArrow, loaded at first use: that takes a tenth of a second, and small logs are often read without it.

Modules import `pa`, `pc` and `pq` from here and use them as the modules they stand for.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


class _Deferred(ModuleType):
    """A module that is loaded when one of its names is first asked for."""

    def __getattr__(self, name: str) -> Any:
        module = import_module(self.__name__)
        self.__dict__.update(module.__dict__)
        return getattr(module, name)


pa: Any = _Deferred("pyarrow")
pc: Any = _Deferred("pyarrow.compute")
pq: Any = _Deferred("pyarrow.parquet")
