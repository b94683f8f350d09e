"""Limits of the C allocator, so that the memory of one block's arrays serves the next block's.

glibc returns the memory of large freed arrays to the system, and gets it back page by page, each with a page
fault. It raises its limits itself, up to the values below, as a program frees larger and larger arrays; until
then, a program that reads one log has paid for most of its arrays, and threads have slowed each other down.
"""

from __future__ import annotations

import ctypes
import os

#: Arrays up to this size are kept when freed; and so much memory in all, in bytes: glibc's own maxima.
_ARRAY, _KEPT = 32 << 20, 64 << 20

#: Parameters of mallopt, from malloc.h.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3

_SETTINGS = "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES"


def keep_freed_memory() -> None:
    """Set the limits, unless the environment sets any; does nothing with another C library than glibc."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None and not any(map(os.environ.get, _SETTINGS)):
        mallopt(_M_MMAP_THRESHOLD, _ARRAY)
        mallopt(_M_TRIM_THRESHOLD, _KEPT)
