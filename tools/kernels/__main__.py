"""`python -m tools.kernels`: the library of this checkout, for this machine; `--checked` for the other."""

from __future__ import annotations

import argparse
import sys

from tools.kernels.build import BuildError, build_here


def main() -> None:
    """Build what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tools.kernels", description=__doc__)
    parser.add_argument("--checked", action="store_true", help="the one that checks the bounds of arrays")
    try:
        build_here(is_checked=parser.parse_args().checked)
    except BuildError as error:
        sys.exit(f"kernels will run as plain Python, 100 times as slow: {error}")


if __name__ == "__main__":
    main()
