#!/usr/bin/env bash
# Ends well where the kernels for other systems can be run: with Wine, QEMU and musl, and ziglang for the program that
# runs them, in the environment of the given Python. As root on Debian it installs them. Ends with 1 without them.
set -euo pipefail
python=$1

musl=build/musl

has_emulators() {
    command -v wine >/dev/null && command -v qemu-aarch64 >/dev/null && [ -e "$musl/lib/ld-musl-x86_64.so.1" ]
}

# Not installed: Snappy in Java (of Spark) takes a system that has musl for one that has nothing else.
unpack_musl() (
    mkdir -p "$musl" && cd "$musl" && apt-get download -q musl && dpkg -x musl_*.deb . && rm musl_*.deb
)

"$python" -c "import ziglang" 2>/dev/null || "$python" -m pip install --quiet ziglang || true
has_emulators && exit 0
if [ -f /etc/debian_version ] && [ "$(id -u)" = 0 ]; then
    echo "the kernels for other systems need Wine, QEMU and musl; installing them" >&2
    { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends \
        wine64 wine qemu-user libc6-arm64-cross && unpack_musl; } >&2 || true
    has_emulators && exit 0
fi
cat >&2 <<EOF
The kernels for other systems need \`wine\`, \`qemu-aarch64\` and musl's loader in $musl/. To get them:
  Debian           sudo apt-get install wine64 wine qemu-user libc6-arm64-cross
                   mkdir -p $musl && cd $musl && apt-get download musl && dpkg -x musl_*.deb .
EOF
exit 1
