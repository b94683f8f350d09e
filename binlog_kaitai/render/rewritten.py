"""The results of `repair` and `slice`, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from binlog_kaitai.render.verify_report import counted, report_object

if TYPE_CHECKING:
    from binlog_kaitai.check import Dropped, Repair, Slice
    from binlog_kaitai.check.format_search import Rebuilt

#: Maximum length of a list in text output.
_MAX_SHOWN = 100


def repair_object(done: Repair) -> dict[str, Any]:
    """The report on a repair as a JSON object."""
    return {
        "file": done.file,
        "target": done.target,
        "damage_count": done.damage_count,
        "corrected": done.corrected,
        "rebuilt": done.rebuilt._asdict() if done.rebuilt else None,
        "lost": [{"start": part.start, "end": part.stop, "reason": part.error.reason} for part in done.lost],
        "dropped": [part._asdict() for part in done.dropped],
        "doubtful": [part._asdict() for part in done.doubtful],
        "lost_bytes": done.lost_bytes,
        "gaps": done.result.gaps(),
        "result": report_object(done.result),
    }


def repair_lines(done: Repair) -> Iterator[str]:
    """The report on a repair as lines of text."""
    result = done.result
    damage = f"damage in {counted(done.damage_count, 'place')}" if done.damage_count else "no damage"
    yield f"{done.file}: {damage}"
    if done.corrected is not None:
        yield f"  corrected: the byte at {done.corrected}, in the first event"
    if done.rebuilt is not None:
        yield f"  rebuilt: the first event, {_rebuilt_text(done.rebuilt)}"
    yield from _shown(
        "lost",
        [f"{one.start} to {one.stop}, {one.error.reason}" for one in done.lost if one.stop > one.start],
    )
    yield from _shown(
        "missing before",
        [f"{one.start}, {one.error.reason}" for one in done.lost if one.stop == one.start],
    )
    yield from _shown("dropped", [_dropped_text(one) for one in done.dropped])
    yield from _shown("doubtful", [f"the event at {one.position}: {one.reason}" for one in done.doubtful])
    kept = f"{counted(result.size, 'byte')}, {counted(result.events, 'event')}, "
    lost = (
        f"; {counted(done.lost_bytes, 'byte')} of the damaged log were not recovered"
        if done.lost_bytes
        else ""
    )
    yield f"{done.target}: {kept}{counted(result.transactions, 'transaction')}, verified{lost}"
    for source, gaps in result.gaps().items():
        ranges = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in gaps)
        yield f"  missing from {source}: {ranges}"


def _shown(what: str, lines: list[str]) -> Iterator[str]:
    yield from (f"  {what}: {line}" for line in lines[:_MAX_SHOWN])
    if len(lines) > _MAX_SHOWN:
        yield f"  {what}: {len(lines) - _MAX_SHOWN:,} more"


def _rebuilt_text(how: Rebuilt) -> str:
    what = f"in the format of server {how.version}"
    if how.is_proven:
        return f"{what}; confirmed by its checksum"
    if how.doubtful:
        return (
            f"{what}; consistent with the events that follow, but {', '.join(how.doubtful)} had to be guessed"
        )
    return f"{what}; consistent with the events that follow"


def _dropped_text(one: Dropped) -> str:
    what = f"transaction {one.gtid}" if one.gtid else counted(one.events, "event")
    return f"{what} at {one.position}, {counted(one.size, 'byte')}: {one.reason}"


def slice_line(done: Slice) -> str:
    """The line on what was copied from a log."""
    counts = (
        counted(done.transactions, "transaction"),
        counted(done.events, "event"),
        counted(done.bytes, "byte"),
    )
    after = f"; skipped {counted(done.open, 'incomplete transaction')}" if done.open else ""
    return f"{done.file} -> {done.target}: {', '.join(counts)}{after}"
