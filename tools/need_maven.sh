#!/usr/bin/env bash
# Ends well where there is Maven, which downloads some of the servers; as root on Debian it installs it. Ends with 1 without one.
set -euo pipefail

command -v mvn >/dev/null && exit 0
if [ -f /etc/debian_version ] && [ "$(id -u)" = 0 ]; then
    echo "four of the servers come from Maven Central; installing Maven" >&2
    { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends maven; } >&2 || true
    command -v mvn >/dev/null && exit 0
fi
cat >&2 <<EOF
MySQL 5.7 and 8.0, MariaDB 10.2 and 11.4 come from Maven Central, through \`mvn\`. To get it:
  Debian, Ubuntu   sudo apt-get install maven
  Fedora           sudo dnf install maven
  macOS            brew install maven
EOF
exit 1
