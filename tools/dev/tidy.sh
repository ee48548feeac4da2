# shellcheck shell=bash disable=SC2154 # root, jobs and the packages are ./dev's
# Sourced by ./dev: clang-tidy over the library, the tools and the Python binding. A unit that passed is not looked at
# again until something it is made from changes, in this clone or another.

# What all units depend on: the program, its checks, the system's headers.
tidy_shared() {
  clang-tidy --version
  project_files .clang-tidy '*/.clang-tidy' | sort -z | xargs -0 -r sha256sum
  g++ -dumpfullversion
  dpkg-query -W "${packages_build[@]}" "${packages_python[@]}" 2>/dev/null || true
}

# tidy_list LIST: writes the units to look at, the longest first: the file to leave when one passes, the unit, its name,
# and what it is thought to take in milliseconds. Prints how many there are, of how many.
tidy_list() {
  local list=$1 passed times shared unit name lines command files file key
  local -A sum=()
  passed=$(kept hqmm-tidy) times=$(kept hqmm-seconds/tidy)
  mkdir -p "$passed" "$(dirname "$times")"
  find "$passed" -type f -mtime +30 -delete
  touch "$times"
  # The last time of each unit is enough.
  awk -F'\t' '{ time[$1] = $2 } END { for (name in time) print name "\t" time[name] }' "$times" >"$times.$$"
  mv "$times.$$" "$times"
  shared=$(tidy_shared | sha256sum)
  awk -v root="$root" -v closure=1 -f tools/dev/units.awk build/lint/compile_commands.json >build/lint/units.tsv
  [[ -s build/lint/units.tsv ]] || die "nothing to look at in build/lint/compile_commands.json"
  while read -r key name; do sum[$name]=$key; done < <(
    cut -f 5- build/lint/units.tsv | tr '\t' '\n' | sort -u | xargs -d '\n' -r sha256sum)
  while IFS=$'\t' read -r _ unit lines command files; do
    name=${unit#"$root"/}
    key=$({
      printf '%s\n' "$shared" "${command//"$root"/}"
      while IFS= read -r file; do printf '%s %s\n' "${file#"$root"}" "${sum[$file]}"; done <<<"${files//$'\t'/$'\n'}"
    } | sha256sum)
    key=$passed/${key%% *}
    if [[ -e $key ]]; then
      touch "$key"
    else
      printf '%s\t%s\t%s\t%d\n' "$key" "$unit" "$name" $((4000 + 20 * lines))
    fi
  done <build/lint/units.tsv |
    awk -F'\t' -v OFS='\t' -v times="$times" \
      'BEGIN { while ((getline < times) > 0) time[$1] = $2 } { print $1, $2, $3, $3 in time ? time[$3] : $4 }' |
    sort -t $'\t' -k 4,4nr >"$list"
  cut -f 3,4 "$list" >build/lint/weights.tsv
  printf '%d of %d units\n' "$(wc -l <"$list")" "$(wc -l <build/lint/units.tsv)"
}

tidy_one() {
  local output status=0 start=${EPOCHREALTIME/[.,]/}
  output=$(clang-tidy --quiet -p build/lint --extra-arg=-Wno-unknown-warning-option "$2" 2>&1) || status=$?
  ((status)) || : >"$1"
  printf '%s\t%d\n' "$3" $(((${EPOCHREALTIME/[.,]/} - start) / 1000)) >>"$times"
  output=$(sed '/^[0-9]* warnings\? generated\.$/d' <<<"$output")
  # In one go: others write at the same time.
  printf '\x01%s\n%s' "$3" "${output:+$output$'\n'}"
  return "$status"
}

# tidy_run LIST: 0 when all pass.
tidy_run() {
  local times
  times=$(kept hqmm-seconds/tidy)
  export times
  export -f tidy_one
  # shellcheck disable=SC2016
  tr '\t' '\n' <"$1" | xargs -d '\n' -r -n 4 -P "$jobs" bash -c 'tidy_one "$@"' tidy
}
