#!/usr/bin/env bash
# A folder of hqmm/ is a layer: it may include itself and the layers before it in this list, nothing else.
# usage: check_layers.sh DIRECTORY   (the hqmm/ folder)
set -euo pipefail
layers=(core data stiefel model circuit io engine score learn evaluate run reproduction report)

declare -A rank
for i in "${!layers[@]}"; do rank[${layers[i]}]=$i; done

status=0
complain() { printf '%s\n' "$*"; status=1; }

cd -- "$1"
for folder in */; do
  layer=${folder%/}
  [[ -n ${rank[$layer]:-} ]] || { complain "hqmm/$layer: not a layer (${layers[*]})"; continue; }
  while IFS=: read -r file line text; do
    target=$(sed -E 's/^[^"<]*["<]([^">]*)[">].*/\1/' <<<"$text")
    place=hqmm/$file:$line
    case $target in
      hqmm/*/*)
        other=${target#hqmm/} other=${other%%/*}
        if [[ -z ${rank[$other]:-} ]]; then
          complain "$place: includes $target, which is in no layer"
        elif ((rank[$other] > rank[$layer])); then
          complain "$place: $layer may not include $other ($target)"
        fi
        ;;
      hqmm/version.hpp) ;; # made by CMake, of no layer
      hqmm/* | tools/* | tests/* | bench/*) complain "$place: the library may not include $target" ;;
      *) complain "$place: write the include from the root, \"hqmm/…\", not $target" ;;
    esac
  done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*("|<(hqmm|tools|tests|bench)/)' \
    --include='*.hpp' --include='*.cpp' "$layer" || true)
done
exit "$status"
