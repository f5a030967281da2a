#!/bin/sh
# Index the example vault in a home of its own (.demo/), and ask it a few questions.
set -eu
bin=$1
BRAIN_HOME=$PWD/.demo
export BRAIN_HOME
rm -rf "$BRAIN_HOME"
mkdir -p "$BRAIN_HOME"

bold='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); fi
say() { printf '\n%s$ brain %s%s\n' "$bold" "$*" "$plain"; }

say add example-vault --name example
"$bin/brain" add example-vault --name example
say index
"$bin/brain" index
while IFS= read -r question; do
  say search -n 3 "\"$question\""
  "$bin/brain" search -n 3 "$question"
done < scripts/demo-questions.txt
say status
"$bin/brain" status
printf '\nThat was the example vault. For your own notes: %s/brain add ~/notes && %s/brain index\n' "$bin" "$bin"
