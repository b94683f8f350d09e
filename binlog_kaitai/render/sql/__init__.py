"""Logs as scripts of statements: to make their changes again, or to take them back.

script      the transactions of a log, in order or from the last one on
rows        the row changes of a block as lines
choice      which row changes are wanted: by operation, columns and values
changes     row changes as columns, in groups that are alike
statements  INSERT, UPDATE and DELETE for a group
today       tables as they are today, which statements that take changes back can be fitted to
versions    history rows of system versioning, which statements make anew
events      the statements that a log itself has
session     the settings that statements need
where       conditions on values
report      what is left out
"""

from binlog_kaitai.render.sql.choice import RowChoice, Wanted
from binlog_kaitai.render.sql.report import Report
from binlog_kaitai.render.sql.script import write_sql
from binlog_kaitai.render.sql.script_options import SqlOptions

__all__ = ["Report", "RowChoice", "SqlOptions", "Wanted", "write_sql"]
