meta:
  id: zstd_seek_table
  title: Seek table of a zstd file
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  The last frame of a file in zstd's seekable format, which decoders skip. It lists the other frames, each of which
  can be decompressed on its own.
doc-ref: https://github.com/facebook/zstd/blob/v1.5.7/contrib/seekable_format/zstd_seekable_compression_format.md
seq:
  - id: magic
    -orig-id: Skippable_Magic_Number
    contents: [0x5e, 0x2a, 0x4d, 0x18]
    doc: A frame to skip.
  - id: len_content
    -orig-id: Frame_Size
    type: u4
    doc: Size of the rest of the table, in bytes.
  - id: entries
    type: entry(ending.has_checksums)
    repeat: expr
    repeat-expr: ending.num_frames
    doc: The frames, in the order of the file.
  - id: footer_bytes
    size: 9
    doc: The footer, which `ending` reads ahead.
instances:
  ending:
    pos: _io.size - 9
    type: footer
    doc: What the file ends with.
types:
  entry:
    doc: One frame.
    params:
      - id: has_checksums
        type: bool
        doc: The entry has a checksum.
    seq:
      - id: len_packed
        -orig-id: Compressed_Size
        type: u4
        doc: Size of the frame in the file, in bytes.
      - id: len_plain
        -orig-id: Decompressed_Size
        type: u4
        doc: Size of what is in it, in bytes.
      - id: checksum
        -orig-id: Checksum
        type: u4
        if: has_checksums
        doc: The lower half of the XXH64 of what is in it.
  footer:
    doc: The end of the table.
    seq:
      - id: num_frames
        -orig-id: Number_Of_Frames
        type: u4
        doc: Number of frames.
      - id: descriptor
        -orig-id: Seek_Table_Descriptor
        type: u1
        doc: Bits described by `has_checksums`.
      - id: magic
        -orig-id: Seekable_Magic_Number
        contents: [0xb1, 0xea, 0x92, 0x8f]
        doc: Ends a file that has such a table.
    instances:
      has_checksums:
        -orig-id: Checksum_Flag
        value: (descriptor & 0x80) != 0
        doc: The entries have checksums.
      len_table:
        value: '8 + num_frames * (has_checksums ? 12 : 8) + 9'
        doc: Size of the whole table, in bytes.
