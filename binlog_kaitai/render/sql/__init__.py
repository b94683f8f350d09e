"""Generates SQL scripts from logs: statements that repeat their changes, or undo them."""

from binlog_kaitai.render.sql.script_lines import OmissionReport
from binlog_kaitai.render.sql.sql_options import SqlOptions
from binlog_kaitai.render.sql.sql_script import write_followed, write_sql

__all__ = ["OmissionReport", "SqlOptions", "write_followed", "write_sql"]
