"""The grammar as a folder of kaitai_struct_formats, Kaitai's collection of formats.

The files are unchanged except for their imports: the collection compiles all files with its own root as the
base of absolute imports.
"""

from __future__ import annotations

import re
from pathlib import Path

from tools.generate.grammar import Grammar

#: Folder within the collection.
FOLDER = "database/mysql_binlog"
_IMPORTS = re.compile(r"^  imports:\n(?:    - .*\n)+", re.MULTILINE)
_IMPORT = re.compile(r"^    - /?(.*)$", re.MULTILINE)


def render(grammar: Grammar, formats: Path) -> dict[str, str]:
    """The text of each file, by path from the collection's root."""
    return {
        f"{FOLDER}/{spec}.ksy": _IMPORTS.sub(
            lambda imports: _IMPORT.sub(rf"    - /{FOLDER}/\1", imports[0]),
            (formats / f"{spec}.ksy").read_text(encoding="utf-8"),
        )
        for spec in grammar.specs
    }
