"""What a lake leaves out, masks and renames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.core.event_types import type_name
from binlog_kaitai.errors import UsageError
from binlog_kaitai.following.effects import Effect, EffectKind
from binlog_kaitai.following.known_values import KnownValues, packed, unpacked
from binlog_kaitai.lake import ORIGIN
from binlog_kaitai.lake.types import joint_type, type_in_lake
from binlog_kaitai.rows.arrow_types import cast
from binlog_kaitai.rows.row_masks import NO_MASKS, WITHOUT_VALUES, Masks, Method

_WITHHELD = "{}"


@dataclass(frozen=True)
class Rules:
    """Rules for the content of a lake.

    `masks`: columns that are left out or masked. With any, text of statements and other values in the log
    stay out of the lake as well.
    `renames`: schemas, or tables as ``schema.table``, and their names in the lake. An old name with ``*`` or
    ``?`` is that of several, which share tables.
    `bit1_as_boolean`: BIT(1) is boolean.
    """

    masks: Masks = NO_MASKS
    renames: tuple[tuple[str, str], ...] = ()
    bit1_as_boolean: bool = False

    @classmethod
    def of(cls, masks: Masks, renames: Iterable[str], *, bit1_as_boolean: bool = False) -> Rules:
        """Parse renames, as ``old=new``.

        Raises `UsageError`: one is invalid, or two of them conflict.
        """
        pairs = []
        for text in renames:
            old, _, new = text.partition("=")
            is_complete = all((*old.split(".", 1), *new.split(".", 1)))
            if ("." in old) != ("." in new) or not is_complete or _is_glob(new):
                how = "use schema=schema or schema.table=schema.table"
                raise UsageError(f"{text!r} is not a valid rename; {how}")
            pairs.append((old, new))
        for side in range(2):
            names = [pair[side] for pair in pairs]
            if doubled := [name for name in names if names.count(name) > 1]:
                raise UsageError(f"{doubled[0]} occurs twice in the renames")
        return cls(masks, tuple(pairs), bit1_as_boolean)

    def name_of(self, key: tuple[str, str]) -> tuple[str, str]:
        """The schema and name of a table in the lake.

        Raises `UsageError`: another table gets this name.
        """
        if not self.renames:
            return key
        new_names, new_targets = dict(self.renames), {new: old for old, new in self.renames}
        name = ".".join(key)
        if name in new_names:
            schema, _, table = new_names[name].partition(".")
            return schema, table
        if (pair := self._shared(key)) is not None:
            schema, _, table = pair[1].partition(".")
            return schema, table or key[1]
        new = new_names.get(key[0], key[0]), key[1]
        owner = new_targets.get(".".join(new))
        if owner is None and key[0] not in new_names and key[0] in new_targets:
            owner = f"{new_targets[key[0]]}.{key[1]}"
        if owner is not None:
            raise UsageError(f"in the lake, {'.'.join(new)} is {owner}; rename {name}, too")
        return new

    @property
    def has_shared(self) -> bool:
        """Whether several tables may share one in the lake."""
        return any(_is_glob(old) for old, _ in self.renames)

    def is_shared(self, key: tuple[str, str]) -> bool:
        """Whether a table shares one in the lake with others; its rows then have the columns `ORIGIN`."""
        return ".".join(key) not in dict(self.renames) and self._shared(key) is not None

    def _shared(self, key: tuple[str, str]) -> tuple[str, str] | None:
        """The first rename with a glob that is about a table."""
        name = ".".join(key)
        for old, new in self.renames:
            if _is_glob(old) and fnmatchcase(name if "." in old else key[0], old.replace("[", "[[]")):
                return old, new
        return None

    def with_origin(self, batch: pa.RecordBatch, key: tuple[str, str]) -> pa.RecordBatch:
        """Changes of a table, with the columns `ORIGIN` if it shares one in the lake.

        Raises `UsageError`: it has a column of such a name.
        """
        if not self.is_shared(key):
            return batch
        if taken := {name.lower() for name in batch.schema.names}.intersection(ORIGIN):
            reason = (
                f"has a column {min(taken)}, like tables of the lake that several share; omit --rename for it"
            )
            raise UsageError(f"{'.'.join(key)} {reason}")
        for index, (name, text) in enumerate(zip(ORIGIN, key, strict=True)):
            batch = batch.add_column(index, pa.field(name, pa.string()), pa.repeat(text, batch.num_rows))
        return batch

    def without_texts(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A batch of events or transactions; with masks, without the text that may have values of rows."""
        if not self.masks:
            return batch
        for name in ("info", "statement"):
            index = batch.schema.get_field_index(name)
            if index < 0:
                continue
            field = batch.schema.field(index)
            if name == "info":
                harmless = pa.array(map(type_name, WITHOUT_VALUES), pa.string())
                column = pc.if_else(pc.is_in(batch.column("type"), harmless), batch.column(index), _WITHHELD)
            else:
                column = pa.nulls(batch.num_rows, field.type)
            batch = batch.set_column(index, field, column)
        return batch

    def check_effects(self, effects: Iterable[Effect]) -> None:
        """Refuse statements that rename what is masked to names that are not.

        Raises `UsageError`: names the statement's table.
        """
        for effect in effects if self.masks else ():
            table = f"{effect.schema_name}.{effect.table_name}"
            if effect.kind == EffectKind.RENAMED:
                self.masks.check_renames(table, f"{effect.new_schema_name}.{effect.new_table_name}")
            elif effect.kind == EffectKind.COLUMNS_MOVED:
                self.masks.check_renames(table, table, (pair for pair in effect.columns if all(pair)))

    def effects_in_lake(
        self, effects: Iterable[Effect], zero_dates: str, *, is_shared: bool = False
    ) -> Iterator[Effect]:
        """Effects with known values as the lake has them; without those that change nothing there.

        `is_shared`: other sources have other types of columns.
        """
        is_text = zero_dates == "text"
        for effect in effects:
            if effect.kind == EffectKind.REDEFINED:
                others = {name for name, _ in effect.columns}
                known = dict(self._known_values(effect, is_text=is_text, is_shared=is_shared))
                if any(values is None and name in others for name, values in known.items()):
                    yield replace(effect, kind=EffectKind.CONVERTED, columns=(), values="")
                elif kept := [values for values in known.values() if values is not None]:
                    yield replace(effect, columns=(), values=packed(kept))
            elif effect.kind == EffectKind.REMOVED and any(
                self.masks.treatment(".".join(effect.table), name).method is not Method.KEPT
                for name in effect.key
            ):
                yield replace(effect, kind=EffectKind.UNCLEAR, key=(), values="")
            elif is_text or effect.kind != EffectKind.MORE_DIGITS:
                yield effect  # times have the same value with more digits, unless they are stored as text

    def _known_values(
        self, effect: Effect, *, is_text: bool, is_shared: bool
    ) -> Iterator[tuple[str, KnownValues | None]]:
        """Those of the columns that the lake has, by their names; None if they are not known there."""
        for column in unpacked(effect.values):
            table = f"{effect.schema_name}.{effect.table_name}"
            method = self.masks.treatment(table, column.name).method
            former, kind = (
                None if kind is None else type_in_lake(kind) for kind in (column.former, column.value.type)
            )
            is_other = kind != former or column.value.is_valid
            is_date = any(map(pa.types.is_temporal, (kind, former or kind)))
            has_type = former is None or joint_type((former, kind)) is not None
            if method is not Method.KEPT or is_shared or (is_text and is_date) or not has_type:
                if method < Method.NULL:
                    yield column.name, None
            elif is_other:
                value = cast(pa.array([column.value.as_py()], column.value.type), kind)[0]
                yield column.name, KnownValues(column.name, former, value)

    def as_dict(self) -> dict[str, Any]:
        """In a form that JSON can represent."""
        renames = [list(pair) for pair in self.renames]
        return {"masks": self.masks.as_dict(), "renames": renames, "bit1_as_boolean": self.bit1_as_boolean}

    @classmethod
    def of_dict(cls, rules: Mapping[str, Any]) -> Rules:
        """Restore from :meth:`as_dict`."""
        renames = tuple((old, new) for old, new in rules["renames"])
        return cls(Masks.of_dict(rules["masks"]), renames, rules.get("bit1_as_boolean", False))


def _is_glob(name: str) -> bool:
    return "*" in name or "?" in name


NO_RULES = Rules()


def check_rules(stored: Rules, rules: Rules) -> None:
    """Refuse rules that a lake cannot continue with.

    Raises `UsageError`: the lake has other renames, or masks that these rules lack.
    """
    if stored.renames != rules.renames:
        pairs = ", ".join(map("=".join, stored.renames)) or "none"
        raise UsageError(f"the lake was begun with other renames, which cannot change: {pairs}")
    rules.masks.check_follows(stored.masks)
