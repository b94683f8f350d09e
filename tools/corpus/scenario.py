"""Scenarios: SQL files with directives for a server.

A statement ends with `;` at the end of a line. It runs in session A, or in the session in a leading comment:
`/*B*/ INSERT …;`. Directives are lines of their own:

    -- @servers NAME…       the servers to record this on (prefixes: `mariadb` means all of them)
    -- @options OPTION…     options the server is started with
    -- @client SERVER       whose client reads the logs, where the server's own cannot
    -- @only PREFIX…        the next statement only runs on these servers
    -- @refused             the next statement is one that the server must refuse
    -- @include FILE        the statements of another scenario
    -- @snapshot LABEL      keep the contents of the tables as they are now
    -- @restart OPTION…     stop the server and start it with other options
    -- @kill                end the server as a crash would, and start it again
    -- @close SESSION       end a session
    -- @sleep SECONDS
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SCENARIOS = Path(__file__).resolve().parent / "scenarios"

_DIRECTIVE = re.compile(r"-- @([a-z]+) ?(.*)$")
_SESSION = re.compile(r"/\*([A-Z])\*/ *")


@dataclass(frozen=True)
class Step:
    """A step: a statement (`directive` is empty, and `session` names the session) or a directive."""

    text: str
    session: str = "A"
    directive: str = ""
    only: tuple[str, ...] = ()
    refused: bool = False

    def runs_on(self, server: str) -> bool:
        return not self.only or server.startswith(self.only)

    def __str__(self) -> str:
        if self.directive:
            return f"-- @{self.directive} {self.text}".rstrip()
        before = "-- @refused\n" if self.refused else ""
        return f"{before}{'' if self.session == 'A' else f'/*{self.session}*/ '}{self.text};"


@dataclass(frozen=True)
class Scenario:
    """The steps of a file, and the servers that it applies to."""

    name: str
    servers: tuple[str, ...]
    options: tuple[str, ...]
    client: str
    steps: tuple[Step, ...]

    def runs_on(self, server: str) -> bool:
        return server.startswith(self.servers)


def load(path: Path) -> Scenario:
    """Read a scenario file."""
    headings: dict[str, tuple[str, ...]] = {"servers": (), "options": (), "client": ()}
    steps = []
    for step in _steps(path):
        if step.directive in headings:
            headings[step.directive] += tuple(step.text.split())
        else:
            steps.append(step)
    return Scenario(
        path.stem, headings["servers"], headings["options"], "".join(headings["client"]), tuple(steps)
    )


def all_scenarios() -> list[Scenario]:
    """Every scenario that names servers; the others are included by these."""
    scenarios = [load(path) for path in sorted(SCENARIOS.glob("*.sql"))]
    return [scenario for scenario in scenarios if scenario.servers]


def _steps(path: Path) -> Iterator[Step]:
    only: tuple[str, ...] = ()
    refused = False
    lines: list[str] = []
    for line in path.read_text().splitlines():
        match = None if lines else _DIRECTIVE.match(line)
        if match and match[1] == "only":
            only = tuple(match[2].split())
        elif match and match[1] == "refused":
            refused = True
        elif match and match[1] == "include":
            yield from _steps(path.parent / match[2])
        elif match:
            yield Step(match[2], directive=match[1], only=only)
            only = ()
        elif lines or not (line.startswith("--") or not line.strip()):
            lines.append(line)
            if line.endswith(";"):
                yield _statement("\n".join(lines)[:-1], only, refused)
                lines, only, refused = [], (), False
    if lines:
        raise ValueError(f"{path}: the last statement is not terminated")


def _statement(text: str, only: tuple[str, ...], refused: bool) -> Step:
    session = _SESSION.match(text)
    if session:
        return Step(text[session.end() :], session[1], only=only, refused=refused)
    return Step(text, only=only, refused=refused)
