"""A process that compiles kernels: `python -m tools.kernels.worker MACHINE CPU [checked]`.

It reads one task per line (kernel, signature, name of the entry point, output file) and answers each with a
line: the file exists, or an error.
"""

from __future__ import annotations

import sys
from pathlib import Path

from binlog_kaitai.kernels.library import argument_types
from binlog_kaitai.sources.disk import replacing
from tools.kernels.annotations import find_kernel
from tools.kernels.translate import Translator


def main(machine: str, cpu: str, *options: str) -> None:
    """Process the tasks that stdin lists, one a line."""
    # PYTHONPATH does not do: pip's isolated builds drop every path that an editable install has put there.
    sys.path.insert(0, str(Path(__file__).parents[2] / "generated"))
    translate = Translator(machine, cpu, is_checked="checked" in options)
    for line in sys.stdin:
        name, signature, entry, path = line.rstrip("\n").split("\t")
        try:
            made = translate(find_kernel(name), argument_types(signature), entry)
        except Exception as error:  # Numba raises many types of exceptions
            print("error", f"{name} ({signature}): {error}".replace("\n", " "), sep="\t", flush=True)
            continue
        # Other builds may write the same files, or read them. The object file is written last: if it
        # exists, so does the other one.
        results = {Path(path).with_suffix(".result"): made.result.encode(), Path(path): made.code}
        for file, content in results.items():
            with replacing(file) as stream:
                stream.write(content)
        print("done", name, sep="\t", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
