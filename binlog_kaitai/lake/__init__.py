"""A data lake of Parquet files to which batches are appended exactly once.

==========  ==================================================================
write       part of a log as Parquet files, in a staging folder
commits     atomic, exactly-once commits of batches
compaction  joins small files
origins     which batch and piece the rows of a file come from
iceberg     Iceberg tables over the files of a lake
lineage     which changes make up a table, across TRUNCATE, DROP and RENAME
rules       what is left out, masked and renamed
preview     what a pipeline would load
types       column types and names that the readers of a lake support
==========  ==================================================================

::

    events/log_date=2026-11-20/part-00000000-00000-0001.parquet
    transactions/log_date=.../...
    changes/SCHEMA.TABLE/log_date=.../...
    _pipeline/checkpoint    Spark's progress in the logs
    _pipeline/batches       one file for each batch, listing its content
    _pipeline/staging       files being written
    _pipeline/compaction    files being joined

The layout is that of `binlog-kaitai export`, partitioned by date.
"""

VIEWS = ("events", "transactions", "changes")

#: The tables of a lake.
FORMATS = ("parquet", "delta", "iceberg")

#: The partition column of each table.
DATE = "log_date"

#: The column of each view that the partition date is computed from.
TIMES = {"events": "timestamp", "transactions": "start", "changes": "_commit_timestamp", "damage": "begun"}
