"""Records cases of the corpus: `python -m tools.corpus record mariadb-10.11 statement`."""

from __future__ import annotations

import argparse
import sys

from tools.corpus.case import CORPUS
from tools.corpus.recorder import Recorder, writer_for
from tools.corpus.scenario import all_scenarios
from tools.servers import SERVERS, Server, ServerError


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; 1 where something did not go as it should."""
    parser = argparse.ArgumentParser(prog="python -m tools.corpus", description=__doc__)
    commands = parser.add_subparsers(required=True)
    record = commands.add_parser("record", help="record scenarios on a server")
    record.add_argument("server", choices=[*SERVERS, "all"])
    record.add_argument("scenario", nargs="*", help="all that are for this server, where none is named")
    record.set_defaults(action=_record)
    options = parser.parse_args(arguments)
    try:
        return int(options.action(options))
    except ServerError as error:
        print(error, file=sys.stderr)
        return 1


def _record(options: argparse.Namespace) -> int:
    complaints = 0
    for name in SERVERS if options.server == "all" else [options.server]:
        chosen = [
            scenario
            for scenario in all_scenarios()
            if scenario.runs_on(name) and (not options.scenario or scenario.name in options.scenario)
        ]
        if not chosen:
            continue
        with Server(name, "corpus") as server:
            for scenario in chosen:
                writer = writer_for(server, CORPUS / name / scenario.name, scenario.client)
                found = Recorder(server, writer).record(scenario)
                size = sum(log.stat().st_size for log in writer.logs)
                print(f"{name} {scenario.name}: {len(writer.logs)} logs, {size} bytes", flush=True)
                for text in found:
                    print(f"    {text}")
                complaints += len(found)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
