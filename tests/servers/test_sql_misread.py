"""`sql` on real servers: a value never becomes a statement, in any client character set or `sql_mode`.

The log holds values, names, comments and statements made to be misread. Its script is played by clients of
every character set in which a backslash or a backquote may be part of a character, and must make the same
tables, and nothing besides.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from binlog_kaitai.render.sql.statement_text import SQL_MODE
from binlog_kaitai.values.sql_text import identifier
from tests.servers.conftest import StartServer
from tests.servers.hostile_log import COLLATIONS, REFUSED, Logged, hostile, log_of
from tests.servers.replay import WAYS, last_log, run_script
from tests.servers.test_sql import script
from tools.corpus.recorder import reset_statement
from tools.servers import Server

pytestmark = pytest.mark.server

NAMES = ["mysql-9.7", "mariadb-11.8"]
CHARSETS = ["utf8mb4", "latin1", "gbk", "gb18030", "big5", "sjis", "cp932", "ujis", "euckr"]
MODES = ["", "ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES"]

#: Characters whose last byte takes the next one with it in some character set, or is a backslash in another.
LEADS = ("", "x", "é", "中", "表", "功", "噂", "誠", "𠮷", "中\\", "\\", "''", '"', "`")
PAYLOAD = "CREATE DATABASE pwned; "
TAILS = (
    "", "'", "\\", '"', "`", "\0", "\n", "\r\n", "\x1a", "\x7f", "*/", "-- ", "#", ";",
    f"'; {PAYLOAD}-- ", f"'); {PAYLOAD}-- ", f"\\'; {PAYLOAD}-- ", f'"; {PAYLOAD}-- ', f"`; {PAYLOAD}-- ",
    f"*/; {PAYLOAD}/*", f"\n{PAYLOAD}\n", f"//*!*/\n{PAYLOAD}", "\n\\! touch PWNED\n",
    "\nsystem touch PWNED\n", "\ndelimiter x\n", "\\g", "\\d x", "\nsource PWNED\n",
)  # fmt: skip
#: Each end after some of the beginnings, and each beginning with some of the ends.
VALUES = [LEADS[(at + 4 * step) % len(LEADS)] + tail for at, tail in enumerate(TAILS) for step in range(3)]

#: Names that a client of some character set, or of another `sql_mode`, would end elsewhere.
HOSTILE = (
    "中", "a\\", f"é`; {PAYLOAD}-- x", f'表"; {PAYLOAD}-- x', "it's", "a`b", "-- x", "/* 中 */", "日\n本"
)  # fmt: skip

COLUMNS = {
    "plain": "VARCHAR(120) CHARACTER SET utf8mb4",
    "of gbk": "VARCHAR(120) CHARACTER SET gbk",
    "of sjis": "TEXT CHARACTER SET sjis",
    "of latin1": "VARCHAR(120) CHARACTER SET latin1",
    "of ucs2": "VARCHAR(120) CHARACTER SET ucs2",
    "of bytes": "VARBINARY(400)",
    "document": "JSON",
}


def execute(connection: Any, statement: str, values: Any = None) -> list[tuple[Any, ...]]:
    cursor = connection.cursor()
    cursor.execute(statement, values)
    return list(cursor.fetchall())


def members() -> str:
    return ", ".join("'" + value.replace("\\", "\\\\").replace("'", "''") + "'" for value in HOSTILE)


def tables() -> dict[str, str]:
    """Tables by their names, in backquotes, and what their columns are."""
    columns = ", ".join(f"{identifier(name)} {kind}" for name, kind in COLUMNS.items())
    made = {"`r`.`keyed`": f"id INT PRIMARY KEY, {columns}", "`r`.`keyless`": f"id INT, {columns}"}
    made["`r`.`by_text`"] = "id INT, w VARCHAR(120) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PRIMARY KEY"
    made["`r`.`chosen`"] = f"id INT PRIMARY KEY, w ENUM({members()})"
    for number, name in enumerate(HOSTILE):
        columns = f"id INT PRIMARY KEY, {identifier(name)} VARCHAR(120) CHARACTER SET utf8mb4"
        made[f"`r中```.{identifier(name)}"] = columns if number % 2 else columns.replace(" PRIMARY KEY", "")
    return made


def fill(connection: Any, wanted: list[str], first: int) -> None:
    """Put values into all columns of all tables."""
    cursor = connection.cursor()
    cursor.execute("SET SESSION sql_mode = ''")
    count = len(COLUMNS)
    for table in ("`r`.`keyed`", "`r`.`keyless`"):
        offsets = ", ".join(["%s"] * (count - 1))
        rows = [[first + at, *([value] * (count - 1)), value] for at, value in enumerate(wanted)]
        cursor.executemany(f"INSERT IGNORE INTO {table} VALUES (%s, {offsets}, JSON_QUOTE(%s))", rows)
    pairs = [(first + at, value) for at, value in enumerate(wanted)]
    cursor.executemany("INSERT IGNORE INTO r.by_text VALUES (%s, %s)", pairs)
    numbers = [(first + index, index % len(HOSTILE) + 1) for index in range(2 * len(HOSTILE))]
    cursor.executemany("INSERT INTO r.chosen VALUES (%s, %s)", numbers)
    for table in tables():
        if "中" in table:
            cursor.executemany(f"INSERT INTO {table} VALUES (%s, %s)", pairs[::9])


def change(connection: Any) -> None:
    execute(connection, "UPDATE r.keyed SET plain = CONCAT('中', plain), `of gbk` = NULL WHERE id % 3 = 0")
    execute(connection, "UPDATE r.keyed SET document = JSON_ARRAY(plain, `of sjis`) WHERE id % 7 = 0")
    execute(connection, "UPDATE r.keyless SET plain = CONCAT(plain, '中\\\\') WHERE id % 3 = 0")
    execute(connection, "UPDATE r.by_text SET w = CONCAT(w, id, '表') WHERE id % 5 = 0")
    execute(connection, "DELETE FROM r.by_text WHERE id % 11 = 0")
    execute(connection, "DELETE FROM r.keyless WHERE id % 11 = 0")
    for name in HOSTILE:
        column = identifier(name)
        execute(connection, f"UPDATE `r中```.{column} SET {column} = CONCAT({column}, '\\\\') WHERE id % 2")


def sums(server: Server) -> dict[str, int]:
    return dict(server.execute(f"CHECKSUM TABLE {', '.join(tables())}"))


def databases(server: Server) -> list[Any]:
    return server.execute("SHOW DATABASES")


def play(server: Server, text: bytes, charset: str, folder: Path, mode: str = "") -> None:
    """Run a script in a client with a character set, which continues after errors."""
    client = server.client("mysql" if server.spec.flavour == "mysql" else "mariadb")
    done = subprocess.run(
        [*client, "--no-defaults", "-f", f"--default-character-set={charset}", "-h127.0.0.1", "-uroot",
         f"-P{server.port}", f"--init-command=SET sql_mode='{mode}'"],
        input=text, capture_output=True, cwd=folder,
    )  # fmt: skip
    assert b"ERROR" not in done.stderr, done.stderr.decode(errors="replace")[:2000]
    assert list(folder.iterdir()) == []


def known_to(server: Server) -> list[str]:
    return [one for one in CHARSETS if server.execute(f"SHOW CHARACTER SET LIKE '{one}'")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "client").mkdir()
    return tmp_path / "client"


def cleared(server: Server, *names: str) -> None:
    for name in names:
        server.execute(f"DROP DATABASE IF EXISTS {identifier(name)}")
    server.execute(reset_statement(server))


@pytest.mark.parametrize("name", NAMES)
def test_values_and_names_are_never_statements(
    name: str, start_server: StartServer, folder: Path, tmp_path: Path
) -> None:
    server = start_server(name)
    cleared(server, "r", "r中`")
    with server.connect() as connection:
        execute(connection, "CREATE DATABASE r")
        execute(connection, "CREATE DATABASE `r中```")
        for table, columns in tables().items():
            execute(connection, f"CREATE TABLE {table} ({columns})")
        fill(connection, VALUES[::9], 10_000)
        last_log(server)
        before = sums(server), databases(server)
        connection.begin()
        fill(connection, VALUES, 0)
        change(connection)
        connection.commit()
    log, after = last_log(server), (sums(server), databases(server))
    assert before != after
    definitions = tmp_path / "definitions.sql"
    shown = [server.execute(f"SHOW CREATE TABLE {table}")[0][1] for table in tables()]
    uses = [f"USE {'`r`' if table.startswith('`r`') else '`r中```'};\n" for table in tables()]
    definitions.write_text("".join(f"{use}{text};\n" for use, text in zip(uses, shown, strict=True)))

    redo, undo = script("--ddl", definitions, log), script("--undo", "--ddl", definitions, log)
    for text in (redo, undo):
        assert text.isascii()
        assert text.count(b"\\") == text.count(b"\\C utf8mb4") == 1
    for charset, mode in product(known_to(server), MODES):
        for text, state in ((undo, before), (redo, after)):
            play(server, harsher(text, mode), charset, folder, mode)
            assert (sums(server), databases(server)) == state, (charset, mode)
    play(server, undo, "gbk", folder)
    assert (sums(server), databases(server)) == before


def harsher(text: bytes, mode: str) -> bytes:
    """A script that sets no client character set, and whose statements run in another `sql_mode`."""
    text = re.sub(rb"/\*!\\C [^\n]*\n", b"", text)
    return text.replace(SQL_MODE.encode(), f"{SQL_MODE},{mode}".encode()) if mode else text


#: Statements that a session of some character set and mode runs in a database of its own. MySQL logs names of
#: views, routines and databases in UTF-8 inside statements of another character set, which none can read.
STATEMENTS = (
    "CREATE TABLE `中` (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(99) CHARACTER SET utf8mb4 COMMENT '表')",
    f"INSERT INTO `中` (v) VALUES ('中'';  -- '), ('表'), ('{PAYLOAD}{PAYLOAD}')",
    "INSERT INTO `中` (v) VALUES ('x') /* 中; ' */ -- 表\n",
    "INSERT INTO `中` (v) SELECT 4 //*!*/ 2",
    "/*! INSERT INTO `中` (v) VALUES ('中') */",
    "SET @`中'` := '表'';'",
    "INSERT INTO `中` (v) VALUES (@`中'`)",
    "CREATE VIEW shown AS SELECT '中' AS `功`, v FROM `中`",
    "CREATE PROCEDURE of_text() BEGIN SELECT '中', '表;'; END",
    "CREATE PROCEDURE plain() BEGIN SELECT 1; SELECT '//*!*/'; END",
    "UPDATE `中` SET v = CONCAT(v, 'z') WHERE id = 2",
)
SESSIONS = [("gbk", ""), ("gbk", MODES[2]), ("sjis", MODES[1]), ("big5", MODES[3]), ("utf8mb4", MODES[1])]
#: The databases of these sessions; a client that reads the first one's name in gbk does not see it end.
HOMES = ["h中", "h'\"`\\", "h1", 'h"; 表', "h é"]


def statements(mode: str) -> Iterator[str]:
    yield from STATEMENTS
    if "NO_BACKSLASH" in mode:
        yield r"INSERT INTO `中` (v) VALUES ('中\'), ('x\')"
        yield r"INSERT INTO `中` (v) VALUES ('x\\')"
    else:
        yield rf"INSERT INTO `中` (v) VALUES ('中\\'), ('x\'; {PAYLOAD}')"
    if "ANSI" in mode:
        yield 'CREATE TABLE "a\\" ("中" INT, "b" INT)'
    else:
        yield f'INSERT INTO `中` (v) VALUES ("中"), ("it\'s; {PAYLOAD}")'


def described(server: Server) -> list[Any]:
    """All that the statements make, as the server shows it."""
    found: list[Any] = [databases(server)]
    for home in map(identifier, HOMES):
        found += server.execute(f"SHOW CREATE DATABASE {home}")
        for (name,) in server.execute(f"SHOW TABLES FROM {home}"):
            table = f"{home}.{identifier(name)}"
            found += [server.execute(f"SHOW CREATE TABLE {table}"), server.execute(f"SELECT * FROM {table}")]
        for name in ("of_text", "plain"):
            found += server.execute(f"SHOW CREATE PROCEDURE {home}.{identifier(name)}")
    return found


@pytest.mark.parametrize("name", NAMES)
def test_statements_of_the_log_are_read_as_they_were(
    name: str, start_server: StartServer, folder: Path
) -> None:
    server = start_server(name)
    cleared(server, *HOMES)
    for home, (charset, mode) in zip(HOMES, SESSIONS, strict=True):
        server.execute(f"CREATE DATABASE {identifier(home)}")
        with server.connect(charset=charset) as connection:
            execute(connection, f"SET SESSION binlog_format = STATEMENT, sql_mode = '{mode}'")
            execute(connection, "SET collation_connection = utf8mb4_bin")
            connection.select_db(home)
            for statement in statements(mode):
                execute(connection, statement)
    log, after = last_log(server), described(server)
    text = script(log)
    assert b"\0" not in text
    for charset in known_to(server):
        cleared(server, *HOMES)
        play(server, text, charset, folder)
        assert described(server) == after, charset


@pytest.mark.parametrize("refused", REFUSED)
@pytest.mark.parametrize("name", NAMES)
def test_no_statement_of_a_hostile_log_is_a_command_of_the_client(
    name: str, refused: str, start_server: StartServer, folder: Path, tmp_path: Path
) -> None:
    """Whatever the client's character set, whether it stops at errors, and whichever settings are taken."""
    server = start_server(name)
    cleared(server, "r", "pwned")
    server.execute("CREATE DATABASE r")
    server.execute("CREATE TABLE r.there (id INT)")
    log = tmp_path / "binlog.000001"
    # MySQL's: MariaDB prepares all statements, so that nothing of its logs is printed as it is.
    log.write_bytes(log_of("mysql-9.7", hostile(refused)))
    text = script(log, code=3)
    client = server.client("mysql" if server.spec.flavour == "mysql" else "mariadb")
    client += ["--no-defaults", "-h127.0.0.1", "-uroot", f"-P{server.port}"]
    for charset, way in product(COLLATIONS, WAYS):
        if server.execute(f"SHOW CHARACTER SET LIKE '{charset}'"):
            run_script([*client, f"--default-character-set={charset}"], text, way, folder)
            assert list(folder.iterdir()) == [], (charset, way)
            assert ("pwned",) not in databases(server), (charset, way)


@pytest.mark.parametrize("refused", [one for one in REFUSED if one != "none"])
@pytest.mark.parametrize("name", NAMES)
def test_a_script_does_not_go_on_where_settings_were_not_taken(
    name: str, refused: str, start_server: StartServer, folder: Path, tmp_path: Path
) -> None:
    server = start_server(name)
    log = tmp_path / "binlog.000001"
    client = server.client("mysql" if server.spec.flavour == "mysql" else "mariadb")
    client += ["--no-defaults", "-h127.0.0.1", "-uroot", f"-P{server.port}"]
    insert = b"INSERT INTO r.there VALUES (%d)"
    commit = Logged(None)
    statements = [
        Logged(b"BEGIN"), Logged(insert % 1), commit,
        # Of this transaction, nothing remains; after it, nothing is done.
        Logged(b"BEGIN"), Logged(insert % 2), Logged(insert % 3, refused=refused), Logged(insert % 4), commit,
        Logged(b"CREATE TABLE r.other (id INT)"), Logged(b"CREATE PROCEDURE r.p() SELECT 1"),
        Logged(b"BEGIN"), Logged(insert % 5), commit,
    ]  # fmt: skip
    for lines in (statements, [statements[0], statements[1], commit, *statements[8:9], *statements[5:]]):
        log.write_bytes(log_of(name, lines))
        for way in WAYS:
            cleared(server, "r")
            server.execute("CREATE DATABASE r")
            server.execute("CREATE TABLE r.there (id INT)")
            said = run_script(client, script(log), way, folder)
            assert "ERROR" in said, way
            assert [row[0] for row in server.execute("SELECT id FROM r.there")] == [1], (way, said)
            assert not server.execute("SHOW PROCEDURE STATUS WHERE Db = 'r'"), way
    # Where they are taken, all of it is done, and the session is as before.
    log.write_bytes(log_of(name, [statement._replace(refused="none") for statement in statements]))
    cleared(server, "r")
    server.execute("CREATE DATABASE r")
    server.execute("CREATE TABLE r.there (id INT)")
    assert "ERROR" not in run_script(
        client, script(log) + b"CREATE TABLE r.after (id INT);\n", "force", folder
    )
    assert len(server.execute("SELECT id FROM r.there")) == 5
    assert [name for (name,) in server.execute("SHOW TABLES FROM r")] == ["after", "other", "there"]
