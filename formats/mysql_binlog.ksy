meta:
  id: mysql_binlog
  title: MySQL and MariaDB binary log
  application:
    - MySQL
    - MariaDB
  file-extension: '000001'
  # No `xref`: the registries do not list this format (docs/languages.md).
  tags:
    - log
  license: MIT
  ks-version: '0.10'
  imports:
    - binlog_enums
    - event_header
    - log_start
    - binlog_event
    - common/effective_type
    - common/table_id
    - events/format_description_event
    - events/table_map_event
  endian: le
doc: |
  A whole file, binary log or relay log, of any version. Each entry looks back at the entries
  before it for the format description and the table maps in force.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/binlog_event.h BINLOG_MAGIC and Log_event_header
seq:
  - id: magic
    -orig-id: BINLOG_MAGIC
    contents: [0xfe, 'bin']
    doc: What every binary log starts with.
  - id: entries
    type: |
      log_entry(
        _index,
        _index == 0 ? -1 : entries[_index - 1].format_index,
        _index == 0 ? -1 : entries[_index - 1].table_map_index
      )
    repeat: eos
    doc: The events from the first to the last, each with the context it needs from earlier entries.
instances:
  start:
    pos: 4
    type: log_start
    doc: The first event's header, read ahead.
  binlog_version:
    value: start.binlog_version
    doc: Version of the log's format, 1, 3 or 4.
types:
  log_entry:
    doc: An event in its file, with the context it needs from earlier entries.
    -webide-representation: '{event}'
    params:
      - id: index
        type: s4
        doc: Index in the file, from 0.
      - id: previous_format_index
        type: s4
        doc: Index of the newest format description event before, or -1.
      - id: previous_table_map_index
        type: s4
        doc: Index of the newest table map event of the statement before, or -1.
    seq:
      - id: event
        type: |
          binlog_event(
            _root.binlog_version,
            len_header,
            len_post_header,
            has_format and format.has_checksums,
            has_format and format.has_permuted_types,
            has_format ? format.year_bits : binlog_enums::year_bits::undetermined,
            table_map,
            has_table_map
          )
        doc: The event.
    instances:
      upcoming:
        pos: _io.pos
        type: event_header(1, 13)
        doc: The header, read ahead.
      upcoming_type_number:
        pos: _io.pos + 4
        type: u1
        doc: The number in the header's `type_code`, read ahead; not every number has a name.
      upcoming_type:
        type: effective_type(upcoming.type_code, has_format and format.has_permuted_types)
        doc: What the event is; no bytes.
      is_format:
        value: upcoming.type_code == binlog_enums::event_type::format_description_event
        doc: The event is a format description.
      format_index:
        value: 'is_format ? index : previous_format_index'
        doc: Index of the newest format description event up to here, or -1.
      is_statement_start:
        value: |
          upcoming_type.value == binlog_enums::event_type::query_event or
          upcoming_type.value == binlog_enums::event_type::xid_event or
          upcoming_type.value == binlog_enums::event_type::gtid_log_event or
          upcoming_type.value == binlog_enums::event_type::anonymous_gtid_log_event or
          upcoming_type.value == binlog_enums::event_type::gtid_tagged_log_event or
          upcoming_type.value == binlog_enums::event_type::gtid_event
        doc: No rows event after this one refers to a table map before it; this bounds the search.
      table_map_index:
        value: |
          upcoming_type.value == binlog_enums::event_type::table_map_event ? index :
          is_statement_start ? -1 : previous_table_map_index
        doc: Index of the newest table map event of the statement up to here, or -1.
      has_format:
        value: previous_format_index >= 0
        doc: There is a format description event before; logs before version 4 have none.
      format:
        value: _root.entries[previous_format_index].event.body.content.as<format_description_event>
        if: has_format
        doc: The format description in force.
      len_header:
        value: |
          _root.binlog_version == 1 ? 13 :
          is_format ? 19 :
          has_format ? format.len_header : 19
        doc: Length of the event's header, in bytes.
      len_post_header:
        value: |
          has_format and upcoming_type_number > 0 and upcoming_type_number <= format.num_event_types
          ? format.len_post_headers[upcoming_type_number - 1] : 0
        doc: The format description's entry for the event's type, in bytes; 0 where it has none.
      is_rows_event:
        value: |
          upcoming_type.value == binlog_enums::event_type::write_rows_event or
          upcoming_type.value == binlog_enums::event_type::update_rows_event or
          upcoming_type.value == binlog_enums::event_type::delete_rows_event or
          upcoming_type.value == binlog_enums::event_type::partial_update_rows_event or
          upcoming_type.value == binlog_enums::event_type::write_rows_event_v1 or
          upcoming_type.value == binlog_enums::event_type::update_rows_event_v1 or
          upcoming_type.value == binlog_enums::event_type::delete_rows_event_v1 or
          upcoming_type.value == binlog_enums::event_type::pre_ga_write_rows_event or
          upcoming_type.value == binlog_enums::event_type::pre_ga_update_rows_event or
          upcoming_type.value == binlog_enums::event_type::pre_ga_delete_rows_event or
          upcoming_type.value == binlog_enums::event_type::write_rows_compressed_event_v1 or
          upcoming_type.value == binlog_enums::event_type::update_rows_compressed_event_v1 or
          upcoming_type.value == binlog_enums::event_type::delete_rows_compressed_event_v1 or
          upcoming_type.value == binlog_enums::event_type::write_rows_compressed_event or
          upcoming_type.value == binlog_enums::event_type::update_rows_compressed_event or
          upcoming_type.value == binlog_enums::event_type::delete_rows_compressed_event
        doc: The event has rows, which a table map describes.
      upcoming_table_id:
        pos: _io.pos + len_header
        type: table_id(len_post_header)
        if: is_rows_event
        doc: What the rows event refers to, read ahead.
      table_map_candidates:
        type: |
          table_map_candidate(
            upcoming_table_id.value,
            _index == 0 ? previous_table_map_index : table_map_candidates[_index - 1].next_index
          )
        repeat: until
        repeat-until: _.is_end or _.is_match
        if: is_rows_event
        doc: The table maps before this entry, newest first, up to the one that the rows belong to.
      has_table_map:
        value: is_rows_event and table_map_candidates.last.is_match
        doc: Whether `table_map` is there.
      table_map:
        value: table_map_candidates.last.table_map
        if: has_table_map
        doc: The table map that the rows belong to.
  table_map_candidate:
    doc: A table map before a rows event, which may be the one that the rows belong to; no bytes.
    params:
      - id: table_id
        type: u8
        doc: What the rows event refers to.
      - id: index
        type: s4
        doc: Index of the entry in the file; -1 after the last candidate.
    instances:
      is_end:
        value: index < 0
        doc: There are no more table maps.
      table_map:
        value: _root.entries[index].event.body.content.as<table_map_event>
        if: not is_end
        doc: The table map.
      is_match:
        value: not is_end and table_map.table_id.value == table_id
        doc: The rows belong to it.
      next_index:
        value: _root.entries[index].previous_table_map_index
        doc: Index of the previous table map, or -1.
