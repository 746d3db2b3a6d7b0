#!/usr/bin/env bash
# Speed of the emulated GPU, each figure as a ratio to a baseline measured in the same run.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh release emulator_bench
build/release/bin/emulator_bench "$@"
