"""The jobs of a stretch of events, in their order."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.columns.text.jobs import BASE64, COPY, JOB_SIZE, ROWS_NUMBER

#: What jobs of an event come in which order: its lines; then, where a statement ends, the beginning of its
#: base64 and its end, rows and their number, and a job behind which all may go out.
_HEAD, _BEGIN, BODY_PHASE, _END, ROWS_PHASE, _NUMBER, _LAST, _PHASES = range(8)


class JobList:
    """Jobs, and the numbers of their events in the stretch."""

    def __init__(self, jobs: Any, event_of: Any) -> None:
        self.jobs, self.event_of = jobs, event_of


class Plan:
    """The jobs of a stretch in their order."""

    def __init__(self, blocks: Any, events: Any, limits: Any, constants: Any) -> None:
        rows = blocks.rows
        count = len(events)
        row_of = blocks.number_of_row[events]
        is_rows = row_of >= 0
        self.ends = np.zeros(count, dtype=np.bool_)
        self.ends[is_rows] = rows.is_end[row_of[is_rows]]
        numbers = np.arange(count)
        ends = np.flatnonzero(self.ends)
        # The end of the statement that an event is in; `count` for the one that goes on behind the stretch.
        end_of = np.append(ends, count)[np.searchsorted(ends, numbers)]
        has_body = blocks.has_body[events]
        waiting = np.cumsum(is_rows | has_body)
        at_end = np.append(0, waiting[ends])[np.searchsorted(ends, numbers)]
        parts = [(_HEAD, numbers, numbers, COPY, limits[:, 0], limits[:, 1], waiting == at_end)]
        members = np.flatnonzero(has_body)
        if len(members):
            begins = blocks.lines.as_printed.starts[events[members]]
            sizes = blocks.lines.as_printed.sizes[events[members]]
            parts.append((BODY_PHASE, end_of[members], members, BASE64, begins, begins + sizes, 0))
            used = np.unique(end_of[members])
            used = used[used < count]
            for phase, constant in ((_BEGIN, constants[0]), (_END, constants[1])):
                parts.append((phase, used, used, COPY, constant[0], constant[1], 0))
        programs = np.zeros(count, dtype=np.int64)
        if blocks.rows_job is not None:
            found = np.flatnonzero(is_rows)
            found = found[~rows.is_left_out[row_of[found]]]
            which = row_of[found]
            programs[found] = rows.program_of[which]
            extra = constants[3:][rows.head_of[which]]
            is_told = extra[:, 1] > extra[:, 0]
            told = found[is_told]
            parts.append((ROWS_PHASE, end_of[told], told, COPY, extra[is_told, 0], extra[is_told, 1], 0))
            parts.append(
                (ROWS_PHASE, end_of[found], found, blocks.rows_job, rows.starts[which], rows.ends[which], 0)
            )
            if blocks.rows_number:
                parts.append((_NUMBER, ends, ends, ROWS_NUMBER, constants[2][0], constants[2][1], 0))
        parts.append((_LAST, ends, ends, COPY, 0, 0, 1))
        keys, events_of, jobs, phases = [], [], [], []
        for phase, owners, own, kind, starts, stops, is_safe in parts:
            made = np.empty((len(own), JOB_SIZE), dtype=np.int64)
            made[:, 0], made[:, 1], made[:, 2], made[:, 3] = kind, starts, stops, programs[own]
            made[:, 4] = is_safe
            jobs.append(made)
            keys.append((owners * _PHASES + phase) * count + own)
            events_of.append(own)
            phases.append(np.full(len(own), phase))
        order = np.argsort(np.concatenate(keys), kind="stable")
        self._jobs = np.concatenate(jobs)[order]
        self._event_of = np.concatenate(events_of)[order]
        self._keys = np.concatenate(keys)[order]
        self._count = count
        self.last = self._between(0, 0)

    def _between(self, first: int, last: int) -> JobList:
        """The jobs with keys from one up to another."""
        begin, end = np.searchsorted(self._keys, (first, last)).tolist()
        return JobList(self._jobs[begin:end], self._event_of[begin:end])

    def members(self, owner: int, phase: int) -> JobList:
        """The jobs of a phase of the statement that an event ends."""
        key = owner * _PHASES + phase
        return self._between(key * self._count, (key + 1) * self._count)

    def left(self, phase: int) -> JobList:
        """The jobs of a phase of the statement that goes on behind the stretch."""
        return self.members(self._count, phase)

    def main(self, after: int) -> JobList:
        """All others, behind the statement that an event ends, -1 for all."""
        return self._between((after + 1) * _PHASES * self._count, self._count * _PHASES * self._count)
