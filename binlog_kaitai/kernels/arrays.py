"""Names for the types of arrays."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

#: Bytes of a log, or text.
Bytes = NDArray[np.uint8]

#: Offsets, lengths, indexes; numbers in general.
Ints = NDArray[np.int64]
Unsigned = NDArray[np.uint64]

#: Members of small enumerations.
Codes = NDArray[np.int8]

#: Checksums of ranges.
Crc32s = NDArray[np.uint32]

#: One bool for each of something.
Bools = NDArray[np.bool_]

#: In the annotation of an argument of a kernel, or of a field of one: the kernel writes to the array.
WRITTEN = "written"
OutInts = Annotated[Ints, WRITTEN]
OutBytes = Annotated[Bytes, WRITTEN]
OutIndexes = Annotated[NDArray[np.int32], WRITTEN]

#: Whatever its items are.
Array = NDArray[Any]

#: A number in a kernel: an `int` in Python, a NumPy scalar or a register in machine code.
Number = Any


def view_of(data: Bytes) -> memoryview:
    """The bytes of an array, without a copy."""
    # NumPy's stubs say that arrays are buffers from Python 3.12 on only.
    return memoryview(data)  # type: ignore[arg-type]
