"""How kernels run: as machine code if available, or in a fixed mode for tests."""

from __future__ import annotations

import os
from enum import Enum

from binlog_kaitai.errors import UsageError

#: The environment variable that selects the mode; read when the first kernel is defined.
VARIABLE = "BINLOG_KAITAI_KERNELS"


class Mode(Enum):
    """How kernels run.

    AUTO
        As machine code; if there is none, as plain Python, with a warning.
    PYTHON
        As plain Python.
    COMPILED
        As machine code; an error if there is none.
    CHECKED
        As machine code with array bounds checks, which raise an error. Built only by tools.
    """

    AUTO = "auto"
    PYTHON = "python"
    COMPILED = "compiled"
    CHECKED = "checked"


def _chosen() -> Mode:
    name = os.environ.get(VARIABLE) or Mode.AUTO.value
    try:
        return Mode(name)
    except ValueError:
        known = ", ".join(mode.value for mode in Mode)
        raise UsageError(f"{VARIABLE}={name} is not one of {known}") from None


MODE = _chosen()
