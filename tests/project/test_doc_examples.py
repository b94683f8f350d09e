"""The examples of the documents run: blocks of Python in their order, commands on sample logs.

A block whose preceding line is `<!-- not run: reason -->` is left out; what no test can run is listed here.
"""

from __future__ import annotations

import glob
import re
import shlex
import shutil
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner
from mypy import api

import binlog_kaitai as bk
from binlog_kaitai.cli.app import app
from tests.project.doc_logs import write_logs

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])

#: Documents all of whose programs are tested elsewhere, or need what no test has.
WHOLE = {
    "incidents.md": "needs what happened to a server; tests/servers/test_incidents.py runs its commands",
    "languages.md": "programs in other languages, which tools/conformance builds and runs",
    "live.md": "asks a running server; tests/servers/test_fetch.py does the same",
    "platforms.md": "statements for other companies' platforms, from their documentation",
    "spark.md": "needs a Spark session; tests/spark runs the same calls",
    "spark-guide.md": "needs Spark, Delta and a server; tests/lakes/test_guide.py runs its programs",
    "spark-sizing.md": "figures",
    "spark-merge.md": "needs a Spark with Delta and Iceberg; tests/lakes runs it",
}

#: Commands that do not run here, by a pattern.
COMMANDS = {
    r"^(make|pip|python|head|tail|spark-sql|packed/|PYSPARK_PYTHON=)": "not a command of this project",
    r"^binlog-kaitai pipeline": "starts Spark; tests/spark runs pipelines",
    r"^binlog-kaitai lake": "needs a lake of a pipeline; tests/lake/test_upkeep.py runs it",
    r"--(follow|continuous)\b": "goes on until it is interrupted",
    r"\$\(|^binlog-kaitai fetch|(mysql|mariadb)://": "asks a server",
}

#: Packages that an example uses where they are installed.
OPTIONAL = {"duckdb", "pandas", "polars", "pyspark"}

#: Folders of the examples, which here are that of the sample logs.
_FOLDERS = re.compile(r"/var/lib/mysql|/backup/(?:source|replica)")
_BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<reason>[^\n]+) -->\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```", re.M | re.S
)


class Block(NamedTuple):
    """An example of a document; `reason` says why it is not run."""

    document: Path
    line: int
    kind: str
    text: str
    reason: str | None


def blocks(document: Path, *kinds: str) -> Iterator[Block]:
    text = document.read_text()
    for found in _BLOCK.finditer(text):
        if found["kind"] in kinds:
            line = text.count("\n", 0, found.start("text")) + 1
            reason = WHOLE.get(document.name, found["reason"])
            yield Block(document, line, found["kind"], found["text"], reason)


def documents(*kinds: str) -> list[Path]:
    return [one for one in DOCUMENTS if any(block.reason is None for block in blocks(one, *kinds))]


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of the examples, with the sample logs; the corpus is where it is in a checkout."""
    write_logs(tmp_path)
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("document", documents("python"), ids=lambda path: path.name)
def test_python(document: Path, logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What waits for a server to write takes what is there.
    monkeypatch.setattr(bk, "follow", partial(_follow, bk.follow))
    space: dict[str, Any] = {"bk": bk, "pc": __import__("pyarrow.compute", fromlist=["compute"])}
    for block in blocks(document, "python"):
        if block.reason is not None:
            continue
        text = _FOLDERS.sub(str(logs), block.text)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(compile("\n" * (block.line - 1) + text, str(document), "exec"), space)
        except ModuleNotFoundError as error:
            if error.name not in OPTIONAL:
                raise


def _follow(follow: Any, source: Any, **options: Any) -> Any:
    return follow(source, **{**options, "start": "earliest", "idle_timeout": 0})


@pytest.mark.parametrize("document", documents("console", "sh", "bash"), ids=lambda path: path.name)
def test_commands(document: Path, logs: Path) -> None:
    for block in blocks(document, "console", "sh", "bash"):
        for line in block.text.splitlines() if block.reason is None else ():
            command = line.removeprefix("$ ")
            if command == line or any(re.search(pattern, command) for pattern in COMMANDS):
                continue
            shutil.rmtree(logs / "lake", ignore_errors=True)
            for written in ("repaired.000066", "incident.000066"):
                (logs / written).unlink(missing_ok=True)
            words = _words(_FOLDERS.sub(str(logs), command))
            assert words[0] == "binlog-kaitai", f"{document.name}: {line}"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                done = CliRunner().invoke(app, words[1:])
            assert done.exit_code == 0, f"{document.name}: {line}: {done.output}\n{done.exception!r}"


def _words(command: str) -> list[str]:
    """The words of a command as a shell has them, up to a pipe or a redirection."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="|>&")
    lexer.whitespace_split = True
    found = []
    for word in lexer:
        if set(word) <= set("|>&"):
            break
        found += sorted(glob.glob(word)) or [word]
    return found


def test_reasons_are_needed() -> None:
    """Each reason for which something is not run is that of some block or command."""
    names = {document.name for document in DOCUMENTS}
    assert set(WHOLE) <= names
    lines = [
        line.removeprefix("$ ")
        for document in DOCUMENTS
        for block in blocks(document, "console", "sh", "bash")
        for line in block.text.splitlines()
    ]
    unused = [one for one in COMMANDS if not any(re.search(one, line) for line in lines)]
    assert unused in ([], [r"\$\("])


def test_the_first_programs_have_types(tmp_path: Path) -> None:
    """They pass `mypy --strict` unchanged."""
    text = (ROOT / "docs/library.md").read_text().split("\n## ")[1]
    assert text.startswith("Seven programs")
    programs = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    files = []
    for number, program in enumerate(programs):
        if "import duckdb" not in program:
            files.append(tmp_path / f"program_{number}.py")
            files[-1].write_text(program)
    assert len(files) == 7
    cache = f"--cache-dir={ROOT / '.mypy_cache'}"
    out, err, status = api.run([
        "--strict", cache, f"--config-file={ROOT / 'pyproject.toml'}", *map(str, files)
    ])  # fmt: skip
    assert status == 0, out + err
