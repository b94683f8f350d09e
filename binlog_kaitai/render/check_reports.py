"""The reports of `verify`, `repair` and `slice`, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from binlog_kaitai.core.gtids import GtidSet, ranges_text
from binlog_kaitai.errors import BinlogError, EncryptedError, NotABinlogError
from binlog_kaitai.log.log_end import EndKind

if TYPE_CHECKING:
    from binlog_kaitai.check.format_search import Rebuilt
    from binlog_kaitai.check.repair import Dropped, Repair
    from binlog_kaitai.check.slices import Slice
    from binlog_kaitai.check.verify_report import Report

_ENDS = {
    EndKind.CLEAN: "closed",
    EndKind.IN_USE: "in use; ends with its last complete event",
    EndKind.TRUNCATED: "truncated inside an event",
}


def report_object(report: Report) -> dict[str, object]:
    """The report on one log as a JSON object."""
    end = report.end
    return {
        "file": report.file,
        "ok": report.is_ok,
        "server_id": report.server_id,
        "server_version": report.server_version,
        "first_time": report.first_time,
        "last_time": report.last_time,
        "bytes": report.size,
        "events": report.events,
        "inner_events": report.inner_events,
        "transactions": report.transactions,
        "checksums": report.checksums,
        "bodies": report.bodies,
        "end": end.kind.value if end else None,
        "end_position": end.position if end else None,
        "previous_gtids": _set_text(report.previous_gtids),
        "gtids": _set_text(report.gtids),
        "open_gtid": report.open_gtid,
        "gaps": report.gaps(),
        "missing_before": _set_text(report.missing_before),
        "gap_before": report.gap_before.reason if report.gap_before else None,
        "missing_logs": list(report.gap_before.missing) if report.gap_before else [],
        "half_copy": report.is_half_copy,
        "damage_count": report.damage_count,
        "damages": [_object(error) for error in report.damages],
        "not_checked": None if report.not_checked is None else _object(report.not_checked),
    }


def report_lines(report: Report) -> Iterator[str]:
    """The report on one log as lines of text."""
    yield f"{report.file}: {_state(report)}"
    if report.gap_before is not None:
        yield f"  gap before it: it {report.gap_before.reason}"
    if report.is_half_copy:
        yield "  a half copy: marked as in use, but a later log follows; copy it again"
    inner = f" and {report.inner_events:,} in compressed transactions" if report.inner_events else ""
    counts = counted(report.events, "event") + inner, counted(report.transactions, "transaction")
    yield f"  {counted(report.size, 'byte')}, {', '.join(counts)}"
    checksums = (f"{count:,} {name}" for name, count in report.checksums.items() if count)
    yield f"  checksums: {', '.join(checksums) or 'none'}"
    is_all = report.not_checked is None and report.bodies == report.events + report.inner_events > 0
    of_all = "all" if is_all else f"{report.bodies:,}"
    yield f"  bodies checked against the grammar: {of_all}"
    if report.end is not None:
        after = f", {report.end.bytes_after:,} bytes after it" if report.end.bytes_after else ""
        yield f"  end: {_ENDS[report.end.kind]}, at position {report.end.position}{after}"
    if report.previous_gtids:
        yield f"  previous GTIDs: {report.previous_gtids}"
    if report.missing_before:
        yield f"  missing from earlier logs: {report.missing_before}"
    if report.gtids:
        yield f"  GTIDs: {report.gtids}"
    if report.open_gtid is not None:
        yield f"  ends within the transaction: {report.open_gtid}"
    for source, gaps in report.gaps().items():
        yield f"  gaps in {source}: {ranges_text(gaps, ', ')}"
    for error in report.damages:
        yield f"  damage: {_without_file(error)}"
    if report.damage_count > len(report.damages):
        yield f"  and {report.damage_count - len(report.damages):,} more"
    if report.not_checked is not None:
        yield f"  not checked: {_without_file(report.not_checked)}"


def _state(report: Report) -> str:
    if report.damage_count:
        return f"DAMAGED in {counted(report.damage_count, 'place')}"
    match report.not_checked:
        case None:
            return "ok, BUT ITS SERIES IS NOT COMPLETE" if report.lacks_transactions else "ok"
        case EncryptedError():
            return "NOT CHECKED: encrypted"
        case NotABinlogError():
            return "NOT A BINARY LOG"
    return "NOT CHECKED"


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the plural unless it is 1."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _set_text(gtids: GtidSet | None) -> str | None:
    return None if gtids is None else str(gtids)


def _object(error: BinlogError) -> dict[str, object]:
    return {
        "position": error.position,
        "type": error.event_type,
        "field": error.field,
        "kind": type(error).__name__,
        "reason": error.reason,
    }


def _without_file(error: BinlogError) -> str:
    named = type(error)(error.reason, position=error.position, event_type=error.event_type, field=error.field)
    return str(named)


#: Maximum length of a list in text output.
_MAX_SHOWN = 100


def repair_object(done: Repair) -> dict[str, object]:
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
        [f"{gap.start} to {gap.stop}, {gap.error.reason}" for gap in done.lost if gap.stop > gap.start],
    )
    yield from _shown(
        "missing before",
        [f"{gap.start}, {gap.error.reason}" for gap in done.lost if gap.stop == gap.start],
    )
    yield from _shown("dropped", [_dropped_text(part) for part in done.dropped])
    yield from _shown(
        "doubtful", [f"the event at {event.position}: {event.reason}" for event in done.doubtful]
    )
    kept = f"{counted(result.size, 'byte')}, {counted(result.events, 'event')}, "
    lost = (
        f"; {counted(done.lost_bytes, 'byte')} of the damaged log were not recovered"
        if done.lost_bytes
        else ""
    )
    yield f"{done.target}: {kept}{counted(result.transactions, 'transaction')}, verified{lost}"
    for source, gaps in result.gaps().items():
        yield f"  missing from {source}: {ranges_text(gaps, ', ')}"


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


def _dropped_text(part: Dropped) -> str:
    what = f"transaction {part.gtid}" if part.gtid else counted(part.events, "event")
    return f"{what} at {part.position}, {counted(part.size, 'byte')}: {part.reason}"


def slice_line(done: Slice) -> str:
    """The line on what was copied from a log."""
    numbers = (done.transactions, "transaction"), (done.events, "event"), (done.bytes, "byte")
    counts = (counted(*number) for number in numbers)
    after = f"; skipped {counted(done.open, 'incomplete transaction')}" if done.open else ""
    masked = f"; left out {counted(done.statements, 'statement')}" if done.statements else ""
    return f"{done.file} -> {done.target}: {', '.join(counts)}{after}{masked}"
