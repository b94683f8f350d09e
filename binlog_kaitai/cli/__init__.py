"""The command line tool. Each command is a module that is loaded when it is called."""

from __future__ import annotations

from binlog_kaitai.cli.app import main

__all__ = ["main"]
