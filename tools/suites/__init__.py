"""The servers' own test suites as workloads: what their SQL leaves in a log is compared with the server.

    language     reads mysqltest files
    trees        downloads the suites, and selects tests that need no more than one server
    player       runs a test on a server
    evidence     what the server reports about its tables while a test runs
    judge        compares the log with that, with the server's client, and with a second server

Nothing of the suites is committed. `python -m tools.suites --help`; docs/development.md explains the output.
"""
