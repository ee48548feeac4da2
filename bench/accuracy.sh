#!/usr/bin/env bash
# What learning reaches, with default options and three seeds each, against the bars we hold ourselves to. Run by
# ./dev bench accuracy [SEEDS]; takes about a quarter of an hour on two cores.
#
# Data: data/ of the reference material at ../shared or $HQMM_SHARED when it is there (the bars are for those files),
# else our own generator's, without bars.
# usage: accuracy.sh HQMM [SEEDS]
set -euo pipefail
hqmm=$1
seeds=${2:-3}
reference=${HQMM_SHARED:-../shared}/data
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

if [[ -f $reference/synthetic-hmm/train.txt ]]; then
  data=$reference
  echo "data: the published files; bars apply"
else
  data=$work/data
  mkdir -p "$data"
  for kind in synthetic-hmm synthetic-hqmm; do "$hqmm" generate "$kind" -o "$data/$kind" --quiet; done
  echo "data: generated here (seed 1); bars are for the published files and only shown"
fi

# figure KEY <JSON: the first number under that key; raw_figure: the one inside "raw".
figure() { tr -d '\n' | grep -oE "\"$1\" *: *-?[0-9][-+0-9.eE]*" | head -n 1 | sed 's/.*: *//'; }
raw_figure() { tr -d '\n' | sed 's/.*"raw"//' | figure "$1"; }
at_least() { LC_ALL=C awk -v a="$1" -v b="$2" 'BEGIN { exit !(a >= b) }'; }

# judge LABEL SEED VALUE RELATION BAR
judge() {
  local verdict=ok
  if [[ $4 == '>=' ]]; then at_least "$3" "$5" || verdict=MISSED; else at_least "$5" "$3" || verdict=MISSED; fi
  if [[ $verdict == MISSED && $data == "$reference" ]]; then failed=1; fi
  LC_ALL=C printf '%-58s %4s  %.4f  %s %.4f  %s\n' "$1" "$2" "$3" "$4" "$5" "$verdict"
}

# learn KIND SEED NAME OPTIONS…
learn() {
  local folder=$data/$1 seed=$2 name=$3
  shift 3
  "$hqmm" train "$folder/train.txt" --validation "$folder/validation.txt" --seed "$seed" --quiet \
    -o "$work/$name.h5" --json "$@" 2>/dev/null
}
test_score() { "$hqmm" score "$work/$2.h5" "$data/$1/test.txt" --burn-in 1000 --json 2>/dev/null; }

# claim LABEL KIND BAR OPTIONS…: test DA of every seed against the bar.
claim() {
  local label=$1 kind=$2 bar=$3 seed
  shift 3
  for ((seed = 1; seed <= seeds; ++seed)); do
    learn "$kind" "$seed" model "$@" >/dev/null
    judge "$label" "$seed" "$(test_score "$kind" model | figure da_mean)" '>=' "$bar"
  done
}

printf '%-58s %4s  %s\n' "model" "seed" "test DA, bar"
claim 'synthetic HQMM, ns-ris n=2 w=1' synthetic-hqmm 0.1290 -n 2 -w 1
claim 'synthetic HMM, ns-ris n=2 w=2' synthetic-hmm 0.1605 -n 2 -w 2
claim 'synthetic HMM, ns-ris n=3 w=2' synthetic-hmm 0.1778 -n 3 -w 2
claim 'synthetic HMM, ns-ris n=4 w=2' synthetic-hmm 0.1783 -n 4 -w 2
claim 'synthetic HMM, ns-ris n=5 w=4' synthetic-hmm 0.1778 -n 5 -w 4
claim 'synthetic HMM, em n=3' synthetic-hmm 0.1505 -n 3 --learner em
claim 'synthetic HMM, em n=6' synthetic-hmm 0.1795 -n 6 --learner em
claim 'synthetic HMM, cosm n=6 w=2, the paper'"'"'s protocol' synthetic-hmm 0.1760 -n 6 -w 2 --learner cosm --preset paper

for ((seed = 1; seed <= seeds; ++seed)); do
  em=$(learn synthetic-hmm "$seed" em -n 6 --learner em | sed -n '/"validation"/,$p' | figure log_likelihood)
  warm=$(learn synthetic-hmm "$seed" warm -n 6 --warm-start em | sed -n '/"validation"/,$p' | figure log_likelihood)
  judge 'synthetic HMM, ns-ris n=6 warm from em' "$seed" "$(test_score synthetic-hmm warm | figure da_mean)" '>=' 0.1795
  # The exact embedding is the candidate to beat; its arithmetic rounds differently in the last digits.
  em=$(LC_ALL=C awk -v x="$em" 'BEGIN { printf "%.8f", x - 1e-7 }')
  judge '  … validation log-likelihood, against em'"'"'s own' "$seed" "$warm" '>=' "$em"
done
for ((seed = 1; seed <= seeds; ++seed)); do
  learn synthetic-hmm "$seed" literal -n 6 -w 2 --retraction literal >/dev/null
  json=$(test_score synthetic-hmm literal)
  judge 'synthetic HMM, literal ns-ris n=6 w=2, raw claim' "$seed" "$(raw_figure da_mean <<<"$json")" '>=' 0.25
  judge '  … the same model, normalised (truth 0.1801)' "$seed" "$(figure da_mean <<<"$json")" '<=' 0.1801
done
exit "$failed"
