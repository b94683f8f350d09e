"""A kernel that finds the step of each event from its shape and the preceding state."""

from __future__ import annotations

from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.kernels.compile import kernel


@kernel
def follow_steps(shapes: Ints, at: int, end: int, state: int, table: Ints, states: Ints, out: Ints) -> int:
    """Note the step of each event from `at` on; gives where there is none.

    `table` has the step for each state and shape, `states` the state after each step. A negative step means
    that there is none yet.
    """
    while at < end:
        shape = shapes[at]
        if state < 0 or state >= table.shape[0] or shape < 0 or shape >= table.shape[1]:
            break
        step = table[state, shape]
        if step < 0 or step >= states.shape[0]:
            break
        out[at] = step
        state = states[step]
        at += 1
    return at
