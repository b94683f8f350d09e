"""`read_changes` of a log's only table, as typed Arrow columns; prints its rows and NULLs as JSON.

Arguments: the number of threads, and the log.
"""

from __future__ import annotations

import json
import sys

from binlog_kaitai.views.changes_view import read_changes
from tools.bench.measure import first_table


def main() -> None:
    rows = nulls = 0
    threads, path = int(sys.argv[1]), sys.argv[2]
    for batch in read_changes(path, table=first_table(path), threads=threads):
        rows += batch.num_rows
        for field, column in zip(batch.schema, batch.columns, strict=True):
            if not field.name.startswith("_"):
                nulls += column.null_count
    print(json.dumps({"rows": rows, "nulls": nulls}))


if __name__ == "__main__":
    main()
