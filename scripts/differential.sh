#!/usr/bin/env bash
# The emulated GPU's two engines on N generated programs, in two processes; stops at the first difference with
# its seed and a program that has no line too many.
set -euo pipefail
cd "$(dirname "$0")/.."
programs=${1:-20000} seed=${2:-1}
scripts/build.sh release differential
half=$(( (programs + 1) / 2 ))
pids=()
for part in 0 1; do
    build/release/bin/differential --count "$half" --seed $(( seed + part )) --step 2 &
    pids+=($!)
done
status=0
for pid in "${pids[@]}"; do
    if ! wait "$pid"; then
        status=1
        kill "${pids[@]}" 2>/dev/null || true
    fi
done
if [ "$status" = 0 ]; then
    echo "differential: no difference in $(( 2 * half )) programs from seed $seed on"
else
    echo "differential: the engines differ (or a process failed); see above"
fi
exit "$status"
