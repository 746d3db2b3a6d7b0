#!/usr/bin/env bash
# run.sh TASK: the main job with embedded defaults. The author is a recorded conversation, so that it needs no key.
set -euo pipefail
cd "$(dirname "$0")/.."
task=$1
name=$(basename "$task" .md)
replay=share/replays/$name.jsonl
if [ ! -f "$replay" ]; then
    echo "run: no recorded conversation for $name; with a model: OPENAI_API_KEY=KEY build/kernelwright run $task --author openai --model NAME (or anthropic; docs/endpoints.md)" >&2
    exit 2
fi
exec build/kernelwright run "$task" --author "replay:$replay"
