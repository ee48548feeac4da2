#!/usr/bin/env bash
# A first look, run by ./dev demo: makes the two synthetic data sets, learns models of each and leaves a table on the
# terminal and in a report.
# usage: demo.sh HQMM OUTPUT_DIRECTORY
set -euo pipefail
hqmm=$1
out=$2
burn_in=1000
seed=1
rows=()
commands=()

# number KEY <JSON: the first number under that key; `raw` keeps only what follows "raw".
number() {
  local value
  value=$(tr -d '\n' | grep -oE "\"$1\" *: *-?[0-9][-+0-9.eE]*" | head -n 1 | sed 's/.*: *//') || true
  [[ -n $value ]] || { echo "demo: no number '$1' in the output of hqmm" >&2; return 1; }
  LC_ALL=C printf '%.4f' "$value"
}
raw() { tr -d '\n' | sed 's/.*"raw"//'; }

# run ARGUMENTS…: the command, remembered for the report.
run() {
  commands+=("hqmm $*")
  "$hqmm" "$@"
}

# row DATA LABEL MODEL: scores a model on the test set. An infeasible one gets a second row with what it claims.
row() {
  local json
  commands+=("hqmm score $3 $out/data/$1/test.txt --burn-in $burn_in --json")
  json=$("$hqmm" score "$3" "$out/data/$1/test.txt" --burn-in "$burn_in" --json 2>/dev/null)
  rows+=("$(printf '| %-14s | %-45s | %8s | %8s |' "$1" "$2" "$(number da_mean <<<"$json")" \
    "$(number bits_per_symbol <<<"$json")")")
  if ! tr -d '\n ' <<<"$json" | grep -q '"raw":null'; then
    rows+=("$(printf '| %-14s | %-45s | %8s | %8s |' "$1" "... its own, un-normalised claim" \
      "$(raw <<<"$json" | number da_mean)" "-")")
  fi
}

# learn DATA NAME OPTIONS…: trains a model on a data set.
learn() {
  local folder=$out/data/$1 name=$2
  shift 2
  echo "  training $name" >&2
  run train "$folder/train.txt" --validation "$folder/validation.txt" --seed "$seed" --quiet \
    -o "$out/models/$name.h5" "$@" >/dev/null 2>&1
}

mkdir -p "$out/data" "$out/models"
for data_set in synthetic-hqmm synthetic-hmm; do
  run generate "$data_set" -o "$out/data/$data_set" --seed "$seed" --quiet
done

learn synthetic-hqmm sg-hqmm -n 2 -w 1
learn synthetic-hqmm sg-hmm -n 2 --learner em
learn synthetic-hqmm sg-literal -n 2 -w 1 --preset paper --retraction literal
learn synthetic-hmm hmm-hqmm -n 3 -w 2 --epochs 30
learn synthetic-hmm hmm-hmm -n 3 --learner em

row synthetic-hqmm 'the process that made the data' "$out/data/synthetic-hqmm/true_model.h5"
row synthetic-hqmm 'HQMM, n = 2, learned (NS-RIS, feasible)' "$out/models/sg-hqmm.h5"
row synthetic-hqmm 'HMM, 2 states, learned (EM)' "$out/models/sg-hmm.h5"
row synthetic-hqmm 'literal NS-RIS (the paper), n = 2, normalised' "$out/models/sg-literal.h5"
row synthetic-hmm 'the process that made the data (6 states)' "$out/data/synthetic-hmm/true_model.h5"
row synthetic-hmm 'HQMM, n = 3, learned (NS-RIS, feasible)' "$out/models/hmm-hqmm.h5"
row synthetic-hmm 'HMM, 3 states, learned (EM)' "$out/models/hmm-hmm.h5"

table() {
  echo '| data set       | model                                         | accuracy | bits     |'
  echo '|----------------|-----------------------------------------------|---------:|---------:|'
  printf '%s\n' "${rows[@]}"
}
meaning() {
  cat <<'TEXT'
Every row is scored on the same 10 test sequences, which no training saw. "Accuracy" is description accuracy: 0 for
guessing every symbol with equal probability, 1 for knowing each one in advance. "Bits" is surprise per symbol, lower
is better. Nothing can honestly beat the process that made the data by more than luck. A hidden quantum Markov model
needs fewer dimensions than an HMM for the same accuracy. The paper's own algorithm claims to beat the process
itself: its weights do not sum to one, and the same model, normalised, is worth the figure above the claim.
TEXT
}

{
  printf '# hqmm demo\n\n'
  table
  printf '\n%s\n' "$(meaning)"
  printf '\n## How it was made (seed %s)\n\n```\n' "$seed"
  printf '%s\n' "${commands[@]}"
  printf '```\n\nThe first %s symbols of each test sequence move the state and are not scored.\n' "$burn_in"
} >"$out/report.md"

table
printf '\n%s\n\nWritten: %s\n' "$(meaning)" "$out/report.md"
