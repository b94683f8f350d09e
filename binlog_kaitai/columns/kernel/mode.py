"""How kernels are run: as machine code where it was built, or in one way, as tests ask for."""

from __future__ import annotations

import os
from enum import Enum

from binlog_kaitai.errors import UsageError

#: The environment variable that chooses; it is read once, when the first kernel is made.
VARIABLE = "BINLOG_KAITAI_KERNELS"


class Mode(Enum):
    """How kernels are run.

    AUTO
        As machine code; where there is none, as plain Python, with a warning.
    PYTHON
        As plain Python.
    COMPILED
        As machine code; where there is none, that is an error.
    CHECKED
        As machine code that checks the bounds of arrays: a read or write outside is an error. Tools build it.
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
