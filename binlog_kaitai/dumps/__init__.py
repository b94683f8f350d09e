"""Dumps of tables on disk, read as the snapshot with which a lake begins.

===========  ==================================================================
script       splits a script into comments, statements, and the rows of INSERT
literals     literals of a script, as what queries return and as Arrow arrays
loading      the state of a client that runs a script, and the rows that it inserts
mysqldump    a script of mysqldump or mariadb-dump
mydumper     a directory of mydumper
progress     lines on how much has been read
snapshot     reads a dump of either kind into a snapshot
===========  ==================================================================

Rule: a dump is read completely, or refused with the file, the line, and what to do.
"""

from __future__ import annotations

from binlog_kaitai.dumps.snapshot import snapshot_of_dump

__all__ = ["snapshot_of_dump"]
