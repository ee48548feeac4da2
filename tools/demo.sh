#!/usr/bin/env bash
# A first look, run by ./dev demo: makes the two synthetic data sets, scores each with the model that made it and
# leaves a table on the terminal and in a report.
# usage: demo.sh HQMM OUTPUT_DIRECTORY
set -euo pipefail
hqmm=$1
out=$2
burn_in=1000
data_sets=(synthetic-hmm synthetic-hqmm)
splits=(train validation test)

# number KEY DECIMALS <JSON: the first number under that key. The keys that repeat inside "raw" come before it.
number() {
  local value
  value=$(tr -d '\n' | grep -oE "\"$1\" *: *-?[0-9][-+0-9.eE]*" | head -n 1 | sed 's/.*: *//') || true
  [[ -n $value ]] || { echo "demo: no number '$1' in the output of hqmm score" >&2; return 1; }
  LC_ALL=C printf "%.$2f" "$value"
}

rows=()
for data_set in "${data_sets[@]}"; do
  folder=$out/data/$data_set
  mkdir -p "$out/data"
  "$hqmm" generate "$data_set" -o "$folder" >/dev/null
  for split in "${splits[@]}"; do
    json=$("$hqmm" score "$folder/true_model.h5" "$folder/$split.txt" --burn-in "$burn_in" --json)
    sequences=$(number sequences 0 <<<"$json")
    symbols=$(number symbols 0 <<<"$json")
    accuracy=$(number da_mean 4 <<<"$json")
    spread=$(number da_std 4 <<<"$json")
    bits=$(number bits_per_symbol 4 <<<"$json")
    rows+=("$(printf '| %-14s | %-10s | %9s | %7s | %11s ± %s | %15s |' \
      "$data_set" "$split" "$sequences" "$symbols" "$accuracy" "$spread" "$bits")")
  done
done

table() {
  echo '| data set       | split      | sequences | symbols | description accuracy | bits per symbol |'
  echo '|----------------|------------|----------:|--------:|---------------------:|----------------:|'
  printf '%s\n' "${rows[@]}"
}
meaning() {
  cat <<'TEXT'
Each row scores data with the very model that generated it, so no honest model can do better on average.
Description accuracy is 0 for guessing every symbol with equal probability and 1 for knowing each one in
advance; bits per symbol says the same as surprise, lower is better (guessing costs log2 of the alphabet size).
TEXT
}

{
  printf '# hqmm demo\n\n'
  table
  printf '\n%s\n' "$(meaning)"
  printf '\n## How it was made\n\n```\n'
  for data_set in "${data_sets[@]}"; do
    echo "hqmm generate $data_set -o $out/data/$data_set"
    echo "hqmm score $out/data/$data_set/true_model.h5 $out/data/$data_set/SPLIT.txt --burn-in $burn_in --json"
  done
  printf '```\n\nSPLIT is train, validation or test. The first %s symbols of a sequence move the state and are not scored.\n' "$burn_in"
  echo 'The spread is the standard deviation over sequences. The same seed gives the same numbers on every run.'
} >"$out/report.md"

table
printf '\n%s\n\nWritten: %s\n' "$(meaning)" "$out/report.md"
