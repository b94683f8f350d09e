"""Generates SQL scripts from logs: statements that repeat their changes, or undo them.

sql_script         the script of some logs, for programs
script_options     the options of a script
script             the transactions of a log, in order or, to undo them, from the last one to the first
event_roles        the transactions and the logged statements in a block
row_statements     the statements for the row changes of a block
changes            row changes as columns, in groups with the same columns
choice             selects row changes by operation, columns and values
where              conditions on values
change_statements  INSERT, UPDATE and DELETE for a group of changes
today              adapts statements to the tables' current definitions
altered            tables that the log alters after changes that are undone
versions           history rows of system-versioned tables
session            the settings that statements need
prepared           statements as strings that the server prepares
client             how the `mysql` client divides a script into statements
lines              lines of a script, in the order of events
omissions          what a script leaves out, as comments and warnings
"""

from binlog_kaitai.render.sql.choice import RowChoice, Wanted
from binlog_kaitai.render.sql.omissions import Report
from binlog_kaitai.render.sql.script import write_sql
from binlog_kaitai.render.sql.script_options import SqlOptions

__all__ = ["Report", "RowChoice", "SqlOptions", "Wanted", "write_sql"]
