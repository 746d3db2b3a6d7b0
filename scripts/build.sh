#!/usr/bin/env bash
# build.sh PRESET [TARGET ...]: configure once, build, say how far it is, print the errors when there are some.
# On a terminal one line is redrawn; elsewhere there is a line for every tenth part.
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

# Ninja's lines ("[12/327] Building CXX object ...") to the log and, shortened, to the reader.
progress() {
    local line live=0 width=80 tenth=0 now at
    if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; then
        live=1
        width=$(tput cols 2>/dev/null || echo 80)
    fi
    while IFS= read -r line; do
        printf '%s\n' "$line" >&3
        if ! [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\ (.*) ]]; then continue; fi
        at=$((100 * BASH_REMATCH[1] / BASH_REMATCH[2]))
        if [ $live = 1 ]; then
            now=$(printf '[%s/%s] %3d %%  %s' "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "$at" "${BASH_REMATCH[3]##*/}")
            printf '\r%s\033[K' "${now:0:$((width - 1))}"
        elif [ "${BASH_REMATCH[2]}" -ge 20 ] && [ $((at / 10)) -gt $tenth ]; then
            tenth=$((at / 10))
            printf '  %3d %%  (%s of %s steps)\n' "$at" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
        fi
    done
    if [ $live = 1 ]; then printf '\r\033[K'; fi
}

echo "building (${preset}: ${targets[*]}) ..."
if ! cmake --build "$dir" --parallel "$jobs" --target "${targets[@]}" 2>&1 | progress 3>"$dir/build.log"; then
    grep -E -A6 'error|FAILED' "$dir/build.log" | head -n 60 >&2
    echo "the build failed; the whole log is $dir/build.log" >&2
    exit 1
fi
