#!/usr/bin/env bash
# test.sh PRESET: build everything and run CTest.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
scripts/build.sh "$preset"
if [ "$preset" = release ]; then ln -sfn release/bin/kernelwright build/kernelwright; fi
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
ctest --preset "$preset" --parallel "${JOBS:-$(nproc)}" --progress "${@:2}"
