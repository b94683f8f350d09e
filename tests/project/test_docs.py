"""The documents mention only commands, options and files that exist."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import click
import pytest

from binlog_kaitai.cli.app import app

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


@cache
def commands() -> dict[str, click.Command]:
    """The commands of the tool, by name."""
    context = click.Context(app)
    found = {name: app.get_command(context, name) for name in app.list_commands(context)}
    return {name: command for name, command in found.items() if command is not None}


def options_of(command: click.Command) -> list[click.Option]:
    """The options of a command and its subcommands."""
    parts = command.commands.values() if isinstance(command, click.Group) else ()
    own = [one for one in command.params if isinstance(one, click.Option)]
    return own + [option for part in parts for option in options_of(part)]


def shell_lines(text: str) -> list[str]:
    blocks = re.findall(r"```(?:console|sh|bash)\n(.*?)```", text, re.DOTALL)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_exist(document: Path) -> None:
    makefile = (ROOT / "Makefile").read_text()
    for line in shell_lines(document.read_text()):
        words = line.split(" | ")[0].split()
        if words[:1] == ["binlog-kaitai"] and not words[1].startswith("-"):
            assert words[1] in commands(), line
            known = {
                option
                for param in options_of(commands()[words[1]])
                for option in (*param.opts, *param.secondary_opts)
            }
            used = {word.split("=")[0] for word in words[2:] if re.match(r"--[a-z]", word)}
            assert used <= known | {"--help"}, line
        if words[:1] == ["make"]:
            assert re.search(rf"^{words[1]}:", makefile, re.MULTILINE), line


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", document.read_text()):
        if not re.match(r"[a-z]+:", target):
            assert (document.parent / target).exists(), target


def test_cli_document_lists_every_command_and_option() -> None:
    text = (ROOT / "docs/cli.md").read_text()
    for name, command in commands().items():
        assert f"## {name}" in text
        section = text.split(f"## {name}\n")[1].split("\n## ")[0]
        common = "".join(text.split(f"## {title}")[1].split("\n## ")[0] for title in ("Keys", "Filters"))
        common += text.split("\n## ")[0]
        for param in options_of(command):
            if not param.hidden:
                option = max(param.opts, key=len)
                assert f"`{option}" in section + common, f"{name} {option}"


def test_python_examples_compile() -> None:
    for document in DOCUMENTS:
        for block in re.findall(r"```python\n(.*?)```", document.read_text(), re.DOTALL):
            compile(block, str(document), "exec")
