# shellcheck shell=bash disable=SC2154 # root, jobs and packages_… are ./dev's
# Sourced by ./dev: runs the targets of fuzz/.

fuzz_targets=(text fasta npy mat hdf5 model model_binary classifier position_map run_directory checkpoint reply options values)

# fuzz_seeds TARGET: copies the files it begins with into its folder of seeds.
fuzz_seeds() {
  local target=$1 folder=build/fuzz/seeds/$1 file
  local -a kinds=()
  case $target in
    text) kinds=(txt csv tsv data gz xz bz2 zst) ;;
    fasta) kinds=(fasta fastq) ;;
    npy) kinds=(npy) ;;
    mat) kinds=(mat) ;;
    hdf5) kinds=(h5) ;;
  esac
  rm -rf "$folder"
  mkdir -p "$folder"
  for file in fuzz/seeds/"$target"/* tests/formats/crashes/"$target"/* tests/formats/{good,odd,bad}/*; do
    if [[ -f $file ]] && { [[ $file != tests/formats/@(good|odd|bad)/* ]] || [[ " ${kinds[*]} " == *" ${file##*.} "* ]]; }; then
      cp "$file" "$folder/$(tr / - <<<"${file#*/}")"
    fi
  done
}

# fuzz_one TARGET SECONDS: one line of what came of it; 1 when something crashed.
fuzz_one() {
  local target=$1 seconds=$2 log=$logs/fuzz-$1.log status=0 crash
  local corpus=build/fuzz/corpus/$target crashes=build/fuzz/crashes/$target
  mkdir -p "$corpus" "$crashes" "$logs"
  fuzz_seeds "$target"
  # Without the target's own output, which would be millions of lines.
  ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1} UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1} \
    build/fuzz/hqmm_fuzz "$target" "$corpus" "build/fuzz/seeds/$target" -artifact_prefix="$crashes/" \
    -max_total_time="$seconds" -timeout=20 -rss_limit_mb=1500 -max_len=16384 -close_fd_mask=3 -print_final_stats=1 \
    >"$log" 2>&1 </dev/null || status=$?
  awk -v target="$target" -v status="$status" '
    /^stat::number_of_executed_units:/ { runs = $2 }
    match($0, /cov: [0-9]+/) { covered = substr($0, RSTART + 5, RLENGTH - 5) }
    END { printf "fuzz %s: %d executions, %d branches, %s\n", target, runs, covered, status == 0 ? "no crash" : "CRASHED" }
  ' "$log" >&2
  ((status == 0)) && return
  crash=$(sed -n 's/^.*Test unit written to //p' "$log" | tail -n 1)
  if [[ -n $crash ]]; then
    say "  reproduce: build/fuzz/hqmm_fuzz $target $crash"
    say "  once fixed, keep it: tests/formats/crashes/$target/"
  else
    tail -n 20 "$log" >&2
  fi
  return 1
}

# cmd_fuzz [TARGET|all [SECONDS]]
cmd_fuzz() {
  local wanted=${1:-all} seconds=${2:-60} target status=0 start
  local -a chosen=() running=()
  [[ $seconds =~ ^[1-9][0-9]*$ ]] || die "fuzz: '$seconds' is not a number of seconds"
  if [[ $wanted == all ]]; then
    chosen=("${fuzz_targets[@]}")
  elif [[ " ${fuzz_targets[*]} " == *" $wanted "* ]]; then
    chosen=("$wanted")
  else
    die "fuzz: unknown target '$wanted' (all ${fuzz_targets[*]})"
  fi
  announce fuzz "the fuzz targets" fuzz hqmm_fuzz \
    "runs ${#chosen[@]} for $seconds s each" "${packages_build[@]}" "${packages_fuzz[@]}"
  setup build fuzz
  compile fuzz hqmm_fuzz
  start=$SECONDS
  # As many at a time as there are jobs; a crash of one does not end the others.
  for target in "${chosen[@]}"; do
    if ((${#running[@]} >= jobs)); then
      wait "${running[0]}" || status=1
      running=("${running[@]:1}")
    fi
    fuzz_one "$target" "$seconds" &
    running+=($!)
  done
  for target in "${running[@]}"; do wait "$target" || status=1; done
  record "fuzz" $((SECONDS - start)) "$status"
  return "$status"
}
