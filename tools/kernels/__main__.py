"""`python -m tools.kernels`: build this checkout's library; `--checked` adds bounds checks."""

from __future__ import annotations

import argparse
import sys

from tools.kernels.build import BuildError, build_here


def main() -> None:
    """Build the requested library."""
    parser = argparse.ArgumentParser(prog="python -m tools.kernels", description=__doc__)
    parser.add_argument("--checked", action="store_true", help="build the library with array bounds checks")
    try:
        build_here(is_checked=parser.parse_args().checked)
    except BuildError as error:
        sys.exit(f"kernels will run as plain Python, 100 times slower: {error}")


if __name__ == "__main__":
    main()
