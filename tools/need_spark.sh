#!/usr/bin/env bash
# Makes a folder with another version of PySpark, to be put in PYTHONPATH: need_spark.sh PYTHON VERSION FOLDER
# Ends with 1 if that needs a package index that pip cannot reach.
set -euo pipefail
python=$1 version=$2 folder=$3

# Iceberg has jars for 4.1 only; AUTO CDC is in pipelines since 4.2. DuckDB and Polars are those of the guide.
case $version in
    4.1) wanted=("pyspark==$version.*" 'pyiceberg[sql-sqlite]>=0.12' duckdb polars) ;;
    *) wanted=("pyspark[pipelines]==$version.*") ;;
esac
[ "$(cat "$folder/installed.txt" 2>/dev/null || true)" = "${wanted[*]}" ] && exit 0
"$(dirname "$0")/need_packages.sh" "$python" || exit 1
echo "Installing PySpark $version into $folder" >&2
rm -rf "$folder"
"$python" -m pip install --quiet --disable-pip-version-check --no-warn-conflicts --target "$folder" "${wanted[@]}" || exit 2
echo "${wanted[*]}" >"$folder/installed.txt"
