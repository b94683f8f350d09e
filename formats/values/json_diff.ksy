meta:
  id: json_diff
  title: Change of a JSON document
  license: MIT
  ks-version: '0.10'
  imports:
    - /common/packed_integer
    - /values/json_binary
  endian: le
doc: One change of a part of a JSON document, as PARTIAL_UPDATE_ROWS_EVENT has it. Since 8.0.3.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/sql-common/json_diff.cc Json_diff_vector::read_binary
-webide-representation: '{operation} {path}'
seq:
  - id: operation
    -orig-id: operation
    type: u1
    enum: diff_operation
    doc: What is done at the path.
  - id: len_path
    -orig-id: path_length
    type: packed_integer
    doc: Length of `path`, in bytes.
  - id: path
    -orig-id: path
    size: len_path.value
    type: str
    encoding: UTF-8
    doc: Where in the document, such as `$.name[2]`.
  - id: len_value
    -orig-id: value_length
    type: packed_integer
    if: has_value
    doc: Length of `value`, in bytes.
  - id: value
    -orig-id: value
    size: len_value.value
    type: json_binary
    if: has_value
    doc: What is put there.
instances:
  has_value:
    value: operation != diff_operation::remove
enums:
  diff_operation:
    0:
      id: replace
      -orig-id: REPLACE
      doc: The value at the path is replaced.
    1:
      id: insert
      -orig-id: INSERT
      doc: A value is inserted before the array element, or as the object's member, at the path.
    2:
      id: remove
      -orig-id: REMOVE
      doc: The value at the path is removed.
