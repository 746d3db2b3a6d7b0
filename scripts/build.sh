#!/usr/bin/env bash
# build.sh PRESET [TARGET ...]: configure once, build quietly, print the errors when there are some.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
dir=build/$preset
mkdir -p "$dir"
if [ ! -f "$dir/build.ninja" ]; then
    launcher=()
    if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
    if ! cmake --preset "$preset" "${launcher[@]}" >"$dir/configure.log" 2>&1; then
        tail -n 20 "$dir/configure.log" >&2
        exit 1
    fi
fi
# A compiler process of the largest files takes about 1 GiB.
jobs=${JOBS:-$(nproc)}
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then targets=(all); fi
echo "building (${preset}: ${targets[*]}) ..."
if ! cmake --build "$dir" --parallel "$jobs" --target "${targets[@]}" >"$dir/build.log" 2>&1; then
    grep -E -A6 'error|FAILED' "$dir/build.log" | head -n 60 >&2
    echo "the build failed; the whole log is $dir/build.log" >&2
    exit 1
fi
