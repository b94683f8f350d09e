"""Orders the jobs of a stretch of events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from binlog_kaitai.log.groups import distinct_values
from binlog_kaitai.rows.text.text_jobs import BASE64, COPY, JOB_SIZE, ROWS_NUMBER

if TYPE_CHECKING:
    from binlog_kaitai.kernels.arrays import Bools, Ints


#: The order of an event's jobs: text that is written before its lines, then its lines; at the end of a
#: statement, the text around its base64, the base64, the rows and their count, and a job after which
#: everything may be written.
NOW_PHASE, HEADER_PHASE, _BEGIN, BODY_PHASE, _END, ROWS_PHASE, _NUMBER, _LAST, _PHASES = range(9)


class JobList(NamedTuple):
    """Jobs, with the indexes of their events in the stretch."""

    jobs: Any
    event_of: Any


class Texts(NamedTuple):
    """Positions of texts, each with its start and end.

    Attributes
    ----------
    of_events : int64 array of shape (events, 3)
        Text written with each event: start of its text, start of its lines, end of both.
    begin, end, number : tuple of int
        Text around base64, and before the row count.
    extra : int64 array of shape (n, 2)
        Text before rows.
    """

    of_events: Any
    begin: Any
    end: Any
    number: Any
    extra: Any


class Acts(NamedTuple):
    """The effects of the events of a stretch, as columns; see `capture.Step`."""

    now: Any
    head: Any
    kept: Any
    flushes: Any
    ends: Any
    has_body: Any
    rows: Any
    extra: Any
    counts: Any
    takes_kept: Any
    state: Any


def next_of(chosen: Bools) -> Any:
    """For each event, the index of the first chosen one at or after it; the number of events if there is
    none.
    """
    count = len(chosen)
    own = np.where(chosen, np.arange(count), count)
    return np.minimum.accumulate(own[::-1])[::-1]


class Plan:
    """The ordered jobs of a stretch.

    Parameters
    ----------
    acts
        The effect of each event.
    bodies, rows : tuple
        Start and end of the bytes of each event, and of its images, with the program for these.
    split
        The event whose lines are separate from its text, -1 for none.
    """

    def __init__(self, acts: Acts, texts: Texts, bodies: Any, rows: Ints, split: int) -> None:
        count = len(acts.state)
        ends = np.flatnonzero(acts.ends)
        # The event that ends each event's statement; `count` if the statement continues after the stretch.
        end_of = next_of(acts.ends)
        members, printed = np.flatnonzero(acts.has_body), np.flatnonzero(acts.rows >= 0)
        safe = self._safe(acts, end_of)
        begins, first_lines, stops = texts.of_events.T
        shown = np.flatnonzero(stops > begins)
        cut = np.where(shown == split, first_lines[shown], stops[shown])
        parts = [(NOW_PHASE, shown, shown, COPY, begins[shown], cut, safe[shown] & (shown != split))]
        if split >= 0:
            own = np.array([split])
            parts.append((HEADER_PHASE, own, own, COPY, first_lines[own], stops[own], safe[own]))
        if len(members):
            parts.append(
                (BODY_PHASE, end_of[members], members, BASE64, bodies[0][members], bodies[1][members], 0)
            )
            used = distinct_values(end_of[members])
            used = used[used < count]
            for phase, (begin, end) in ((_BEGIN, texts.begin), (_END, texts.end)):
                parts.append((phase, used, used, COPY, begin, end, 0))
        programs = np.zeros(count, dtype=np.int64)
        if len(printed):
            programs[printed] = rows[2][printed]
            headed = printed[acts.extra[printed] >= 0]
            begin, end = texts.extra[acts.extra[headed]].T
            parts.append((ROWS_PHASE, end_of[headed], headed, COPY, begin, end, 0))
            owners, kinds = end_of[printed], acts.rows[printed]
            parts.append((ROWS_PHASE, owners, printed, kinds, rows[0][printed], rows[1][printed], 0))
        counted = np.flatnonzero(acts.counts)
        parts.append((_NUMBER, counted, counted, ROWS_NUMBER, *texts.number, 0))
        parts.append((_LAST, ends, ends, COPY, 0, 0, 1))
        keys, events_of, jobs = [], [], []
        for phase, owners, own, kind, starts, stops, is_safe in parts:
            made = np.empty((len(own), JOB_SIZE), dtype=np.int64)
            made[:, 0], made[:, 1], made[:, 2], made[:, 3] = kind, starts, stops, programs[own]
            made[:, 4] = is_safe
            jobs.append(made)
            keys.append((owners * _PHASES + phase) * count + own)
            events_of.append(own)
        order = np.argsort(np.concatenate(keys), kind="stable")
        self._jobs = np.concatenate(jobs)[order]
        self._event_of = np.concatenate(events_of)[order]
        self._keys = np.concatenate(keys)[order]
        self._count = count

    @staticmethod
    def _safe(acts: Acts, end_of: Ints) -> Any:
        """The events after whose text everything may be written: nothing before waits for a later event."""
        numbers = np.arange(len(end_of))
        latest = np.where(acts.head >= 0, next_of(acts.flushes), -1)
        waits = acts.has_body | (acts.rows >= 0)
        latest = np.maximum(latest, np.where(waits, end_of, -1))
        # At the end of a statement, its base64 and rows follow its text.
        return (np.maximum.accumulate(latest) <= numbers) & ~acts.ends

    def between(self, first: tuple[int, int], last: tuple[int, int]) -> JobList:
        """The jobs from one event and phase up to another."""
        keys = [(event * _PHASES + phase) * self._count for event, phase in (first, last)]
        begin, end = np.searchsorted(self._keys, keys).tolist()
        return JobList(self._jobs[begin:end], self._event_of[begin:end])

    def members(self, owner: int, phase: int) -> JobList:
        """The jobs of one phase for the statement that an event ends."""
        return self.between((owner, phase), (owner, phase + 1))

    def left(self, phase: int) -> JobList:
        """The jobs of one phase for the statement that continues after the stretch."""
        return self.members(self._count, phase)

    def rest(self, first: tuple[int, int]) -> JobList:
        """All jobs from an event and phase on, except those of `left`."""
        return self.between(first, (self._count, 0))
