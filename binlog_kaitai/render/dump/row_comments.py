"""Rows as `-v` prints them: commented INSERT, UPDATE and DELETE statements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from binlog_kaitai.core.grammar import ColumnType
from binlog_kaitai.errors import BinlogError, GrammarError
from binlog_kaitai.log.event_reader import Event
from binlog_kaitai.log.event_rows import schema_of
from binlog_kaitai.render.dump.cells import CellText, diff_text, metadata_number, type_text
from binlog_kaitai.render.dump.text import encode, identifier
from binlog_kaitai.values.column_metadata import facts_of
from binlog_kaitai.values.schema import OLD_TIMES, is_mariadb

if TYPE_CHECKING:
    from binlog_kaitai.core.grammar import RowImage, TableMapEvent


#: Types whose lengths `mariadb-binlog` does not know when it counts rows.
UNMEASURED = frozenset((ColumnType.geometry, ColumnType.blob_compressed, ColumnType.varchar_compressed))


class RowsText(NamedTuple):
    """The statements of an event, their number of rows, and whether the client continues after them."""

    text: bytes
    rows: int
    is_whole: bool = True


class Style(NamedTuple):
    """How to print the rows of a dump.

    Attributes
    ----------
    texts : mapping
        Formatters of values, by column type.
    verbose : int
        2 to include column types.
    unknown : bytes
        Placeholder for a value of an unknown type; a template for type and metadata.
    """

    texts: Mapping[Any, CellText]
    verbose: int
    unknown: bytes


def rows_text(event: Event, style: Style, schema_name: bytes | None = None) -> RowsText:
    """The text of a rows event whose table map is known.

    Parameters
    ----------
    event
        A rows event from the event reader.
    style
        How to print.
    schema_name
        The database name, if it differs from the table map's.

    Raises
    ------
    GrammarError
        The rows contradict the table map.
    """
    body, table_map = event.body, event.table_map
    if table_map is None:
        return RowsText(b"### Row event for unknown table #%d" % body.table_id.value, 0)
    table = table_name(table_map, schema_name)
    if body.is_write and not (body.columns.num_present and _has_images(body)):
        return RowsText(b"### INSERT INTO " + table + b" VALUES ()\n", 1)
    pieces: list[bytes] = []
    count = 0
    try:
        for image_pieces, is_first, is_whole in _images(event, style, table):
            pieces.extend(image_pieces)
            count += is_first
            if not is_whole:
                return RowsText(b"".join(pieces), count, False)
    except Exception as error:  # includes generated code on hostile bytes
        raise event.locate(_refusal(event, table.decode("utf-8", "replace"), error)) from error.__cause__
    return RowsText(b"".join(pieces), count)


def _refusal(event: Event, table: str, error: Exception) -> BinlogError:
    reason = error.reason if isinstance(error, BinlogError) else f"the rows cannot be read: {error}"
    if is_mariadb(event.layout) and any(one.type in OLD_TIMES for one in schema_of(event).columns):
        # Values with fractions are longer, and MariaDB's table maps do not record which columns have them.
        hint = "TIME, DATETIME or TIMESTAMP may have fractional seconds; `rows` can tell from the log's DDL"
        return BinlogError(f"{reason}; {hint}", field=table)
    return error if isinstance(error, BinlogError) else GrammarError(reason, field=table)


def table_name(table_map: TableMapEvent, schema_name: bytes | None = None) -> bytes:
    """A table's name in a statement, with a new database name if one is given."""
    database = encode(table_map.schema_name) if schema_name is None else schema_name
    return identifier(database) + b"." + identifier(encode(table_map.table_name))


def counted_rows(event: Event) -> int:
    """How many rows `mariadb-binlog` counts in an event whose rows it does not print.

    It stops after a value whose length it does not know.
    """
    body: Any = event.body
    try:
        rows = body.rows or ()
    except Exception:  # generated code on rows that contradict their table map; they are not printed
        return len(getattr(getattr(body, "_m_inflated_rows", body), "_m_rows", ())) or 1
    for count, row in enumerate(rows, 1):
        if any(_is_unmeasured(cell) for image in (row.before, row.after) if image for cell in image.cells):
            return count
    return len(rows)


def _is_unmeasured(cell: RowImage.Cell) -> bool:
    return cell.has_value and cell.column.real_type in UNMEASURED


def _has_images(body: Any) -> bool:
    images = getattr(body, "images", None)
    return images is None or len(images) > 0


def _images(event: Event, style: Style, table: bytes) -> Iterator[tuple[list[bytes], bool, bool]]:
    body: Any = event.body
    if not hasattr(body, "rows"):
        reason = "rows from servers before 5.1.16 are in an internal format that the log does not describe"
        raise GrammarError(reason, field=table.decode("utf-8", "replace"))
    rows = body.rows
    if rows is None:
        raise GrammarError("the rows do not match their table map", field=table.decode("utf-8", "replace"))
    verb = b"INSERT INTO" if body.is_write else b"UPDATE" if body.is_update else b"DELETE FROM"
    head = b"### " + verb + b" " + table + b"\n"
    suffixes = column_suffixes(event.table_map, style.verbose)
    for row in rows:
        first, second = (row.before, row.after) if body.is_update else (row.after or row.before, None)
        clause = b"### SET\n" if body.is_write else b"### WHERE\n"
        pieces = [head, clause]
        is_whole = image_text(first, event.table_map, style, suffixes, pieces)
        yield pieces, True, is_whole
        if second is not None and is_whole:
            pieces = [b"### SET\n"]
            yield pieces, False, image_text(second, event.table_map, style, suffixes, pieces)


def column_suffixes(table_map: Any, verbose: int) -> list[tuple[bytes, bytes]]:
    """For each column, the text after a value, and the texts that replace an unknown value and NULL."""
    found = []
    facts_known = facts_of(table_map).columns if verbose > 1 else []
    for column in table_map.columns or ():
        if verbose > 1:
            name = type_text(column, facts_known[column.index].vector_dimensions or 0)
            kind = name + b" " if name else b"type=%d " % int(column.column_type)
            facts = kind + b"meta=%d nullable=%d " % (metadata_number(column), column.is_nullable)
            found.append((b" /* " + facts + b"is_null=0 */\n", b"NULL /* " + facts + b"is_null=1 */\n"))
        else:
            found.append((b"\n", b"NULL\n"))
    return found


def image_text(
    image: Any, table_map: Any, style: Style, suffixes: list[tuple[bytes, bytes]], pieces: list[bytes]
) -> bool:
    """Append the text of one image to `pieces`; False if the client would stop in it."""
    columns = table_map.columns
    for cell in image.cells:
        if not cell.is_present:
            continue
        index = cell.index
        column = columns[index]
        suffix, null = suffixes[index]
        text = style.texts.get(column.real_type)
        if text is None:
            number = metadata_number(column)
            unknown = style.unknown % (int(column.column_type), number, number)
            pieces.append(b"###   @%d=" % (index + 1) + unknown)
            return False
        if cell.is_null:
            pieces.append(b"###   @%d=" % (index + 1) + null)
            continue
        value = diff_text(cell, index + 1) if cell.is_partial else text(cell.value, column)
        pieces += b"###   @%d=" % (index + 1), value, suffix
    return True


def extra_info(body: Any) -> list[bytes]:
    """The text of a rows event's extra data."""
    lines = []
    for chunk in body.extra_data.chunks if getattr(body, "extra_data", None) is not None else ():
        match getattr(chunk.type, "name", ""):
            case "partition" if chunk.content.source_partition_id is not None:
                text = b"### Extra row info for partitioning: source_partition: %d target_partition: %d\n"
                lines.append(text % (chunk.content.source_partition_id, chunk.content.partition_id))
            case "partition":
                text = b"### Extra row info for partitioning: partition: %d\n"
                lines.append(text % chunk.content.partition_id)
            case "ndb":
                data = chunk.content.data
                digits = b"0x" + data.hex().upper().encode() if data else b""
                text = b"### Extra row ndb info: data_format: %d, len: %d :%s\n"
                lines.append(text % (chunk.content.format, len(data), digits))
    return lines
