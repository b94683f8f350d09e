"""Event filters, shared by all commands and functions; named as in mysqlbinlog where it has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime, time, timedelta
from fnmatch import fnmatchcase
from numbers import Integral
from typing import Annotated, Literal, TypedDict, Unpack, get_args

from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.options import Option, takes
from binlog_kaitai.core.times import date_parts
from binlog_kaitai.errors import UsageError

_GLOB = r"[*?\[]"


@dataclass(frozen=True)
class TableSet:
    """A set of tables, by their names as ``schema.table``.

    An item is such a name, a glob (``shop.*``), or a regular expression between slashes that matches the
    whole name (``/shop\\.orders_[0-9]+/``). Items with a ``!`` in front take tables out again. Without any
    other items, all other tables are in the set. A name is always in the set that has it as an item, even
    if it contains characters of globs.

    Its truth value is whether it has any items; iterating gives these.
    """

    included: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    _known: dict[str, bool] = field(default_factory=dict, repr=False, compare=False, hash=False)

    @classmethod
    def of(cls, items: Iterable[str]) -> TableSet:
        """The set of some items.

        Raises `UsageError`: one is not a qualified name, or its regular expression is invalid.
        """
        included, excluded = list[str](), list[str]()
        for item in items:
            text = item.removeprefix("!")
            _check(item, text)
            (included if text == item else excluded).append(text)
        return cls(tuple(sorted({*included})), tuple(sorted({*excluded})))

    def __bool__(self) -> bool:
        return bool(self.included or self.excluded)

    def __iter__(self) -> Iterator[str]:
        return iter((*self.included, *(f"!{item}" for item in self.excluded)))

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        if (known := self._known.get(name)) is None:
            is_in = not self.included or any(matches(item, name) for item in self.included)
            known = is_in and not any(matches(item, name) for item in self.excluded)
            self._known[name] = known
        return known

    def may_be_in(self, schema: str) -> bool:
        """Whether a table of a schema may be in the set."""
        patterns = not self.included or any(map(is_pattern, self.included))
        return patterns or any(item.startswith(f"{schema}.") for item in self.included)


#: Of no items.
NO_TABLES = TableSet()


def is_pattern(item: str) -> bool:
    """Whether an item may stand for several tables."""
    return item.startswith(("/", "!")) or re.search(_GLOB, item) is not None


def matches(item: str, name: str) -> bool:
    """Whether an item, with or without `!`, stands for a table."""
    item = item.removeprefix("!")
    if item.startswith("/"):
        return re.fullmatch(item[1:-1], name) is not None
    return item == name or fnmatchcase(name, item)


def _check(item: str, text: str) -> None:
    if text.startswith("/"):
        try:
            if len(text) < 3 or not text.endswith("/"):
                raise UsageError(f"{item!r} is not a regular expression; put it between slashes")
            re.compile(text[1:-1])
        except re.error as error:
            raise UsageError(f"{item!r} is not a valid regular expression: {error}") from None
        return
    schema, dot, table = text.partition(".")
    if not (schema and dot and table):
        raise UsageError(f"{item!r} is not a qualified table name; use schema.table")


#: How to handle dates that do not exist in the calendar.
ZeroDates = Literal["null", "error", "text"]
ZERO_DATES: tuple[ZeroDates, ...] = get_args(ZeroDates)

#: Largest file offset, and largest server ID.
MAX_POSITION, MAX_SERVER_ID = (1 << 63) - 1, (1 << 32) - 1

#: Maximum length of an invalid value in an error message, in characters.
_MOST_SHOWN = 80

# Patterns are compiled when they are first used.
_WHOLE = r"[+-]?[0-9]{1,20}"
_SIZE = r"(?i)([0-9]{1,19})\s*([kmgt]?)i?b?"
#: A time of day with a zone, possibly after a blank.
_ZONED = r"(.*[T ][0-9:.]*[0-9]) ?(UTC|Z|[+-][0-9]{2}(?::?[0-9]{2})?)"
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}
#: A time before now, such as ``-2h``, ``1d12h ago`` or ``1 hour ago``; a time of today or yesterday.
_AGO = (
    r"(?a)(-)?((?: ?[0-9]{1,9} ?(?:s|sec(?:ond)?s?|m|min(?:ute)?s?|h|hours?|d|days?|w|weeks?)(?![a-z]))+)"
    r"(?(1)| +ago)"
)
_DAY = r"(?a)(today|yesterday)(?: +(.+))?"
_OF_TODAY = r"(?a)[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?: ?(?:UTC|Z|[+-][0-9:]+))?"
_AGO_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


class FiltersWithoutTable(TypedDict, total=False):
    """The keywords of :meth:`Filters.of`, for functions whose `table` does more than filter."""

    start_position: Annotated[
        int | None, Option("In the first file, skip events that begin before this offset, in bytes.")
    ]
    stop_position: Annotated[
        int | None, Option("In the last file, stop at the first event that begins at or after this offset.")
    ]
    start_datetime: Annotated[
        datetime | date | str | None,
        Option(
            "Skip events before this time; text is local time unless it has a zone, as in '... +02:00', or"
            " relative to now: '-2h', 'yesterday 03:00'."
        ),
    ]
    stop_datetime: Annotated[
        datetime | date | str | None, Option("Stop at the first event at or after this time.")
    ]
    include_gtids: Annotated[GtidSet | str | None, Option("Only events of these transactions.")]
    exclude_gtids: Annotated[GtidSet | str | None, Option("No events of these transactions.")]
    database: Annotated[
        str | Iterable[str] | None, Option("Only events that name this schema, or one of these.")
    ]
    event_type: Annotated[
        str | Iterable[str] | None,
        Option(
            "Only events of this type, or one of these, by the server's names: 'QUERY_EVENT'; 'insert',"
            " 'update' and 'delete' are all types of such rows events."
        ),
    ]
    server_id: Annotated[
        int | Iterable[int] | None, Option("Only events that this server, or one of these, wrote first.")
    ]


class FilterOptions(FiltersWithoutTable, total=False):
    """The keywords of :meth:`Filters.of`, which the `read_...` functions pass on."""

    table: Annotated[
        str | Iterable[str] | None,
        Option(
            "Only events that name this table, or one of these: 'schema.table', a pattern such as 'shop.*', a"
            " regular expression between slashes, or one of these after '!' for all other tables."
        ),
    ]


@dataclass(frozen=True)
class Filters:
    """Selects events; an event must match all filters that are set. They are those of :class:`FilterOptions`.

    `start_timestamp`, `stop_timestamp`: the times, in seconds since 1970-01-01 UTC.
    """

    start_position: int | None = None
    stop_position: int | None = None
    start_timestamp: int | None = None
    stop_timestamp: int | None = None
    include_gtids: GtidSet | None = None
    exclude_gtids: GtidSet | None = None
    databases: frozenset[str] = frozenset()
    tables: TableSet = NO_TABLES
    event_types: frozenset[str] = frozenset()
    server_ids: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        for name in ("start_position", "stop_position"):
            position = getattr(self, name)
            if position is not None and not _is_within(position, MAX_POSITION):
                reason = f"{name} {shortened(position)} is not a valid position; use a byte offset from 0"
                raise UsageError(reason)
        for number in self.server_ids:
            if not _is_within(number, MAX_SERVER_ID):
                reason = f"{shortened(number)} is not a valid server ID; use 0 to {MAX_SERVER_ID}"
                raise UsageError(reason)

    @classmethod
    @takes(FilterOptions)
    def of(cls, **options: Unpack[FilterOptions]) -> Filters:
        """Build filters from user input; parameters are named like the command-line options.

        Parameters
        ----------
        **options
            The filters.

        Raises
        ------
        UsageError
            A value is invalid.
        """
        return cls(
            options["start_position"],
            options["stop_position"],
            _timestamp(options["start_datetime"]),
            _timestamp(options["stop_datetime"]),
            _gtids(options["include_gtids"]),
            _gtids(options["exclude_gtids"]),
            frozenset(several(options["database"])),
            TableSet.of(several(options["table"])),
            frozenset(full for name in several(options["event_type"]) for full in _types_named(name)),
            frozenset(_numbers(options["server_id"])),
        )

    def __bool__(self) -> bool:
        unset: tuple[object, ...] = (None, frozenset(), NO_TABLES)
        return any(getattr(self, field.name) not in unset for field in fields(self))

    @property
    def has_gtids(self) -> bool:
        """Whether transactions are chosen by GTID."""
        return self.include_gtids is not None or self.exclude_gtids is not None

    def without(self, gtids: GtidSet | None) -> Filters:
        """These filters, which also exclude the transactions of a set."""
        if gtids is None:
            return self
        excluded = gtids if self.exclude_gtids is None else self.exclude_gtids | gtids
        return replace(self, exclude_gtids=excluded)

    def takes_gtid(self, gtid: str | None) -> bool:
        """Whether events of this transaction match (None: events outside transactions)."""
        if self.include_gtids is not None and (gtid is None or gtid not in self.include_gtids):
            return False
        return self.exclude_gtids is None or gtid is None or gtid not in self.exclude_gtids

    def takes_names(self, schema: str | None, table: str | None) -> bool:
        """Whether an event that names this schema, and possibly this table, matches."""
        if self.databases and schema not in self.databases:
            return False
        return not self.tables or (table is not None and f"{schema}.{table}" in self.tables)

    def takes_schema(self, schema: str) -> bool:
        """Whether what is about a whole schema may be about a match; ``""`` is an unknown schema."""
        if not schema:
            return True
        return (not self.databases or schema in self.databases) and self.tables.may_be_in(schema)


def whole_number(text: str) -> int:
    """Parse a non-negative integer in ASCII digits, of roughly 64 bits at most.

    `int` also accepts digits of other scripts and underscores, and raises its own exception for thousands of
    digits.

    Raises `UsageError`: the text is not such a number.
    """
    if not re.fullmatch(_WHOLE, text.strip()):
        raise UsageError(f"{shortened(text)} is not a valid integer")
    return int(text)


def parse_size(name: str, text: str) -> int:
    """Parse a number of bytes, optionally with a unit: ``67108864``, ``64m``, ``1g``.

    Raises `UsageError`: the text is not a size.
    """
    match = re.fullmatch(_SIZE, text.strip())
    if match is None:
        raise UsageError(f"option {name}: {text!r} is not a valid size; use 67108864 or 64m")
    return int(match[1]) << _UNITS[match[2].lower()]


def at_least_one(name: str, text: str) -> int:
    """A size, which must not be zero.

    Raises `UsageError`: it is zero, or not a size.
    """
    size = parse_size(name, text)
    if not size:
        raise UsageError(f"option {name} must be greater than 0")
    return size


def shortened(value: object) -> str:
    """An invalid value, shortened to fit one line of an error message."""
    if isinstance(value, int) and value.bit_length() > 128:
        return "a number of more than 38 digits"
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def _is_within(value: object, most: int) -> bool:
    return isinstance(value, Integral) and 0 <= int(value) <= most


def _gtids(value: GtidSet | str | None) -> GtidSet | None:
    if isinstance(value, str):
        return GtidSet.parse(value) if value else None
    return value


def several(value: str | Iterable[str] | None) -> Iterable[str]:
    """The items of an option that takes one or more."""
    return [value] if isinstance(value, str) else value or ()


def _numbers(value: int | Iterable[int] | None) -> Iterable[int]:
    return [value] if isinstance(value, int | Integral | str) else value or ()


def _types_named(name: str) -> Iterable[str]:
    # Deferred import: the command line's `--help` does not load the grammar.
    from binlog_kaitai.core.event_types import CHANGE_TYPES, TYPE_NAMES

    if name.lower() in CHANGE_TYPES:
        return CHANGE_TYPES[name.lower()]
    known = {spelling: full for full in TYPE_NAMES for spelling in _spellings(full)}
    wanted = name.upper().replace("-", "_")
    if wanted not in known:
        from difflib import get_close_matches

        near = get_close_matches(wanted, known, 3, 0.4)
        hint = f", like {' or '.join(near)}" if near else ": QUERY_EVENT, GTID_LOG_EVENT, XID_EVENT …"
        raise UsageError(f"{name!r} is not a valid event type; use the server's name{hint}")
    return (known[wanted],)


def _spellings(full: str) -> Iterable[str]:
    return full, full.removesuffix("_EVENT"), full.removesuffix("_LOG_EVENT")


def _timestamp(value: datetime | date | str | None) -> int | None:
    return None if value is None else int(moment_of(value).timestamp())


def moment_of(moment: datetime | date | str) -> datetime:
    """A time with its zone (in text ``Z``, ``UTC``, ``+02:00``), which is the local one if there is none.

    A date is its first moment.

    Raises `UsageError`: it is not a time, or too far away.
    """
    if isinstance(moment, date) and not isinstance(moment, datetime):
        moment = datetime.combine(moment, time())
    parsed = moment if isinstance(moment, datetime) else _parsed(moment)
    try:
        return parsed if parsed.tzinfo is not None else datetime.fromtimestamp(_local_timestamp(parsed), UTC)
    except (ValueError, OverflowError, OSError):
        raise UsageError(f"{parsed} is out of range for this system") from None


def _parsed(text: str) -> datetime:
    try:
        if ago := re.fullmatch(_AGO, text):
            counts = re.findall(r"([0-9]+) ?([a-z])", ago[2])
            return datetime.now(UTC) - sum(
                (timedelta(seconds=int(count) * _AGO_UNITS[unit]) for count, unit in counts), timedelta()
            )
        if day := re.fullmatch(_DAY, f"today {text}" if re.fullmatch(_OF_TODAY, text) else text):
            text = f"{date.today() - timedelta(days=day[1] == 'yesterday')} {day[2] or '00:00'}"
        plain, zone = zoned.groups() if (zoned := re.fullmatch(_ZONED, text)) else (text, "")
        offset = datetime.fromisoformat("2000-01-01T00" + zone.replace("UTC", "Z")).tzinfo
        return datetime(*(date_parts(plain) or (0,) * 7)).replace(tzinfo=offset)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(
            f"{shortened(text)} is not a time; use YYYY-MM-DD hh:mm:ss, followed by a time zone unless it is"
            " local, or -2h, 2 hours ago, 15:29, today, yesterday 03:00"
        ) from None


def _local_timestamp(local: datetime) -> float:
    """A local time as mysqlbinlog reads it (`my_system_gmt_sec`) when the clock is set back or forward.

    Of a time that occurs twice, it takes the second; of one in a skipped hour, the end of that hour.
    """
    second = local.replace(fold=1).timestamp()
    if datetime.fromtimestamp(second) == local.replace(fold=0):
        return second
    moved = local.replace(fold=0).timestamp()
    if datetime.fromtimestamp(moved) - local.replace(fold=0) != timedelta(hours=1):
        return moved
    return moved - timedelta(minutes=local.minute, seconds=local.second).total_seconds()
