#!/usr/bin/env bash
# clang-format must have nothing to change; clang-tidy must have nothing to say.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files '*.h' '*.cc' | xargs clang-format --dry-run --Werror
[ -f build/release/compile_commands.json ] || scripts/build.sh release
git ls-files 'emulator/*.cc' 'harness/*.cc' 'verifiers/*.cc' 'skills/*.cc' | xargs -P "${JOBS:-$(nproc)}" -n 1 clang-tidy --quiet -p build/release
echo "lint: clean"
