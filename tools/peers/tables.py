"""The figures of one log as a Markdown table."""

from __future__ import annotations

from typing import NamedTuple

from tools.peers.runs import Counts, Run


class Figure(NamedTuple):
    """A program's runs over a log of one transaction and over a long one."""

    name: str
    least: Run
    most: Run

    def slope(self, sizes: tuple[int, int]) -> tuple[float, float]:
        """Seconds per byte, of processors and of the clock."""
        size = sizes[1] - sizes[0]
        return (self.most.cpu - self.least.cpu) / size, (self.most.seconds - self.least.seconds) / size


HEADINGS = (
    "",
    "CPU s",
    "seconds",
    "start, CPU s",
    "start, seconds",
    "MB/s of CPU after the start",
    "MB/s after the start",
    "M rows/s of CPU after the start",
    "throughput, `read_changes` = 1",
    "peak MB",
)


def table(figures: list[Figure], sizes: tuple[int, int], counts: Counts) -> str:
    """The table of a log; the first figure is the one that others are compared with.

    Parameters
    ----------
    sizes
        Bytes of the log of one transaction, and of the long one.
    """
    lines = ["| " + " | ".join(HEADINGS) + " |", "|---|" + "---:|" * (len(HEADINGS) - 1)]
    own, _ = figures[0].slope(sizes)
    for one in figures:
        cpu, clock = one.slope(sizes)
        rows = counts.rows / (cpu * sizes[1])
        starts = (
            max(run - slope * sizes[0], 0.0) for run, slope in zip(one.least, (cpu, clock), strict=False)
        )
        cells = [one.name, f"{one.most.cpu:.2f}", f"{one.most.seconds:.2f}"]
        cells += [f"{max(start, 0.0):.2f}" for start in starts]
        cells += [f"{1e-6 / cpu:.0f}", f"{1e-6 / clock:.0f}", f"{rows / 1e6:.2f}", f"{own / cpu:.2f}"]
        cells.append(f"{one.most.peak / 1e6:.0f}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
