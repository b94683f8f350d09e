#!/usr/bin/env bash
# Makes the virtual environment, with some extras of the package: setup_venv.sh DIRECTORY EXTRAS [PYTHON]
set -euo pipefail
venv=$1
extras=$2
python=${3:-}

is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

if [ -z "$python" ]; then
    for candidate in python3 python3.13 python3.12 python3.11 python3.14 python; do
        if is_new_enough "$candidate"; then
            python=$candidate
            break
        fi
    done
fi
if [ -z "$python" ] || ! is_new_enough "$python"; then
    echo "Python 3.11 or newer is needed; name one with: make setup PYTHON=/path/to/python3" >&2
    exit 1
fi

if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
    # Debian keeps these two in a package of their own.
    if [ -f /etc/debian_version ] && [ "$(id -u)" = 0 ]; then
        version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy "python$version-venv"
    else
        echo "$python has no venv module. On Debian and Ubuntu: sudo apt-get install python3-venv" >&2
        exit 1
    fi
fi

[ -x "$venv/bin/pip" ] || "$python" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade pip
command -v cc >/dev/null || command -v gcc >/dev/null || command -v clang >/dev/null ||
	"$venv/bin/python" -m pip install --quiet --disable-pip-version-check ziglang  # it links the kernels
echo "installing the package with $extras; these are large:"
# The kernels are compiled after it, where their progress is seen.
BINLOG_KAITAI_KERNELS=python "$venv/bin/python" -m pip install --disable-pip-version-check --editable ".[$extras]" |
	sed -nuE 's/^ *((Using cached|Downloading) .*[0-9.]+ MB\)).*/  \1/p'
"$venv/bin/python" -m tools.kernels || true  # which says why there is no machine code
