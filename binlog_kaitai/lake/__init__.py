"""A lake of Parquet files that grows batch by batch, each batch just once.

=========  ==================================================================
write      some of a log as Parquet files, in a place where nobody looks
commits    a batch becomes part of the lake: all of it, and once
iceberg    tables of Iceberg over the files of a lake
lineage    which changes make up a table, over TRUNCATE, DROP and RENAME
=========  ==================================================================

::

    events/log_date=2026-11-20/part-00000000-00000-0001.parquet
    transactions/log_date=.../...
    changes/SCHEMA.TABLE/log_date=.../...
    _pipeline/checkpoint    Spark's: how far the logs are read
    _pipeline/batches       one file for each batch: what it consists of
    _pipeline/staging       files that are being written

It is the lake of `binlog-kaitai export`, divided by date.
"""

VIEWS = ("events", "transactions", "changes")

#: What its tables are.
FORMATS = ("parquet", "delta", "iceberg")

#: The column that divides each table.
DATE = "log_date"

#: The column of each view that the date is made of.
TIMES = {"events": "timestamp", "transactions": "start", "changes": "_commit_timestamp", "damage": "begun"}
