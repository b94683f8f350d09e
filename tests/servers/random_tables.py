"""Random tables of random types, as SQL for a server to write into its log."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

Make = Callable[[random.Random], str]

_INTEGERS = {"TINYINT": 8, "SMALLINT": 16, "MEDIUMINT": 24, "INT": 32, "BIGINT": 64}
_LETTERS = "abc XYZ019_'\\\"\n\t\x01éßЖ中😀"
_CHARSETS = {
    "utf8mb4": _LETTERS,
    "latin1": _LETTERS[:18],
    "utf16": _LETTERS,
    "cp1251": "abc Жя'",
    "sjis": "abc 漢ｱ",
}


def _integer(choose: random.Random) -> tuple[str, Make]:
    name, bits = choose.choice(list(_INTEGERS.items()))
    sign = choose.choice(("", " UNSIGNED"))
    low, high = (0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return name + sign, lambda one: str(one.choice((low, high, 0, one.randint(low, high))))


def _decimal(choose: random.Random) -> tuple[str, Make]:
    precision = choose.randint(1, 65)
    scale = choose.randint(0, min(precision, 30))

    def make(one: random.Random) -> str:
        digits = "".join(one.choice("0123456789") for _ in range(one.randint(1, precision)))
        whole, fraction = digits[:-scale] if scale else digits, digits[-scale:] if scale else ""
        return one.choice(("", "-")) + (whole or "0") + ("." + fraction if fraction else "")

    return f"DECIMAL({precision},{scale})", make


def _real(choose: random.Random) -> tuple[str, Make]:
    name, most = choose.choice((("FLOAT", 37), ("DOUBLE", 300)))
    return (
        name,
        lambda one: f"{one.uniform(-10, 10)!r}e{one.randint(-most, most) if one.random() < 0.5 else 0}",
    )


def _time(choose: random.Random) -> tuple[str, Make]:
    digits = choose.randint(0, 6)

    def make(one: random.Random) -> str:
        clock = f"{one.randint(0, 838):02}:{one.randint(0, 59):02}:{one.randint(0, 59):02}"
        return f"'{one.choice(('', '-'))}{clock}.{one.randint(0, 999999):06}'"

    return f"TIME({digits})", make


def _moment(choose: random.Random) -> tuple[str, Make]:
    name = choose.choice(("DATETIME", "TIMESTAMP"))
    years = (1000, 9998) if name == "DATETIME" else (1971, 2037)

    def make(one: random.Random) -> str:
        day = f"{one.randint(*years):04}-{one.randint(1, 12):02}-{one.randint(1, 28):02}"
        clock = f"{one.randint(0, 23):02}:{one.randint(0, 59):02}:{one.randint(0, 59):02}"
        return one.choice(("'0000-00-00 00:00:00'", *[f"'{day} {clock}.{one.randint(0, 999999):06}'"] * 5))

    return f"{name}({choose.randint(0, 6)})", make


def _date(choose: random.Random) -> tuple[str, Make]:
    def make(one: random.Random) -> str:
        return f"'{one.randint(0, 9999):04}-{one.randint(0, 12):02}-{one.randint(0, 28):02}'"

    return "DATE", make


def _year(choose: random.Random) -> tuple[str, Make]:
    return "YEAR", lambda one: str(one.choice((0, one.randint(1901, 2155))))


def _bit(choose: random.Random) -> tuple[str, Make]:
    bits = choose.randint(1, 64)
    return f"BIT({bits})", lambda one: str(one.getrandbits(bits))


def _string(choose: random.Random) -> tuple[str, Make]:
    charset, letters = choose.choice(list(_CHARSETS.items()))
    length = choose.choice((1, 10, 63, 64, 255, 300))
    kind = choose.choice(
        (f"CHAR({min(length, 255)})", f"VARCHAR({length})", "TINYTEXT", "TEXT", "MEDIUMTEXT")
    )

    def make(one: random.Random) -> str:
        text = "".join(one.choice(letters) for _ in range(one.randint(0, min(length, 60))))
        return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"

    return f"{kind} CHARACTER SET {charset}", make


def _bytes(choose: random.Random) -> tuple[str, Make]:
    length = choose.choice((1, 5, 255))
    kind = choose.choice((f"BINARY({length})", f"VARBINARY({length})", "BLOB", "LONGBLOB"))
    return kind, lambda one: f"X'{one.randbytes(one.randint(0, length)).hex()}'"


def _choice(choose: random.Random) -> tuple[str, Make]:
    count = choose.choice((1, 3, 9, 17, 33, 64))
    names = [f"m{number}é" for number in range(count)]
    listed = ",".join(f"'{name}'" for name in names)
    if choose.random() < 0.5:
        return f"ENUM({listed}) CHARACTER SET utf8mb4", lambda one: f"'{one.choice(names)}'"
    return f"SET({listed}) CHARACTER SET utf8mb4", lambda one: str(one.getrandbits(count))


def _shape(choose: random.Random) -> tuple[str, Make]:
    return "GEOMETRY", lambda one: f"ST_GeomFromText('POINT({one.randint(-9, 9)} {one.random()})')"


def _json(choose: random.Random) -> tuple[str, Make]:
    return "JSON", lambda one: "'" + _document(one, 3).replace("\\", "\\\\").replace("'", "''") + "'"


def _document(one: random.Random, depth: int) -> str:
    kind = one.randrange(9 if depth else 7)
    if kind == 7:
        return "[" + ",".join(_document(one, depth - 1) for _ in range(one.randrange(5))) + "]"
    if kind == 8:
        return (
            "{"
            + ",".join(
                f'"k{one.randrange(99)}": {_document(one, depth - 1)}' for _ in range(one.randrange(5))
            )
            + "}"
        )
    number = one.choice((one.randint(-9, 9), one.randint(-(2**63), 2**64 - 1)))
    return (
        "null",
        "true",
        "false",
        str(number),
        repr(one.uniform(-1e9, 1e9)),
        f"{one.random():.3e}",
        '"t\\n\\u0001é"',
    )[kind]


def _inet6(choose: random.Random) -> tuple[str, Make]:
    return (
        "INET6",
        lambda one: "'" + ":".join(f"{one.choice((0, one.getrandbits(16))):x}" for _ in range(8)) + "'",
    )


def _uuid(choose: random.Random) -> tuple[str, Make]:
    def make(one: random.Random) -> str:
        tail = one.getrandbits(60)
        version = f"{one.choice('1457')}{one.getrandbits(12):03x}"
        head = f"{one.getrandbits(32):08x}-{one.getrandbits(16):04x}"
        return f"'{head}-{version}-8{tail >> 48:03x}-{tail % 2**48:012x}'"

    return "UUID", make


_EVERYWHERE = (
    _integer,
    _decimal,
    _real,
    _time,
    _moment,
    _date,
    _year,
    _bit,
    _string,
    _bytes,
    _choice,
    _shape,
)
_MORE = {
    "mysql-5.7": (_json, _json),
    "mysql-8.0": (_json, _json),
    "mysql-9.7": (_json, _json),
    "mariadb-10.5": (_inet6,),
    "mariadb-10.11": (_inet6, _uuid),
    "mariadb-11.4": (_inet6, _uuid),
    "mariadb-11.8": (_inet6, _uuid),
}


def _kinds(server: str) -> tuple[Callable[[random.Random], tuple[str, Make]], ...]:
    return (*_EVERYWHERE, *_MORE.get(server, ()))


def statements(server: str, seed: int, tables: int = 12) -> Iterator[str]:
    """Statements that make tables in database `r`, and put rows in, change them and take some out."""
    choose = random.Random(seed)
    kinds = _kinds(server)
    for number in range(tables):
        columns = [choose.choice(kinds)(choose) for _ in range(choose.randint(1, 12))]
        listed = ", ".join(f"c{at} {kind} NULL" for at, (kind, _) in enumerate(columns))
        yield f"CREATE TABLE r.t{number} (id INT PRIMARY KEY, {listed}) ENGINE=InnoDB"
        yield f"SET SESSION binlog_row_image = '{choose.choice(('FULL', 'MINIMAL', 'NOBLOB'))}'"
        for row in range(choose.randint(1, 12)):
            values = ", ".join(_value(make, choose) for _, make in columns)
            yield f"INSERT INTO r.t{number} VALUES ({row}, {values})"
        for _ in range(3):
            place = choose.randrange(len(columns))
            value = _value(columns[place][1], choose)
            yield f"UPDATE r.t{number} SET c{place} = {value} WHERE id % 3 = {choose.randrange(3)}"
        yield f"DELETE FROM r.t{number} WHERE id % 7 = {choose.randrange(7)}"


def _value(make: Make, choose: random.Random) -> str:
    return "NULL" if choose.random() < 0.15 else make(choose)


def changes(server: str, seed: int, tables: int = 8) -> tuple[list[str], list[str]]:
    """Statements that make tables in database `r` and fill them, and others that change all they can.

    Some tables have no primary key, and two rows that are the same.
    """
    choose = random.Random(seed)
    kinds = _kinds(server)
    setup, after = list[str](), list[str]()
    for number in range(tables):
        columns = [choose.choice(kinds)(choose) for _ in range(choose.randint(2, 9))]
        listed = ", ".join(f"c{at} {kind} NULL" for at, (kind, _) in enumerate(columns))
        key = "id INT NULL" if number % 3 == 2 else "id INT PRIMARY KEY"
        stamp = "ts TIMESTAMP(3) NULL DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP(3)"
        setup.append(f"CREATE TABLE r.t{number} ({key}, {listed}, {stamp}) ENGINE=InnoDB")

        def row(at: int, columns: list[tuple[str, Make]] = columns) -> str:
            return f"({at}, {', '.join(_value(make, choose) for _, make in columns)}, NULL)"

        table = f"r.t{number}"
        setup.append(f"INSERT INTO {table} VALUES {', '.join(map(row, range(12)))}")
        if number % 3 == 2:
            setup.append(f"INSERT INTO {table} SELECT * FROM {table} WHERE id < 3")
        after.append("BEGIN")
        after.append(f"INSERT INTO {table} VALUES {', '.join(map(row, range(12, 18)))}")
        for _ in range(4):
            place = choose.randrange(len(columns))
            value = _value(columns[place][1], choose)
            after.append(f"UPDATE {table} SET c{place} = {value} WHERE id % 4 = {choose.randrange(4)}")
        after.append("COMMIT")
        after.append(f"DELETE FROM {table} WHERE id % 5 = {choose.randrange(5)} LIMIT 3")
        after.append(f"UPDATE {table} SET id = id + 100 WHERE id % 6 = {choose.randrange(6)}")
    return setup, after
