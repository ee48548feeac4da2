#!/usr/bin/env bash
# A first look, run by ./dev demo: a small part of the paper's evaluation on data drawn here, as a table on the terminal
# and a report with figures.
# usage: demo.sh HQMM OUTPUT_DIRECTORY
set -euo pipefail
hqmm=$1
out=$2
rm -rf "$out/cells" # results of an earlier build
"$hqmm" reproduce all --quick -o "$out" >/dev/null
cat "$out/first-look.md"
# A build without npm has no page.
if "$hqmm" report "$out" --quiet --title 'hqmm demo' -o "$out/report.html" 2>/dev/null; then
  printf '\nTo look at, in a browser: %s\n' "$out/report.html"
fi
printf '\nThe whole table, figures and how they came about: %s\n' "$out/report.md"
