"""Writes `docs/languages.md`: the results in each language, and an example program."""

from __future__ import annotations

import re
from pathlib import Path

from tools.conformance.run import Result

PROGRAMS = Path(__file__).parent / "programs"

TEMPLATE = Path(__file__).with_name("languages.md.in")


def render(results: list[Result], python: tuple[str, str, int, float]) -> str:
    """The document. `python` is the reference: its version, runtime, number of logs, and MB/s."""
    tool, runtime, logs, speed = python
    rows = [f"| Python | {tool} | {runtime} | the reference, {logs} | {speed:.1f} |"]
    rows += [_row(result) for result in results]
    programs = ["\n## Programs\n\nEach prints the timestamp and type of every event.\n"]
    for name, title in [("python", "Python"), *((r.language.target, r.language.title) for r in results)]:
        for path in sorted(PROGRAMS.glob(f"{name}.*")):
            kind = "cpp" if path.suffix == ".cpp" else path.suffix[1:]
            programs.append(f"### {title}\n\n```{kind}\n{path.read_text(encoding='utf-8').rstrip()}\n```\n")
    template = TEMPLATE.read_text(encoding="utf-8")
    return template.replace("{rows}", "\n".join(rows)).replace("{programs}", "\n".join(programs))


def _row(result: Result) -> str:
    title = result.language.title
    if result.built is None:
        return f"| {title} | {'not tried' if result.is_missing else 'does not compile'} | | | |"
    same = result.logs - len(result.differences)
    speed = f"{result.read / 1e6 / result.seconds:.1f}" if result.seconds else ""
    version = re.sub(r"^kaitai-struct-runtime-", "kaitai-struct-runtime ", result.built.runtime)
    return f"| {title} | {result.built.tool} | {version} | {same} of {result.logs} | {speed} |"
