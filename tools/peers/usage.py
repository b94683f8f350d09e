"""`python -IS usage.py FILE COMMAND…`: run a command and write what it used to a file, as JSON.

Linux counts the memory of the process that starts a program as the program's own peak, so this one is small.
"""

import json
import os
import sys
import time


def main() -> None:
    begun = time.perf_counter()
    process = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
    _, status, usage = os.wait4(process, 0)
    seconds = time.perf_counter() - begun
    with open(sys.argv[1], "w") as file:
        cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
        json.dump({"cpu": cpu, "seconds": seconds, "peak": peak}, file)
    sys.exit(os.waitstatus_to_exitcode(status) != 0)


main()
