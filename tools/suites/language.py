"""Reads files of mysqltest: SQL statements, and commands of the test language.

A command is the first word of a statement, or of a line that begins with `--`. Blocks of `if` and `while` are
nested. Text is decoded as latin-1, so that encoding it again gives the bytes of the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tools.suites.trees import LeftOutError

#: Commands without a meaning for the server.
_SHOWING = (
    "echo replace_column replace_regex replace_result replace_numeric_round sorted_result result_format "
    "output partially_sorted_result horizontal_results vertical_results lowercase_result start_timer "
    "end_timer assert remove_file remove_files_wildcard mkdir rmdir force-rmdir force-cpdir list_files "
    "chmod character_set cat_file file_exists ping real_sleep sleep save_master_pos skip_if_hypergraph "
    "optimizer_trace"
)
_OTHERS = (
    "let inc dec expr eval evalp query query_vertical query_horizontal error source delimiter connect "
    "connection disconnect dirty_close die exit skip reset_connection change_user send reap send_eval "
    "exec execw exec_in_background system perl write_file write_line append_file copy_file move_file "
    "diff_files copy_files_wildcard shutdown_server send_quit send_shutdown sync_with_master "
    "sync_slave_with_master require query_attributes list_files_write_file list_files_append_file "
    "query_sorted"
)
SHOWING = frozenset(_SHOWING.split())
_COMMANDS = SHOWING | frozenset(_OTHERS.split())
_SWITCH = re.compile(r"(?:disable|enable)_[a-z_]+$")
_WORD = re.compile(r"[A-Za-z_][\w-]*")
_BLOCK = re.compile(r"(?:--\s*)?(if|while)\s*(?=\()", re.I)
_SPACE = re.compile(r"(?:\s|#[^\n]*)*")
#: A part of a statement in which the delimiter is not searched for, or one character.
_PART = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|.""", re.S)


@dataclass
class Command:
    """A command with its argument; SQL has the name ``""``."""

    name: str
    argument: str
    block: list[Command] = field(default_factory=list)


class Reader:
    """Reads the commands of a file; raises `LeftOutError`: its blocks do not match."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._delimiter = ";"

    def commands(self, *, is_block: bool = False) -> list[Command]:
        """The commands up to the end of the file, or of a block."""
        commands: list[Command] = []
        while self._skip(_SPACE) < len(self._text) and self._text[self._at] != "}":
            if (command := self._command()) is not None:
                commands.append(command)
        if is_block != (self._at < len(self._text)):
            raise LeftOutError("blocks that do not match")
        self._at += 1
        return commands

    def _skip(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return self._at

    def _command(self) -> Command | None:
        if block := _BLOCK.match(self._text, self._at):
            self._at = block.end()
            return Command(block[1].lower(), self._condition(), self.commands(is_block=True))
        if self._text.startswith("--", self._at):
            line, _, _ = self._text[self._at : self._at + 5000].partition("\n")
            self._at += len(line)
            return _named(line[2:].strip(), is_line=True)
        command = _named(self._statement())
        if command is not None and command.name == "delimiter":
            self._delimiter = command.argument
            return None
        return command

    def _condition(self) -> str:
        start, depth = self._at + 1, 0
        while self._at < len(self._text):
            mark = self._text[self._at]
            depth += {"(": 1, ")": -1}.get(mark, 0)
            self._skip(_PART)
            if not depth:
                break
        condition = self._text[start : self._at - 1]
        if self._skip(_SPACE) >= len(self._text) or self._text[self._at] != "{":
            raise LeftOutError("a condition without a block")
        self._at += 1
        return condition

    def _statement(self) -> str:
        start = self._at
        while self._at < len(self._text):
            if self._text.startswith(self._delimiter, self._at):
                self._at += len(self._delimiter)
                return self._text[start : self._at - len(self._delimiter)].strip()
            if self._text.startswith(("#", "-- "), self._at):
                ends = (self._text.find(end, self._at) for end in ("\n", self._delimiter))
                self._at = min((end for end in ends if end >= 0), default=len(self._text))
            else:
                self._skip(_PART)
        return self._text[start:].strip()


def _named(text: str, *, is_line: bool = False) -> Command | None:
    """A command by its first word. A line that names none is a comment."""
    word = _WORD.match(text)
    name = word[0].lower() if word else ""
    if name in _COMMANDS or _SWITCH.match(name):
        argument = text[len(name) :].strip()
        return Command(name, argument.rstrip(";") if is_line and name != "let" else argument)
    return None if is_line or not text else Command("", text)
