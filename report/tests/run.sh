#!/usr/bin/env bash
# Looks at the pages of hqmm report in a browser; exits with 77 where there is none.
# usage: run.sh HQMM PACKAGES   (the folder with the npm packages of report/tests)
set -euo pipefail
export HQMM_BINARY=$1 HQMM_BROWSER_PACKAGES=$2
HQMM_CHROMIUM=$(command -v chromium || command -v chromium-browser || true)
export HQMM_CHROMIUM
skip() { printf 'skipped: %s\n' "$1"; exit 77; }
command -v node >/dev/null || skip "no nodejs"
[[ -n $HQMM_CHROMIUM ]] || skip "no chromium"
[[ -d $HQMM_BROWSER_PACKAGES/node_modules/playwright-core ]] || skip "no playwright-core (./dev test report fetches it)"
"$HQMM_BINARY" report --help >/dev/null
exec node --test "$(dirname -- "${BASH_SOURCE[0]}")/page.test.mjs"
