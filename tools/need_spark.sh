#!/usr/bin/env bash
# Makes a folder with another version of PySpark, to be put in PYTHONPATH: need_spark.sh PYTHON VERSION FOLDER [PACKAGE...]
set -euo pipefail
python=$1 version=$2 folder=$3
shift 3

wanted="pyspark==$version.* $*"
[ "$(cat "$folder/installed.txt" 2>/dev/null || true)" = "$wanted" ] && exit 0
echo "Installing PySpark $version into $folder" >&2
rm -rf "$folder"
"$python" -m pip install --quiet --disable-pip-version-check --target "$folder" "pyspark==$version.*" "$@"
echo "$wanted" >"$folder/installed.txt"
