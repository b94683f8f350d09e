"""Runs a test on a server, statement by statement.

A table that the test drops is moved to the database `kept` instead, so that it can be compared at the end.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne
from pathlib import Path
from typing import Any

import pymysql

from tools.servers import Server
from tools.suites.language import SHOWING, Command, Reader
from tools.suites.trees import LeftOutError, Tree, text_of

DATABASE, KEPT = "test", "kept"
#: Larger tables, and more tables than that, are dropped as the test says.
_MOST_ROWS, _MOST_TABLES = 1000, 60
_MOST_REPETITIONS = 300
_GONE = (2006, 2013, 2055, 1927, 4031)

_VARIABLE = re.compile(r"\\(\$)|\$(\w+)")
_NAMES = r"((?:[\w.`]+\s*,\s*)*[\w.`]+)"
_DROP = re.compile(rf"drop\s+tables?\s+(?:if\s+exists\s+)?{_NAMES}\s*(?:restrict|cascade)?$", re.I)
_SIGNS = {"==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
_COMPARISON = re.compile(r"(.+?)\s*(==|!=|<=|>=|<|>)\s*(.+)$", re.S)
#: Included files that only check what the server can do, and those that wait for other sessions.
_CHECKS = re.compile(
    r"(?:^|/)(?:have_|not_|no_|force_|count_sessions|wait_until_count|maybe_|default_|ctype_utf8mb4_have|"
    r"disable_hypergraph|elide_costs|check_ftwrl|big_)[\w-]*\.inc$"
)  # fmt: skip


class Player:
    """One test on one server.

    Parameters
    ----------
    after
        Called after each statement that the server has run.
    seconds
        How long the test may take.

    Attributes
    ----------
    statements, refused : int
        Statements that the server ran, and those it refused although the test does not say so.
    """

    def __init__(self, server: Server, tree: Tree, after: Callable[[str], None], seconds: float) -> None:
        self._server = server
        self._tree = tree
        self._after = after
        self._deadline = time.monotonic() + seconds
        var = server.folder / "var"
        self._variables = {
            "MYSQLTEST_VARDIR": str(var),
            "MYSQL_TMP_DIR": str(var / "tmp"),
            "MYSQL_TEST_DIR": str(tree.root),
            "MASTER_MYSOCK": str(server.data / "mysqld.sock"),
            "MASTER_MYPORT": str(server.port),
            "MYSQLD_DATADIR": f"{server.data}/",
            "DEFAULT_ENGINE": "InnoDB",
            "BIG_TEST": "",
            "VIEW_PROTOCOL": "0",
        }
        self._sessions: dict[str, Any] = {}
        self._current = "default"
        self._expected = ""
        self._is_skipping = False
        self._kept = 0
        self.statements = self.refused = 0

    def play(self, path: Path) -> None:
        """Run a test.

        Raises `LeftOutError`: it cannot be run to its end; what was run until then stays.
        """
        commands = Reader(text_of(path, is_test=True)).commands()
        self._connect("default")
        try:
            self._all(commands, path)
        finally:
            self.close()

    def close(self) -> None:
        """End all sessions."""
        for session in self._sessions.values():
            if session.open:
                session.close()
        self._sessions.clear()

    def _connect(self, name: str, user: str = "root", password: str = "", database: str = DATABASE) -> None:
        try:
            self._sessions[name] = pymysql.connect(
                unix_socket=str(self._server.data / "mysqld.sock"), user=user or "root", password=password,
                database=database or DATABASE, charset="utf8mb4", autocommit=None, local_infile=True,
                read_timeout=25, conv={}, use_unicode=False,
            )  # fmt: skip
        except pymysql.Error as error:
            raise LeftOutError("a session that the server refuses") from error
        self._sessions[name].encoding = "latin-1"  # names in results may be in any character set
        self._current = name

    def _all(self, commands: list[Command], path: Path, depth: int = 0) -> None:
        if depth > 12:
            raise LeftOutError("files that include each other")
        for command in commands:
            if time.monotonic() > self._deadline:
                raise LeftOutError("more time than a test has")
            self._run(command, path, depth)

    def _run(self, command: Command, path: Path, depth: int) -> None:
        name, argument = command.name, command.argument
        if self._is_skipping or name in SHOWING:
            self._is_skipping &= name != "enable_parsing"
        elif name in ("", "query", "query_vertical", "query_horizontal"):
            self._statement(argument)
        elif name in ("eval", "evalp"):
            self._statement(self._filled(argument))
        elif name == "let":
            self._let(argument)
        elif name == "source":
            self._include(self._filled(argument), path, depth)
        elif name in ("if", "while"):
            self._block(command, path, depth)
        elif name.startswith(("disable_", "enable_")):
            self._is_skipping = name == "disable_parsing"
        else:
            self._other(name, argument)

    def _block(self, command: Command, path: Path, depth: int) -> None:
        for _ in range(_MOST_REPETITIONS):
            if not self._holds(command.argument):
                return
            self._all(command.block, path, depth + 1)
            if command.name == "if":
                return
        raise LeftOutError("a loop of many rounds")

    def _other(self, name: str, argument: str) -> None:
        """Commands about errors, numbers and sessions; all others are not interpreted."""
        variable = argument.lstrip("$ ").strip()
        if name == "error":
            self._expected = argument
        elif name in ("inc", "dec"):
            value = int(self._variables.get(variable) or 0)
            self._variables[variable] = str(value + (1 if name == "inc" else -1))
        elif name == "connect":
            parts = [part.strip(" \t\n'\"`") for part in self._filled(argument).strip("() ").split(",")]
            named, _, user, password, database, *_ = [*parts, "", "", "", ""]
            self._connect(named, user, password, database.replace("*NO-ONE*", ""))
        elif name == "connection":
            self._current = self._filled(argument)
            if self._current not in self._sessions:
                raise LeftOutError("a session that is not there")
        elif name in ("disconnect", "dirty_close"):
            if (session := self._sessions.pop(argument, None)) is not None and session.open:
                session.close()
        else:
            raise LeftOutError(f"the command {name}")

    def _include(self, name: str, path: Path, depth: int) -> None:
        if not _CHECKS.search(name):
            file = self._tree.find(name.strip().strip("'\""), path)
            self._all(Reader(text_of(file)).commands(), file, depth + 1)

    def _let(self, text: str) -> None:
        name, _, value = text.partition("=")
        value = value.strip()
        if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        self._variables[name.strip().lstrip("$")] = self._value(value)

    def _value(self, text: str) -> str:
        if len(text) > 1 and text[0] == text[-1] == "`":
            rows = self._rows(self._filled(text[1:-1]))
            return "\t".join(_text(cell) for cell in rows[0]) if rows else ""
        if text.startswith("query_get_value"):
            raise LeftOutError("query_get_value")
        return self._filled(text)

    def _filled(self, text: str) -> str:
        def value(match: re.Match[str]) -> str:
            if match[1]:
                return "$"
            if match[2] not in self._variables:
                raise LeftOutError("a variable without a value")
            return self._variables[match[2]]

        return _VARIABLE.sub(value, text)

    def _holds(self, condition: str) -> bool:
        condition = condition.strip()
        is_negated = condition.startswith("!") and not condition.startswith("!=")
        if is_negated:
            condition = condition[1:].strip()
        if not condition.startswith("`") and (match := _COMPARISON.match(condition)):
            return bool(_SIGNS[match[2]](*_comparable(self._operand(match[1]), self._operand(match[3]))))
        value = self._operand(condition)
        return is_negated ^ (value not in ("", "0", "NULL") and not re.fullmatch(r"0\D.*", value))

    def _operand(self, text: str) -> str:
        text = text.strip()
        if text.startswith("$"):
            return self._variables.get(text[1:], "")
        return self._value(text).strip("'\"")

    def _rows(self, query: str) -> list[Any]:
        """The result of a query of the test itself; none if the server refuses it."""
        session = self._sessions[self._current]
        try:
            session.query(query.encode("latin-1"))
            return list(session._result.rows or ())
        except pymysql.Error as error:
            self._check_alive(error)
            return []

    def _statement(self, sql: str) -> None:
        expected, self._expected = self._expected, ""
        if not expected and (drop := _DROP.match(sql)) and self._kept < _MOST_TABLES:
            for table in drop[1].split(","):
                self._keep(table.strip())
            return
        if self._execute(sql):
            self._after(sql)
        elif not expected:
            self.refused += 1

    def _execute(self, sql: str) -> bool:
        session = self._sessions.get(self._current)
        if session is None or not session.open:
            raise LeftOutError("a session that has ended")
        try:
            session.query(sql.encode("latin-1"))
            while session._result.has_next:
                session.next_result()
        except pymysql.Error as error:
            self._check_alive(error)
            return False
        self.statements += 1
        return True

    def _keep(self, table: str) -> None:
        """Move a table, or drop it if that is refused."""
        shown = self._rows(f"SHOW CREATE TABLE {table}")
        is_plain = bool(shown) and b"TEMPORARY" not in shown[0][1][:20]
        is_large = bool(self._rows(f"SELECT 1 FROM {table} LIMIT {_MOST_ROWS}, 1"))
        sql = f"RENAME TABLE {table} TO {KEPT}.t{self._kept}"
        if is_plain and not is_large and self._execute(sql):
            self._kept += 1
            self._after(sql)
        elif self._execute(sql := f"DROP TABLE IF EXISTS {table}"):
            self._after(sql)

    @staticmethod
    def _check_alive(error: pymysql.Error) -> None:
        if error.args and error.args[0] in _GONE:
            raise LeftOutError("a statement that takes long, or ends the session") from error


def _comparable(left: str, right: str) -> tuple[Any, Any]:
    try:
        return float(left), float(right)
    except ValueError:
        return left, right


def _text(cell: Any) -> str:
    return cell.decode("latin-1") if isinstance(cell, bytes) else "NULL" if cell is None else str(cell)
