"""Runs jobs of `columns.text.jobs` in pieces; the functions of `cells` format values of rare types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from binlog_kaitai.columns.kernel.decoders import length_prefix
from binlog_kaitai.columns.rows.json_kernels import LEVEL, MAX_DEPTH, NO_ROOM, put_document
from binlog_kaitai.columns.text import jobs as kernels
from binlog_kaitai.columns.text.base64 import PAIRS
from binlog_kaitai.columns.text.general import SCRATCH
from binlog_kaitai.columns.text.printed_rows import FULL, STOPPED
from binlog_kaitai.core.grammar import ColumnType, parse_cell
from binlog_kaitai.render.dump.cells import CellText, escapes_of, json_cell
from binlog_kaitai.render.dump.row_programs import Programs

if TYPE_CHECKING:
    from binlog_kaitai.columns.kernel.arrays import Bytes, Ints


#: Initial size of the text buffer, in bytes; a larger one is released.
_ROOM, _MOST_ROOM = 1 << 20, 1 << 26

#: Amount of work from which on kernels are used: about 200 events, or 100 KB of rows.
KERNELS_FROM = 448 << 10


class MismatchError(Exception):
    """Rows that the event reader must print or reject.

    Attributes
    ----------
    job : int
        Index of the job.
    done : int
        How many jobs are done and written.
    """

    def __init__(self, job: int, done: int) -> None:
        super().__init__(job, done)
        self.job, self.done = job, done


class Jobs:
    """Runs jobs.

    Attributes
    ----------
    rows : int
        How many rows were written since the count was last printed.
    """

    def __init__(self, programs: Programs) -> None:
        self.programs = programs
        self.rows = 0
        self._escapes = escapes_of(is_mariadb=programs.is_mariadb)
        self._out = np.empty(0, dtype=np.uint8)
        self._scratch = np.zeros(SCRATCH, dtype=np.int64)
        self._documents = np.empty(0, dtype=np.uint8)
        self._stack = np.empty(MAX_DEPTH * LEVEL, dtype=np.int64)

    def run(self, data: Bytes, ready: Bytes, jobs: Ints) -> Iterator[bytes]:
        """The text of jobs, in pieces, each as soon as it may be written.

        Parameters
        ----------
        data, ready, jobs
            See `columns.text.jobs.put_jobs`.

        Raises
        ------
        MismatchError
            A rows event contradicts its table map; everything that may be written has been.
        """
        if not len(self._out) or len(self._out) > _MOST_ROOM:
            self._out = np.empty(_ROOM, dtype=np.uint8)
        put_jobs, at = kernels.put_jobs.compiled, 0
        state = np.zeros(kernels.JOBS_STATE_SIZE, dtype=np.int64)
        state[kernels.NUMBER] = self.rows
        arrays = self.programs.arrays()
        while True:
            at = put_jobs(
                data,
                ready,
                jobs,
                PAIRS,
                *arrays,
                self._escapes,
                self._scratch,
                self._stack,
                state,
                self._out,
                at,
            )
            if state[kernels.JOB] == len(jobs):
                self.rows = int(state[kernels.NUMBER])
                yield self._out[:at].tobytes()
                return
            is_full = state[4] == FULL
            text = None if is_full or state[4] != STOPPED else self._cell(data, jobs, state)
            if is_full or text is None:
                safe = int(state[kernels.SAFE_END])
                if safe:
                    yield self._out[:safe].tobytes()
                    self._out[: at - safe] = self._out[safe:at].copy()
                    at, state[kernels.SAFE_END] = at - safe, 0
                elif is_full:
                    self._grow(2 * len(self._out), at)
                if not is_full:
                    raise MismatchError(int(state[kernels.JOB]), int(state[kernels.SAFE_JOB]))
                continue
            self._grow(at + len(text), at)
            self._out[at : at + len(text)] = np.frombuffer(text, dtype=np.uint8)
            at += len(text)

    def _grow(self, size: int, used: int) -> None:
        if size > len(self._out):
            grown = np.empty(max(size, 2 * len(self._out)), dtype=np.uint8)
            grown[:used] = self._out[:used]
            self._out = grown

    def _cell(self, data: Any, jobs: Any, state: Any) -> bytes | None:
        """The line of a value that the kernel leaves out; None if it cannot be decoded."""
        job = jobs[state[kernels.JOB]]
        program = self.programs[int(job[3])]
        place, end = int(state[0]), int(job[2])
        step = int(state[2]) - int(self.programs.arrays()[1][int(job[3]), 0])
        _, fixed, prefix, _ = program.steps[step].tolist()
        size = prefix + int(length_prefix(data, place, prefix)) if prefix else fixed
        index, table_map = program.columns[step], program.table_map
        column = table_map.columns[index]
        text: CellText = self.programs.style.texts[column.real_type]
        if place + size > end:
            return None
        try:
            value = None
            if column.real_type == ColumnType.json:
                value = self._document(data, place + prefix, place + size)
            if value is None:
                raw = data[place : place + size].tobytes()
                value = text(parse_cell(table_map, index, raw), column)
        except Exception:  # from the grammar, or generated code on hostile bytes; `row_comments` reports it
            return None
        front, after, null, _ = program.texts[step].tolist()
        state[0] += size
        state[2] += 1
        return program.pool[front:after] + value + program.pool[after:null]

    def _document(self, data: Any, start: int, end: int) -> bytes | None:
        """A JSON document as formatted by `cells`; None for one that the kernel leaves out."""
        room = 2 * (end - start) + (1 << 12)
        while start < end:
            if room > len(self._documents):
                self._documents = np.empty(room, dtype=np.uint8)
            size = put_document.compiled(data, start, end, self._documents, 0, self._stack)
            if size != NO_ROOM:
                break
            room = 2 * len(self._documents)
        if start >= end or size < 0:
            return None
        return json_cell(self._documents[:size].tobytes().decode())
