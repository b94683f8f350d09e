#!/usr/bin/env bash
# Ends well where Chromium and its driver are there; as root on Debian it installs them. Ends with 1 without one.
set -euo pipefail

has_browser() {
    command -v chromium >/dev/null && command -v chromedriver >/dev/null
}

has_browser && exit 0
if [ -f /etc/debian_version ] && [ "$(id -u)" = 0 ]; then
    echo "the browser tests need Chromium and its driver; installing them" >&2
    { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends \
        chromium chromium-driver; } >&2 || true
    has_browser && exit 0
fi
cat >&2 <<EOF
The browser tests need Chromium and its driver as \`chromium\` and \`chromedriver\`. To get them:
  Debian           sudo apt-get install chromium chromium-driver
  Fedora           sudo dnf install chromium chromedriver
EOF
exit 1
