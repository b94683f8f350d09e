"""Leaves out and masks columns with personal data, before any value leaves the reader of the rows.

A rule names columns as ``schema.table.column``, ignoring case. Schema, table and column may be globs, and
the column may have several names: ``shop.customers.email|mail``. If several rules apply to a column, the
strictest one does, whatever their order.

A rule must not stop working in silence. So a table that a rule names in full must have a column that the rule
names, in each of its definitions: its name may be misspelt. A statement that renames a masked column or its
table to a name without the same rules is refused, and so is a table whose columns have no names in the log,
except for rules about all columns (``*``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import IntEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, NamedTuple

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.errors import BinlogError, FilterWarning, UsageError, warn
from binlog_kaitai.rows.arrow_types import arrow_type, cast
from binlog_kaitai.values.schema import NameSource, Schema

#: The environment variable that holds the key if no key file is given.
KEY_VARIABLE = "BINLOG_KAITAI_MASK_KEY"

#: Minimum length of the key, in bytes; shorter ones can be guessed.
_LEAST_KEY = 16

#: Size of a block of SHA-256, in bytes.
_BLOCK = 64


#: Event types whose main fields have neither values of rows nor text of statements. A type that is not
#: listed here, such as one of a future server, counts as one that has.
WITHOUT_VALUES = (
    EventType.format_description_event,
    EventType.rotate_event,
    EventType.stop_event,
    EventType.xid_event,
    EventType.previous_gtids_log_event,
    EventType.gtid_log_event,
    EventType.anonymous_gtid_log_event,
    EventType.gtid_tagged_log_event,
    EventType.gtid_event,
    EventType.gtid_list_event,
    EventType.binlog_checkpoint_event,
    EventType.heartbeat_log_event,
    EventType.table_map_event,
    EventType.transaction_payload_event,
    EventType.write_rows_event_v1,
    EventType.update_rows_event_v1,
    EventType.delete_rows_event_v1,
    EventType.write_rows_event,
    EventType.update_rows_event,
    EventType.delete_rows_event,
    EventType.partial_update_rows_event,
    EventType.write_rows_compressed_event_v1,
    EventType.update_rows_compressed_event_v1,
    EventType.delete_rows_compressed_event_v1,
)


def is_text(kind: pa.DataType) -> bool:
    """Whether a type is text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_binary(kind: pa.DataType) -> bool:
    """Whether a type is bytes."""
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def truncated(array: pa.Array, length: int) -> pa.Array:
    """The first characters, or bytes, of values."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    return (pc.binary_slice if is_binary(array.type) else pc.utf8_slice_codeunits)(array, 0, length)


def digested(array: pa.Array, digest: Callable[[bytes], str]) -> pa.Array:
    """The digests of values, as text; each distinct value is computed once. NULL remains NULL."""
    codes = array
    if pa.types.is_nested(array.type):
        codes = pa.array([None if value is None else repr(value) for value in array.to_pylist()], pa.string())
    if not pa.types.is_dictionary(codes.type):
        codes = codes.dictionary_encode()
    digests = [None if value is None else digest(value) for value in _contents(codes.dictionary)]
    return pa.array(digests, pa.string()).take(codes.indices)


def _contents(values: pa.Array) -> Iterator[bytes | None]:
    """The bytes that stand for values: of text its UTF-8, of others their text; the same for all integers."""
    if is_binary(values.type):
        yield from values.to_pylist()
        return
    texts = values if is_text(values.type) else cast(values, pa.string())
    yield from texts.cast(pa.binary()).to_pylist()


@lru_cache(16)
def with_key(key_file: str | None, fingerprint: str) -> Callable[[bytes], str]:
    """The function that computes HMAC-SHA-256 with a key.

    Raises `UsageError`: the key cannot be read, or is not the one with this fingerprint.
    """
    key = read_key(key_file)
    if fingerprint_of(key) != fingerprint:
        where = key_file or f"the environment variable {KEY_VARIABLE}"
        raise UsageError(f"the mask key in {where} is not the same in all processes")
    import hashlib  # which takes a thirtieth of the start of a command

    # HMAC as RFC 2104 defines it. Copies of the two states take three quarters of the time of `hmac`.
    block = (hashlib.sha256(key).digest() if len(key) > _BLOCK else key).ljust(_BLOCK, b"\0")
    inner, outer = (hashlib.sha256(bytes(byte ^ pad for byte in block)) for pad in (0x36, 0x5C))

    def digest(value: bytes) -> str:
        first, second = inner.copy(), outer.copy()
        first.update(value)
        second.update(first.digest())
        return second.hexdigest()

    return digest


def read_key(key_file: str | None) -> bytes:
    """The key in a file, or in the environment.

    Raises `UsageError`: there is none, or it is too short.
    """
    if key_file is None:
        key = os.environ.get(KEY_VARIABLE, "").encode()
        if not key:
            raise UsageError(f"the mask hash needs a key: a file, or the environment variable {KEY_VARIABLE}")
    else:
        try:
            with open(key_file, "rb") as file:
                key = file.read().rstrip(b"\r\n")
        except OSError as error:
            raise UsageError(f"the mask key cannot be read: {key_file}: {error.strerror}") from error
    if len(key) < _LEAST_KEY:
        raise UsageError(f"the mask key has {len(key)} bytes; use at least {_LEAST_KEY}, chosen at random")
    return key


def fingerprint_of(key: bytes) -> str:
    """Identifies a key without revealing it."""
    import hmac

    return hmac.new(key, b"binlog-kaitai mask key", "sha256").hexdigest()[:8]


_GLOB = re.compile(r"[*?\[]")
_METHOD = re.compile(r"null|hash|sha256|truncate:([0-9]{1,9})")


class Method(IntEnum):
    """What happens to a column; the greatest number is the strictest."""

    KEPT = 0
    TRUNCATED = 1
    SHA256 = 2
    HASHED = 3
    NULL = 4
    LEFT_OUT = 5


class Treatment(NamedTuple):
    """A method, and for `Method.TRUNCATED` the number of characters that remain."""

    method: Method
    length: int = 0

    def __str__(self) -> str:
        text = self.method.name.lower().replace("_", " ")
        return f"{text} to {self.length}" if self.length else text

    def strictness(self) -> tuple[Method, int]:
        """Greater for a stricter treatment."""
        return self.method, -self.length


_KEPT = Treatment(Method.KEPT)

#: Methods that keep equal values equal and different ones different, so that a key remains a key.
KEEPS_KEYS = frozenset((Method.KEPT, Method.SHA256, Method.HASHED))


class _MaskRule(NamedTuple):
    text: str
    option: str
    tables: str
    columns: tuple[str, ...]
    treatment: Treatment

    def is_about(self, table: str) -> bool:
        return _matches(self.tables, table)

    def names(self, column: str) -> bool:
        return any(_matches(pattern, column) for pattern in self.columns)

    def is_covered_by(self, other: _MaskRule) -> bool:
        """Whether another rule is the same, possibly for more columns."""
        same = (self.option, self.tables, self.treatment) == (other.option, other.tables, other.treatment)
        return same and {*self.columns} <= {*other.columns}


@dataclass(frozen=True)
class Masks:
    """Rules for columns, created by :meth:`of`. Contains no key, so it can be pickled and shown.

    `include`: of a table that one of these rules names, only these columns.
    `exclude`: columns to leave out.
    `mask`: rules with a method, as ``schema.table.column=METHOD``: ``null``; ``hash``, HMAC-SHA-256 with a
    key; ``sha256``, without a key; or ``truncate:N``, the first N characters.
    `key_file`: the file with the key of ``hash``; None: the environment variable `KEY_VARIABLE`.
    `fingerprint`: identifies the key, which must be the same in each process.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    mask: tuple[str, ...] = ()
    key_file: str | None = None
    fingerprint: str = ""

    @classmethod
    def of(
        cls,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        mask: Iterable[str] = (),
        key_file: str | None = None,
    ) -> Masks:
        """Validate rules, and look up the key if one is needed.

        Raises `UsageError`: a rule is invalid, or the key is missing.
        """
        masks = cls(tuple(include), tuple(exclude), tuple(mask), key_file)
        if not any(rule.treatment.method is Method.HASHED for rule in _rules(masks)):
            if key_file is not None:
                raise UsageError("a mask key is given, but no mask uses the method hash")
            return masks
        mark = fingerprint_of(read_key(key_file))
        return cls(masks.include, masks.exclude, masks.mask, key_file, mark)

    def __bool__(self) -> bool:
        return bool(self.include or self.exclude or self.mask)

    def as_dict(self) -> dict[str, object]:
        """In a form that JSON can represent."""
        return asdict(self)

    @classmethod
    def of_dict(cls, values: Mapping[str, Any]) -> Masks:
        """Restore from :meth:`as_dict`, without validating again."""
        include, exclude, mask = (tuple(values[name]) for name in ("include", "exclude", "mask"))
        return cls(include, exclude, mask, values["key_file"], values["fingerprint"])

    def check_follows(self, before: Masks) -> None:
        """Refuse to continue what was written with other masks, if values would come out that were hidden.

        Raises `UsageError`: a rule is missing, or the key is another one.
        """
        own = _rules(self)
        for rule in _rules(before):
            if not any(rule.is_covered_by(other) for other in own):
                raise UsageError(
                    f"the lake has the {rule.option} {rule.text}, which this run lacks; repeat it"
                )
        if before.fingerprint and before.fingerprint != self.fingerprint:
            raise UsageError("the lake was hashed with another mask key; equal values would no longer match")

    def others(self, table: str) -> list[str]:
        """The rules that are not about a table."""
        return [rule.text for rule in _rules(self) if not rule.is_about(table.casefold())]

    def warn_unseen(self, tables: Iterable[str]) -> None:
        """Warn of the rules that are about none of some tables.

        Warns `FilterWarning`.
        """
        for rule in self.unseen(tables):
            warn(f"no table has the columns {rule}", FilterWarning)

    def unseen(self, tables: Iterable[str]) -> list[str]:
        """The rules that are about none of some tables."""
        folded = [table.casefold() for table in tables]
        return [rule.text for rule in _rules(self) if not any(map(rule.is_about, folded))]

    def treatment(self, table: str, column: str) -> Treatment:
        """What happens to one column of a table, ``schema.table``."""
        return _treatment(_rules_about(self, table.casefold()), column.casefold())

    def treatments(self, schema: Schema) -> dict[str, Treatment]:
        """What happens to the columns of a definition of a table, by their names on the server.

        Raises `UsageError`: the columns have no names and not all rules are about all columns (``*``), or a
        rule names none of them.
        """
        names = tuple(column.name for column in schema.columns)
        is_named = schema.names_from is not NameSource.NONE and all(col.is_named for col in schema.columns)
        return _treatments(self, schema.full_name, names, is_named)

    def schema(self, tables: Iterable[Schema], merged: pa.Schema) -> pa.Schema:
        """The columns of a view after masking, from those of a table's definitions, merged by name.

        Raises `UsageError`: as for :meth:`treatments`; or a column cannot be truncated.
        """
        from binlog_kaitai.rows.change_schemas import own_columns

        fields: dict[str, pa.Field | None] = {field.name: field for field in merged}
        for table in tables:
            treatments = self.treatments(table)
            for name, column in own_columns(table, merged).items():
                if column.name in treatments and name in fields:
                    whole = merged.field(name)
                    fields[name] = _masked_field(whole, treatments[column.name], table.full_name)
        return pa.schema([field for field in fields.values() if field is not None])

    def readable(self, table: Schema, target: pa.Schema, zero_dates: str) -> pa.Schema:
        """The columns to decode for a masked view; values that must not leave the log are not decoded."""
        from binlog_kaitai.rows.change_schemas import own_columns

        treatments = self.treatments(table)
        own = own_columns(table, target) if treatments else {}
        fields = []
        for field in target:
            if field.name in own:
                column = own[field.name]
                method = treatments[column.name].method
                if method >= Method.NULL:
                    continue
                if method is not Method.KEPT:
                    field = pa.field(field.name, arrow_type(column, zero_dates))
            fields.append(field)
        return pa.schema(fields)

    def applied(self, table: Schema, batch: pa.RecordBatch, target: pa.Schema) -> pa.RecordBatch:
        """A batch of :meth:`readable` columns, masked, with the target's columns."""
        from binlog_kaitai.rows.change_schemas import ABSENT_FIELD, own_columns

        treatments = self.treatments(table)
        if not treatments:
            return batch
        own = own_columns(table, target)
        arrays = []
        for field in target:
            treatment = treatments[own[field.name].name] if field.name in own else _KEPT
            if treatment.method >= Method.NULL:
                array = pa.nulls(batch.num_rows, field.type)
            else:
                array = self.masked(batch.column(field.name), treatment)
                if field.name == ABSENT_FIELD.name:
                    array = _only(array, target.names)
            arrays.append(array if array.type == field.type else cast(array, field.type))
        return pa.RecordBatch.from_arrays(arrays, schema=target)

    def masked(self, array: pa.Array, treatment: Treatment, where: str = "") -> pa.Array:
        """The values of a column that is not left out, masked; `where`: which column it is, for an error.

        Raises `UsageError`: they cannot be truncated.
        """
        if treatment.method is Method.NULL:
            return pa.nulls(len(array), array.type)
        if treatment.method is Method.TRUNCATED:
            _check_truncation(array.type, where)
            return truncated(array, treatment.length)
        if treatment.method is Method.SHA256:
            import hashlib

            return digested(array, lambda value: hashlib.sha256(value).hexdigest())
        if treatment.method is Method.HASHED:
            return digested(array, with_key(self.key_file, self.fingerprint))
        return array

    def why_no_key(self, schema: Schema) -> str | None:
        """Why the primary key no longer identifies rows once it is masked; None if it still does."""
        treatments = self.treatments(schema)
        for column in schema.columns:
            treatment = treatments.get(column.name, _KEPT)
            if column.is_primary_key and treatment.method not in KEEPS_KEYS:
                return f"its key column {column.name} is masked or left out; use the mask hash"
        return None

    def reason_of(self, error: BinlogError) -> str:
        """Why bytes cannot be read, without what may quote them."""
        return type(error).__name__ if self else error.reason

    def check_rename(self, old: tuple[str, str], new: tuple[str, str]) -> None:
        """Refuse a statement that renames a column, given as table and column, and so removes its mask.

        Raises `UsageError`: the new name is treated less strictly than the old one.
        """
        before, after = self.treatment(*old), self.treatment(*new)
        if after.strictness() < before.strictness():
            raise UsageError(
                f"{'.'.join(old)} is masked or left out, and a statement renames it to {'.'.join(new)}, "
                f"which is not; add a rule for the new name"
            )

    def check_renames(self, table: str, new_table: str, columns: Iterable[tuple[str, str]] = ()) -> None:
        """Refuse a statement that renames a table or its columns, and so removes a mask.

        `table`, `new_table`: ``schema.table`` before and after the statement.
        `columns`: the old and the new name of each column that is renamed.
        Raises `UsageError`: see `check_rename` and `check_table_rename`.
        """
        if table != new_table:
            self.check_table_rename(table, new_table)
        for old, new in columns:
            self.check_rename((table, old), (table, new))

    def check_table_rename(self, old: str, new: str) -> None:
        """Refuse a statement that renames a table, given as ``schema.table``, and so removes a mask."""
        kept = {(*rule.columns, rule.treatment) for rule in _rules_about(self, new.casefold())}
        if any((*rule.columns, rule.treatment) not in kept for rule in _rules_about(self, old.casefold())):
            raise UsageError(
                f"columns of {old} are masked or left out, and a statement renames it to {new}; add the same "
                f"rules for the new name"
            )


#: Without any rule.
NO_MASKS = Masks()


@lru_cache(16)
def _rules(masks: Masks) -> tuple[_MaskRule, ...]:
    left_out = Treatment(Method.LEFT_OUT)
    return (
        *(_rule(text, text, "include", _KEPT) for text in masks.include),
        *(_rule(text, text, "exclude", left_out) for text in masks.exclude),
        *map(_mask, masks.mask),
    )


def _mask(text: str) -> _MaskRule:
    names, _, method = text.rpartition("=")
    match = _METHOD.fullmatch(method)
    if match is None or (match[1] is not None and int(match[1]) < 1):
        reason = "use schema.table.column=METHOD with null, hash, sha256 or truncate:N"
        raise UsageError(f"mask {text!r} is not valid; {reason}")
    if match[1] is not None:
        treatment = Treatment(Method.TRUNCATED, int(match[1]))
    else:
        treatment = Treatment({"null": Method.NULL, "hash": Method.HASHED}.get(method, Method.SHA256))
    return _rule(text, names, "mask", treatment)


def _rule(text: str, names: str, option: str, treatment: Treatment) -> _MaskRule:
    tables, _, columns = names.strip().casefold().rpartition(".")
    schema, _, table = tables.partition(".")
    items = tuple(columns.split("|"))
    if not (schema and table and all(items)):
        raise UsageError(f"{option} {text!r} does not name columns; use schema.table.column")
    return _MaskRule(text, option, tables, items, treatment)


@lru_cache(1 << 12)
def _rules_about(masks: Masks, table: str) -> tuple[_MaskRule, ...]:
    return tuple(rule for rule in _rules(masks) if rule.is_about(table))


def _treatment(rules: Sequence[_MaskRule], column: str) -> Treatment:
    included = [rule for rule in rules if rule.option == "include"]
    if included and not any(rule.names(column) for rule in included):
        return Treatment(Method.LEFT_OUT)
    treatments = [rule.treatment for rule in rules if rule.names(column)]
    return max(treatments, key=Treatment.strictness, default=_KEPT)


@lru_cache(1 << 12)
def _treatments(masks: Masks, table: str, names: tuple[str, ...], is_named: bool) -> dict[str, Treatment]:
    rules = _rules_about(masks, table.casefold())
    if not rules:
        return {}
    if not is_named and any(rule.columns != ("*",) for rule in rules):
        reason = "neither the log nor a statement names its columns, so those to mask are unknown"
        raise UsageError(f"{table}: {reason}; give its CREATE TABLE by ddl")
    folded = [name.casefold() for name in names]
    for rule in rules:
        if not _GLOB.search(rule.tables) and not any(map(rule.names, folded)):
            advice = "if it was renamed, give all its names: schema.table.old|new"
            missing = " or ".join(rule.columns)
            raise UsageError(f"{rule.option} {rule.text}: {table} has no column {missing}; {advice}")
    return {name: _treatment(rules, key) for name, key in zip(names, folded, strict=True)}


def _matches(item: str, name: str) -> bool:
    return item == name or fnmatchcase(name, item)


def _masked_field(field: pa.Field, treatment: Treatment, table: str) -> pa.Field | None:
    match treatment.method:
        case Method.LEFT_OUT:
            return None
        case Method.HASHED | Method.SHA256:
            return pa.field(field.name, pa.string())
        case Method.TRUNCATED:
            return pa.field(field.name, _check_truncation(field.type, f"{table}, column {field.name}: "))
    return field


def _check_truncation(kind: pa.DataType, where: str) -> pa.DataType:
    """The type of truncated values."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not is_text(kind) and not is_binary(kind):
        raise UsageError(f"{where}truncate is for text and binary columns, not {kind}; use hash or null")
    return kind


def _only(absent: pa.Array, names: Sequence[str]) -> pa.Array:
    """Lists of absent columns without those that are left out."""
    kept = {*names}
    lists = (lacks and [name for name in lacks if name in kept] for lacks in absent.to_pylist())
    return pa.array([lacks or None for lacks in lists], absent.type)
