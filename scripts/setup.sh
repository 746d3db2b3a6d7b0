#!/usr/bin/env bash
# Installs the Debian packages that are missing (sudo only when needed) and says what else is.
#   setup.sh build   what building and running needs
#   setup.sh test    the same, and what the tests need
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(g++ cmake ninja-build pkg-config libcurl4-openssl-dev nlohmann-json3-dev libfmt-dev libyaml-cpp-dev libcli11-dev
          libsqlite3-dev libssl-dev liblua5.4-dev libseccomp-dev libgtest-dev libgmock-dev libbenchmark-dev)
if [ "${1:-build}" = test ]; then packages+=(python3 python3-numpy clang-format clang-tidy); fi

missing=()
for package in "${packages[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done

if [ "${1:-build}" = test ] && ! command -v npm >/dev/null; then missing+=(nodejs npm); fi

if [ ${#missing[@]} -gt 0 ]; then
    if ! command -v apt-get >/dev/null; then
        echo "setup: these packages are missing and there is no apt-get: ${missing[*]}" >&2
        exit 3
    fi
    sudo=""
    if [ "$(id -u)" != 0 ]; then sudo=sudo; fi
    echo "setup: installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    log=$(mktemp)
    if ! { $sudo apt-get update -qq && $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
        tail -n 5 "$log" >&2
        echo "setup: could not install the packages above" >&2
        exit 3
    fi
    rm -f "$log"
fi

if [ "${1:-build}" = test ] && [ ! -d tests/aimock/node_modules ] && [ -f tests/aimock/package-lock.json ]; then
    echo "setup: installing the endpoint test double (npm)"
    # The lock holds a Node.js of its own for machines whose node is too old for the double; others do without it.
    omit=()
    if node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 15) ? 0 : 1)' 2>/dev/null; then
        omit=(--omit=optional)
    fi
    npm ci "${omit[@]}" --prefix tests/aimock --no-audit --no-fund --loglevel=error >/dev/null 2>&1 ||
        echo "setup: npm ci failed; the tests against the endpoint double will be reported as skipped" >&2
fi
