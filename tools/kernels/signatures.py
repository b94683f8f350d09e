"""The kernels called from Python, which are compiled; others need no entry here.

They are compiled for the types of their annotations. Arrays are contiguous.
"""

from __future__ import annotations

from importlib.util import find_spec

from tools.kernels.annotations import find_kernel, signature_of

_NAMES = {
    "binlog_grammar.walks": "gtid_tagged_event_field_list query_status_vars",
    "binlog_kaitai.dump.dump_kernels": "follow_steps put_jobs",
    "binlog_kaitai.kernels.byte_kernels": "copy_ranges crc32s_of_runs hash_ranges digest_ranges "
    "lengths_to_zero read_numbers read_u4 same_ranges",
    "binlog_kaitai.lines.row_line_kernel": "put_printable put_row_lines",
    "binlog_kaitai.live.packets": "unpack",
    "binlog_kaitai.log.block": "divide",
    "binlog_kaitai.log.block_reader": "find_drifts frame",
    "binlog_kaitai.log.crc32": "_put_crc32s",
    "binlog_kaitai.log.event_gtids": "number_markers write_numbered",
    "binlog_kaitai.log.gather": "read_fixed",
    "binlog_kaitai.log.payloads": "read_headers",
    "binlog_kaitai.log.transaction_roles": "follow_events follow_known",
    "binlog_kaitai.rows.image_walk": "walk_images",
    "binlog_kaitai.rows.places": "put_places",
    "binlog_kaitai.rows.read_kernels": "copy_columns read_columns",
    "binlog_kaitai.rows.sequences": "put_sequences",
    "binlog_kaitai.rows.string_kernels": "copy_members measure measure_recoded pad_values recode",
    "binlog_kaitai.rows.table_links": "link_events",
    "binlog_kaitai.sources.event_cipher": "collect_blocks find_events put_blocks",
    "binlog_kaitai.text.base64_kernel": "put_base64",
    "binlog_kaitai.text.float_texts": "put_shortest put_single",
    "binlog_kaitai.text.json_kernels": "put_document put_documents",
    "binlog_kaitai.text.line_arrays": "escape_bytes json_sizes put_json",
    "binlog_kaitai.text.listed_values": "put_utf8",
    "binlog_kaitai.text.moment_texts": "put_clocks put_numbers",
    "binlog_kaitai.text.printed_values": "put_escaped put_floating put_integer spread_escaped",
    "binlog_kaitai.text.sql_kernels": "put_literal",
    "binlog_kaitai.text.text_kernels": "assemble copy find_clean join_ranges put_hexdump put_number",
}


def _is_there(module: str) -> bool:
    """Whether the folder of a module is there: leaves of the package can be left out."""
    return find_spec(".".join(module.split(".")[:2])) is not None


#: Argument types of each kernel, by module and name.
SIGNATURES = {
    f"{module}.{name}": signature_of(find_kernel(f"{module}.{name}"))
    for module, names in _NAMES.items()
    if _is_there(module)
    for name in names.split()
}
