# shellcheck shell=bash disable=SC2154 # root and jobs are ./dev's
# Sourced by ./dev: how long a build will take, and the line that says so while it runs.
# Times are in milliseconds. A list of weights has a line "NAME<tab>TIME" for each job, NAME being the file it makes.

terminal() { [[ -t 2 && ${TERM:-dumb} != dumb ]]; }
# A line that the next one replaces; one that is too long could not be.
draw() { ! terminal || printf '\r\033[K%.79s' "$*" >&2; }

# The folder for what outlives a build folder, shared by all clones: the compiler cache's.
kept() {
  local folder
  folder=$(ccache -k cache_dir 2>/dev/null) && mkdir -p "$folder" 2>/dev/null && [[ -w $folder ]] || folder=build
  printf '%s/%s\n' "$folder" "$1"
}

# ---- what a build will take ------------------------------------------------------------------------

ninja_of() { sed -n 's/^CMAKE_MAKE_PROGRAM:[^=]*=//p' "build/$1/CMakeCache.txt"; }

# The jobs that building the targets would run, as Ninja describes them.
pending_jobs() {
  local preset=$1 folder=build/$1 ninja
  shift
  ninja=$(ninja_of "$preset")
  # Without the rule that runs CMake again: a dry run goes no further than that.
  sed '/^build build\.ninja/,/^$/d' "$folder/build.ninja" >"$folder/dry-run.ninja"
  NINJA_STATUS=$'\x01' "$ninja" -C "$folder" -f dry-run.ninja -n "$@" 2>/dev/null | sed -n $'s/^\x01//p'
}

# weigh PRESET TARGET…: the list of weights of what is to be built, from earlier builds or, failing that, from the
# number of lines.
weigh() {
  local preset=$1 seconds units=build/$1/units.tsv
  remember_seconds "$preset"
  seconds=$(kept "hqmm-seconds/$preset")
  [[ -f $seconds ]] || seconds=/dev/null
  awk -v root="$root" -f tools/dev/units.awk "build/$preset/compile_commands.json" >"$units"
  pending_jobs "$@" | awk -F'\t' -v seconds="$seconds" -v units="$units" '
    BEGIN {
      while ((getline < units) > 0) time[$1] = 2500 + 12 * $3
      while ((getline < seconds) > 0) time[$1] = $2
    }
    { name = $0; sub(/.* /, "", name) }
    !(name in time) { time[name] = name ~ /\.o$/ ? 3000 : /^Linking/ ? 1000 : 300 }
    { print name "\t" time[name] }'
}

# Keeps the times of the last build. A unit far faster than before came from the compiler cache: that is not what it
# takes.
remember_seconds() {
  local log=build/$1/.ninja_log file
  [[ -f $log ]] || return 0
  file=$(kept "hqmm-seconds/$1")
  mkdir -p "$(dirname "$file")"
  [[ -f $file ]] || : >"$file"
  awk -F'\t' -v OFS='\t' -v kept="$file" '
    BEGIN { while ((getline < kept) > 0) time[$1] = $2 }
    /^#/ || NF < 5 || $4 ~ /^\// { next }
    { now[$4] = $2 - $1 }
    END {
      for (name in now)
        if (name !~ /\.o$/ || now[name] > (name in time ? 0.3 * time[name] : 500)) time[name] = now[name]
      for (name in time) print name, time[name]
    }' "$log" >"$file.$$" && mv "$file.$$" "$file"
}

# build_time PRESET TARGET…: how long building the targets takes; 0 when they are up to date.
build_time() {
  local commands=build/$1/compile_commands.json lines=0
  local -a folders=()
  # What is not configured yet, by its number of lines.
  [[ -f $commands ]] || folders+=(hqmm tools/hqmm)
  if [[ " $* " == *" all "* && $1 != bench ]] && ! grep -qs ' -o tests/' "$commands"; then folders+=(tests); fi
  if ((${#folders[@]})); then lines=$(find "${folders[@]}" -name '*.cpp' -exec cat {} + | wc -l); fi
  { [[ ! -f $commands ]] || weigh "$@" || true; } | awk -F'\t' -v jobs="$jobs" -v lines="$lines" '
    { sum += $2; if ($2 > most) most = $2 }
    END { sum = (sum + 15 * lines) / jobs; printf "%d\n", (sum > most ? sum : most) }'
}

# How long the tests of a preset run, by the last time.
tests_time() {
  local file
  file=$(kept "hqmm-seconds/$1")
  [[ -f $file ]] || file=/dev/null
  awk -F'\t' '$1 == "tests" { time = $2 } END { print time ? time : 120000 }' "$file"
}

remember_tests() { printf 'tests\t%d\n' $(($2 * 1000)) >>"$(kept "hqmm-seconds/$1")"; }

# A time in words.
about() {
  local seconds=$((($1 + 500) / 1000))
  if ((seconds < 20)); then
    printf 'a few seconds'
  elif ((seconds < 45)); then
    printf 'half a minute'
  elif ((seconds < 90)); then
    printf 'a minute'
  else
    printf 'about %d minutes' $(((seconds + 30) / 60))
  fi
}

# ---- while it runs ---------------------------------------------------------------------------------

# progress TITLE WEIGHTS: copies its input and draws how far it is. A line that begins with \x01 says that a job has
# ended: "\x01DONE/ALL DESCRIPTION" from Ninja, "\x01DESCRIPTION" from others; its last word is the name in the list.
progress() {
  local title=$1 weights=$2 line='' part name time ended=0 all=0 work=0 rest=0 known most
  local start now last left=0 fresh running speed
  local -A weight=()
  trap '' INT # the command ends by itself, and with it this
  while IFS=$'\t' read -r name time; do weight[$name]=$time rest=$((rest + time)); done <"$weights"
  all=${#weight[@]} known=$rest
  start=$(milliseconds) last=$start
  estimate
  left=$fresh
  redraw
  while true; do
    if IFS= read -r -t 1 part; then
      line+=$part
    elif (($? > 128)); then
      line+=$part # a second has passed, perhaps in the middle of a line
      tick
      redraw
      continue
    elif [[ -z $line$part ]]; then
      break
    else
      line+=$part # the last line, without its end
    fi
    case $line in
      $'\x01'*Re-checking* | $'\x01'*Re-running*) ;;
      $'\x01'*)
        line=${line#$'\x01'}
        if [[ $line =~ ^([0-9]+)/([0-9]+)\ (.*)$ ]]; then
          ended=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]} line=${BASH_REMATCH[3]}
        else
          ended=$((ended + 1))
        fi
        name=${line##* }
        time=${weight[$name]:-0} work=$((work + time)) rest=$((rest - time))
        unset "weight[$name]"
        tick
        # Up slowly, down faster.
        left=$((fresh > left ? left + (fresh - left) / 4 : left - (left - fresh) / 2))
        redraw
        printf '[%s/%s] %s\n' "$ended" "$all" "$line"
        ;;
      *) printf '%s\n' "$line" ;;
    esac
    line=''
  done
}

milliseconds() { printf '%s' "$((${EPOCHREALTIME/[.,]/} / 1000))"; }

# What is left by what has been done so far, of the weights: the list counts for as much as 20 s of work.
estimate() {
  local each
  most=0
  for each in "${weight[@]}"; do ((each <= most)) || most=$each; done
  # Those that run now are half done, for all we know.
  running=$((${#weight[@]} > 0 ? rest * (jobs < ${#weight[@]} ? jobs : ${#weight[@]}) / ${#weight[@]} / 2 : 0))
  now=$(milliseconds)
  speed=$((1000 * (20000 + (now - start) * jobs) / (20000 + work + running)))
  fresh=$(((rest - running) / jobs))
  ((fresh >= most)) || fresh=$most # it runs alone in the end
  fresh=$((fresh * speed / 1000))
}

# Time passes; nothing that is half to do ends at once.
tick() {
  estimate
  left=$((left - (now - last))) last=$now
  ((left >= fresh / 2)) || left=$((fresh / 2))
}

redraw() {
  terminal || return 0
  if ((all == 0)); then draw "$title …"; else draw "$title  [$ended/$all]$(time_left)"; fi
}

time_left() {
  local seconds=$((left / 1000))
  if ((known == 0)); then
    return # no idea
  elif ((seconds < 10)); then
    printf '  a few seconds left'
  else
    printf '  %d:%02d left' $((seconds / 60)) $((seconds % 60))
  fi
}
