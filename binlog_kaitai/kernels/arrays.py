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
OutBools = Annotated[Bools, WRITTEN]
OutCodes = Annotated[Codes, WRITTEN]
OutUnsigned = Annotated[Unsigned, WRITTEN]
OutCrc32s = Annotated[Crc32s, WRITTEN]
Indexes = NDArray[np.int32]
OutIndexes = Annotated[Indexes, WRITTEN]
Halves = NDArray[np.uint16]
OutHalves = Annotated[Halves, WRITTEN]

#: Arrays of two dimensions.
IntTable = Annotated[Ints, 2]
OutIntTable = Annotated[Ints, 2, WRITTEN]
ByteTable = Annotated[Bytes, 2]
OutUnsignedTable = Annotated[Unsigned, 2, WRITTEN]
Crc32Table = Annotated[Crc32s, 2]

#: Whatever its items are.
Array = NDArray[Any]

#: A number in a kernel: an `int` in Python, a NumPy scalar or a register in machine code.
Number = Any


def view_of(data: Bytes) -> memoryview:
    """The bytes of an array, without a copy."""
    # NumPy's stubs say that arrays are buffers from Python 3.12 on only.
    return memoryview(data)  # type: ignore[arg-type]
