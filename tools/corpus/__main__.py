"""Records cases of the corpus: `python -m tools.corpus record mariadb-10.11 statement`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable

from tools.corpus.case import CORPUS
from tools.corpus.damage import SERVERS as DAMAGED
from tools.corpus.damage import record_damaged
from tools.corpus.encrypted import SERVERS as ENCRYPTED
from tools.corpus.encrypted import record_encrypted
from tools.corpus.galera import SERVERS as CLUSTERED
from tools.corpus.galera import record_galera
from tools.corpus.group import SERVERS as GROUPED
from tools.corpus.group import record_group
from tools.corpus.recorder import Recorder, writer_for
from tools.corpus.replicas import PAIRS, record_relay
from tools.corpus.scenario import all_scenarios
from tools.corpus.stream import STREAMS, record_stream
from tools.servers import SERVERS, Server, ServerError

# Recordings other than scenarios: the command, its subjects, and the function.
SPECIAL: dict[str, tuple[Iterable[object], Callable[..., list[str]]]] = {
    "damaged": (DAMAGED, record_damaged),
    "encrypted": (ENCRYPTED, record_encrypted),
    "galera": (CLUSTERED, record_galera),
    "group": (GROUPED, record_group),
    "network": (STREAMS, record_stream),
    "relay": (PAIRS, record_relay),
}


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns 1 if anything went wrong."""
    parser = argparse.ArgumentParser(prog="python -m tools.corpus", description=__doc__)
    commands = parser.add_subparsers(required=True)
    record = commands.add_parser("record", help="run scenarios on a server")
    record.add_argument("server", choices=[*SERVERS, "all"])
    record.add_argument("scenario", nargs="*", help="all that are for this server, where none is named")
    record.set_defaults(action=_record)
    for name in SPECIAL:
        special = commands.add_parser(name, help=f"the cases of kind {name}, on all servers that have them")
        special.set_defaults(action=_special, kind=name)
    options = parser.parse_args(arguments)
    try:
        return int(options.action(options))
    except ServerError as error:
        print(error, file=sys.stderr)
        return 1


def _record(options: argparse.Namespace) -> int:
    complaints = 0
    for name in SERVERS if options.server == "all" else [options.server]:
        wanted = [scenario for scenario in all_scenarios() if scenario.runs_on(name)]
        if options.scenario:
            wanted = [scenario for scenario in wanted if scenario.name in options.scenario]
        if not wanted:
            continue
        with Server(name, "corpus") as server:
            for scenario in wanted:
                writer = writer_for(server, CORPUS / name / scenario.name, scenario.client)
                complaints += _report(f"{name} {scenario.name}", Recorder(server, writer).record(scenario))
    return 1 if complaints else 0


def _special(options: argparse.Namespace) -> int:
    subjects, record = SPECIAL[options.kind]
    return 1 if sum(_report(f"{options.kind} {subject}", record(subject)) for subject in subjects) else 0


def _report(what: str, complaints: list[str]) -> int:
    print(what, *complaints, sep="\n    ", flush=True)
    return len(complaints)


if __name__ == "__main__":
    sys.exit(main())
