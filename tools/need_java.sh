#!/usr/bin/env bash
# Ends well where a Java of 17 or newer answers, as Spark wants; as root on Debian it installs one.
set -euo pipefail

java_version() {
    local java=java
    [ -z "${JAVA_HOME:-}" ] || java=$JAVA_HOME/bin/java
    { "$java" -version 2>&1 || true; } | sed -nE '1,3s/.* version "([0-9]+).*/\1/p' | head -n 1
}

found=$(java_version)
if [ "${found:-0}" -ge 17 ]; then
    exit 0
fi
if [ -z "${JAVA_HOME:-}" ] && [ -f /etc/debian_version ] && [ "$(id -u)" = 0 ]; then
    echo "Spark needs Java 17 or newer (found: ${found:-none}); installing it" >&2
    apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy default-jre-headless
    found=$(java_version)
    [ "${found:-0}" -lt 17 ] || exit 0
fi
cat >&2 <<EOF
Spark needs Java 17 or newer (found: ${found:-none}${JAVA_HOME:+ in JAVA_HOME=$JAVA_HOME}). To get one:
  Debian, Ubuntu   sudo apt-get install openjdk-17-jre-headless
  Fedora           sudo dnf install java-21-openjdk-headless
  macOS            brew install openjdk@21
or point JAVA_HOME at one that you have.
EOF
exit 1
