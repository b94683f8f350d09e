"""The suites: their files, and which tests are left out because they need more than one plain server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tools.servers.catalog import Spec
from tools.servers.packages import install

#: The package of each server's suite, the folder mysql-test in it, and the folder of tests of no suite.
_PACKAGES = {
    "mysql-9.7": ("mysql-testsuite", "usr/lib/mysql-test", "t"),
    "mariadb-11.8": ("mariadb-test-data", "usr/share/mariadb/mariadb-test", "main"),
}
SERVERS = tuple(_PACKAGES)
#: Suites about the tables and statements of one server.
_SUITES = (
    "main binlog collations compat/oracle engines/funcs engines/iuds funcs_1 gcol gis information_schema "
    "innodb innodb_fts innodb_gis innodb_zip jdv json parts period sql_sequence vcol versioning"
)
_BEGIN = r"^\s*(?:--\s*)?(?:eval\s+)?"
#: Texts that show what a test needs, in its file or in one that it includes.
_NEEDS = {
    "a restart": r"start_mysqld|shutdown_|kill_mysqld|expect_crash|^\s*(?:shutdown|restart)\s*;",
    "a debug build": r"have_debug|debug_sync|have_symbol|\bset\b.*\bdebug(?:_dbug)?\b",
    "replication": r"master-slave|include/rpl|rpl_init|have_ndb|galera|wsrep|^\s*(?:change (?:master|repl)|"
    r"(?:start|stop|reset) (?:slave|replica)|purge )",
    "a log of its own": rf"{_BEGIN}reset\s+(?:master|binary)|sql_log_bin|gtid_(?:next|mode|purged)|"
    r"binlog_checksum",
    "statements in the log": r"binlog_format\s*=\s*'?(?:statement|mixed|1|0|\$)|"
    r"binlog_format_(?:statement|mixed)",
    "a plugin or component": rf"{_BEGIN}(?:un)?install |have_\w*(?:plugin|component|keyring|ndb|federated|"
    r"rocksdb|perfschema|ssl|crypt|udf|dbi|mecab|validate|semisync|connect|spider|oqgraph|example)\w*\.inc",
    "a long time": r"include/(?:big_test|long_test|have_big)|sleep\s*\(?\s*[3-9]",
    "accounts or system tables": r"\b(?:insert|replace|update|delete|drop|alter|truncate|create|rename)\b"
    r"[^;]*\bmysql\s*\.\s*\w|\buse\s+mysql\b|\bset\s+persist|\bdefault_password|skip_grant",
    "to change the whole server": r"super_read_only|global\s+read_only|offline_mode|alter\s+instance|"
    r"(?:lock\s+instance|backup\s+stage|for\s+export|(?:import|discard)\s+tablespace)|"
    r"event_scheduler\s*=\s*(?:1|on)|^\s*kill\b",
}
_PATTERNS = {name: re.compile(pattern, re.I | re.M) for name, pattern in _NEEDS.items()}
_OPTION_FILES = ("-master.opt", ".opt", ".cnf", "-master.sh", ".combinations")


class LeftOutError(Exception):
    """A test, or the rest of it, cannot be run here; the message is a reason without details."""


class Tree(NamedTuple):
    """The suite of a server: the folder mysql-test, and the one with the tests that belong to no suite."""

    root: Path
    main: Path

    def tests(self) -> Iterator[tuple[str, Path]]:
        """Names, such as ``innodb.alter``, and files of all tests of the suites."""
        for suite in _SUITES.split():
            folder = self.main if suite == "main" else self.root / "suite" / suite
            for path in sorted([*folder.glob("*.test"), *folder.glob("t/*.test")]):
                yield f"{suite}.{path.stem}", path

    def find(self, name: str, start: Path) -> Path:
        """A file that a test includes; raises `LeftOutError`: there is none."""
        for folder in (self.root, start.parent, start.parent.parent, self.root / "suite"):
            if (folder / name).is_file():
                return (folder / name).resolve()
        raise LeftOutError("a file that is not there")


def tree_of(server: str) -> Tree:
    """The suite of a server, which is downloaded first if necessary.

    Raises `ServerError`: it cannot be downloaded.
    """
    package, folder, main = _PACKAGES[server]
    root = install(Spec(f"suite-{server}", "", "", "", 0, suite="sid", unpack_only=(package,))) / folder
    return Tree(root, root / main)


def text_of(path: Path, *, is_test: bool = False) -> str:
    """A file of a suite.

    Raises `LeftOutError`: it shows that one server, as it is, does not suffice.
    """
    if is_test:
        options = [path.with_name(path.stem + end) for end in _OPTION_FILES]
        if any(option.exists() and option.read_text(errors="replace").strip() for option in options):
            raise LeftOutError("needs options of the server")
    text = path.read_bytes().decode("latin-1")
    code = re.sub(r"^\s*#.*", "", text, flags=re.M)
    for reason, pattern in _PATTERNS.items():
        if pattern.search(code):
            raise LeftOutError(f"needs {reason}")
    return text
