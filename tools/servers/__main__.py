"""Starts and stops real servers: `python -m tools.servers start mariadb-10.11`."""

from __future__ import annotations

import argparse
import os
import sys

from tools.servers.catalog import SERVERS, ServerError, cache
from tools.servers.packages import install
from tools.servers.programs import program
from tools.servers.server import Server


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns 1, with a message, if a server is not available."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.action(options) or 0)
    except ServerError as error:
        print(error, file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.servers", description=__doc__)
    commands = parser.add_subparsers(required=True)
    add = commands.add_parser("list", help="the servers, and which of them run")
    add.set_defaults(action=_list)
    for name, action, text in (
        ("install", _install, "download a server"),
        ("start", _start, "start a server; further arguments are options of the server"),
        ("stop", _stop, "stop a server"),
        ("run", _run, "run a program of a server: run mysql-9.7 mysqlbinlog --version"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("name", metavar="NAME", help=f"one of: {', '.join(SERVERS)}; or all")
        if name == "start":
            command.add_argument("--fresh", action="store_true", help="throw the old data away")
        if name in ("start", "run"):
            command.add_argument("rest", nargs=argparse.REMAINDER, metavar="…")
        command.set_defaults(action=action)
    return parser


def _names(options: argparse.Namespace) -> list[str]:
    return list(SERVERS) if options.name == "all" else [options.name]


def _list(options: argparse.Namespace) -> None:
    print(f"cache: {cache()}")
    for name in SERVERS:
        server = Server(name)
        state = f"runs, port {server.port}, pid {server.pid}" if server.pid else "does not run"
        print(f"{name:14} {state}")


def _install(options: argparse.Namespace) -> None:
    for name in _names(options):
        print(install(Server(name).spec))


def _start(options: argparse.Namespace) -> None:
    for name in _names(options):
        server = Server(name)
        server.start(*options.rest, fresh=options.fresh)
        print(f"{name}: 127.0.0.1:{server.port}, user root, pid {server.pid}, data {server.data}")


def _stop(options: argparse.Namespace) -> None:
    for name in _names(options):
        Server(name).stop()


def _run(options: argparse.Namespace) -> None:
    if not options.rest:
        raise ServerError("run needs the name of a program")
    path = str(program(Server(options.name).spec, options.rest[0]))
    os.execv(path, [path, *options.rest[1:]])


if __name__ == "__main__":
    sys.exit(main())
