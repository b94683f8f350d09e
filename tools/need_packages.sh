#!/usr/bin/env bash
# Ends well where pip can reach a package index: need_packages.sh PYTHON
set -euo pipefail
python=$1

if "$python" -m pip index versions --quiet --disable-pip-version-check --retries 1 --timeout 20 pyspark >/dev/null 2>&1; then
    exit 0
fi
echo "pip cannot reach a package index; these tests install packages from one" >&2
exit 1
