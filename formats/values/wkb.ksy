meta:
  id: wkb
  title: Well-known binary shape
  xref:
    iso: 13249-3:2016
    loc: fdd000549
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  A shape as the OpenGIS standard writes it, little-endian, as servers store it. Coordinates are in
  the unit of the spatial reference system.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/sql/spatial.cc Geometry::construct
-webide-representation: '{type}'
params:
  - id: depth
    type: u1
    doc: Number of shapes that this one is part of.
seq:
  - id: byte_order
    -orig-id: wkbByteOrder
    type: u1
    valid: 1
    doc: 1 for little-endian, which is all that servers store.
  - id: type
    -orig-id: wkbType
    type: u4
    enum: shape_type
    doc: What the shape is.
  - id: content
    type:
      switch-on: type
      cases:
        'shape_type::point': point
        'shape_type::line_string': point_list
        'shape_type::polygon': polygon
        'shape_type::multi_point': shape_list
        'shape_type::multi_line_string': shape_list
        'shape_type::multi_polygon': shape_list
        'shape_type::geometry_collection': shape_list
    doc: The shape, by its type.
types:
  point:
    -webide-representation: '{x} {y}'
    seq:
      - id: x
        -orig-id: x
        type: f8
        doc: First coordinate; of a geographic system the longitude.
      - id: y
        -orig-id: y
        type: f8
        doc: Second coordinate; of a geographic system the latitude.
  point_list:
    seq:
      - id: num_points
        -orig-id: n_points
        type: u4
        doc: How many points follow.
      - id: points
        -orig-id: point_xy
        type: point
        repeat: expr
        repeat-expr: num_points
        doc: The points, in order.
  polygon:
    seq:
      - id: num_rings
        -orig-id: n_linear_rings
        type: u4
        doc: How many rings follow.
      - id: rings
        -orig-id: n_linear_rings
        type: point_list
        repeat: expr
        repeat-expr: num_rings
        doc: The outer ring, and the holes in it.
  shape_list:
    seq:
      - id: num_shapes
        -orig-id: n_objects
        type: u4
        doc: How many shapes follow.
      - id: shapes
        -orig-id: n_objects
        type: wkb(_parent.depth + 1)
        repeat: expr
        repeat-expr: num_shapes
        if: _parent.depth < 64
        doc: The parts; not read where shapes are nested deeper than any server allows.
enums:
  shape_type:
    1: point
    2: line_string
    3: polygon
    4: multi_point
    5: multi_line_string
    6: multi_polygon
    7: geometry_collection
