"""PyArrow, imported at first use: the import takes a tenth of a second, and small logs often need none of it.

Other modules import `pa`, `pc` and `pq` from here instead of importing PyArrow.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


class _Deferred(ModuleType):
    """A module that is imported when one of its names is first used."""

    def __getattr__(self, name: str) -> Any:
        module = import_module(self.__name__)
        self.__dict__.update(module.__dict__)
        return getattr(module, name)


pa: Any = _Deferred("pyarrow")
pc: Any = _Deferred("pyarrow.compute")
pq: Any = _Deferred("pyarrow.parquet")
