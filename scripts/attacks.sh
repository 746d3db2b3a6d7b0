#!/usr/bin/env bash
# Every wrong kernel must be rejected at a stage that its `// expect:` line names; every right one must pass.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh release e2e_verdict_test
build/release/bin/e2e_verdict_test --gtest_brief=1
