"""The argument types that kernels are compiled for.

Listed are the kernels called from Python; others need no entry. The types of some are those of their
annotations (`ANNOTATED`); those of the others are in a table. An array is written as its dtype and ``[]``, or
``[,]`` for two dimensions, with ``*`` if the kernel writes to it; a number is the dtype alone. Arrays are
contiguous. Integers are `i8` unless the kernel needs another type.
"""

from __future__ import annotations

from importlib.util import find_spec

from tools.kernels.annotations import find_kernel, signature_of

_TABLE = {
    "binlog_grammar.walks": {
        "gtid_tagged_event_field_list": "u1[] i8[] i8[] i8[,]* b1[]*",
        "query_status_vars": "u1[] i8[] i8[] i8[,] b1[]*",
    },
    "binlog_kaitai.kernels.byte_kernels": {
        "copy_ranges": "u1[] i8[] i8[] i8[] u1[]*",
        "crc32s_of_runs": "u4[] i8[] i8[] i8[]* u4[]*",
        "hash_ranges": "u1[] i8[] i8[] u8[]*",
        "digest_ranges": "u1[] i8[] i8[] u8[]*",
        "lengths_to_zero": "u1[] i8[] i8[] i8[]*",
        "read_numbers": "u1[] i8[] i8 i8 b1 u8[]*",
        "read_u4": "u1[] u8",
        "same_ranges": "u1[] i8[] i8[] i8[] b1[]*",
    },
    "binlog_kaitai.live.packets": {
        "unpack": "u1[] i8 i8 i8 i8 i8 i8 i8 i8 b1[] i8 u1[]*",
    },
    "binlog_kaitai.log.block": {
        "divide": "i8[] i8[] u1[] u1[] i8 i8 i8[]* i8[]* i8[]* i8[]*",
    },
    "binlog_kaitai.log.block_reader": {
        "find_drifts": "u1[] i8[] i8[] i8 i8 i8 i8[]*",
        "frame": "u1[] i8 i8 i8 i8 i8 u1[] i8 u1[] i8[] i8 i8[]* i8[]* u1[]* b1[]*",
    },
    "binlog_kaitai.log.transaction_roles": {
        "follow_events": "i1[] b1[] b1[]* i1[]*",
        "follow_known": "u1[] i8[] i8[] u1[] u1[] b1[] i1[] b1[]*",
    },
    "binlog_kaitai.log.crc32": {
        "_put_crc32s": "u1[] i8[] i8[] u4[,] u4[]*",
    },
    "binlog_kaitai.log.event_gtids": {
        "number_markers": "u1[] b1[] i8[] i8[]* i8[]*",
        "write_numbered": "u1[] i8[] i8[] i8[] i8[] i8 u1[]* i8[]*",
    },
    "binlog_kaitai.log.payloads": {
        "read_headers": "u1[] i8[] i8[] i8[,]*",
    },
    "binlog_kaitai.log.gather": {
        "read_fixed": "u1[] i8[] i8[,] u8[,]* b1[]*",
    },
    "binlog_kaitai.text.line_arrays": {
        "escape_bytes": "u1[] i8[] u1[]* i8[]*",
        "json_sizes": "u1[] i8[] i8[] i8[]*",
        "put_json": "u1[] i8[] i8[] i8[] u1[]*",
    },
    "binlog_kaitai.text.text_kernels": {
        "assemble": "u1[] u1[] i8[] i8[] i8[] i8[] i8[,] i8[] i8[] u1[]* i8[]*",
        "copy": "u1[] i8 i8 u1[]* i8",
        "find_clean": "u1[] i8[] i8[] b1[] b1[]*",
        "join_ranges": "u1[] i8[] i8[] i8[]* u1[]*",
        "put_hexdump": "u1[] i8 i8 i8 u1[] i8 u1[]* i8",
        "put_number": "i8 u1[]* i8",
    },
    "binlog_kaitai.rows.image_walk": {
        "walk_images": (
            "u1[] i8[] i8[] i8[] i8[] i8[,] i8[,] i8[,] i8[]* i8[,]* i8[]* i8[]* u1[]* i8[]* i8[]*"
        ),
    },
    "binlog_kaitai.rows.log_definitions": {
        "keep_defining": "u1[] u1[] i8 i8 i8[]* u1[]* i8[]* i8[]* u1[]* u1[]* b1[]*",
    },
    "binlog_kaitai.rows.read_kernels": {
        "copy_columns": "u1[] i8[] i8 i8[,] i4[] i8[] u1[]*",
        "read_columns": "u1[] i8[] i8 i8[,] i8[] u1[]* u2[]* u4[]* u8[]* i4[]* i8[]* i8[,]*",
    },
    "binlog_kaitai.rows.string_kernels": {
        "copy_members": "u1[] i8[] i4[] i4[] u1[]*",
        "measure": "u1[] i8[] i8 i8 i8 i8[]*",
        "measure_recoded": "u1[] i4[] i8[] i8[]*",
        "pad_values": "u1[] i8[] i8 i8[] u1[]*",
        "recode": "u1[] i8[] u1[,] u1[]*",
    },
    "binlog_kaitai.text.base64_kernel": {
        "put_base64": "u1[] i8 i8 u2[] u1[]* i8",
    },
    "binlog_kaitai.dump.dump_kernels": {
        "follow_steps": "i8[] i8 i8 i8 i8[,] i8[] i8[]*",
        "put_jobs": "u1[] u1[] u1[] i8[,] i8[] u2[] u1[]*",
    },
    "binlog_kaitai.text.float_texts": {
        "put_shortest": "i8 i8 i8 u1[]* i8",
        "put_single": "f8 u1[]* i8",
    },
    "binlog_kaitai.text.json_kernels": {
        "put_document": "u1[] i8 i8 u1[]* i8 i8[]* u1[]* i8",
        "put_documents": "u1[] i8[] i8 i8 i8 i8[]* u1[]* i8[]* b1[]*",
    },
    "binlog_kaitai.text.listed_values": {
        "put_utf8": "u1[] i8 i8 i8 u1[]* i8",
    },
    "binlog_kaitai.text.moment_texts": {
        "put_clocks": "i8[] u1[]*",
        "put_numbers": "i8[] u1[]* i8[]*",
    },
    "binlog_kaitai.text.printed_values": {
        "put_escaped": "u1[] i8 i8 u1[] u1[]* i8",
        "put_floating": "u1[] i8 b1 i8[]* u1[]* i8",
        "put_integer": "u1[] i8 i8 u1[]* i8",
        "spread_escaped": "u1[] u1[]* i8 i8 i8",
    },
    "binlog_kaitai.lines.row_line_kernel": {
        "put_printable": "u1[]* i8 i8 b1",
        "put_row_lines": (
            "i8 u1[] i8[] i8 i8 i8[] i8[] i8[] i8[] i8[] i8[,] u1[] u1[] u1[] i8[] u1[] i8[] i8 u1[]* "
            "i8[]* i8[]* i8[,]* u1[]* i8[]*"
        ),
    },
    "binlog_kaitai.text.sql_kernels": {
        "put_literal": "u1[] i8 i8 u1[] i8 u1[]* i8",
    },
    "binlog_kaitai.sources.event_cipher": {
        "collect_blocks": "u1[]* i8[] i8[] i8 u1[] u1[]* u1[]*",
        "find_events": "u1[] i8[]*",
        "put_blocks": "u1[]* i8[] i8[] u1[] u1[] u1[] u1[]",
    },
}

#: Kernels whose annotations have all types.
ANNOTATED = (
    "binlog_kaitai.rows.places.put_places",
    "binlog_kaitai.rows.sequences.put_sequences",
    "binlog_kaitai.rows.table_links.link_events",
)


def _is_there(name: str) -> bool:
    """Whether the folder of a kernel or module is there: leaves of the package can be left out."""
    return find_spec(".".join(name.split(".")[:2])) is not None


#: Argument types of each kernel, by module and name.
SIGNATURES = {
    f"{module}.{name}": types
    for module, kernels in _TABLE.items()
    if _is_there(module)
    for name, types in kernels.items()
} | {name: signature_of(find_kernel(name)) for name in ANNOTATED if _is_there(name)}
