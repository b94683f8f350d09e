"""The file of `pipeline --servers`: several sources, each with options of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from binlog_kaitai.errors import UsageError
from binlog_kaitai.lake.storage import read_toml
from binlog_kaitai.live.address import Address, ServerUrl
from binlog_kaitai.sources import is_server

#: A name becomes the name of a folder. One that begins with `_` is the lake's own.
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)

#: The keys for where a source is: a server's URL, or paths of logs.
_URL, _LOGS = "url", "logs"


def read_fleet(
    path: str, context: click.Context, options: Sequence[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The name of each source, and the parameters of a command for it.

    `context`: of the command, whose parameters are those of a source unless the file has others.
    `options`: the options that a source can have, by the names of their parameters.
    Raises `UsageError`: the file is not TOML, or a key or value is invalid; names both.
    """
    fleet = read_toml(path)
    if not fleet:
        raise UsageError('no source; add one, such as [db1] with url = "mysql://repl@db1/"', file=path)
    by_key = {
        option.opts[0].removeprefix("--"): option
        for option in context.command.params
        if option.name in options
    }
    for name, table in fleet.items():
        with in_source(path, name):
            if not isinstance(table, dict):
                raise UsageError('must be a table, such as [db1] with url = "mysql://repl@db1/"')
            if _NAME.fullmatch(name) is None:
                raise UsageError("a name has letters, digits, _, . and -, and begins with a letter or digit")
            params = dict(context.params, sources=_sources(table))
            for key, value in table.items():
                if key in (_URL, _LOGS):
                    continue
                if (option := by_key.get(key)) is None:
                    raise UsageError(f"unknown key {key}; use {', '.join((_URL, _LOGS, *by_key))}")
                params[str(option.name)] = _value(context, option, key, value)
            yield name, params


@contextmanager
def in_source(path: str, name: str) -> Iterator[None]:
    """Errors in the block name the file and the source."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"[{name}]: {error}", file=path) from None


def _sources(table: dict[str, Any]) -> tuple[str, ...]:
    if (_URL in table) == (_LOGS in table):
        raise UsageError(f"one of {_URL} and {_LOGS} is required, and not both")
    if _LOGS in table:
        return _texts(_LOGS, table[_LOGS])
    urls = _texts(_URL, table[_URL])
    for url in urls:
        if not is_server(url):
            raise UsageError(f"{_URL} must be the URL of a server, such as mysql://repl@db1/; see {_LOGS}")
        Address.parse(url)
    return (_with_all_hosts(urls),)


def _with_all_hosts(urls: Sequence[str]) -> str:
    """One URL for several servers, of which one is read at a time."""
    parts = [ServerUrl.of(url) for url in urls]
    if len({part._replace(hosts="") for part in parts}) > 1:
        raise UsageError(f"the servers of one {_URL} must have the same scheme, user, password and options")
    return str(parts[0]._replace(hosts=",".join(part.hosts for part in parts)))


def _texts(key: str, value: object) -> tuple[str, ...]:
    texts = value if isinstance(value, list) else [value]
    if not texts or not all(isinstance(text, str) and text for text in texts):
        raise UsageError(f"{key} must be a text or a list of texts")
    return tuple(texts)


def _value(context: click.Context, option: click.Parameter, key: str, value: object) -> Any:
    """The value of an option, checked and converted as on the command line."""
    if isinstance(option, click.Option) and option.is_flag:
        if not isinstance(value, bool):
            raise UsageError(f"{key} must be true or false")
    elif option.multiple:
        value = _texts(key, value)
    elif not isinstance(value, str | int) or isinstance(value, bool):
        raise UsageError(f"{key} must be a text or a number")
    try:
        return option.process_value(context, value)
    except click.BadParameter as error:
        raise UsageError(f"{key}: {error.message}") from None
