"""The packages of optional features."""

from __future__ import annotations

import re


def pip_install(extra: str) -> str:
    """The command that installs the packages of an extra, by their own names, which every index has."""
    from importlib.metadata import requires

    marked = (requirement.partition(";") for requirement in requires("binlog-kaitai") or ())
    packages = [package.strip() for package, _, marker in marked if extra in re.findall(r"\w+", marker)]
    return "pip install " + " ".join(f'"{package}"' for package in packages)
