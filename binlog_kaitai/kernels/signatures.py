"""The argument types that kernels are compiled for.

The table contains the kernels called from Python; others need no entry. An array is written as its dtype and
``[]``, or ``[,]`` for two dimensions, with ``*`` if the kernel writes to it; a number is the dtype alone.
Arrays are contiguous. Integers are `i8` unless the kernel needs another type.
"""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """Type of an argument: its dtype, dimensions (0 for a number), and whether the kernel writes to it."""

    dtype: str
    ndim: int
    is_written: bool


def kinds_of(signature: str) -> list[Kind]:
    """The types of the arguments, in order."""
    return [_kind(word) for word in signature.split()]


def _kind(word: str) -> Kind:
    dtype, bracket, rest = word.partition("[")
    return Kind(dtype, rest.count(",") + 1 if bracket else 0, word.endswith("*"))


_TABLE = {
    "binlog_grammar.walks": {
        "gtid_tagged_event_field_list": "u1[] i8[] i8[] i8[,]* b1[]*",
        "query_status_vars": "u1[] i8[] i8[] i8[,] b1[]*",
    },
    "binlog_kaitai.columns.blocks.bodies": {
        "find_bodies": "i8[] i8[] u1[] i8[] i8 i8 i8[]* i8[]*",
    },
    "binlog_kaitai.columns.blocks.frame_kernels": {
        "find_drifts": "u1[] i8[] i8[] i8 i8 i8 i8[]*",
        "frame": "u1[] i8 i8 i8 i8 i8 b1[] i8 i8[]* i8[]* u1[]*",
    },
    "binlog_kaitai.columns.blocks.crc32": {
        "_put_crc32s": "u1[] i8[] i8[] u4[,] u4[]*",
    },
    "binlog_kaitai.columns.fixed_fields": {
        "read_fixed": "u1[] i8[] i8[,] u8[,]* b1[]*",
    },
    "binlog_kaitai.columns.json_strings": {
        "escape_bytes": "u1[] i8[] u1[]* i8[]*",
        "json_sizes": "u1[] i8[] i8[] i8[]*",
        "put_json": "u1[] i8[] i8[] i8[] u1[]*",
    },
    "binlog_kaitai.kernels.byte_kernels": {
        "are_same": "u1[] i8[] i8",
        "copy_ranges": "u1[] i8[] i8[] i8[] u1[]*",
        "divide_by_type": "u1[] i8[]* i8[]*",
        "hash_ranges": "u1[] i8[] i8[] u8[]*",
        "lengths_to_zero": "u1[] i8[] i8[] i8[]*",
        "read_numbers": "u1[] i8[] i8 i8 b1 u8[]*",
        "read_u4": "u1[] u8",
        "same_ranges": "u1[] i8[] i8[] i8[] b1[]*",
        "crc32s_of_runs": "u4[] i8[] i8[] i8[]* u4[]*",
    },
    "binlog_kaitai.columns.rows.closings": {
        "count_closings": "u1[] i8[] i8[] u1[] u1[] u1[] i8 u1[] i8[] b1[]* i8[]*",
    },
    "binlog_kaitai.columns.rows.counting": {
        "count_rows": "u1[] i8[] i8[] i8[] i8[] i8[] i8[] i8[] i8[] i8[] i8[] i8[] i8[]*",
    },
    "binlog_kaitai.columns.rows.definitions_of": {
        "find_defining": (
            "u1[] i8 i8 i8 i8 i8 b1[] i8 u1[] i8 i8 u1[] i8[] i8[]* i8[]* u1[,]* i8[]* i8[]* u1[]*"
        ),
    },
    "binlog_kaitai.columns.rows.float_texts": {
        "put_floats": "f8[] b1[] f8 f8 b1 b1 u1[]* i8[]* b1[]*",
    },
    "binlog_kaitai.columns.rows.json_kernels": {
        "put_document": "u1[] i8 i8 u1[]* i8 i8[]* u1[]* i8",
        "put_documents": "u1[] i8[] i8 i8 i8 i8[]* u1[]* i8[]* u1[]* i8[]* b1[]*",
    },
    "binlog_kaitai.columns.rows.read_kernels": {
        "copy_columns": "u1[] i8[] i8 i8[,] i4[] i8[] u1[]*",
        "read_columns": "u1[] i8[] i8 i8[,] i8[] u1[]* u2[]* u4[]* u8[]* i4[]* i8[]* i8[,]*",
    },
    "binlog_kaitai.columns.rows.sequences": {
        "put_sequences": "i8[] i8 i8[] i8[] i8[] b1[] u1[]* i4[]*",
    },
    "binlog_kaitai.columns.rows.string_kernels": {
        "copy_members": "u1[] i8[] i4[] i4[] u1[]*",
        "measure": "u1[] i8[] i8 i8 i8 i8[]*",
        "measure_recoded": "u1[] i4[] i8[] i8[]*",
        "pad_values": "u1[] i8[] i8 i8[] u1[]*",
        "recode": "u1[] i8[] u1[,] u1[]*",
    },
    "binlog_kaitai.columns.rows.tables": {
        "match_near": "i8[] i8[] i8[] i8[] i8[]*",
    },
    "binlog_kaitai.columns.rows.walk": {
        "find_runs": "i8[] i8[]*",
        "locate": (
            "u1[] i8[] i8[] i8[] i8[] i8[] i8[] i8[] i8[] i8[] i8[] i8[]* i8[,]* i8[]* i8[]* u1[]* i8[]*"
        ),
        "spread": "i8[] i8[] i8[]*",
    },
    "binlog_kaitai.columns.text.base64": {
        "put_base64": "u1[] i8 i8 u2[] u1[]* i8",
    },
    "binlog_kaitai.columns.text.cells": {
        "put_utf8": "u1[] i8 i8 i8 u1[]* i8",
    },
    "binlog_kaitai.columns.text.hexdump": {
        "put_hexdump": "u1[] i8 i8 i8 u1[] i8 u1[]* i8",
    },
    "binlog_kaitai.columns.text.jobs": {
        "put_jobs": (
            "u1[] u1[] i8[,] u2[] i8[] i8[,] i8[] i8[] i8[] i8[] u1[] i8[,] i8[,] u1[] i8[]* i8[]* "
            "i8[]* u1[]* i8"
        ),
    },
    "binlog_kaitai.columns.text.kernels": {
        "join_texts": "u1[] i4[,] i8[] i8[] u1[]* i4[]*",
        "put_bytes": "u1[] i8[] i8[] b1[] i8[] u1[,] i8[,] u1[]* i8[]*",
        "put_moments": "i8[] b1[] i8 i8 i8 u1[]* i8[]*",
        "put_numbers": "i8[] b1[] u1[]* i8[]*",
    },
    "binlog_kaitai.columns.text.printed_values": {
        "put_escaped": "u1[] i8 i8 u1[] u1[]* i8",
        "put_integer": "u1[] i8 i8 u1[]* i8",
        "put_floating": "u1[] i8 b1 i8[]* u1[]* i8",
        "spread_escaped": "u1[] u1[]* i8 i8 i8",
    },
    "binlog_kaitai.columns.text.printable": {
        "put_printable": "u1[]* i8 i8 b1",
    },
    "binlog_kaitai.columns.text.row_lines": {
        "put_row_lines": (
            "u1[] i8[] i8 i8 i8[] i8[] i8[] i8[] i8[] i8[,] u1[] u1[] u1[] i8[] u1[] i8[] i8 i8 i8[]* "
            "i8[]* i8[,]* u1[]* i8[]*"
        ),
    },
    "binlog_kaitai.columns.text.shortest": {
        "put_shortest": "i8 i8 i8 u1[]* i8",
        "put_single": "f8 u1[]* i8",
    },
    "binlog_kaitai.columns.text.steps": {
        "follow_steps": "i8[] i8 i8 i8 i8[,] i8[] i8[]*",
    },
    "binlog_kaitai.columns.text.sql_kernels": {
        "put_literals": "u1[] i8[] i8[] u1[] u1[]* i8[]*",
        "put_pieces": "u1[] i8[] i8[] u1[]* i8[]*",
    },
    "binlog_kaitai.columns.text.text_kernels": {
        "assemble": "u1[] u1[] i8[] i8[] i8[] i8[] i8[,] i8[] i8[] u1[]* i8[]*",
        "copy": "u1[] i8 i8 u1[]* i8",
        "find_clean": "u1[] i8[] i8[] b1[] b1[]*",
        "join_chosen": "u1[] i8[] i8[] i8[] i4[]* u1[]*",
        "join_ranges": "u1[] i8[] i8[] i8[]* u1[]*",
        "put_number": "i8 u1[]* i8",
    },
    "binlog_kaitai.columns.transactions.boundary_kernels": {
        "follow_events": "i1[] b1[] b1[]* i1[]*",
    },
    "binlog_kaitai.columns.transactions.marker_kernels": {
        "number_markers": "u1[] b1[] i8[]* i8[]*",
        "write_numbered": "u1[] i8[] i8[] i8[] i8[] i8 u1[]* i8[]*",
    },
    "binlog_kaitai.live.packet_kernels": {
        "unpack": "u1[] i8 i8 i8 i8 i8 i8 i8 b1[] i8 u1[]* i8",
    },
    "binlog_kaitai.sources.event_kernels": {
        "collect_blocks": "u1[]* i8[] i8[] i8 u1[] u1[]* u1[]*",
        "find_events": "u1[] i8[]*",
        "put_blocks": "u1[]* i8[] i8[] u1[] u1[] u1[] u1[]",
    },
}

#: Argument types of each kernel, by module and name.
SIGNATURES = {
    f"{module}.{name}": types for module, kernels in _TABLE.items() for name, types in kernels.items()
}
