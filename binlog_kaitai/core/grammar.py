"""The gate to the generated grammar: the only module that imports it.

Input: the bytes of one event and the state from earlier events (:class:`Format` and a table map). Output: the
generated object, parsed to the last byte, or a :class:`GrammarError` that names the field.
"""

from __future__ import annotations

import gc
import io
import re
import struct
import zlib
from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple, TypeVar

from binlog_grammar import KaitaiStruct
from binlog_grammar import layouts as layouts
from binlog_grammar import masks as masks
from binlog_grammar import plain_decoders as plain_decoders
from binlog_grammar import sizes as sizes
from binlog_grammar.binlog_enums import BinlogEnums
from binlog_grammar.binlog_event import BinlogEvent as BinlogEvent
from binlog_grammar.column_types import ColumnTypes
from binlog_grammar.compressed_data import CompressedData
from binlog_grammar.effective_type import EffectiveType
from binlog_grammar.encryption_header import EncryptionHeader as EncryptionHeader
from binlog_grammar.event_header import EventHeader as EventHeader
from binlog_grammar.format_description_event import FormatDescriptionEvent as FormatDescriptionEvent
from binlog_grammar.image_columns import ImageColumns
from binlog_grammar.innodb_log import InnodbLog as InnodbLog
from binlog_grammar.intvar_event import IntvarEvent as IntvarEvent
from binlog_grammar.json_binary import JsonBinary as JsonBinary
from binlog_grammar.json_diff import JsonDiff as JsonDiff
from binlog_grammar.json_opaque import JsonOpaque as JsonOpaque
from binlog_grammar.keyring_file import KeyringFile as KeyringFile
from binlog_grammar.layouts import BODIES as BODIES
from binlog_grammar.layouts import ENUMS as ENUMS
from binlog_grammar.layouts import EVENT_BODY as EVENT_BODY
from binlog_grammar.layouts import EVENT_HEADER as EVENT_HEADER
from binlog_grammar.layouts import FORMAT_DESCRIPTION_EVENT as FORMAT_DESCRIPTION_EVENT
from binlog_grammar.layouts import UNKNOWN_BODY as UNKNOWN_BODY
from binlog_grammar.layouts import Layout as Layout
from binlog_grammar.layouts import walk_over as walk_over
from binlog_grammar.log_start import LogStart
from binlog_grammar.numeric_values import NumericValues as NumericValues
from binlog_grammar.row_image import RowImage as RowImage
from binlog_grammar.stream_packet import StreamPacket as StreamPacket
from binlog_grammar.string_values import StringValues as StringValues
from binlog_grammar.table_id import TableId
from binlog_grammar.table_map_event import TableMapEvent as TableMapEvent
from binlog_grammar.table_map_metadata import TableMapMetadata as TableMapMetadata
from binlog_grammar.temporal_values import TemporalValues as TemporalValues
from binlog_grammar.transaction_payload_event import TransactionPayloadEvent as TransactionPayloadEvent
from binlog_grammar.user_var_event import UserVarEvent as UserVarEvent
from binlog_grammar.zstd_seek_table import ZstdSeekTable as ZstdSeekTable
from kaitaistruct import KaitaiStream, ValidationFailedError

from binlog_kaitai.core.tree import (
    children,
    describe,
    find_leftover,
    inflated_size,
    reason_of,
    unfinished_field,
)
from binlog_kaitai.errors import DamagedStartError, GrammarError

EventType = BinlogEnums.EventType
ColumnType = ColumnTypes.ColumnType
TableMapField = TableMapMetadata.FieldType
YearBits = BinlogEnums.YearBits

#: Length of the checksum at the end of an event that has one, in bytes.
CHECKSUM_SIZE = sizes.BinlogEvent.CHECKSUM_SIZE

KaitaiStruct.__repr__ = describe  # type: ignore[method-assign]  # Kaitai shows no fields
#: The fixed part of a ROTATE_EVENT has 8 bytes on all servers of version 4.
_BEFORE_DESCRIPTION = tuple(8 if kind == EventType.rotate_event else 0 for kind in range(1, 5))

_TABLE_ID_ROOM = 16  # longer than any table ID
_ROWS_PREFIXES = ("pre_ga_", "write_rows_", "update_rows_", "delete_rows_", "partial_update_rows_")

#: Parameters of the grammar's `binlog_event`, besides the stream.
Parameters = tuple[int, int, int, bool, bool, YearBits, TableMapEvent | None, bool]


class Header(NamedTuple):
    """The fixed part of an event header; a version 1 log has no position and no flags."""

    timestamp: int
    type_code: int
    server_id: int
    len_event: int
    next_position: int = 0
    flags: int = 0


@lru_cache
def header_struct(binlog_version: int) -> struct.Struct:
    """The layout of the event header as a :class:`struct.Struct`, in the order of :class:`Header`."""
    fields = EVENT_HEADER.fields
    names = Header._fields[:4] if binlog_version == 1 else Header._fields
    if names != tuple(field.path for field in fields[: len(names)]):
        raise AssertionError("the event header of the grammar does not begin like Header")
    codes = [_STRUCT_CODES[getattr(field, "dtype", "")] for field in fields[: len(names)]]
    return struct.Struct("<" + "".join(codes))


_STRUCT_CODES = {"u1": "B", "<u2": "H", "<u4": "I"}


@lru_cache
def header_offset(name: str) -> int:
    """Offset of one of the fields of :class:`Header` in an event, in bytes."""
    return sum(map(header_width, Header._fields[: Header._fields.index(name)]))


def header_width(name: str) -> int:
    """Size of one of the fields of :class:`Header`, in bytes."""
    field = EVENT_HEADER.fields[Header._fields.index(name)]
    return struct.calcsize("<" + _STRUCT_CODES[getattr(field, "dtype", "")])


#: The low bits of a position, which is all that an event header holds: positions wrap at 4 GiB.
POSITION_MASK = (1 << 8 * header_width("next_position")) - 1


def header_length(binlog_version: int) -> int:
    """Length of an event header without extra headers, in bytes: 13 or 19."""
    return header_struct(binlog_version).size


def read_header(data: bytes, binlog_version: int) -> Header:
    """Parse the header at the start of `raw`; it must be complete."""
    return Header(*header_struct(binlog_version).unpack_from(data))


def detect_version(head: bytes) -> int:
    """The version of a log (1, 3 or 4), from the first 13 bytes after its magic.

    Raises `DamagedStartError`: the first event is neither a format description nor a START_EVENT_V3 of a
    known length.
    """
    try:
        return int(parsed(LogStart(KaitaiStream(io.BytesIO(head)))).binlog_version)
    except ValidationFailedError as error:
        first = read_header(head, 1)
        raise DamagedStartError(
            f"unknown version: the first event has type {first.type_code} and {first.len_event} bytes"
        ) from error


class Format(NamedTuple):
    """The layout of a log's events: its version and, from version 4 on, its format description event.

    `binlog_version`: 1 (MySQL 3.23), 3 (4.0, 4.1) or 4.
    `header_length`: length of an event's header, in bytes.
    `is_checksummed`: whether events end with a CRC32.
    `has_permuted_types`: whether event types are numbered as in early 5.1 alpha versions.
    `post_header_lengths`: for each type from 1 on, the length of the fixed part of its body, in bytes.
    `year_bits`: whether the signedness of table maps has bits for YEAR columns.
    """

    binlog_version: int
    header_length: int
    is_checksummed: bool = False
    has_permuted_types: bool = False
    post_header_lengths: tuple[int, ...] = ()
    year_bits: YearBits = YearBits.undetermined

    @classmethod
    def of_version(cls, binlog_version: int) -> Format:
        """The layout before any format description event."""
        return cls(binlog_version, header_length(binlog_version))

    @classmethod
    def before_description(cls, *, is_checksummed: bool) -> Format:
        """The layout of the ROTATE_EVENT with which a server's stream begins."""
        return cls(4, header_length(4), is_checksummed, post_header_lengths=_BEFORE_DESCRIPTION)

    @classmethod
    def described_by(cls, event: FormatDescriptionEvent) -> Format:
        """The layout after a format description event."""
        if event.len_header < header_length(4):
            reason = f"declares event headers of {event.len_header} bytes"
            raise GrammarError(reason, field="body.len_header")
        return cls(
            binlog_version=4,
            header_length=event.len_header,
            is_checksummed=event.has_checksums,
            has_permuted_types=event.has_permuted_types,
            post_header_lengths=tuple(event.len_post_headers),
            year_bits=YearBits(event.year_bits),
        )

    def without_checksums(self) -> Format:
        """The layout of events inside a transaction payload."""
        return self._replace(is_checksummed=False)

    def effective_type(self, type_code: int) -> int:
        """The event type for this type code, in the final numbering; some 5.1 alphas numbered types
        differently.
        """
        if not self.has_permuted_types:
            return type_code
        return int(EffectiveType(type_code, True, KaitaiStream(io.BytesIO(b""))).value)

    def header_length_of(self, type_code: int) -> int:
        """Header length for events of this type; a format description event never has extra headers."""
        return header_length(4) if type_code == EventType.format_description_event else self.header_length

    def post_header_length_of(self, type_code: int) -> int:
        """The format description's entry for the type, in bytes; 0 if there is none."""
        index = type_code - 1
        return self.post_header_lengths[index] if 0 <= index < len(self.post_header_lengths) else 0

    def parameters(self, type_code: int, table_map: TableMapEvent | None) -> Parameters:
        """Parameters of the grammar's `binlog_event`."""
        return (
            self.binlog_version,
            self.header_length_of(type_code),
            self.post_header_length_of(type_code),
            self.is_checksummed,
            self.has_permuted_types,
            self.year_bits,
            table_map,
            table_map is not None,
        )


def parse_event(
    raw: bytes, type_code: int, layout: Format, table_map: TableMapEvent | None = None
) -> BinlogEvent:
    """Parse one event with the grammar.

    `raw`: all bytes of the event, from its header to its checksum.
    `type_code`: the type code in its header.
    `layout`: the log's format at this event.
    `table_map`: for a rows event, the body of the table map event it belongs to.
    Raises `GrammarError`: the bytes violate the grammar or continue past its end; `field` names the location.
    """
    event, error = read_event(raw, type_code, layout, table_map)
    if error is not None:
        raise error
    leftover = find_leftover(event)
    try:
        _check_compressed(event.body.content)
    except zlib.error as bad_stream:
        raise GrammarError(reason_of(bad_stream)) from bad_stream
    if leftover is not None:
        path, count = leftover
        raise GrammarError(f"{count} bytes are left over", field=field_path(path))
    return event


def read_event(
    raw: bytes, type_code: int, layout: Format, table_map: TableMapEvent | None = None
) -> tuple[BinlogEvent, GrammarError | None]:
    """One event as far as it follows the grammar, and the error that stopped reading, if any.

    Parameters as for `parse_event`, which also rejects bytes that no field covers.
    """
    return _read(BinlogEvent(*layout.parameters(type_code, table_map), KaitaiStream(io.BytesIO(raw))))


def read_encryption_header(raw: bytes) -> tuple[EncryptionHeader, GrammarError | None]:
    """Header of an encrypted log, and the error that stopped reading, if any."""
    return _read(EncryptionHeader(KaitaiStream(io.BytesIO(raw))))


@cache
def meanings() -> dict[str, dict[str, str]]:
    """The documentation of each field in the grammar, by class name, then by field name."""
    from binlog_grammar.meanings import MEANINGS

    return MEANINGS


@cache
def bit_fields() -> dict[str, dict[str, int]]:
    """The widths in bits of fields that do not fill whole bytes, by class name and field name."""
    from binlog_grammar.meanings import BITS

    return BITS


def parse_cell(table_map: TableMapEvent, index: int, data: bytes, *, is_partial: bool = False) -> Any:
    """Parse one non-NULL value of a row image into the grammar's object; raises as `parse_structure`.

    `index`: number of the column in the table map, from 0.
    `data`: the bytes of the value, after its length if it has one.
    `is_partial`: the value is what changed in a JSON document.
    """
    count = table_map.num_columns.value
    bitmap = (1 << index).to_bytes((count + 7) // 8, "little")
    try:
        columns = parsed(ImageColumns(count, KaitaiStream(io.BytesIO(bitmap))))
        # Before the only value of the image: the bits of partial values, if any, all set; null bits.
        options = b"\1" + b"\xff" * ((table_map.num_json_columns + 7) // 8) if is_partial else b""
        stream = KaitaiStream(io.BytesIO(options + b"\0" + data))
        cell = parsed(RowImage(table_map, columns, is_partial, stream)).cells[index]
        return cell.diffs if is_partial else cell.value
    except Exception as error:  # as in parse_event
        raise GrammarError(reason_of(error)) from error


def parse_compressed(data: bytes) -> CompressedData:
    """Parse the compressed part of a MariaDB event, without decompressing it; raises as `parse_structure`."""
    return parse_structure(CompressedData, data)


_Structure = TypeVar("_Structure", bound=KaitaiStruct)


def parse_structure(kind: Callable[[KaitaiStream], _Structure], data: bytes) -> _Structure:
    """Parse bytes other than an event into the grammar's object; `GrammarError` if they are invalid."""
    try:
        return parsed(kind(KaitaiStream(io.BytesIO(data))))
    except Exception as error:  # as in parse_event
        raise GrammarError(reason_of(error)) from error


def parsed(structure: _Structure) -> _Structure:
    """A new object of a generated class after it has read its fields; raises whatever that raises."""
    structure._read()
    return structure


def _read(structure: _Structure) -> tuple[_Structure, GrammarError | None]:
    try:
        structure._read()
    except Exception as error:  # generated code on hostile bytes: any exception means "not the grammar"
        described = GrammarError(reason_of(error), field=field_path(unfinished_field(structure, error)))
        described.__cause__ = error
        return structure, described
    return structure, None


def field_path(path: str) -> str:
    """The path of a field from an :class:`Event`, whose `body` is the `content` of the grammar's `body`."""
    return _BODY.sub("body", path)


_BODY = re.compile(r"\bbody\.content\b")


def parse_packet(data: bytes) -> StreamPacket:
    """Parse a message in a server's stream that is not an event: the end of the stream, or an error."""
    parameters = Format.of_version(4).parameters(0, None)
    return parse_structure(partial(StreamPacket, False, *parameters), data)


#: Types of events that contain row images and therefore refer to a table map.
ROWS_TYPES = frozenset(kind for kind in EventType if kind.name.startswith(_ROWS_PREFIXES))


def rows_table_id(raw: bytes, type_code: int, layout: Format) -> int | None:
    """The table ID in a rows event; None if the event is too short to contain it."""
    start = layout.header_length_of(type_code)
    return _table_id(raw[start : start + _TABLE_ID_ROOM], layout.post_header_length_of(type_code))


@lru_cache(maxsize=1 << 10)  # events of one statement begin with the same bytes
def _table_id(data: bytes, post_header_length: int) -> int | None:
    try:
        return int(parsed(TableId(post_header_length, KaitaiStream(io.BytesIO(data)))).value)
    except EOFError:
        return None


def _check_compressed(content: KaitaiStruct) -> None:
    """Decompress MariaDB's compressed data once and discard it: the grammar does so lazily and without a size
    limit.
    """
    for name, child in children(content):
        if isinstance(child, CompressedData):
            size = inflated_size(child.deflated.data, child.len_uncompressed)
            if size is None:
                raise GrammarError("the compressed data is truncated", field=f"body.{name}")
            if size != child.len_uncompressed:
                reason = f"decompresses to {size} bytes instead of the declared {child.len_uncompressed}"
                raise GrammarError(reason, field=f"body.{name}")
            _free_nodes(size)


#: Bytes that nodes may have decompressed since the last collection.
_MOST_DECOMPRESSED = 64 << 20
_decompressed = 0


def _free_nodes(size: int) -> None:
    """Run the garbage collector after every 64 MiB decompressed.

    Unused nodes reference each other, and the collector counts objects, not bytes.
    """
    global _decompressed
    _decompressed += size
    if _decompressed > _MOST_DECOMPRESSED:
        _decompressed = 0
        gc.collect()
