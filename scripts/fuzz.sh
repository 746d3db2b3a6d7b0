#!/usr/bin/env bash
# libFuzzer with AddressSanitizer on the PTX parser and executor, half of the time for each target. Inputs that
# fail are left in build/fuzz/found.
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=${1:-10}
if ! command -v clang++-19 >/dev/null; then
    echo "fuzz: clang++-19 is needed (apt-get install clang-19 libclang-rt-19-dev)" >&2
    exit 3
fi
[ -f build/fuzz/build.ninja ] || cmake --preset fuzz >/dev/null
cmake --build build/fuzz --target fuzz_ptx_load fuzz_ptx_run
mkdir -p build/fuzz/found build/fuzz/corpus_load build/fuzz/corpus_run build/fuzz/seeds
if [ -z "$(ls -A build/fuzz/seeds)" ]; then
    cp tests/cases/differential/*.ptx tests/cases/differential/*.hostile build/fuzz/seeds/
fi
seconds=$(( minutes * 30 ))
status=0
build/fuzz/bin/fuzz_ptx_load -max_total_time=$seconds -timeout=20 -rss_limit_mb=4096 -max_len=20000 -use_value_profile=1 \
    -artifact_prefix=build/fuzz/found/load- -print_final_stats=1 build/fuzz/corpus_load build/fuzz/seeds 2>&1 |
    tail -n 30 || status=1
build/fuzz/bin/fuzz_ptx_run -max_total_time=$seconds -timeout=20 -rss_limit_mb=4096 -max_len=64 -len_control=0 \
    -artifact_prefix=build/fuzz/found/run- -print_final_stats=1 build/fuzz/corpus_run 2>&1 |
    tail -n 30 || status=1
if [ "$status" = 0 ]; then
    echo "fuzz: $minutes minutes, nothing found"
else
    echo "fuzz: inputs that fail are in build/fuzz/found"
fi
exit "$status"
