"""The rows of many events at a time, as Arrow columns.

1. Rows events whose table maps have the same content are processed together (`table_maps`, `row_images`).
2. A kernel walks their images with a program of value lengths by column (`image_walk`) and
   records the offset of each value.
3. Kernels for its type build each column from these offsets (`builders` and the kernel modules).
4. Values without a kernel are decoded by the event reader's functions, each distinct value once
   (`column_cells`). The event reader also reports events that contradict their table map.
"""
