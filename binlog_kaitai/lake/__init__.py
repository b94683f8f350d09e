"""A lake: the logs as Delta or Iceberg tables, to which each batch is added exactly once.

==============  ==================================================================
storage         the folder of a lake: a path or a URL
types           column types and names that the readers of a lake support
files           tasks write Parquet files straight into the folders of tables
write           the files of part of a log
described       keys, NOT NULL and comments of columns, as metadata of tables
delta           Delta tables, by deltalake
iceberg         Iceberg tables, by PyIceberg
iceberg_rows    their rows, read and replaced file by file
place           the plan of the current batch: where the pipeline continues
batches         commits batches, table by table; the interface of a table format
changes         the changes that make up a table, as Arrow
column_changes  refuses batches that change the columns of a table
state_tables    the contents of tables, kept up to date
cascades        tables that foreign keys change without a log of it
lineage         which changes make up a table, across TRUNCATE, DROP and RENAME
rules           what is left out, masked and renamed
preview         what a pipeline would load
upkeep          joins small files, and removes what no reader needs
erasing         erases rows, as a person may ask for; rows that are gone with partitions
lake_command    `binlog-kaitai lake`
==============  ==================================================================

::

    events/log_date=2026-11-20/part-....parquet     and _delta_log, like each folder below
    transactions/log_date=.../...
    changes/SCHEMA.TABLE/log_date=.../...
    state/SCHEMA.TABLE/...
    damage/log_date=.../...
    gaps/log_date=.../...           where logs are missing
    statements/log_date=.../...     the view `ddl`; a batch is complete when this table has it
    _lineage/...                    keys, and statements that emptied or renamed tables
    _pipeline/...                   one row: the plan of the last batch
    _sources/NAME/...               in a lake of several sources: the last two of each source

A batch
-------
1. The driver commits its plan to `_pipeline`: its number, and its start and end in the logs.
2. Tasks write files into the folders of tables. Nobody sees these files yet.
3. The driver commits each table once, its files together with the number of the batch. It skips tables that
   have this number, and commits `statements` last.

A process killed before step 3 ends leaves a plan whose batch `statements` lacks. The next process repeats the
batch from the plan; the tables that have it already are skipped. No lock is needed: of two processes that
write to a lake, the second one to commit a plan fails. Files that no commit names are invisible, and `lake
vacuum` removes them.

Several sources may share a lake. Each has an application's id, plans and numbers of batches of its own, so
that each table knows the last batch it has of each source. One process loads all of them.
"""

#: The formats of a lake's tables.
FORMATS = ("delta", "iceberg")

#: The partition column of each table.
DATE = "log_date"

#: In a lake of several sources: the first column of each table, with the name of the source of a row; and the
#: folder with a folder for each source, which has the tables `_lineage` and `_pipeline`.
SOURCE, SOURCES = "_source", "_sources"

#: Where `--rename` has several tables in one: columns with the schema and the name of the table of a row.
ORIGIN = ("_schema", "_table")

#: The column of each view that the partition date is computed from.
TIMES = {
    "events": "timestamp",
    "transactions": "start",
    "changes": "_commit_timestamp",
    "statements": "_commit_timestamp",
    "damage": "begun",
    "gaps": "begun",
}

#: The table of statements, and those that only the pipeline reads.
STATEMENTS, LINEAGE, PLACE = "statements", "_lineage", "_pipeline"

#: The folder of the tables with the contents of a server's tables.
STATE = "state"
